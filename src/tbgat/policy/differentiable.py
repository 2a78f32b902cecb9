"""The layers of the network with gradients on a CPU in float32, compiled both ways.

What the general code in :mod:`tbgat.policy.attention` does in two dozen passes over wide arrays is
here one pass forward and one backward. Products stay with PyTorch.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def"
# Calls into compiled functions and the static methods autograd asks for.

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.attention import GraphAttention
from tbgat.policy.backward import attend_backward, first_backward, last_backward
from tbgat.policy.basis import coordinates_pay, leading_directions
from tbgat.policy.features import Observation
from tbgat.policy.kernels import attend, first_layer, last_layer
from tbgat.policy.links import Links, links_of_observation
from tbgat.policy.repeats import add_copies, copy_rows, find_repeats

__all__ = ["embed_moves_and_graphs", "first_layer_of"]

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

# Above this share of rows that differ, looking them up costs more than it saves.
MANY = 0.95


def embed_moves_and_graphs(
    layers: list[GraphAttention], observation: Observation, products: str = "float32"
) -> Tensor:
    """Embed the operations of all moves and all graphs: 2 x (2 * moves + graphs) x width.

    Rows: the first operations of all moves, their second ones, the graphs. At least two layers.
    How the products of the inner layers are computed: :data:`~tbgat.policy.network.PRODUCTS`.
    """
    links = links_of_observation(observation)
    first, *inner, last = layers
    x = _First.apply(first.weight, first.logit_weights(), first.bias, links, observation)
    for depth, layer in enumerate(inner):
        if products == "bfloat16":
            # The logits are few and steer everything: they stay in float32.
            values = torch.bmm(x.bfloat16(), layer.weight.bfloat16()).float()
            result = torch.cat([values, torch.bmm(x, layer.logit_weights())], dim=2)
        else:
            weight = torch.cat([layer.weight, layer.logit_weights()], dim=2)
            if depth > 0:
                result = x.bmm(weight)
            elif products == "lowrank" and coordinates_pay(x.shape[2]):
                result = _Reduced.apply(x, weight)
            else:
                result = _product_of_first(x, weight, observation)
        x = _Attend.apply(result, layer.bias, layer.heads, links)
    mixed = _Last.apply(x, last.logit_weights(), links, observation)
    return torch.baddbmm(last.bias.unsqueeze(1), mixed, last.weight)


def first_layer_of(layers: list[GraphAttention], observation: Observation) -> Tensor:
    """What layer 1 gives with its ELU: 2 x nodes x outputs."""
    first, links = layers[0], links_of_observation(observation)
    given = first.weight, first.logit_weights(), first.bias, links, observation
    return cast(Tensor, _First.apply(*given))


class _First(torch.autograd.Function):
    """Layer 1 with its ELU: 2 x nodes x outputs."""

    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        logits: Tensor,
        bias: Tensor,
        links: tuple[Links, Links],
        observation: Observation,
    ) -> Tensor:
        features = _node_features(observation)
        nodes, heads = features.shape[1], logits.shape[2] // 2
        hidden = torch.empty(2, nodes, weight.shape[2])
        mixed = np.empty((2, nodes, 3 * heads), dtype=np.float32)
        by_part = logits.detach().reshape(2, 3, 2, heads).numpy()
        rows = np.empty(nodes, dtype=np.int32)
        w, b = weight.detach().numpy(), bias.detach().numpy()
        for view, link in enumerate(links):
            first_layer(
                link, features[view], by_part[view], w[view], b[view], rows, mixed[view],
                hidden[view].numpy(),
            )  # fmt: skip
        ctx.save_for_backward(weight, logits, hidden)
        ctx.links, ctx.features, ctx.mixed = links, features, mixed
        return hidden

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        weight, logits, hidden = ctx.saved_tensors
        heads = logits.shape[2] // 2
        grad_hidden = grad.contiguous().numpy()
        by_part = logits.detach().reshape(2, 3, 2, heads).numpy()
        grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros(2, weight.shape[2])
        grad_logits = np.zeros_like(by_part)
        for view, link in enumerate(ctx.links):
            first_backward(
                link, ctx.features[view], by_part[view], ctx.mixed[view],
                weight.detach()[view].numpy(), hidden.detach()[view].numpy(), grad_hidden[view],
                grad_weight[view].numpy(), grad_bias[view].numpy(), grad_logits[view],
            )  # fmt: skip
        return grad_weight, torch.from_numpy(grad_logits).view(2, 3, -1), grad_bias, None, None


def _product_of_first(x: Tensor, weight: Tensor, observation: Observation) -> Tensor:
    """Product of the first layer's output, each row once that successive states have in common."""
    offsets = observation.operation_offsets + 2 * np.arange(len(observation) + 1)
    rows, copy_of = np.empty((2, 2, x.shape[1]), dtype=np.int64)
    given = x.detach().numpy()
    counts = [find_repeats(given[v], offsets, rows[v], copy_of[v]) for v in range(2)]
    if sum(counts) > MANY * copy_of.size:
        return torch.bmm(x, weight)
    return cast(
        Tensor, _Product.apply(x, weight, [rows[v, : counts[v]] for v in range(2)], copy_of)
    )


class _Product(torch.autograd.Function):
    """Batched product in which rows with equal inputs share one computation, both ways."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, rows: list[Int64], copy_of: Int64) -> Tensor:
        result = torch.empty(2, x.shape[1], weight.shape[2])
        distinct = [x[v].index_select(0, torch.from_numpy(rows[v])) for v in range(2)]
        for v in range(2):
            copy_rows(distinct[v].mm(weight[v]).numpy(), copy_of[v], result[v].numpy())
        ctx.save_for_backward(weight, *distinct)
        ctx.rows, ctx.copy_of = rows, copy_of
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        weight, *distinct = ctx.saved_tensors
        grad_x = torch.zeros(2, grad.shape[1], weight.shape[1])
        grad_weight = torch.empty_like(weight)
        given = grad.contiguous().numpy()
        for v in range(2):
            total = torch.zeros(len(ctx.rows[v]), grad.shape[2])
            add_copies(given[v], ctx.copy_of[v], total.numpy())
            torch.mm(distinct[v].T, total, out=grad_weight[v])
            # Copies were computed from the same inputs as the row they are copies of: that one
            # takes the gradient of all.
            grad_x[v].index_copy_(0, torch.from_numpy(ctx.rows[v]), total.mm(weight[v].T))
        return grad_x, grad_weight, None, None


class _Reduced(torch.autograd.Function):
    """Batched product of layer 1's output, by its coordinates in a few directions.

    The gradient of the weights needs no more than those either. That of the input is the exact one:
    new weights may lead into directions that nothing has had before.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        basis = leading_directions(x)
        coordinates = x.bmm(basis)
        ctx.save_for_backward(weight, basis, coordinates)
        return coordinates.bmm(basis.transpose(1, 2).bmm(weight))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        weight, basis, coordinates = ctx.saved_tensors
        grad_weight = basis.bmm(coordinates.transpose(1, 2).bmm(grad))
        return grad.bmm(weight.transpose(1, 2)), grad_weight


class _Attend(torch.autograd.Function):
    """Attention, bias and ELU of an inner layer behind its product."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, bias: Tensor, heads: int, links: tuple[Links, Links]
    ) -> Tensor:
        hidden = torch.empty(2, values.shape[1], bias.shape[1])
        v, b = values.detach().numpy(), bias.detach().numpy()
        for view, link in enumerate(links):
            attend(link, heads, v[view], b[view], hidden[view].numpy())
        ctx.save_for_backward(values, hidden)
        ctx.heads, ctx.links = heads, links
        return hidden

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, hidden = (t.detach().numpy() for t in ctx.saved_tensors)
        # Overwritten below: this output has one reader, so nobody else holds the gradient.
        grad_hidden = grad.contiguous().numpy()
        grad_values, grad_bias = torch.zeros(values.shape), torch.zeros(2, hidden.shape[2])
        for view, link in enumerate(ctx.links):
            attend_backward(
                link, ctx.heads, values[view], hidden[view], grad_hidden[view],
                grad_values[view].numpy(), grad_bias[view].numpy(),
            )  # fmt: skip
        return grad_values, grad_bias, None, None


class _Last(torch.autograd.Function):
    """Inputs of the last product: 2 x (2 * moves + graphs) x inputs."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        logits: Tensor,
        links: tuple[Links, Links],
        observation: Observation,
    ) -> Tensor:
        _, nodes, inputs = hidden.shape
        moves, graphs = len(observation.move_u), len(observation)
        mixed = torch.empty(2, 2 * moves + graphs, inputs)
        h, weights = hidden.detach().numpy(), _parts_first(logits)
        parts, shares = _scratch(nodes, 2), _scratch(nodes, 4)
        for view, link in enumerate(links):
            last_layer(
                link, h[view], weights[view], parts, shares, observation.move_offsets,
                observation.move_u, observation.move_v, mixed[view].numpy(),
            )  # fmt: skip
        ctx.save_for_backward(hidden, logits)
        ctx.links, ctx.observation = links, observation
        return mixed

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        hidden, logits = ctx.saved_tensors
        _, nodes, inputs = hidden.shape
        seen: Observation = ctx.observation
        h, weights = hidden.detach().numpy(), _parts_first(logits)
        parts, shares, pulls = _scratch(nodes, 2), _scratch(nodes, 4), _scratch(nodes, 5)
        grad_mixed = grad.contiguous().numpy()
        grad_hidden, grad_logits = torch.empty_like(hidden), torch.zeros(2, 2, inputs)
        for view, link in enumerate(ctx.links):
            last_backward(
                link, h[view], weights[view], parts, shares, pulls, seen.move_offsets,
                seen.move_u, seen.move_v, grad_mixed[view], grad_hidden[view].numpy(),
                grad_logits[view].numpy(),
            )  # fmt: skip
        return grad_hidden, grad_logits.transpose(1, 2), None, None


def _parts_first(logits: Tensor) -> Float32:
    """2 x inputs x (tail part, head part), for one head, as 2 x 2 x inputs."""
    return logits.detach().transpose(1, 2).contiguous().numpy()


def _scratch(rows: int, columns: int) -> Float32:
    return np.empty((rows, columns), dtype=np.float32)


def _node_features(observation: Observation) -> Float32:
    """Raw features of all nodes of both views, graph by graph: operations, root, sink."""
    count, graphs = len(observation.features), len(observation)
    offset = observation.operation_offsets.astype(np.int64)
    graph = np.repeat(np.arange(graphs), np.diff(offset))
    node = np.arange(count) + 2 * graph
    sink = offset[1:] + 2 * np.arange(graphs) + 1
    features = np.zeros((2, count + 2 * graphs, 3), dtype=np.float32)
    features[0, node] = observation.features[:, [0, 1, 3]]
    features[1, node] = observation.features[:, [0, 2, 4]]
    features[0, sink, 1] = observation.makespans
    features[1, sink - 1, 1] = observation.makespans
    features[:, sink, 2] = 1.0
    return features
