"""Renumbering jobs or machines permutes the scores and changes nothing else; rounding hardly."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgat.generate import uniform
from tbgat.graph import GraphBatch
from tbgat.instance import Instance
from tbgat.policy.features import observe
from tbgat.policy.inference import Scorer
from tbgat.policy.moves import log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.policy.weights import find_weights, load_weights
from tests.policy.states import mixed_instances, random_move, walk
from tests.policy.test_network import randomise

NAMES = ("recent", "makespan_change", "makespan_to_best")


@pytest.fixture(scope="module")
def network():
    config = TBGAT("paper").config.replace(move_features=NAMES)
    return randomise(TBGAT(config), 11)


def renumbered(instance, jobs, machines):
    """The same shop with other numbers, and the new number of every operation."""
    listed = [
        [
            (int(machines[instance.machines[x]]), int(instance.durations[x]))
            for x in range(instance.job_offsets[j], instance.job_offsets[j + 1])
        ]
        for j in range(instance.num_jobs)
    ]
    other = Instance([listed[j] for j in jobs], num_machines=instance.num_machines)
    new = np.empty(instance.num_operations, dtype=np.int64)
    for place, j in enumerate(jobs):
        old = np.arange(instance.job_offsets[j], instance.job_offsets[j + 1])
        new[old] = other.job_offsets[place] + np.arange(len(old))
    return other, new


def scored(network, batch, seed, compiled):
    """Scores of the moves by pair of operations; the critical path is drawn with that seed."""
    batch.levels()
    batch.neighbourhood(np.full(len(batch), seed, dtype=np.uint64))
    if compiled:
        found = Scorer(network, batch)()
        return {(int(u), int(v)): s for u, v, s in zip(found.u, found.v, found.scores, strict=True)}
    seen = observe(batch, network.config.move_features)
    with torch.no_grad():
        scores = network.score(network._embed_generally(seen), seen).numpy()
    return {(int(u), int(v)): s for u, v, s in zip(seen.move_u, seen.move_v, scores, strict=True)}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), which=st.integers(0, 7), compiled=st.booleans())
def test_numbers_of_jobs_and_machines_do_not_matter(network, seed, which, compiled):
    rng = np.random.default_rng(seed)
    instance = mixed_instances(seed % 50)[which]
    batch, _ = walk([instance], steps=4, seed=seed)
    jobs, machines = rng.permutation(instance.num_jobs), rng.permutation(instance.num_machines)
    other, new = renumbered(instance, jobs, machines)
    orders = [[] for _ in range(instance.num_machines)]
    for machine, order in enumerate(batch.machine_orders(0)):
        orders[machines[machine]] = [int(new[x]) for x in order]
    # A fresh batch: it remembers no swaps, so that neither side calls a move recent.
    plain = scored(network, GraphBatch([instance], [batch.machine_orders(0)]), 1, compiled)
    # Ties between critical paths fall by job number, so try seeds until the same one is drawn.
    for attempt in range(1, 60):
        moved = scored(network, GraphBatch([other], [orders]), attempt, compiled)
        if set(moved) == {(new[u], new[v]) for u, v in plain}:
            break
    else:
        pytest.fail("the same critical path was never drawn")
    for (u, v), score in plain.items():
        assert moved[new[u], new[v]] == pytest.approx(score, rel=1e-5, abs=1e-5)


def learned_preference():
    """A network that has learnt a little (late moves first), so that moves differ at all."""
    network = TBGAT("paper")
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-4)
    for step in range(30):
        seen = walk([uniform(6, 6, 100 * step + s) for s in range(6)], 3, seed=step)[1][-1]
        start = torch.from_numpy(seen.features[seen.move_u, 1])
        wanted = log_probabilities(8 * start, seen.move_offsets).exp()
        loss = -(wanted * log_probabilities(network(seen), seen.move_offsets)).sum() / len(seen)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network.requires_grad_(False)


def shipped():
    """Weights that come with the package."""
    network = load_weights(find_weights("paper", (10, 10))).network
    return network.requires_grad_(False)


@pytest.mark.parametrize(("products", "error"), [("bfloat16", 0.02), ("lowrank", 0.001)])
@pytest.mark.parametrize("make", [learned_preference, shipped])
def test_rounded_products_keep_scores_and_ranking(make, products, error):
    """Scores within 2 % or 2 per thousand, and 95 % of the states ranked alike."""
    network = make()
    instances = [uniform(10, 10, s) for s in range(8)] + [uniform(15, 10, s) for s in range(4)]
    batch, _ = walk(instances, steps=0)
    exact, rounded = Scorer(network, batch), Scorer(network, batch, products=products)
    rng, random = np.random.default_rng(0), np.arange(len(batch), dtype=np.uint64)
    alike, errors, sizes = [], [], []
    for _ in range(10):
        batch.levels()
        batch.neighbourhood(random)
        a, b = exact(), rounded()
        if products == "bfloat16":
            seen = observe(batch, network.config.move_features)
            with torch.no_grad():
                general = network.double()(seen, products).numpy()
            network.float()
            np.testing.assert_allclose(b.scores, general, rtol=0.02, atol=0.005)
        errors.append(np.abs(a.scores - b.scores))
        sizes.append(np.abs(a.scores))
        for lo, hi in itertools.pairwise(a.offsets):
            order = np.argsort(a.scores[lo:hi])
            alike.append(np.array_equal(order, np.argsort(b.scores[lo:hi])))
        batch.swap(*random_move(batch, rng))
    assert 0 < np.concatenate(errors).mean() <= error * np.concatenate(sizes).mean()
    assert np.mean(alike) >= 0.95
