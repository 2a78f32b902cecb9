"""A recorded search can be walked through, and every number in it is exact."""

import networkx as nx
import numpy as np
import pytest

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.errors import CycleError, UsageError
from tbgat.graph.state import GraphBatch
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.trace import CHOOSERS, analyse, make_move, record


@pytest.fixture(scope="module")
def ft10():
    return library.load("ft10")


@pytest.mark.parametrize("chooser", sorted(CHOOSERS))
def test_every_position_is_the_one_the_search_was_in(ft10, chooser):
    trace = record(ft10, chooser, steps=60, seed=3, start=dispatch(ft10))
    assert len(trace.swaps) == 60
    orders = [list(order) for order in trace.start]
    for step in range(60):
        position = trace.position(step)
        position.schedule.check(ft10)
        assert position.makespan == position.schedule.makespan == trace.makespans[step]
        assert position.schedule == Schedule.from_machine_orders(ft10, orders)
        chosen = position.moves[position.chosen]
        assert (chosen.first, chosen.second) == trace.swaps[step]
        assert chosen.makespan == trace.makespans[step + 1]
        assert chosen.probability > 0
        assert sum(move.probability for move in position.moves) == pytest.approx(1)
        order = orders[ft10.machines[chosen.first]]
        at = order.index(chosen.first)
        assert order[at + 1] == chosen.second
        order[at], order[at + 1] = order[at + 1], order[at]
    assert trace.position(60).chosen is None


def test_same_seed_same_search(ft10):
    first, second, other = (
        record(ft10, "random", steps=40, seed=seed, start=dispatch(ft10)) for seed in (1, 1, 2)
    )
    assert first == second
    assert first.swaps != other.swaps


def test_greedy_takes_a_best_move_and_random_all_alike(ft10):
    for chooser, expected in (("greedy", "best"), ("random", "even")):
        position = record(ft10, chooser, steps=5, seed=0, start=dispatch(ft10)).position(2)
        best = min(move.makespan for move in position.moves)
        for move in position.moves:
            if expected == "even":
                assert move.probability == pytest.approx(1 / len(position.moves))
            else:
                assert (move.probability > 0) == (move.makespan == best)


def test_tabu_does_not_go_straight_back(ft10):
    trace = record(ft10, "tabu", steps=200, seed=0, start=dispatch(ft10))
    best, forced = trace.makespans[0], 0
    for step, ((u, v), (a, b)) in enumerate(zip(trace.swaps, trace.swaps[1:], strict=False), 1):
        best = min(best, trace.makespans[step])
        if (a, b) == (v, u) and trace.makespans[step + 1] >= best:
            # Nothing else was left: every move would have undone a recent one.
            assert all(move.probability > 0 for move in trace.position(step).moves)
            forced += 1
    assert forced < 10
    assert min(trace.makespans) < trace.makespans[0]


def test_moves_of_a_schedule_lie_on_one_critical_path(ft10):
    schedule = dispatch(ft10)
    position = analyse(ft10, schedule)
    graph = nx.DiGraph()
    starts = position.schedule.starts(ft10)
    nx.add_path(graph, position.path)
    assert starts[position.path[0]] == 0
    ends = starts + ft10.durations
    assert ends[position.path[-1]] == position.makespan
    for before, after in graph.edges:
        assert ends[before] == starts[after]
    for move in position.moves:
        assert graph.has_edge(move.first, move.second)
        assert make_move(ft10, schedule, move.first, move.second).makespan == move.makespan
        assert move.probability is None


def test_a_move_can_be_named_in_either_order(ft10):
    schedule = dispatch(ft10)
    move = analyse(ft10, schedule).moves[0]
    forth = make_move(ft10, schedule, move.first, move.second)
    assert forth == make_move(ft10, schedule, move.second, move.first)
    assert make_move(ft10, forth, move.first, move.second).makespan == schedule.makespan


def test_moves_that_cannot_be_made_say_why(ft10):
    schedule = dispatch(ft10)
    with pytest.raises(UsageError, match="follow each other on a machine"):
        make_move(ft10, schedule, 0, 99)
    with pytest.raises(UsageError, match="numbered 0 to 99"):
        make_move(ft10, schedule, 0, 100)
    # Not critical, and another way leads from the first operation to the second: a cycle.
    shop = Instance([[(0, 1), (1, 1)], [(1, 1), (0, 1)]])
    tight = Schedule.from_starts(shop, np.array([0, 1, 2, 3]))
    with pytest.raises(CycleError):
        make_move(shop, tight, 0, 3)


def test_a_shop_without_moves_has_a_trace_of_one_position():
    shop = Instance([[(0, 2), (1, 3)]])
    trace = record(shop, "greedy", steps=10, seed=0, start=dispatch(shop))
    assert trace.swaps == ()
    position = trace.position(0)
    assert (position.makespan, position.moves) == (5, ())
    with pytest.raises(UsageError, match="steps 0 to 0, not 1"):
        trace.position(1)


def test_a_network_chooses_by_its_probabilities(ft10):
    torch = pytest.importorskip("torch")
    from tbgat.policy.features import observe
    from tbgat.policy.network import TBGAT, NetworkConfig

    config = NetworkConfig(heads=2, width=8, move_features=())
    network = TBGAT(config, generator=torch.Generator().manual_seed(5))
    trace = record(ft10, "network", steps=8, seed=1, start=dispatch(ft10), network=network)
    assert len(trace.swaps) == 8
    position = trace.position(5, network)
    # The same through the network's general path, from scratch.
    batch = GraphBatch([ft10], [position.schedule.machine_orders(ft10)])
    batch.neighbourhood(np.array([trace.random[5]], dtype=np.uint64))
    batch.levels()
    with torch.inference_mode():
        scores = network(observe(batch))
    expected = scores.softmax(dim=0).numpy()
    assert [move.policy for move in position.moves] == pytest.approx(expected.tolist(), abs=1e-4)
    assert [move.probability for move in position.moves] == [m.policy for m in position.moves]
    assert len({round(p, 6) for p in expected.tolist()}) > 1
    with pytest.raises(UsageError, match="needs weights"):
        trace.position(5)


def test_an_unknown_chooser_is_refused(ft10):
    with pytest.raises(UsageError, match="there is no chooser 'best'; there are"):
        record(ft10, "best", steps=1, seed=0, start=dispatch(ft10))
