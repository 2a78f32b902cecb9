"""Random shops with random legal machine orders, and slow, obviously right code to compare with."""

import itertools

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from tbgat import Instance, Schedule

__all__ = [
    "digraph",
    "is_legal",
    "linear_order",
    "makespan_of",
    "optimum",
    "orders_of",
    "solutions",
    "swapped",
]


@st.composite
def solutions(draw, classic=False, positive=False, max_jobs=4, max_machines=4):
    """An instance and legal machine orders: ragged, recirculating, zero durations unless told."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    jobs, machines = draw(st.integers(1, max_jobs)), draw(st.integers(1, max_machines))
    low = 1 if positive or classic else 0
    high = draw(st.sampled_from([1, 3, 20]))
    shop = []
    for _ in range(jobs):
        length = machines if classic else int(rng.integers(1, max_machines + 2))
        route = rng.permutation(machines) if classic else rng.integers(0, machines, length)
        shop.append([(int(m), int(rng.integers(low, high + 1))) for m in route])
    instance = Instance(shop, num_machines=machines)
    return instance, orders_of(instance, linear_order(instance, rng))


def linear_order(instance, rng):
    """All operations in a random order that keeps each job's."""
    jobs = rng.permutation(instance.job_of)
    at = instance.job_offsets[:-1].copy()
    result = []
    for job in jobs:
        result.append(int(at[job]))
        at[job] += 1
    return result


def orders_of(instance, order):
    """Machine orders that a linear order of all operations implies."""
    result = [[] for _ in range(instance.num_machines)]
    for op in order:
        result[instance.machines[op]].append(op)
    return result


def digraph(instance, orders):
    """The disjunctive graph as networkx knows it; arcs carry the duration of their tail."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["S", "T", *range(instance.num_operations)])
    for a, b in itertools.pairwise(instance.job_offsets.tolist()):
        graph.add_edge("S", a, weight=0)
        for op in range(a, b - 1):
            graph.add_edge(op, op + 1, weight=int(instance.durations[op]))
        graph.add_edge(b - 1, "T", weight=int(instance.durations[b - 1]))
    for order in orders:
        for u, v in itertools.pairwise(order):
            graph.add_edge(u, v, weight=int(instance.durations[u]))
    return graph


def is_legal(instance, orders):
    """Whether machine orders admit a schedule at all."""
    return nx.is_directed_acyclic_graph(digraph(instance, orders))


def makespan_of(instance, orders):
    """Makespan by the independent scheduler, which knows no graphs."""
    return Schedule.from_machine_orders(instance, orders).makespan


def swapped(orders, u, v):
    """Machine orders with adjacent u, v swapped."""
    return [[{u: v, v: u}.get(op, op) for op in order] for order in orders]


def optimum(instance):
    """Smallest makespan over all machine orders; for tiny shops only."""
    best = None
    every = [
        list(itertools.permutations(np.flatnonzero(instance.machines == m).tolist()))
        for m in range(instance.num_machines)
    ]
    for orders in itertools.product(*every):
        if is_legal(instance, orders):
            value = makespan_of(instance, orders)
            best = value if best is None else min(best, value)
    return best
