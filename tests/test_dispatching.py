"""Dispatching rules against a slow reading of their definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbgat import Instance, library
from tbgat.dispatching import RULES, dispatch, dispatch_starts
from tbgat.errors import UsageError

shops = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


def slow_starts(instance, rule):
    """Rescan everything at every step; ties to the lowest job."""
    jobs = instance.jobs
    busy = [[] for _ in range(instance.num_machines)]
    steps, ready = [0] * len(jobs), [0] * len(jobs)
    starts = {}

    def key(j):
        k = steps[j]
        done = sum(p for _, p in jobs[j][: k + 1])
        left = sum(p for _, p in jobs[j][k:])
        duration = jobs[j][k][1]
        return {
            "fdd/mwkr": Fraction(done, left) if left else float("inf"),
            "spt": duration,
            "lpt": -duration,
            "mwkr": -left,
            "lwkr": left,
            "mopnr": -(len(jobs[j]) - k),
            "fifo": ready[j],
        }[rule]

    for _ in range(instance.num_operations):
        j = min((j for j in range(len(jobs)) if steps[j] < len(jobs[j])), key=lambda j: (key(j), j))
        machine, duration = jobs[j][steps[j]]
        t = ready[j]
        while any(s < t + duration and t < e for s, e in busy[machine]):
            t += 1
        busy[machine].append((t, t + duration))
        starts[j, steps[j]] = t
        ready[j] = t + duration
        steps[j] += 1
    return [starts[j, k] for j in range(len(jobs)) for k in range(len(jobs[j]))]


@given(shops, st.sampled_from([rule for rule in RULES if rule != "random"]))
def test_equals_the_definition(jobs, rule):
    instance = Instance(jobs)
    assert dispatch_starts(instance, rule).tolist() == slow_starts(instance, rule)


@given(shops, st.sampled_from(RULES), st.integers(0, 2**32))
def test_every_rule_gives_a_legal_schedule_of_any_shop(jobs, rule, seed):
    instance = Instance(jobs)
    schedule = dispatch(instance, rule, np.random.default_rng(seed))
    schedule.check(instance)
    again = dispatch(instance, rule, np.random.default_rng(seed))
    assert schedule == again


def test_left_shift_fills_the_gap():
    # Job 1 waits for nobody: its one unit on machine 0 fits before job 0 gets there.
    instance = Instance([[(1, 5), (0, 5)], [(0, 1), (2, 90)]])
    assert dispatch_starts(instance, "spt").tolist() == [0, 5, 0, 1]
    late = Instance([[(1, 5), (0, 5)], [(2, 1), (0, 4), (2, 90)]])
    assert dispatch_starts(late, "lwkr").tolist() == [0, 5, 0, 1, 5]


def test_ties_are_broken_at_random():
    instance = Instance([[(0, 5)]] * 4)
    firsts = {
        int(np.argmin(dispatch_starts(instance, "spt", np.random.default_rng(seed))))
        for seed in range(60)
    }
    assert firsts == {0, 1, 2, 3}
    assert dispatch_starts(instance, "spt").tolist() == [0, 5, 10, 15]


def test_zero_work_left_does_not_divide_by_zero():
    instance = Instance([[(0, 0), (1, 0)], [(0, 3), (1, 0)]])
    assert dispatch_starts(instance).tolist() == slow_starts(instance, "fdd/mwkr")


def test_fdd_mwkr_on_taillard_is_where_a_single_rule_is():
    gaps = []
    for number in range(1, 11):
        name = f"ta{number:02}"
        makespan = dispatch(library.load(name)).makespan
        gaps.append(makespan / library.bounds(name).upper_bound - 1)
    assert 0.18 < np.mean(gaps) < 0.35


def test_unknown_rule_and_missing_generator():
    with pytest.raises(UsageError, match="no rule 'best'"):
        dispatch(library.load("ft06"), "best")
    with pytest.raises(UsageError, match="random generator"):
        dispatch(library.load("ft06"), "random")
