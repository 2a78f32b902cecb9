"""Bounds against published optima and against slow, obviously right code."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbgat import Instance, library
from tbgat.bounds import (
    job_bound,
    lower_bound,
    machine_bound,
    one_machine_bound,
    preemptive_bound,
)
from tbgat.dispatching import RULES, dispatch


@pytest.mark.parametrize("entry", library.entries(), ids=lambda entry: entry.name)
def test_never_above_the_best_known(entry):
    instance = library.load(entry.name)
    job, machine = job_bound(instance), machine_bound(instance)
    preemptive = preemptive_bound(instance)
    assert max(job, machine) <= preemptive <= entry.upper_bound
    assert lower_bound(instance) == preemptive
    # A proven bound of others is at least as good as these easy ones.
    assert preemptive <= entry.lower_bound


def test_known_values():
    instance = library.load("ft06")
    assert job_bound(instance) == 47
    assert machine_bound(instance) == 52
    assert preemptive_bound(instance) == 52


operation = st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 12))


@given(st.lists(operation, min_size=1, max_size=7))
def test_one_machine_is_the_largest_bound_of_any_subset(operations):
    heads, durations, tails = zip(*operations, strict=True)
    best = max(
        min(heads[i] for i in chosen)
        + sum(durations[i] for i in chosen)
        + min(tails[i] for i in chosen)
        for size in range(1, len(operations) + 1)
        for chosen in itertools.combinations(range(len(operations)), size)
    )
    assert one_machine_bound(heads, durations, tails) == best


shops = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


@given(shops, st.integers(0, 2**32))
def test_no_schedule_is_below(jobs, seed):
    instance = Instance(jobs)
    rng = np.random.default_rng(seed)
    bound = lower_bound(instance)
    assert bound >= max(job_bound(instance), machine_bound(instance))
    for rule in RULES:
        assert dispatch(instance, rule, rng).makespan >= bound
