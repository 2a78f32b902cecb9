"""The tabu search: which move it makes, that all it knows is exact, and that it leaves cycles."""

import math

import numpy as np
import pytest

import tbgat
from tbgat.errors import UsageError
from tbgat.graph import GraphBatch, random_states
from tbgat.schedule import Schedule
from tbgat.solvers import make_task
from tbgat.solvers.n5 import BEST, STEP, walks
from tbgat.solvers.tabu import tabu_steps, walk_options
from tbgat.solvers.tabu_rounds import KICKS, ORIGIN, SHORT, SIGNATURE, TENURE, UNIT
from tests.graph.shops import makespan_of, swapped

SHOPS = [tbgat.load("ft06"), tbgat.generate.uniform(8, 5, seed=1)]


def walk_on(shop, seed, tenure=(5, 12), round_steps=150, opening=0):
    task = make_task(shop, "tabu", steps=400, seed=seed)
    (walk,) = walks(task, tabu_steps, **walk_options(shop, tenure, round_steps, opening))
    return walk


def orders_of(g, shop):
    result = [[] for _ in range(shop.num_machines)]
    for x in g.order.tolist():
        result[g.machine[x]].append(x)
    return result


def last_arc(g):
    slot = (int(g.swaps[0]) - 1) % g.memory_u.shape[1]
    return int(g.memory_u[0, slot]), int(g.memory_v[0, slot])


def solution_of(shop, orders):
    return GraphBatch.from_schedules([shop], [Schedule.from_machine_orders(shop, orders)])


def score(before, t_moved, unit, move, value):
    """Estimate, room and habit of a move, from a solution evaluated afresh."""
    g = before.arrays
    u, v = move
    ready = g.est[g.job_pred[v]] + g.duration[g.job_pred[v]] if g.job_pred[v] >= 0 else 0
    rest = g.tail[g.job_succ[u]] + g.duration[g.job_succ[u]] if g.job_succ[u] >= 0 else 0
    room = min(g.est[v] - ready, 3 * unit) + min(g.tail[u] - rest, 3 * unit)
    return 10 * value - room + int(unit * math.log1p(min(t_moved[u], t_moved[v])))


def test_plain_steps_make_the_best_allowed_move_and_incumbents_are_exact():
    """Moves are ranked by estimates; what is known after a move must be the truth all the same."""
    improving = aspired = tight = 0
    for seed, shop in enumerate(SHOPS):
        walk = walk_on(shop, seed)
        g, t = walk._graph, walk._memory
        made = []
        for _ in range(400):
            orders = orders_of(g, shop)
            before, best = int(g.makespan[0]), int(t.state[BEST])
            at_random = t.state[KICKS] > 0
            assert walk.advance(1, -1) == 1
            if g.swaps[0] == 1:
                made = []  # the first step, or one that began a new round
            recent = made[-int(t.state[TENURE]) :]
            v, u = last_arc(g)
            made.append((v, u))
            if at_random or g.swaps[0] == 1:
                continue
            rows = range(int(g.move_count[0]))
            estimate = {(int(g.move_u[k]), int(g.move_v[k])): int(g.move_makespan[k]) for k in rows}
            truth = {move: makespan_of(shop, swapped(orders, *move)) for move in estimate}
            for move, value in estimate.items():
                assert value == truth[move] if value >= before else value <= truth[move] <= before
            allowed = {
                m: c
                for m, c in estimate.items()
                if m not in (recent[-int(t.setting[SHORT]) :] if c < before else recent) or c < best
            }
            if allowed:
                assert allowed[u, v] == min(allowed.values())
            assert g.makespan[0] == truth[u, v]
            assert t.state[BEST] == min(best, truth[u, v])
            improving += truth[u, v] < before
            aspired += (u, v) in recent and estimate[u, v] < best
            tight += estimate[u, v] < truth[u, v]
        assert t.state[STEP] == 400
        assert walk.schedule().makespan == walk.best
    # Each branch above was taken.
    assert min(improving, aspired, tight) > 0


def test_trials_leave_no_trace_but_the_one_move_made():
    """Whatever was tried: one swap more, the truth about it, and the swaps before it remembered."""
    for seed, shop in enumerate(SHOPS):
        walk = walk_on(shop, seed, opening=1000)
        g, t = walk._graph, walk._memory
        made = []
        for step in range(300):
            orders, best = orders_of(g, shop), int(t.state[BEST])
            moved = int(t.moved.sum())
            assert walk.advance(1, -1) == 1
            if g.swaps[0] == 1 and step > 0:
                made = []
                orders = None  # the round began at an elite solution
            v, u = last_arc(g)
            made.append((v, u))
            assert g.swaps[0] == len(made)
            assert t.moved.sum() == moved + 2
            kept = min(len(made), g.memory_u.shape[1] - 2)
            for back in range(kept):
                slot = (len(made) - 1 - back) % g.memory_u.shape[1]
                assert (g.memory_u[0, slot], g.memory_v[0, slot]) == made[-1 - back]
            if orders is not None:
                assert orders_of(g, shop) == swapped(orders, u, v)
            fresh = solution_of(shop, orders_of(g, shop)).arrays
            assert (g.est == fresh.est).all()
            assert (g.tail == fresh.tail).all()
            assert g.makespan[0] == fresh.makespan[0]
            assert t.state[BEST] == min(best, fresh.makespan[0])


def estimate_of(shop, orders, move):
    """Longest path through the two operations of a move after it."""
    g = solution_of(shop, swapped(orders, *move)).arrays
    return max(int(g.est[x] + g.duration[x] + g.tail[x]) for x in move)


def only_moves(state, seed):
    """N5 moves with exact makespans if there is one critical path alone, else none."""
    random = random_states(1, np.random.default_rng(seed))
    g = state.arrays
    paths = set()
    for _ in range(10):
        state.neighbourhood(random)
        paths.add(tuple(g.path[: g.path_length[0]].tolist()))
    if len(paths) > 1:
        return {}
    rows = range(int(g.move_count[0]))
    return {(int(g.move_u[k]), int(g.move_v[k])): int(g.move_makespan[k]) for k in rows}


def test_the_opening_makes_one_of_the_best_three_and_a_new_best_if_one_is_among_them():
    second = gains = 0
    for seed in range(4):
        shop = tbgat.generate.uniform(7, 6, seed=seed)
        walk = walk_on(shop, seed, round_steps=10**9, opening=10**9)
        g, t = walk._graph, walk._memory
        made = []
        for _ in range(150):
            orders, before, best = orders_of(g, shop), int(g.makespan[0]), int(t.state[BEST])
            state, moved = solution_of(shop, orders), t.moved.copy()
            if walk.advance(1, -1) == 0 or t.state[ORIGIN] >= 0:
                break
            recent, fewer = made[-int(t.state[TENURE]) :], made[-int(t.setting[SHORT]) :]
            v, u = last_arc(g)
            made.append((v, u))
            truth = only_moves(state, seed)
            scores = {}
            for move in truth:
                value = estimate_of(shop, orders, move)
                if move not in (fewer if value < before else recent) or value < best:
                    scores[move] = score(state, moved, int(t.setting[UNIT]), move, value)
            if not scores:
                continue
            ranked = sorted(scores.values())
            limit = min(ranked[:3][-1], ranked[0] + 10 * t.setting[UNIT])
            tried = {move for move, value in scores.items() if value <= limit}
            assert (u, v) in tried
            second += scores[u, v] > ranked[0]
            if len(tried) <= 3 and min(truth[move] for move in tried) < best:
                assert t.state[BEST] < best
                gains += 1
    assert second > 20
    assert gains > 10


def test_the_opening_pays_at_equal_steps():
    shops = [tbgat.generate.uniform(15, 15, seed=700 + k) for k in range(10)]
    totals = []
    for opening in (0, 1500):
        found = [walk_on(shop, 0, (12, 20), 5000, opening) for shop in shops]
        for walk in found:
            walk.advance(1000, -1)
        totals.append(sum(walk.best for walk in found))
    assert totals[1] < totals[0]


def test_equal_signatures_are_equal_solutions():
    shop = SHOPS[0]
    walk = walk_on(shop, 3, tenure=(1, 2), round_steps=10**9)
    g, t = walk._graph, walk._memory
    start = str(orders_of(g, shop))
    by_orders, by_signature = {start: 0}, {0: start}
    again = 0
    for _ in range(2000):
        walk.advance(1, -1)
        if t.state[ORIGIN] >= 0:
            break
        orders, signature = str(orders_of(g, shop)), int(t.state[SIGNATURE])
        again += orders in by_orders
        assert by_orders.setdefault(orders, signature) == signature
        assert by_signature.setdefault(signature, orders) == orders
    assert again > 0


@pytest.mark.parametrize("opening", [0, 1500])
def test_a_walk_without_memory_cycles_and_leaves_the_cycle(opening):
    shop = tbgat.generate.uniform(10, 10, seed=4)
    walk = walk_on(shop, 0, tenure=(0, 0), round_steps=10**9, opening=opening)
    t = walk._memory
    step = 0
    while t.state[ORIGIN] < 0:
        assert walk.advance(1, -1) == 1
        step += 1
        assert step < 2000
    # It goes on from the elite solution, and the next cycle ends as well.
    rounds = 0
    for _ in range(3000):
        kicks = t.state[KICKS]
        walk.advance(1, -1)
        rounds += t.state[KICKS] > kicks
    assert rounds > 3


def test_a_walk_with_memory_is_not_taken_for_a_cycle():
    for seed in range(5):
        walk = walk_on(tbgat.generate.uniform(15, 15, seed=seed), seed, (12, 20), 10**9, 1500)
        assert walk.advance(5000, -1) == 5000
        assert walk._memory.state[ORIGIN] == -1


def test_the_opening_is_an_option():
    shop = tbgat.load("ft10")
    plain, tried = (
        tbgat.solve(shop, "tabu", steps=400, seed=3, threads=1, opening=opening)
        for opening in (0, 400)
    )
    assert plain.history != tried.history
    with pytest.raises(UsageError, match="opening must be 0 or more"):
        tbgat.solve(shop, "tabu", steps=4, opening=-1)
