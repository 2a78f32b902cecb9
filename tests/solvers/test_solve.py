"""What ``solve`` promises whatever the method."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import tbgat
from tbgat.errors import CycleError, ScheduleError, UsageError
from tbgat.schedule import Schedule
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Outcome, Task
from tbgat.solvers import cpsat, method_names, register, registry
from tbgat.solvers.registry import find_method, option_value


@pytest.fixture(scope="module")
def ft06():
    return tbgat.load("ft06")


def test_unknown_method_option_or_number_is_one_sentence(ft06):
    with pytest.raises(UsageError, match="there is no method 'magic'"):
        tbgat.solve(ft06, "magic")
    with pytest.raises(UsageError, match="method dispatch has no option 'colour'"):
        tbgat.solve(ft06, "dispatch", colour="red")
    with pytest.raises(UsageError, match="'trajectories' of method tbgat must be a whole number"):
        tbgat.solve(ft06, "tbgat", trajectories="two")
    with pytest.raises(UsageError, match="threads must be 1 or more"):
        tbgat.solve(ft06, "dispatch", threads=0)
    with pytest.raises(UsageError, match="seed must be 0 or more"):
        tbgat.solve(ft06, "dispatch", seed=-1)
    with pytest.raises(UsageError, match="steps must be 0 or more"):
        tbgat.solve(ft06, "dispatch", steps=-5)


def test_seed_is_drawn_and_reported(ft06):
    first = tbgat.solve(ft06, "dispatch", rule="random")
    again = tbgat.solve(ft06, "dispatch", rule="random", seed=first.seed)
    assert first.seed is not None
    assert first.schedule == again.schedule


def test_warm_start_is_never_made_worse(ft06):
    good = tbgat.solve(ft06, "cpsat", seconds=20, threads=1, seed=0)
    assert good.makespan == 55
    kept = tbgat.solve(ft06, "dispatch", rule="lpt", initial=good.schedule)
    assert kept.makespan == 55
    orders = good.schedule.machine_orders(ft06)
    assert tbgat.solve(ft06, "dispatch", rule="lpt", initial=orders).makespan == 55


def test_bad_warm_starts_are_refused(ft06):
    late = Schedule.from_starts(ft06, [0] * ft06.num_operations)
    with pytest.raises(ScheduleError):
        tbgat.solve(ft06, "dispatch", initial=late)
    # Two jobs that each wait for the other.
    crossed = tbgat.Instance([[(0, 1), (1, 1)], [(1, 1), (0, 1)]])
    with pytest.raises(CycleError):
        tbgat.solve(crossed, "dispatch", initial=[[3, 0], [1, 2]])


def test_bound_met_is_the_stated_reason():
    one_job = tbgat.Instance([[(0, 3), (1, 4)]])
    result = tbgat.solve(one_job, "dispatch")
    assert (result.status, result.makespan, result.lower_bound) == ("optimal", 7, 7)
    assert "lower bound" in result.reason
    open_gap = tbgat.solve(tbgat.load("ft10"), "dispatch")
    assert open_gap.status == "feasible"
    assert open_gap.reason == ""
    assert open_gap.gap > 0


def test_result_as_documented_keys(ft06):
    result = tbgat.solve(ft06, "dispatch", seed=3)
    told = result.to_dict(best_known=55)
    assert list(told) == [
        *("instance", "jobs", "machines", "method", "makespan", "lower_bound", "best_known"),
        *("gap", "status", "steps", "seconds", "seed", "starts"),
    ]
    assert [len(row) for row in told["starts"]] == [6] * 6


def test_solve_many_equals_solving_one_by_one():
    shops = [tbgat.load(name) for name in ("ft06", "la01", "la06", "orb01")]
    together = tbgat.solve_many(shops, "dispatch", rule="random", seed=5, threads=2)
    for number, (shop, result) in enumerate(zip(shops, together, strict=True)):
        alone = tbgat.solve(shop, "dispatch", rule="random", seed=5 + number, threads=1)
        assert result.schedule == alone.schedule
    with pytest.raises(UsageError, match="1 initial schedules for 4 instances"):
        tbgat.solve_many(shops, "dispatch", initial=[together[0].schedule])
    assert tbgat.solve_many([], "dispatch") == []


def test_a_third_party_adds_a_method(ft06, monkeypatch):
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    register("mine", __name__, "the start, unchanged")
    assert "mine" in method_names()
    result = tbgat.solve(ft06, "mine", steps=7)
    assert result.method == "mine"
    assert result.makespan == tbgat.solve(ft06, "dispatch", seed=result.seed).makespan


def test_a_method_that_returns_nonsense_is_caught(ft06, monkeypatch):
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    register("wrong", __name__, "an illegal schedule")
    with pytest.raises(ScheduleError):
        tbgat.solve(ft06, "wrong", illegal=True)


def solve(task: Task, illegal: bool = False) -> Outcome:
    """The method registered above."""
    assert not task.stop(task.progress(0, 0))
    starts = Schedule.from_starts(task.instance, [0] * task.instance.num_operations)
    return Outcome(starts if illegal else task.start)


def test_cpsat_proves_and_repeats(ft06):
    result = tbgat.solve(ft06, "cpsat", seconds=20, threads=1, seed=0)
    assert (result.makespan, result.status, result.stopped) == (55, "optimal", "optimal")
    assert result.reason == "proved by CP-SAT" or "lower bound" in result.reason
    shop = tbgat.load("la16")
    first, second = (tbgat.solve(shop, "cpsat", steps=300, seed=4, threads=1) for _ in range(2))
    assert first.schedule == second.schedule
    assert first.stopped == "steps"
    assert tbgat.solve(shop, "cpsat", steps=30, seconds=60, threads=1).stopped == "steps"


def test_cpsat_takes_hint_target_and_callback():
    shop = tbgat.load("ft10")
    warm = tbgat.solve(shop, "cpsat", seconds=3, threads=2, seed=0)
    hinted = tbgat.solve(shop, "cpsat", steps=0, initial=warm.schedule, threads=1)
    assert hinted.makespan <= warm.makespan
    aimed = tbgat.solve(shop, "cpsat", target=1200, stop=MaxSteps(100_000), threads=1, seed=0)
    assert aimed.makespan <= 1200
    assert aimed.stopped == "target"
    heard = []

    def enough(snapshot):
        heard.append(threading.current_thread())
        snapshot.schedule().check(shop)
        return "stop" if len(heard) >= 3 else None

    ended = tbgat.solve(shop, "cpsat", seconds=30, threads=1, callbacks=[enough])
    assert ended.stopped == "callback"
    assert ended.seconds < 10
    assert set(heard) == {threading.main_thread()}


def test_callbacks_of_cpsat_hear_schedule_and_makespan_of_one_moment():
    """However long a callback takes, and whatever the solver finds meanwhile."""
    heard = []

    def listen(snapshot):
        time.sleep(0.1)
        heard.append((snapshot.progress.best, snapshot.schedule().makespan))

    tbgat.solve(tbgat.load("ta21"), "cpsat", seconds=2, threads=2, seed=0, callbacks=[listen])
    assert len(set(heard)) > 2
    assert all(best == makespan for best, makespan in heard)


def test_cpsat_that_ends_before_anyone_looks_says_why(monkeypatch):
    class Hasty(threading.Thread):
        def start(self):
            super().start()
            self.join()

    monkeypatch.setattr(cpsat.threading, "Thread", Hasty)
    shop = tbgat.load("ft10")
    told = []
    ended = tbgat.solve(
        shop,
        "cpsat",
        target=1200,
        stop=MaxSteps(100_000),
        threads=1,
        callbacks=[lambda snapshot: told.extend(snapshot.improvements)],
    )
    assert ended.stopped == "target"
    assert told == list(ended.history)


def test_solve_many_takes_a_seed_for_each_instance():
    instances = [tbgat.load("ft10"), tbgat.load("la16"), tbgat.load("la17")]
    options = {"rule": "random"}
    together = tbgat.solve_many(instances, "dispatch", seed=[7, 7, 3], **options)
    alone = [
        tbgat.solve(instance, "dispatch", seed=seed, **options)
        for instance, seed in zip(instances, (7, 7, 3), strict=True)
    ]
    assert [result.makespan for result in together] == [result.makespan for result in alone]
    assert [result.seed for result in together] == [7, 7, 3]
    with pytest.raises(UsageError, match="2 seeds for 3 instances"):
        tbgat.solve_many(instances, "dispatch", seed=[1, 2])


def test_ctrl_c_ends_cpsat():
    shop = tbgat.load("ta21")
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = tbgat.solve(shop, "cpsat", seconds=120, threads=1)
    timer.join()
    assert result.stopped == "interrupt"
    assert result.seconds < 60


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("3", 3),
        ("[4,8]", [4, 8]),
        ("(4, 8)", (4, 8)),
        ("spt", "spt"),
    ],
)
def test_values_of_options(text, value):
    found = option_value(text)
    assert found == value
    assert type(found) is type(value)


def test_options_may_be_none_or_numpy_numbers(ft06):
    check = find_method("tspr").check_options
    check({"cutoff": None})
    check({"cutoff": np.int64(3)})
    find_method("tbgat").check_options({"weights": None, "greedy": True, "device": "cpu"})
    find_method("tabu").check_options({"tenure": (3, 9)})
