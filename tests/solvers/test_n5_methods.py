"""The methods that walk over N5: random, greedy, tabu."""

import numpy as np
import pytest
from hypothesis import given, settings

import tbgat
from tbgat.errors import UsageError
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Task
from tbgat.solvers import make_task, n5
from tbgat.solvers.n5 import N5Walk, walks
from tbgat.solvers.random_walk import random_steps
from tbgat.solvers.tabu import tabu_steps, walk_options
from tests.graph.shops import makespan_of, optimum, solutions

METHODS = ("random", "greedy", "tabu")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_same_threads_same_result(method, threads):
    shop = tbgat.load("la21")
    first, second = (
        tbgat.solve(shop, method, steps=1500, seed=9, threads=threads) for _ in range(2)
    )
    assert first.schedule == second.schedule
    assert [(g.step, g.makespan) for g in first.history] == [
        (g.step, g.makespan) for g in second.history
    ]
    other = tbgat.solve(shop, method, steps=1500, seed=10, threads=threads)
    assert other.schedule != first.schedule


def test_choosing_beats_descending_beats_chance():
    shops = [tbgat.generate.uniform(10, 10, seed=500 + k) for k in range(8)]
    start, chance, descent, tabu = (
        sum(r.makespan for r in tbgat.solve_many(shops, method, steps=1000, seed=0, threads=2))
        for method in ("dispatch", *METHODS)
    )
    assert tabu < descent < start
    assert tabu < chance < start


@settings(max_examples=60)
@given(solutions(max_jobs=3, max_machines=2))
def test_tiny_general_shops_are_solved(solution):
    instance, orders = solution
    if max(np.bincount(instance.machines)) > 4:
        return
    best = optimum(instance)
    result = tbgat.solve(instance, "tabu", steps=400, seed=1, initial=orders)
    assert result.makespan == best
    if result.status == "optimal":
        assert result.lower_bound == best


@settings(max_examples=60)
@given(solutions(max_jobs=5, max_machines=5))
def test_every_walk_is_legal_on_general_shops(solution):
    instance, orders = solution
    start = makespan_of(instance, orders)
    for method in METHODS:
        result = tbgat.solve(instance, method, steps=60, seed=2, initial=orders)
        result.schedule.check(instance)
        assert result.makespan <= start


def test_without_a_bound_the_empty_neighbourhood_is_the_proof():
    shop = tbgat.load("la01")
    first = tbgat.solve(shop, "tabu", steps=5000, seed=0).schedule
    task = Task(shop, "tabu", MaxSteps(100), 0, first)
    walk = N5Walk(task, 0, random_steps)
    made = walk.advance(100, -1)
    assert made == 0
    assert "no N5 move" in walk.proof


def test_options_of_tabu_are_checked():
    shop = tbgat.load("ft06")
    with pytest.raises(UsageError, match="tenure"):
        tbgat.solve(shop, "tabu", steps=1, tenure=(5, 2))
    with pytest.raises(UsageError, match="round_steps"):
        tbgat.solve(shop, "tabu", steps=1, round_steps=0)
    assert tbgat.solve(shop, "tabu", steps=100, tenure=(0, 0), round_steps=20, seed=0).steps == 100


def test_more_new_bests_in_a_chunk_than_the_log_holds(monkeypatch):
    monkeypatch.setattr(n5, "LOG_SIZE", 20)
    shop = tbgat.load("ta51")
    # All jobs in their order on every machine: a bad start with hundreds of gains after it.
    start = [np.flatnonzero(shop.machines == m).tolist() for m in range(shop.num_machines)]
    task = make_task(shop, "tabu", steps=1, seed=0, initial=start)
    (walk,) = walks(task, tabu_steps, **walk_options(shop, (6, 16)))
    assert walk.advance(2000, -1) == 2000
    found = walk.improvements()
    assert len(found) > 100
    assert [value for _, value in found] == sorted((v for _, v in found), reverse=True)
    assert found[-1][1] == walk.best == walk.schedule().makespan
