"""EST, LST, levels, critical operations: compiled and by message passing, against networkx."""

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgat.errors import CycleError, UsageError
from tbgat.graph import GraphBatch, topological_levels
from tbgat.graph.mpts import evaluate, longest_paths
from tbgat.instance import Instance

from .shops import digraph, solutions


def by_networkx(instance, orders):
    """EST, LST, levels and makespan from longest paths and topological generations."""
    graph = digraph(instance, orders)
    operations = range(instance.num_operations)
    order = list(nx.topological_sort(graph))
    start = dict.fromkeys(graph, 0)
    for node in order:
        for _, after, arc in graph.out_edges(node, data=True):
            start[after] = max(start[after], start[node] + arc["weight"])
    latest = dict.fromkeys(graph, start["T"])
    for node in reversed(order):
        for _, after, arc in graph.out_edges(node, data=True):
            latest[node] = min(latest[node], latest[after] - arc["weight"])
    level, back = {}, {}
    for target, oriented in ((level, graph), (back, graph.reverse())):
        for depth, nodes in enumerate(nx.topological_generations(oriented)):
            target.update(dict.fromkeys(nodes, depth))
    assert start["T"] == nx.dag_longest_path_length(graph)
    return (
        [start[x] for x in operations],
        [latest[x] for x in operations],
        [level[x] for x in operations],
        [back[x] for x in operations],
        start["T"],
        level["T"],
    )


@settings(max_examples=400)
@given(st.lists(solutions(), min_size=1, max_size=4))
def test_both_implementations_equal_networkx(batch):
    graph = GraphBatch([i for i, _ in batch], [o for _, o in batch])
    graph.levels()
    g, messages = graph.arrays, evaluate(graph)
    expected = [by_networkx(*solution) for solution in batch]
    for k, (compiled, sent) in enumerate(
        [
            (g.est, messages.est),
            (graph.lst, messages.lst),
            (g.level, messages.level),
            (g.back_level, messages.back_level),
        ]
    ):
        wanted = list(itertools.chain.from_iterable(one[k] for one in expected))
        assert compiled.tolist() == wanted
        assert sent.tolist() == wanted
    assert g.makespan.tolist() == messages.makespan.tolist() == [one[4] for one in expected]
    assert g.sink_level.tolist() == messages.sink_level.tolist() == [one[5] for one in expected]
    critical = [a == b for one in expected for a, b in zip(one[0], one[1], strict=True)]
    assert graph.critical.tolist() == messages.critical.tolist() == critical


@settings(max_examples=200)
@given(solutions())
def test_order_is_topological_and_round_trips(solution):
    instance, orders = solution
    graph = GraphBatch([instance], [orders])
    place = {x: i for i, x in enumerate(graph.arrays.order.tolist())}
    for u, v in digraph(instance, orders).edges:
        if isinstance(u, int) and isinstance(v, int):
            assert place[u] < place[v]
    assert [place[x] for x in range(len(place))] == graph.arrays.position.tolist()
    assert graph.machine_orders(0) == orders
    schedule = graph.schedule(0)
    schedule.check(instance)
    assert schedule.makespan == graph.arrays.makespan[0]
    again = GraphBatch.from_schedules([instance], [schedule])
    assert again.arrays.makespan[0] <= graph.arrays.makespan[0]


@settings(max_examples=200)
@given(solutions())
def test_lemma_1_corollary_1_and_theorem_1(solution):
    """The paper's statements on sorts; Corollary 1's second inequality the right way round."""
    instance, orders = solution
    graph = GraphBatch([instance], [orders])
    graph.levels()
    g, lst = graph.arrays, graph.lst
    arcs = [(u, v) for u, v in digraph(instance, orders).edges if u != "S" and v != "T"]
    ancestors = nx.transitive_closure_dag(nx.DiGraph(arcs)).edges
    for u, v in ancestors:
        # Lemma 1: a prerequisite has the smaller forward and the larger backward level.
        assert g.level[u] < g.level[v]
        assert g.back_level[u] > g.back_level[v]
        # Corollary 1: and starts no later, at the earliest as at the latest.
        assert g.est[u] <= g.est[v]
        assert lst[u] <= lst[v]
    # Theorem 1: ranking by level is a topological order, unique up to the order inside a level.
    ranked = np.argsort(g.level, kind="stable")
    place = np.empty_like(ranked)
    place[ranked] = np.arange(len(ranked))
    assert all(place[u] < place[v] for u, v in arcs)


@given(solutions(), st.randoms(use_true_random=False))
def test_levels_do_not_depend_on_how_jobs_are_numbered(solution, random):
    instance, orders = solution
    jobs = list(range(instance.num_jobs))
    random.shuffle(jobs)
    offsets = instance.job_offsets
    old = np.concatenate([np.arange(offsets[j], offsets[j + 1]) for j in jobs])
    new = np.empty_like(old)
    new[old] = np.arange(len(old))
    renamed = Instance([instance.jobs[j] for j in jobs], num_machines=instance.num_machines)
    moved = [[int(new[op]) for op in order] for order in orders]
    first, second = GraphBatch([instance], [orders]), GraphBatch([renamed], [moved])
    for graph in (first, second):
        graph.levels()
    for name in ("level", "back_level", "est", "tail"):
        assert np.array_equal(getattr(first.arrays, name)[old], getattr(second.arrays, name))


def test_a_cycle_is_an_error_not_a_hang():
    shop = Instance([[(0, 1), (1, 1)], [(1, 1), (0, 1)]], name="crossed")
    with pytest.raises(CycleError, match="crossed"):
        GraphBatch([shop], [[[3, 0], [1, 2]]])
    with pytest.raises(CycleError):
        topological_levels(torch.tensor([[0, 1, 2], [1, 2, 1]]), 4)
    with pytest.raises(CycleError):
        topological_levels(torch.tensor([[0], [0]]), 1)


def test_machine_orders_must_be_complete():
    shop = Instance([[(0, 1), (1, 1)], [(1, 1), (0, 1)]])
    for orders in ([[0, 3], [1]], [[0, 3], [1, 1]], [[0, 1], [3, 2]], [[0, 3], [1, 4]]):
        with pytest.raises(UsageError):
            GraphBatch([shop], [orders])


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(0, 1))
def test_message_passing_on_any_dag(seed, nodes, density):
    rng = np.random.default_rng(seed)
    names = rng.permutation(nodes)
    pairs = [(a, b) for a, b in itertools.combinations(range(nodes), 2) if rng.random() < density]
    arcs = [(int(names[a]), int(names[b])) for a, b in pairs]
    graph = nx.DiGraph(arcs)
    graph.add_nodes_from(range(nodes))
    tensor = torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T
    weights = torch.from_numpy(rng.integers(0, 50, nodes))
    for oriented, reverse in ((graph, False), (graph.reverse(), True)):
        level = topological_levels(tensor, nodes, reverse=reverse)
        longest = longest_paths(tensor, weights, reverse=reverse)
        for depth, generation in enumerate(nx.topological_generations(oriented)):
            assert all(level[x] == depth for x in generation)
        for x in range(nodes):
            before = [int(longest[y] + weights[y]) for y in oriented.predecessors(x)]
            assert int(longest[x]) == max(before, default=0)


def test_arcs_that_name_no_node_are_refused():
    with pytest.raises(UsageError, match="from 0 to 1"):
        topological_levels(torch.tensor([[0], [2]]), 2)
    with pytest.raises(UsageError, match="two rows"):
        topological_levels(torch.tensor([0, 1]), 2)
    assert topological_levels(torch.empty((2, 0), dtype=torch.int64), 3).tolist() == [0, 0, 0]
