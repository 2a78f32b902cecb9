"""Critical paths, N5 moves and swaps against brute force."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tbgat
from tbgat.errors import CycleError, UsageError
from tbgat.graph import GraphBatch, random_states, state
from tbgat.instance import Instance

from .shops import (
    digraph,
    is_legal,
    linear_order,
    makespan_of,
    optimum,
    orders_of,
    solutions,
    swapped,
)


def n5_of(path, machines):
    """N5 as SPEC has it, from a path: swaps at the borders of blocks, fewer at the ends."""
    blocks = [list(block) for _, block in itertools.groupby(path, key=lambda x: machines[x])]
    moves = []
    for number, block in enumerate(blocks):
        if len(block) < 2 or len(blocks) == 1:
            continue
        if number > 0:
            moves.append((block[0], block[1]))
        if number < len(blocks) - 1:
            moves.append((block[-2], block[-1]))
    return sorted(set(moves))


def drawn(graph, b):
    """Path and moves of one solution, numbered as in its instance."""
    g = graph.arrays
    lo = int(g.offset[b])
    path = (g.path[lo : lo + g.path_length[b]] - lo).tolist()
    rows = slice(lo, lo + int(g.move_count[b]))
    pairs = zip((g.move_u[rows] - lo).tolist(), (g.move_v[rows] - lo).tolist(), strict=True)
    return path, dict(zip(pairs, g.move_makespan[rows].tolist(), strict=True))


@settings(max_examples=500)
@given(st.lists(solutions(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_path_moves_and_makespans_equal_brute_force(batch, seed):
    graph = GraphBatch([i for i, _ in batch], [o for _, o in batch])
    graph.neighbourhood(random_states(len(batch), np.random.default_rng(seed)))
    for b, (instance, orders) in enumerate(batch):
        path, moves = drawn(graph, b)
        est = graph.schedule(b).starts(instance)
        ends = est + instance.durations
        arcs = digraph(instance, orders).edges
        assert est[path[0]] == 0
        assert ends[path[-1]] == makespan_of(instance, orders)
        assert ("S", path[0]) in arcs
        assert (path[-1], "T") in arcs
        for u, v in itertools.pairwise(path):
            assert (u, v) in arcs
            assert ends[u] == est[v]
        wanted = {}
        for u, v in n5_of(path, instance.machines):
            after = swapped(orders, u, v)
            if instance.job_of[u] != instance.job_of[v] and is_legal(instance, after):
                wanted[u, v] = makespan_of(instance, after)
        assert moves == wanted


@settings(max_examples=300)
@given(solutions(max_jobs=5), st.integers(0, 2**32 - 1))
def test_a_walk_of_swaps_stays_exact(solution, seed):
    instance, orders = solution
    rng = np.random.default_rng(seed)
    graph = GraphBatch([instance], [orders])
    random = random_states(1, rng)
    for _ in range(6):
        graph.neighbourhood(random)
        _, moves = drawn(graph, 0)
        if not moves:
            break
        u, v = list(moves)[rng.integers(len(moves))]
        graph.swap([u], [v])
        orders = swapped(orders, u, v)
        fresh = GraphBatch([instance], [orders])
        assert graph.machine_orders(0) == orders
        assert graph.arrays.makespan[0] == moves[u, v] == fresh.arrays.makespan[0]
        for name in ("est", "tail", "machine_pred", "machine_succ"):
            assert np.array_equal(getattr(graph.arrays, name), getattr(fresh.arrays, name))
        place = graph.arrays.position
        assert sorted(place.tolist()) == list(range(len(place)))
        assert all(
            place[a] < place[b] for a, b in digraph(instance, orders).edges if a != "S" and b != "T"
        )


@settings(max_examples=300)
@given(solutions(), st.integers(0, 2**32 - 1))
def test_any_adjacent_swap_is_exact_or_a_cycle(solution, seed):
    instance, orders = solution
    pairs = [
        (u, v)
        for order in orders
        for u, v in itertools.pairwise(order)
        if instance.job_of[u] != instance.job_of[v]
    ]
    assume(pairs)
    u, v = pairs[np.random.default_rng(seed).integers(len(pairs))]
    graph = GraphBatch([instance], [orders])
    before = graph.arrays.est.copy()
    after = swapped(orders, u, v)
    if is_legal(instance, after):
        graph.swap([u], [v])
        assert graph.arrays.makespan[0] == makespan_of(instance, after)
    else:
        with pytest.raises(CycleError):
            graph.swap([u], [v])
        assert graph.machine_orders(0) == orders
        assert np.array_equal(graph.arrays.est, before)


@settings(max_examples=60)
@given(solutions(classic=True, max_jobs=3, max_machines=3), st.integers(0, 2**32 - 1))
def test_no_n5_move_means_optimal_on_classic_shops(solution, seed):
    instance, orders = solution
    graph = GraphBatch([instance], [orders])
    random = random_states(1, np.random.default_rng(seed))
    best = optimum(instance)
    # Descend, so that a good share of the examples ends without a move.
    for _ in range(30):
        graph.neighbourhood(random)
        _, moves = drawn(graph, 0)
        if not moves:
            assert graph.proved_optimal[0]
            assert graph.arrays.makespan[0] == best
            return
        u, v = min(moves, key=moves.get)
        graph.swap([u], [v])
        assert graph.arrays.makespan[0] >= best


@settings(max_examples=150)
@given(solutions(max_jobs=3, max_machines=2), st.integers(0, 2**32 - 1))
def test_a_claimed_proof_holds_on_general_shops(solution, seed):
    instance, orders = solution
    assume(max(np.bincount(instance.machines)) <= 4)
    graph = GraphBatch([instance], [orders])
    graph.neighbourhood(random_states(1, np.random.default_rng(seed)))
    if graph.proved_optimal[0]:
        assert graph.arrays.makespan[0] == optimum(instance)


def test_empty_moves_prove_nothing_under_recirculation():
    # Job 0 visits machine 0 twice in a row around a wait: its own pair is never swapped.
    shop = Instance([[(0, 5), (0, 5), (1, 1)], [(1, 9), (0, 1)]])
    graph = GraphBatch([shop], [[[4, 0, 1], [3, 2]]])
    graph.neighbourhood(random_states(1, np.random.default_rng(0)))
    path, moves = drawn(graph, 0)
    assert path == [3, 4, 0, 1, 2]
    assert (0, 1) not in moves
    assert not graph.proved_optimal[0]


def test_every_tight_path_is_drawn_sooner_or_later():
    # Two machines with the same load: two critical paths.
    shop = Instance([[(0, 4)], [(0, 4)], [(1, 8)]])
    graph = GraphBatch([shop], [[[0, 1], [2]]])
    random = random_states(1, np.random.default_rng(3))
    seen = []
    for _ in range(200):
        graph.neighbourhood(random)
        seen.append(tuple(drawn(graph, 0)[0]))
    assert set(seen) == {(0, 1), (2,)}
    assert 60 < seen.count((2,)) < 140


def test_recency_of_arcs():
    shop = tbgat.load("ft06")
    rng = np.random.default_rng(5)
    graph = GraphBatch([shop], [orders_of(shop, linear_order(shop, rng))], memory=3)
    random = random_states(1, rng)
    made, undone = [], 0
    for _ in range(30):
        graph.neighbourhood(random)
        g = graph.arrays
        for k in range(int(g.move_count[0])):
            arc = (int(g.move_u[k]), int(g.move_v[k]))
            recent = made[::-1][:3]
            assert g.move_age[k] == (recent.index(arc) + 1 if arc in recent else 0)
        u, v = int(g.move_u[0]), int(g.move_v[0])
        undone += int(g.move_age[0] > 0)
        graph.swap([u], [v])
        made.append((v, u))
    assert len(made) == 30
    assert undone > 0


def test_swap_refuses_what_is_not_adjacent_or_of_one_job():
    shop = Instance([[(0, 3), (0, 2)], [(0, 2), (1, 3)]])
    graph = GraphBatch([shop], [[[0, 1, 2], [3]]])
    with pytest.raises(UsageError, match="follow each other"):
        graph.swap([0], [2])
    with pytest.raises(UsageError, match="one job"):
        graph.swap([0], [1])
    graph.swap([-1], [-1])
    assert graph.machine_orders(0) == [[0, 1, 2], [3]]


def test_threads_do_not_change_anything(monkeypatch):
    monkeypatch.setattr(state, "LEAST_PER_THREAD", 1)
    rng = np.random.default_rng(8)
    shops = [tbgat.generate.uniform(6, 5, seed=k) for k in range(17)]
    orders = [orders_of(shop, linear_order(shop, rng)) for shop in shops]
    seen = []
    for threads in (1, 2, 3):
        graph = GraphBatch(shops, orders, threads=threads)
        random = random_states(len(shops), np.random.default_rng(1))
        for _ in range(20):
            graph.neighbourhood(random)
            g = graph.arrays
            first = np.where(g.move_count > 0, g.move_u[g.offset[:-1]], -1)
            graph.swap(first, np.where(g.move_count > 0, g.move_v[g.offset[:-1]], -1))
        seen.append((graph.arrays.est.tolist(), graph.arrays.makespan.tolist(), random.tolist()))
    assert seen[0] == seen[1] == seen[2]
    assert nx.is_directed_acyclic_graph(digraph(shops[0], graph.machine_orders(0)))
