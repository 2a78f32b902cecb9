from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from tbgat.errors import UsageError
from tbgat.generate import uniform
from tbgat.policy import prepared
from tbgat.policy.basis import example_solutions, leading_directions
from tbgat.policy.differentiable import first_layer_of
from tbgat.policy.features import observe
from tbgat.policy.inference import Scorer
from tbgat.policy.network import TBGAT, NetworkConfig
from tbgat.policy.weights import load_weights
from tests.policy.states import mixed_instances, random_move, walk
from tests.policy.test_network import randomise


def steps_agree(network, instances, steps=6, threads=1, seed=0, products="float32", error=1e-5):
    """Walk at random; at every step the compiled scores equal those of the torch network."""
    batch, _ = walk(instances, steps=0, seed=seed)
    rng = np.random.default_rng(seed)
    scorer = Scorer(network, batch, threads=threads, products=products)
    best = batch.arrays.makespan.copy()
    random = rng.integers(0, 2**63, len(batch)).astype(np.uint64)
    for _ in range(steps):
        batch.levels()
        batch.neighbourhood(random)
        best = np.minimum(best, batch.arrays.makespan)
        found = scorer(best)
        seen = observe(batch, network.config.move_features, best)
        with torch.no_grad():
            expected = network(seen).numpy()
        np.testing.assert_allclose(found.scores, expected, rtol=error, atol=error)
        for ours, theirs in [
            (found.offsets, seen.move_offsets),
            (found.u, seen.move_u),
            (found.v, seen.move_v),
        ]:
            np.testing.assert_array_equal(ours, theirs)
        batch.swap(*random_move(batch, rng))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("preset", ["paper", "small", "plus"])
def test_compiled_scores_equal_the_torch_network(preset, threads):
    instances = mixed_instances() * 2 if threads == 2 else mixed_instances()
    steps_agree(randomise(TBGAT(preset), 1), instances, threads=threads)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_other_depths(layers):
    config = NetworkConfig(heads=3, width=10, layers=layers, move_features=())
    steps_agree(randomise(TBGAT(config), 2), mixed_instances(5))
    steps_agree(randomise(TBGAT(config), 2), mixed_instances(5)[:3], threads=2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_single_graph_and_sharing(threads):
    steps_agree(randomise(TBGAT("paper"), 3), [uniform(10, 10, 1)], threads=threads)
    steps_agree(randomise(TBGAT("tiny"), 3), [uniform(40, 15, 1)], threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("preset", "error"), [("paper", 1e-3), ("small", 1e-5)])
def test_coordinates_change_the_scores_a_little(preset, error, threads):
    """And not at all where the network is too small for them."""
    network = randomise(TBGAT(preset), 1)
    steps_agree(network, mixed_instances(), threads=threads, products="lowrank", error=error)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_coordinates_at_other_depths(layers):
    config = NetworkConfig(heads=4, width=64, layers=layers, move_features=())
    network = randomise(TBGAT(config), 2)
    steps_agree(network, mixed_instances(5)[:3], products="lowrank", error=1e-3)


@pytest.mark.parametrize("size", [(10, 10), (20, 15), (5, 30), (60, 4)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("trained", [True, False], ids=["shipped", "untrained"])
def test_directions_hold_what_layer_1_gives(size, trained):
    network = load_weights("paper", size=size).network if trained else TBGAT("paper")
    _, seen = walk([uniform(*size, 3)], steps=30)
    late = seen[-1]
    with torch.no_grad():
        rows = first_layer_of(network.layers, late)
        basis = leading_directions(first_layer_of(network.layers, example_solutions()))
        lost = rows - rows @ basis @ basis.transpose(1, 2)
    assert 0 < lost.norm() < 1e-3 * rows.norm()


def test_unknown_products():
    batch, _ = walk([uniform(3, 3, 1)], steps=0)
    with pytest.raises(UsageError, match="float32, lowrank, bfloat16"):
        Scorer(TBGAT("tiny"), batch, products="int8")


def scores_of_a_walk(network, instances, threads, steps=12, products="float32"):
    """Scores of all steps of a random walk, and fresh weights in the middle."""
    batch, _ = walk(instances, steps=0)
    scorer = Scorer(network, batch, threads=threads, products=products)
    rng, random = np.random.default_rng(0), np.arange(len(batch), dtype=np.uint64)
    found = []
    for step in range(steps):
        batch.levels()
        batch.neighbourhood(random)
        found.append(scorer().scores)
        batch.swap(*random_move(batch, rng))
        if step == steps // 2:
            scorer.refresh()
    return np.concatenate(found)


@pytest.mark.parametrize("count", [1, 3, 16], ids="{} graphs".format)
@pytest.mark.parametrize("products", ["float32", "lowrank"])
def test_scores_do_not_depend_on_the_threads(count, products):
    """Bit by bit: a row of a product is summed in one order, whoever computes it."""
    network = randomise(TBGAT("paper"), 5)
    instances = (mixed_instances(3) * 2)[-count:]
    alone = scores_of_a_walk(network, instances, 1, products=products)
    for threads in (2, 4):
        found = scores_of_a_walk(network, instances, threads, products=products)
        np.testing.assert_array_equal(found, alone)


def test_searches_at_the_same_time_do_not_disturb_each_other():
    """Scorers of several threads share their helpers."""
    networks = [randomise(TBGAT("small"), seed) for seed in range(4)]
    shops = [[uniform(8, 8, seed)] for seed in range(4)]
    expected = [scores_of_a_walk(n, s, 1) for n, s in zip(networks, shops, strict=True)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(scores_of_a_walk, networks, shops, [2] * 4))
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_without_memory_of_the_last_step(monkeypatch):
    monkeypatch.setattr(prepared, "MEMORY_BYTES", 0)
    steps_agree(randomise(TBGAT("small"), 4), mixed_instances(6))
    steps_agree(randomise(TBGAT("small"), 4), mixed_instances(6)[:3], threads=2)


def test_other_dtypes_go_through_the_network():
    batch, _ = walk(mixed_instances(), steps=3)
    network = TBGAT("paper").double()
    single = TBGAT("paper")
    np.testing.assert_allclose(
        Scorer(network, batch)().scores, Scorer(single, batch)().scores, rtol=1e-4, atol=1e-5
    )


def test_new_weights():
    batch, _ = walk(mixed_instances(), steps=2)
    network = TBGAT("paper")
    scorer = Scorer(network, batch)
    before = scorer().scores
    randomise(network, 8)
    with torch.no_grad():
        for layer in network.layers:
            layer.weight.mul_(1.1)
    scorer.refresh()
    after = scorer().scores
    np.testing.assert_array_equal(after, Scorer(network, batch)().scores)
    assert np.abs(after - before).max() > 1e-3


def test_nothing_to_score():
    from tbgat.instance import Instance

    batch, _ = walk([Instance([[(0, 4)]])] * 3, steps=0)
    found = Scorer(TBGAT("tiny"), batch)()
    assert len(found.scores) == 0
    assert found.offsets.tolist() == [0, 0, 0, 0]


def test_torch_keeps_its_number_of_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        batch, _ = walk(mixed_instances() * 2, steps=0)
        Scorer(TBGAT("tiny"), batch, threads=2)()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
