import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from tbgat.errors import UsageError
from tbgat.policy.features import Observation
from tbgat.policy.network import PRESETS, TBGAT, NetworkConfig
from tbgat.policy.pyg_reference import PygNetwork, PygState, gat_convolution
from tbgat.policy.structure import Structure
from tests.policy.states import mixed_instances, walk

TOLERANCE = 1e-5


def to_pyg_nodes(x: torch.Tensor, offsets: np.ndarray) -> torch.Tensor:
    """Our nodes (operations, roots, sinks) in the order of PygState, per view."""
    count, graphs = int(offsets[-1]), len(offsets) - 1
    order = [[], []]
    for b in range(graphs):
        inner = list(range(offsets[b], offsets[b + 1]))
        order[0] += [count + b, *inner, count + graphs + b]
        order[1] += [count + graphs + b, *inner, count + b]
    return torch.stack([x[0, order[0]], x[1, order[1]]])


def randomise(network: TBGAT, seed: int) -> TBGAT:
    """Also the biases, which start at zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layer in network.embedding:
            layer.bias.uniform_(-0.3, 0.3, generator=generator)
    return network


@pytest.fixture(scope="module")
def observation():
    return walk(mixed_instances(), steps=5)[1][-1]


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_one_layer_equals_gatconv(observation, depth):
    layer = randomise(TBGAT("paper"), 3).embedding[depth]
    structure = Structure.of(observation)
    state = PygState.of(observation)
    generator = torch.Generator().manual_seed(depth)
    nodes = structure.features.shape[1]
    x = torch.randn(2, nodes, layer.inputs, generator=generator)
    if depth == 0:
        x = structure.features.clone()
    x.requires_grad_()
    ours = to_pyg_nodes(layer(x, structure), observation.operation_offsets)
    convolutions = [gat_convolution(layer, view) for view in (0, 1)]
    y = to_pyg_nodes(x.detach(), observation.operation_offsets).requires_grad_()
    theirs = torch.stack([convolutions[v](y[v], state.arcs[v]) for v in (0, 1)])
    torch.testing.assert_close(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)

    push = torch.randn(ours.shape, generator=generator) / len(ours[0])
    ours.backward(push)
    theirs.backward(push)
    grads = to_pyg_nodes(x.grad, observation.operation_offsets)
    torch.testing.assert_close(grads, y.grad, rtol=TOLERANCE, atol=TOLERANCE)
    for view, c in enumerate(convolutions):
        for mine, its in [
            (layer.weight.grad[view].T, c.lin.weight.grad),
            (layer.source.grad[view], c.att_src.grad[0]),
            (layer.target.grad[view], c.att_dst.grad[0]),
            (layer.bias.grad[view], c.bias.grad),
        ]:
            torch.testing.assert_close(mine, its, rtol=TOLERANCE, atol=TOLERANCE)


def flat_gradients(network: TBGAT | PygNetwork) -> dict[str, torch.Tensor]:
    """Gradients under one naming for both implementations."""
    found = {}
    if isinstance(network, TBGAT):
        for depth, layer in enumerate(network.embedding):
            for view in (0, 1):
                found[f"{view} {depth} weight"] = layer.weight.grad[view].T
                found[f"{view} {depth} source"] = layer.source.grad[view]
                found[f"{view} {depth} target"] = layer.target.grad[view]
                found[f"{view} {depth} bias"] = layer.bias.grad[view]
        linears = list(network.scoring)
    else:
        for view, layers in enumerate(network.views):
            for depth, layer in enumerate(layers):
                found[f"{view} {depth} weight"] = layer.lin.weight.grad
                found[f"{view} {depth} source"] = layer.att_src.grad[0]
                found[f"{view} {depth} target"] = layer.att_dst.grad[0]
                found[f"{view} {depth} bias"] = layer.bias.grad
        linears = [m for m in network.scoring if isinstance(m, torch.nn.Linear)]
    for depth, linear in enumerate(linears):
        found[f"scoring {depth} weight"] = linear.weight.grad
        found[f"scoring {depth} bias"] = linear.bias.grad
    return found


@pytest.mark.parametrize("preset", ["paper", "paper-nolabel", "small", "plus"])
def test_whole_network_equals_gatconv(preset):
    network = randomise(TBGAT(preset), 4)
    seen = walk(mixed_instances(1), steps=6, names=PRESETS[preset].move_features)[1][-1]
    assert len(seen.move_u) > 10
    reference = PygNetwork(network)
    ours, theirs = network(seen), reference(PygState.of(seen))
    torch.testing.assert_close(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)
    push = torch.randn(ours.shape, generator=torch.Generator().manual_seed(0)) / len(ours)
    ours.backward(push)
    theirs.backward(push)
    mine, its = flat_gradients(network), flat_gradients(reference)
    assert mine.keys() == its.keys()
    for name, gradient in mine.items():
        torch.testing.assert_close(
            gradient, its[name], rtol=TOLERANCE, atol=TOLERANCE, msg=lambda m, n=name: f"{n}: {m}"
        )
        assert gradient.abs().max() > 0, name


def test_presets_have_the_sizes_of_the_paper():
    network = TBGAT("paper")
    shapes = [tuple(layer.weight.shape) for layer in network.embedding]
    assert shapes == [(2, 3, 512), (2, 512, 512), (2, 512, 128)]
    assert [m.in_features for m in network.scoring] == [1025, 512, 256, 128, 64]
    assert TBGAT("paper-nolabel").scoring[0].in_features == 1024
    assert PRESETS["tiny"].width == 16


def test_config_round_trip_and_errors():
    config = PRESETS["small"].replace(heads=8)
    assert NetworkConfig.from_dict(config.to_dict()) == config
    with pytest.raises(UsageError, match="unknown move feature 'luck'"):
        NetworkConfig(move_features=("luck",))
    with pytest.raises(UsageError, match="unknown preset"):
        TBGAT("huge")
    with pytest.raises(UsageError, match="unknown network setting 'depth'"):
        NetworkConfig.from_dict({"depth": 3})
    with pytest.raises(UsageError, match="positive"):
        NetworkConfig(heads=0)


def test_wrong_move_features_are_refused(observation):
    with pytest.raises(UsageError, match="move features"):
        TBGAT("tiny")(observation)


def test_same_seed_same_weights():
    first, second = TBGAT("tiny"), TBGAT("tiny")
    other = TBGAT("tiny", generator=torch.Generator().manual_seed(1))
    for a, b, c in zip(first.parameters(), second.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert a.ndim == 1 or not torch.equal(a, c) or a.abs().sum() == 0


def test_batch_order_and_joining_change_nothing():
    network = TBGAT("paper").requires_grad_(False)
    _, seen = walk(mixed_instances(2), steps=3)
    joined = Observation.concatenate(seen)
    together = network(joined)
    apart = torch.cat([network(o) for o in seen])
    torch.testing.assert_close(together, apart, rtol=TOLERANCE, atol=TOLERANCE)
    order = np.random.default_rng(0).permutation(len(joined))
    shuffled = joined.select(order)
    pieces = [together[joined.move_offsets[b] : joined.move_offsets[b + 1]] for b in order]
    torch.testing.assert_close(network(shuffled), torch.cat(pieces), rtol=TOLERANCE, atol=TOLERANCE)


def test_deep_and_shallow_networks(observation):
    for layers in (1, 2, 4):
        config = NetworkConfig(heads=2, width=8, layers=layers)
        network = TBGAT(config)
        scores = network(observation)
        expected = PygNetwork(network)(PygState.of(observation))
        torch.testing.assert_close(scores, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_learns_a_preference():
    """A few steps of gradient ascent on one move's probability raise it."""
    from tbgat.policy.moves import log_probabilities

    network = TBGAT("tiny")
    seen = walk(mixed_instances(3), steps=2, names=network.config.move_features)[1][-1]
    state = int(np.argmax(seen.num_moves))
    target = int(seen.move_offsets[state + 1]) - 1
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    before = log_probabilities(network(seen), seen.move_offsets)[target].item()
    for _ in range(20):
        loss = functional.softplus(-log_probabilities(network(seen), seen.move_offsets)[target])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    after = log_probabilities(network(seen), seen.move_offsets)[target].item()
    assert after > before + 0.5


def test_networks_can_be_copied(observation):
    network = TBGAT("paper")
    torch.testing.assert_close(copy.deepcopy(network)(observation), network(observation))
