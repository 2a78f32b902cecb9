"""Moves, estimates, updates and relinking against definitions written without any cleverness."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgat import Instance, Schedule
from tbgat.search.kernels import arrays, construct, insertion, moves, relink, tabu
from tests.strategies import shops

classic = st.builds(
    lambda orders, lengths: [
        [(m, lengths[j * len(o) + k]) for k, m in enumerate(o)] for j, o in enumerate(orders)
    ],
    st.lists(st.permutations(range(4)), min_size=3, max_size=5),
    st.lists(st.integers(1, 9), min_size=20, max_size=20),
)
any_shop = st.one_of(shops, classic)


def start(jobs, seed):
    """A random solution and the tables that hold it."""
    instance = Instance(jobs)
    rng = np.random.default_rng(seed)
    following = instance.job_offsets[:-1].copy()
    order = []
    for job in rng.permutation(instance.job_of):
        order.append(following[job])
        following[job] += 1
    shop = arrays.shop_of(instance)
    state = arrays.blank_state(shop)
    arrays.load_order(shop, state, np.array(order))
    return instance, shop, state, rng.integers(1, 2**62, 1)


def machine_orders(instance, state):
    n = instance.num_operations
    rank = state[arrays.RANK]
    return [
        sorted(np.flatnonzero(instance.machines == m).tolist(), key=lambda x: rank[x])
        for m in range(instance.num_machines)
        if n
    ]


def graph_of(instance, orders):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(instance.num_operations))
    for a, b in itertools.pairwise(instance.job_offsets.tolist()):
        nx.add_path(graph, range(a, b))
    for order in orders:
        nx.add_path(graph, order)
    return graph


def makespan(instance, orders):
    return Schedule.from_machine_orders(instance, orders).makespan


def moved(orders, u, v, behind):
    """The machine orders with ``u`` right behind ``v``, or ``v`` right before ``u``."""
    result = []
    for order in orders:
        order = list(order)
        if u in order:
            order.remove(u if behind else v)
            order.insert(order.index(v) + 1 if behind else order.index(u), u if behind else v)
        result.append(order)
    return result


def assert_true_to_definition(instance, shop, state):
    """Every row says what the linear order implies."""
    n = instance.num_operations
    orders = machine_orders(instance, state)
    graph = graph_of(instance, orders)
    assert nx.is_directed_acyclic_graph(graph)
    order = state[arrays.ORDER, :n].tolist()
    assert sorted(order) == list(range(n))
    assert all(state[arrays.RANK, x] == i for i, x in enumerate(order))
    assert all(state[arrays.RANK, x] < state[arrays.RANK, y] for x, y in graph.edges)
    for line in orders:
        for i, x in enumerate(line):
            assert state[arrays.PLACE, x] == i
            assert state[arrays.BEFORE, x] == (line[i - 1] if i else n)
            assert state[arrays.AFTER, x] == (line[i + 1] if i + 1 < len(line) else n)
    done, todo = dict.fromkeys(range(n), 0), dict.fromkeys(range(n), 0)
    for x in nx.topological_sort(graph):
        before = max((done[y] for y in graph.predecessors(x)), default=0)
        done[x] = before + int(instance.durations[x])
    for x in reversed(list(nx.topological_sort(graph))):
        after = max((todo[y] for y in graph.successors(x)), default=0)
        todo[x] = after + int(instance.durations[x])
    assert [done[x] for x in range(n)] == state[arrays.DONE, :n].tolist()
    assert [todo[x] for x in range(n)] == state[arrays.AHEAD, :n].tolist()
    assert state[arrays.DONE, n] == state[arrays.AHEAD, n] == state[arrays.MARK].max() == 0


def block_pairs(state, first, n):
    """All pairs of positions on the path that stand in one block."""
    path = state[arrays.PATH]
    for i in range(first, n):
        for j in range(i + 1, n):
            if state[arrays.AFTER, path[j - 1]] != path[j]:
                break
            yield i, j


@given(any_shop, st.integers(0, 99))
def test_conditions_scans_and_estimates_agree_with_the_graph(jobs, seed):
    instance, shop, state, random = start(jobs, seed)
    n = instance.num_operations
    present = arrays.makespan_of(shop, state)
    orders = machine_orders(instance, state)
    first = moves.critical_path(shop, state, present, random)
    path = state[arrays.PATH].copy()
    assert state[arrays.DONE, path[n - 1]] == present
    assert sum(instance.durations[path[first:n]]) == present
    for i, j in block_pairs(state, first, n):
        u, v = int(path[i]), int(path[j])
        for behind, allowed, cycle, estimate in (
            (1, moves.may_go_behind, insertion.behind_closes_cycle, moves.estimate_behind),
            (0, moves.may_go_before, insertion.before_closes_cycle, moves.estimate_before),
        ):
            after = moved(orders, u, v, behind)
            acyclic = nx.is_directed_acyclic_graph(graph_of(instance, after))
            assert cycle(shop, state, u, v) != acyclic
            if allowed(shop, state, i, j):
                assert acyclic
                line = next(line for line in after if u in line)
                span = line[min(line.index(u), line.index(v)) :][: j - i + 1]
                if behind:
                    span = line[line.index(u) - (j - i) :][: j - i + 1]
                assert estimate(state, i, j, 2**62) == by_definition(shop, state, line, span)
            elif j == i + 1 and instance.durations.min() > 0 and v != u + 1:
                pytest.fail("a swap on a critical path was refused")


def by_definition(shop, state, line, span):
    """Longest path through the resequenced operations, all others keeping their old values."""
    n = len(state[arrays.DONE]) - 1
    a, b = line.index(span[0]), line.index(span[-1])
    end = state[arrays.DONE, line[a - 1]] if a else 0
    ends, rests = [], []
    for x in span:
        end = max(end, state[arrays.DONE, shop[arrays.JOB_BEFORE, x]]) + shop[arrays.DURATION, x]
        ends.append(end)
    rest = state[arrays.AHEAD, line[b + 1] if b + 1 < len(line) else n]
    for x in reversed(span):
        rest = max(rest, state[arrays.AHEAD, shop[arrays.JOB_AFTER, x]]) + shop[arrays.DURATION, x]
        rests.insert(0, rest)
    return max(e + r - shop[arrays.DURATION, x] for e, r, x in zip(ends, rests, span, strict=True))


def _through(instance, orders, x):
    """Longest path of the whole graph that visits ``x``."""
    graph = graph_of(instance, orders)
    done, todo = {}, {}
    for y in nx.topological_sort(graph):
        done[y] = int(instance.durations[y]) + max((done[z] for z in graph.pred[y]), default=0)
    for y in reversed(list(nx.topological_sort(graph))):
        todo[y] = int(instance.durations[y]) + max((todo[z] for z in graph.succ[y]), default=0)
    return done[x] + todo[x] - int(instance.durations[x])


@given(classic, st.integers(0, 99))
def test_estimate_of_a_swap_is_exact_for_the_two_operations(jobs, seed):
    instance, shop, state, random = start(jobs, seed)
    n = instance.num_operations
    orders = machine_orders(instance, state)
    first = moves.critical_path(shop, state, arrays.makespan_of(shop, state), random)
    path = state[arrays.PATH].copy()
    for i, j in block_pairs(state, first, n):
        if j == i + 1:
            u, v = int(path[i]), int(path[j])
            after = moved(orders, u, v, 1)
            exact = max(_through(instance, after, u), _through(instance, after, v))
            assert moves.estimate_behind(state, i, j, 2**62) == exact
            assert moves.estimate_before(state, i, j, 2**62) == exact


@given(any_shop, st.integers(0, 99), st.data())
def test_a_move_updates_everything(jobs, seed, data):
    instance, shop, state, _ = start(jobs, seed)
    for _ in range(4):
        orders = [o for o in machine_orders(instance, state) if len(o) > 1]
        if not orders:
            return
        line = data.draw(st.sampled_from(orders))
        a = data.draw(st.integers(0, len(line) - 2))
        b = data.draw(st.integers(a + 1, len(line) - 1))
        u, v = line[a], line[b]
        wanted = machine_orders(instance, state)
        if data.draw(st.booleans()):
            if insertion.behind_closes_cycle(shop, state, u, v):
                continue
            after = state[arrays.AFTER, u]
            insertion.move_behind(shop, state, u, v)
            insertion.update_done(shop, state, state[arrays.RANK, after])
            insertion.update_todo(shop, state, state[arrays.RANK, u])
            wanted = moved(wanted, u, v, 1)
        else:
            if insertion.before_closes_cycle(shop, state, u, v):
                continue
            before = state[arrays.BEFORE, v]
            insertion.move_before(shop, state, u, v)
            insertion.update_done(shop, state, state[arrays.RANK, v])
            insertion.update_todo(shop, state, state[arrays.RANK, before])
            wanted = moved(wanted, u, v, 0)
        assert machine_orders(instance, state) == wanted
        assert_true_to_definition(instance, shop, state)


@settings(max_examples=50)
@given(any_shop, st.integers(0, 99))
def test_walk_keeps_the_state_true_and_its_best_order_honest(jobs, seed):
    instance, shop, state, random = start(jobs, seed)
    n = instance.num_operations
    counters = np.zeros(tabu.COUNTERS, dtype=np.int64)
    counters[[tabu.BEST, tabu.PRESENT, tabu.RECORD]] = arrays.makespan_of(shop, state)
    best = state[arrays.ORDER, :n].copy()
    arcs = np.zeros((n, shop[arrays.LOCAL, n]), dtype=np.int64)
    log = np.zeros((256, 2), dtype=np.int64)
    ended = tabu.walk(shop, state, arcs, counters, log, best, random, 100, 1000, -1, 5)
    assert ended in (tabu.PAUSED, tabu.STUCK)
    assert_true_to_definition(instance, shop, state)
    assert counters[tabu.PRESENT] == makespan(instance, machine_orders(instance, state))
    assert arrays.load_order(shop, state, best) == counters[tabu.BEST]
    logged = log[: counters[tabu.LOGGED], 1].tolist()
    assert logged == sorted(set(logged), reverse=True)
    assert not logged or logged[-1] == counters[tabu.RECORD] == counters[tabu.BEST]


@given(any_shop, st.integers(0, 99))
def test_relinking_goes_all_the_way_one_pair_at_a_time(jobs, seed):
    instance, shop, state, random = start(jobs, seed)
    _, _, other, _ = start(jobs, seed + 1000)
    goal = other[arrays.RANK].copy()
    apart = relink.distance(shop, state[arrays.RANK], goal)
    pairs = [
        (x, y)
        for line in machine_orders(instance, other)
        for x, y in itertools.combinations(line, 2)
        if state[arrays.RANK, x] > state[arrays.RANK, y]
    ]
    assert apart == len(pairs)
    half = relink.walk_towards(shop, state, goal, apart // 2, random)
    assert half == apart // 2
    assert relink.distance(shop, state[arrays.RANK], goal) == apart - half
    arrays.evaluate(shop, state)
    assert_true_to_definition(instance, shop, state)
    assert relink.walk_towards(shop, state, goal, apart, random) == apart - half
    assert machine_orders(instance, state) == machine_orders(instance, other)


@given(any_shop, st.integers(0, 99), st.sampled_from([0, 30, 100]))
def test_built_orders_are_active_schedules(jobs, seed, noise):
    instance, shop, state, random = start(jobs, seed)
    order = np.zeros(instance.num_operations, dtype=np.int64)
    construct.build_order(shop, state, order, noise, random)
    arrays.load_order(shop, state, order)
    assert_true_to_definition(instance, shop, state)
    schedule = Schedule.from_starts(
        instance, (state[arrays.DONE] - shop[arrays.DURATION])[: instance.num_operations]
    )
    schedule.check(instance)


def test_machines_nobody_visits_need_no_room():
    instance = Instance([[(70, 3), (90, 2)], [(90, 1), (70, 4)]])
    shop = arrays.shop_of(instance)
    state = arrays.blank_state(shop)
    assert arrays.load_order(shop, state, np.arange(4)) == 10
