"""The compiled layers against the general ones, forward and backward."""

import hypothesis.extra.numpy
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tbgat.generate import uniform
from tbgat.policy import differentiable
from tbgat.policy.features import Observation
from tbgat.policy.network import TBGAT, NetworkConfig
from tbgat.policy.repeats import copy_rows, find_repeats
from tbgat.policy.weights import load_weights
from tests.policy.states import mixed_instances, walk
from tests.policy.test_network import randomise

TOLERANCE = 1e-5


def both_ways(network, seen, seed=0, products="float32"):
    """Scores and gradients by the compiled path in float32 and the general one in float64."""
    exact = TBGAT(network.config).double()
    exact.load_state_dict(network.state_dict())
    scores, expected = network(seen, products), exact(seen)
    push = torch.randn(scores.shape, generator=torch.Generator().manual_seed(seed)) / len(scores)
    (scores * push).sum().backward()
    (expected * push.double()).sum().backward()
    return scores, expected.float(), network, exact


@pytest.mark.parametrize(
    "config",
    [
        NetworkConfig(),
        NetworkConfig(heads=3, width=10, layers=2, move_features=()),
        NetworkConfig(heads=2, width=24, layers=4),
        NetworkConfig(heads=1, width=7, layers=3),
    ],
    ids=["paper", "two layers", "four layers", "odd"],
)
def test_compiled_gradients_equal_exact_ones(config):
    network = randomise(TBGAT(config), 5)
    seen = walk(mixed_instances(7), steps=4, names=config.move_features)[1][-1]
    scores, expected, network, exact = both_ways(network, seen)
    torch.testing.assert_close(scores, expected, rtol=TOLERANCE, atol=TOLERANCE)
    for (name, mine), its in zip(network.named_parameters(), exact.parameters(), strict=True):
        assert mine.grad is not None, name
        torch.testing.assert_close(
            mine.grad,
            its.grad.float(),
            rtol=TOLERANCE,
            atol=TOLERANCE,
            msg=lambda text, n=name: f"{n}: {text}",
        )
        assert its.grad.abs().max() > 0, name


@pytest.mark.parametrize("instances", [mixed_instances(7), [uniform(3, 3, 1)]], ids=["many", "few"])
def test_coordinates_hardly_change_the_gradients(instances):
    """Also where there are fewer nodes than directions."""
    network = load_weights("paper", size=(10, 10)).network.requires_grad_(True)
    seen = walk(instances, steps=4, names=network.config.move_features)[1][-1]
    scores, expected, network, exact = both_ways(network, seen, products="lowrank")
    torch.testing.assert_close(scores, expected, rtol=2e-3, atol=2e-3)
    whole, lost = 0.0, 0.0
    for mine, its in zip(network.parameters(), exact.parameters(), strict=True):
        whole += float(its.grad.square().sum())
        lost += float((mine.grad - its.grad).square().sum())
    assert 0 <= lost < 1e-6 * whole


def test_large_logits_stay_finite():
    network = randomise(TBGAT(NetworkConfig(heads=2, width=8)), 6)
    with torch.no_grad():
        for layer in network.layers:
            layer.source.mul_(300)
            layer.target.mul_(300)
    seen = walk(mixed_instances(8), steps=2)[1][-1]
    scores, expected, network, _ = both_ways(network, seen)
    assert torch.isfinite(scores).all()
    np.testing.assert_allclose(scores.detach(), expected.detach(), rtol=1e-3, atol=1e-3)
    assert all(torch.isfinite(p.grad).all() for p in network.parameters())


def test_gradients_add_up_over_states():
    """The gradient of a joined batch is the sum of those of its parts."""
    network = randomise(TBGAT("small"), 7)
    _, seen = walk(mixed_instances(9), steps=1, names=network.config.move_features)
    network(Observation.concatenate(seen)).sum().backward()
    joined = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    for part in seen:
        network(part).sum().backward()
    for a, b in zip(joined, network.parameters(), strict=True):
        torch.testing.assert_close(a, b.grad, rtol=1e-4, atol=1e-4)


def test_states_that_share_rows_have_the_same_scores_and_gradients(monkeypatch):
    network = randomise(TBGAT(NetworkConfig(heads=2, width=24)), 8)
    _, seen = walk(mixed_instances(3), steps=6)
    # One search after the other, step by step: much stays as it was.
    joint = Observation.concatenate(
        [part.select([b]) for b in range(len(seen[0])) for part in seen]
    )
    shared = []
    monkeypatch.setattr(
        differentiable,
        "copy_rows",
        lambda rows, *rest: (shared.append(len(rows)), copy_rows(rows, *rest)),
    )
    scores, expected, network, exact = both_ways(network, joint)
    assert shared
    assert max(shared) < len(joint.features)
    torch.testing.assert_close(scores, expected, rtol=TOLERANCE, atol=TOLERANCE)
    for mine, its in zip(network.parameters(), exact.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, its.grad.float(), rtol=1e-4, atol=TOLERANCE)


@given(
    hypothesis.extra.numpy.arrays(np.float32, (12, 2), elements=st.sampled_from([0.0, 1.0])),
    st.sampled_from([[0, 4, 8, 12], [0, 3, 6, 9, 12], [0, 5, 10, 12], [0, 12]]),
)
def test_repeats_are_rows_equal_to_those_of_the_state_before(x, offsets):
    rows, copy_of = np.zeros(12, dtype=np.int64), np.zeros(12, dtype=np.int64)
    count = find_repeats(x, np.array(offsets), rows, copy_of)
    assert np.array_equal(x[rows[:count]][copy_of], x)
    sizes = np.diff(offsets)
    for state, begin in enumerate(offsets[:-1]):
        for row in range(begin, offsets[state + 1]):
            comparable = state > 0 and sizes[state] == sizes[state - 1]
            same = comparable and (x[row] == x[row - sizes[state]]).all()
            assert (row in rows[:count]) == (not same)
