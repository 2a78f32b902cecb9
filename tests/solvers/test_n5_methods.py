"""The methods that walk over N5: random, greedy, tabu."""

import numpy as np
import pytest
from hypothesis import given, settings

import tbgat
from tbgat.errors import UsageError
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Task
from tbgat.solvers import make_task, n5
from tbgat.solvers.n5 import BEST, STEP, N5Walk, walks
from tbgat.solvers.random_walk import random_steps
from tbgat.solvers.tabu import KICKS, TENURE, tabu_steps
from tests.graph.shops import makespan_of, optimum, solutions, swapped

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


def test_tabu_makes_the_best_allowed_move_and_its_incumbents_are_exact():
    """Moves are ranked by estimates; what is known after a move must be the truth all the same."""
    improving = aspired = tight = 0
    for seed, shop in enumerate([tbgat.load("ft06"), tbgat.generate.uniform(8, 5, seed=1)]):
        task = make_task(shop, "tabu", steps=400, seed=seed)
        (walk,) = walks(
            task,
            tabu_steps,
            setting=(3, 4, 12, 150),
            state=(1 << 62, 0, 4, 0, 0, -1),
            kept=5,
            memory=12,
        )
        g, t = walk._graph, walk._memory
        made = []
        for _ in range(400):
            orders = _orders(g, shop)
            before, best = int(g.makespan[0]), int(t.state[BEST])
            at_random = t.state[KICKS] > 0
            assert walk.advance(1, -1) == 1
            if g.swaps[0] == 1:
                made = []  # the first step, or one that began a new round
            recent = made[-int(t.state[TENURE]) :]
            v, u = _last_arc(g)
            made.append((v, u))
            if at_random or g.swaps[0] == 1:
                continue
            rows = range(int(g.move_count[0]))
            estimate = {(int(g.move_u[k]), int(g.move_v[k])): int(g.move_makespan[k]) for k in rows}
            truth = {move: makespan_of(shop, swapped(orders, *move)) for move in estimate}
            for move, value in estimate.items():
                assert value == truth[move] if value >= before else value <= truth[move] <= before
            allowed = [
                c
                for m, c in estimate.items()
                if m not in (recent[-3:] if c < before else recent) or c < best
            ]
            if allowed:
                assert estimate[u, v] == min(allowed)
            assert g.makespan[0] == truth[u, v]
            assert t.state[BEST] == min(best, truth[u, v])
            improving += truth[u, v] < before
            aspired += (u, v) in recent and estimate[u, v] < best
            tight += estimate[u, v] < truth[u, v]
        assert t.state[STEP] == 400
        assert walk.schedule().makespan == walk.best
    # Each branch above was taken.
    assert min(improving, aspired, tight) > 0


def _orders(g, shop):
    result = [[] for _ in range(shop.num_machines)]
    for x in g.order.tolist():
        result[g.machine[x]].append(x)
    return result


def _last_arc(g):
    slot = (int(g.swaps[0]) - 1) % g.memory_u.shape[1]
    return int(g.memory_u[0, slot]), int(g.memory_v[0, slot])


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
    (walk,) = walks(
        task,
        tabu_steps,
        setting=(3, 6, 16, 5000),
        state=(1 << 62, 0, 6, 0, 0, -1),
        kept=5,
        memory=16,
    )
    assert walk.advance(2000, -1) == 2000
    found = walk.improvements()
    assert len(found) > 100
    assert [value for _, value in found] == sorted((v for _, v in found), reverse=True)
    assert found[-1][1] == walk.best == walk.schedule().makespan
