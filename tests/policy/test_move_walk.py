"""The compiled walk of networks without a graph against the network itself."""

import numpy as np
import pytest
import torch

from tbgat.dispatching import dispatch
from tbgat.errors import UsageError
from tbgat.generate import uniform
from tbgat.graph import GraphBatch, random_states
from tbgat.graph.compiled import lean_kernel
from tbgat.instance import Instance
from tbgat.policy.features import MOVE_FEATURES, MOVE_UNIT, training_scale
from tbgat.policy.inference import Scorer
from tbgat.policy.move_walk import (
    MoveScorer,
    flat_weights,
    make_move,
    put_weights,
    score_n5,
    search_all,
)
from tbgat.policy.network import PRESETS, TBGAT, NetworkConfig
from tbgat.policy.trials import save, take_back
from tbgat.policy.weights import load_weights, save_weights
from tests.policy.states import mixed_instances, walk

ALL = tuple(MOVE_FEATURES)
EVERYTHING = NetworkConfig(layers=0, move_features=ALL, shortcut=True, shortcut_units=5)
TRIALS = PRESETS["trials"].replace(shortcut_units=3)


@lean_kernel
def score(g, b, random, path, head, scorer, weights, best, unit):
    return score_n5(g, b, random, path, head, scorer, weights, best, unit)


@lean_kernel
def draw(g, b, random, path, head, buffer, scorer, weights, best, unit, greedy):
    """Make a move and take it back; return its first operation and that of the moves before."""
    save(g, b, scorer.saved)
    if not make_move(g, b, random, path, head, buffer, scorer, weights, best, unit, greedy):
        return -1
    u = g.memory_v[b, (g.swaps[b] - 1) % g.memory_u.shape[1]]
    take_back(g, b, scorer.saved)
    return u


def random_network(config=EVERYTHING, seed=0):
    network = TBGAT(config)
    flat = np.random.default_rng(seed).normal(0.0, 1.0, len(flat_weights(network)))
    put_weights(network, flat)
    return network


def first_solutions(instances, seed=0):
    rng = np.random.default_rng(seed)
    batch = GraphBatch.from_schedules(instances, [dispatch(i, rng=rng) for i in instances])
    return batch, random_states(len(batch), rng)


@pytest.mark.parametrize("config", [EVERYTHING, EVERYTHING.replace(shortcut_units=0)])
def test_compiled_scores_are_those_of_the_network(config):
    network = random_network(config)
    batch, (*_, seen) = walk(mixed_instances(), steps=60, names=ALL)
    g, n = batch.arrays, len(batch.arrays.duration)
    expected = network.double()(seen).detach().numpy()
    scorer = MoveScorer.of(config, n)
    weights, unit = flat_weights(network).astype(np.float32), training_scale(g.duration, g.offset)
    path, head = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    compared = 0
    for b in range(len(batch)):
        mine = expected[seen.move_offsets[b] : seen.move_offsets[b + 1]]
        listed = seen.move_u[seen.move_offsets[b] : seen.move_offsets[b + 1]].tolist()
        best = int(g.lowest[b])
        args = (scorer, weights, best, unit[b] / MOVE_UNIT)
        # The walk draws a critical path of its own: go on until it is the one observed.
        for attempt in range(200):
            random = np.full(len(batch), attempt, dtype=np.uint64)
            again = random.copy()
            count = score(g, b, random, path, head, *args)
            if g.move_u[g.offset[b] : g.offset[b] + count].tolist() == listed:
                break
        else:
            continue
        np.testing.assert_allclose(scorer.scores[:count], mine, rtol=1e-5, atol=2e-6)
        u = draw(g, b, again, path, head, path.copy(), *args, True)
        assert u == (listed[mine.argmax()] if count else -1)
        compared += count
    assert compared > 10


def test_the_scorer_of_the_search_agrees_with_the_network():
    network = random_network()
    batch, (*_, seen) = walk(mixed_instances(), steps=20, names=ALL)
    np.testing.assert_array_equal(
        Scorer(network, batch)(batch.arrays.lowest).scores, network(seen).detach().numpy()
    )


def test_moves_are_drawn_from_the_softmax():
    network = random_network(PRESETS["moves"], seed=3)
    put_weights(network, 0.3 * flat_weights(network))
    batch, random = first_solutions([uniform(10, 10, 0)])
    g, n = batch.arrays, 100
    scorer = MoveScorer.of(network.config, n)
    weights, path = flat_weights(network), np.zeros(n, dtype=np.int32)
    head, best, buffer = np.zeros(n, dtype=np.int64), int(g.makespan[0]), path.copy()
    chosen, shares = np.zeros(n), np.zeros(n)
    for _ in range(4000):
        chosen[draw(g, 0, random, path, head, buffer, scorer, weights, best, 0.01, False)] += 1
        # The scores were left as their exponentials.
        count = g.move_count[0]
        shares[g.move_u[:count]] += scorer.scores[:count] / scorer.scores[:count].sum()
    assert np.abs(chosen - shares).max() < 4 * np.sqrt(4000 / 4)
    assert (chosen > 0).sum() > 1


@pytest.mark.parametrize("config", [PRESETS["moves"], PRESETS["trials"]])
def test_searches_do_not_depend_on_their_neighbours(config):
    rows = np.stack([flat_weights(random_network(config, seed)) for seed in range(3)])
    shops = [uniform(6, 5, 1), uniform(4, 4, 2), uniform(8, 3, 3)]
    batch, random = first_solutions(shops)
    starts = random.copy()
    together = search_all(config, rows, batch, random, (5, 40, 90))
    np.testing.assert_array_equal(random, starts)
    assert together.shape == (3, 3, 3)
    assert (np.diff(together, axis=2) <= 0).all()
    for b in range(3):
        alone, _ = first_solutions(shops)
        one = GraphBatch.from_schedules([shops[b]], [alone.schedule(b)])
        found = search_all(config, rows[2:], one, starts[b : b + 1], (5, 40, 90))
        np.testing.assert_array_equal(found[0, 0], together[2, b])


@pytest.mark.parametrize("config", [PRESETS["moves"], PRESETS["trials"]])
def test_another_unit_of_time_changes_nothing(config):
    rng = np.random.default_rng(5)
    durations = rng.integers(1, 100, (8, 6))
    durations[0, 0] = 99
    routes = np.stack([rng.permutation(6) for _ in range(8)])
    shops = [Instance.from_arrays(factor * durations, routes) for factor in (1, 64)]
    weights = flat_weights(random_network(config))[None]
    start = dispatch(shops[0], rng=np.random.default_rng(0)).machine_orders(shops[0])
    batch = GraphBatch(shops, [start, start])
    found = search_all(config, weights, batch, np.array([9, 9], dtype=np.uint64), (10, 50, 200))
    np.testing.assert_array_equal(64 * found[0, 0], found[0, 1])


@pytest.mark.parametrize("config", [EVERYTHING, TRIALS, PRESETS["trials"]])
def test_weights_go_in_and_out(config, tmp_path):
    network = TBGAT(config)
    flat = np.arange(len(flat_weights(network)), dtype=np.float32)
    put_weights(network, flat)
    np.testing.assert_array_equal(flat_weights(network), flat)
    put_weights(network, 2 * flat, gradient=True)
    gradients = [p.grad.ravel() for p in network.parameters()]
    assert torch.cat(gradients).sum() == 2 * flat.sum()
    np.testing.assert_array_equal(flat_weights(network), flat)
    save_weights(tmp_path / "w.safetensors", network, {"sizes": ["10x10"]})
    loaded = load_weights(tmp_path / "w.safetensors").network
    assert loaded.config == config
    np.testing.assert_array_equal(flat_weights(loaded), flat)


def test_a_network_without_layers_is_its_shortcut():
    with pytest.raises(UsageError, match="shortcut"):
        NetworkConfig(layers=0)
    with pytest.raises(UsageError, match="shortcut"):
        NetworkConfig(shortcut_units=3)
    with pytest.raises(UsageError, match="negative"):
        NetworkConfig(layers=-1)
    assert len(list(TBGAT("moves").parameters())) == 4


def test_hidden_units_of_the_shortcut_count_beside_a_graph_too():
    names = PRESETS["plus"].move_features
    plain = TBGAT(PRESETS["plus"])
    more = TBGAT(PRESETS["plus"].replace(shortcut_units=4))
    more.load_state_dict(plain.state_dict(), strict=False)
    batch, (*_, seen) = walk(mixed_instances(), steps=5, names=names)
    np.testing.assert_array_equal(more(seen).detach(), plain(seen).detach())
    with torch.no_grad():
        more.shortcut_outer.fill_(1.0)
    expected = more(seen).detach().numpy()
    assert np.abs(expected - plain(seen).detach().numpy()).max() > 0.01
    found = Scorer(more, batch)(batch.arrays.lowest).scores
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
