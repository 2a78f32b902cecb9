"""What is proven about a schedule, and by whom."""

import pytest

import tbgat
from tbgat.errors import ScheduleError
from tbgat.search.result import Improvement
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Outcome, Task, finish

SHOP = tbgat.Instance([[(0, 3), (1, 2)], [(1, 4), (0, 1)]], name="two")
GOOD = tbgat.Schedule.from_machine_orders(SHOP, [[0, 3], [2, 1]])
BAD = tbgat.Schedule.from_machine_orders(SHOP, [[0, 3], [1, 2]])


def task(**changes):
    fields = {"start": BAD, "seed": 1, "lower_bound": 5} | changes
    return Task(SHOP, "any", MaxSteps(1), **fields)


def test_reasons():
    assert (GOOD.makespan, BAD.makespan) == (6, 10)
    open_end = finish(task(), Outcome(GOOD))
    assert (open_end.status, open_end.reason, open_end.lower_bound) == ("feasible", "", 5)
    met = finish(task(lower_bound=6), Outcome(GOOD))
    assert (met.status, met.gap) == ("optimal", 0.0)
    assert "lower bound" in met.reason
    by_method = finish(task(), Outcome(GOOD, lower_bound=6))
    assert by_method.status == "optimal"
    proved = finish(task(), Outcome(GOOD, proof="a proof"))
    assert (proved.status, proved.reason, proved.lower_bound) == ("optimal", "a proof", 6)
    assert "Optimal: a proof." in proved.explain()


def test_a_lost_warm_start_is_the_answer_and_a_proof_does_not_go_with_it():
    kept = finish(task(initial=GOOD), Outcome(BAD, proof="of something else"))
    assert kept.schedule == GOOD
    assert kept.status == "feasible"
    assert kept.history == (Improvement(0, 0.0, 6),)


def test_nothing_unchecked_gets_through():
    with pytest.raises(ScheduleError):
        finish(task(), Outcome(tbgat.Schedule.from_starts(SHOP, [0, 0, 0, 0])))


def test_streams_of_random_numbers_differ_and_repeat():
    one = task()
    assert one.rng(0).random() == one.rng(0).random() != one.rng(1).random()
    assert task(seed=2).rng(0).random() != one.rng(0).random()
