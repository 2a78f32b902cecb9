"""What is critical, against the longest paths of a plain graph library."""

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgat.dispatching import dispatch
from tbgat.instance import Instance
from tbgat.plot.view import chart_data, critical_blocks, view
from tbgat.schedule import Schedule

operations = st.tuples(st.integers(0, 3), st.integers(0, 9))
shops = st.lists(st.lists(operations, min_size=1, max_size=5), min_size=1, max_size=6)


def slack_by_networkx(instance, orders):
    """Latest minus earliest start of every operation, by longest paths."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(instance.num_operations))
    jobs = [list(range(a, b)) for a, b in pairwise(instance.job_offsets)]
    for chain in [*jobs, *orders]:
        graph.add_edges_from(pairwise(chain))
    p = instance.durations
    head, tail = {}, {}
    for op in nx.topological_sort(graph):
        head[op] = max((head[b] + p[b] for b in graph.predecessors(op)), default=0)
    for op in reversed(list(nx.topological_sort(graph))):
        tail[op] = p[op] + max((tail[a] for a in graph.successors(op)), default=0)
    longest = max(head[op] + tail[op] for op in graph)
    return np.array([longest - head[op] - tail[op] for op in range(instance.num_operations)])


@given(shops, st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_critical_operations_and_path_are_those_of_the_graph(jobs, seed):
    instance = Instance(jobs, num_machines=4)
    drawn = dispatch(instance, "random", np.random.default_rng(seed))
    orders = drawn.machine_orders(instance)
    schedule = Schedule.from_machine_orders(instance, orders)
    seen = view(instance, schedule)
    assert np.array_equal(seen.critical, slack_by_networkx(instance, seen.orders) == 0)
    assert seen.start[seen.path[0]] == 0
    assert seen.end[seen.path[-1]] == schedule.makespan
    for before, after in pairwise(seen.path):
        assert seen.end[before] == seen.start[after]
        assert (
            instance.job_of[before] == instance.job_of[after]
            or instance.machines[before] == instance.machines[after]
        )


def test_blocks_are_the_runs_on_one_machine():
    instance = Instance([[(0, 1), (1, 1)], [(0, 1), (1, 1)]])
    assert critical_blocks(instance, [0, 2, 3]) == [[0, 2], [3]]


def test_a_late_start_is_not_critical_before_it():
    instance = Instance([[(0, 2), (0, 3)]])
    seen = view(instance, Schedule.from_starts(instance, [0, 4]))
    assert seen.path == [1]
    assert seen.critical.tolist() == [False, True]


def test_chart_data_names_what_the_instance_names():
    instance = Instance([[(0, 2)], [(0, 3)]], job_names=["a", "b"], machine_names=["saw"])
    data = chart_data(instance, Schedule.from_starts(instance, [0, 2]), lower_bound=5)
    assert (data["jobs"], data["machines"]) == (["a", "b"], ["saw"])
    assert (data["makespan"], data["lowerBound"], data["bestKnown"]) == (5, 5, None)
    assert data["blocks"] == [[0, 1]]
