"""Weights, memory and buffers laid out for the compiled step of inference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.basis import coordinates_pay, example_solutions, leading_directions
from tbgat.policy.differentiable import first_layer_of
from tbgat.policy.features import Float32, Int32, Int64
from tbgat.policy.network import RAW_FEATURES, TBGAT
from tbgat.policy.product import PANEL, packed, padded
from tbgat.policy.threads import single_threaded

__all__ = ["LayerWeights", "Memory", "Rows", "ScoringWeights", "Seen"]

# Above this the products of layer 2 are not remembered from step to step.
MEMORY_BYTES = 1 << 30

UInt8 = npt.NDArray[np.uint8]


class Seen(NamedTuple):
    """What the network sees of :class:`~tbgat.graph.arrays.Arrays`, under the same names.

    Every array that a compiled function is given costs time to compile.
    """

    offset: Int64
    job_start: Int64
    duration: Int64
    machine_pred: Int32
    machine_succ: Int32
    est: Int64
    tail: Int64
    level: Int32
    back_level: Int32
    sink_level: Int32
    makespan: Int64


class LayerWeights(NamedTuple):
    """Weights of the attention layers, copied; "packed" and "padded" as in :mod:`.product`."""

    heads: int
    first_logits: Float32  # 2 x 3 x 2 x heads: view, raw feature, (tail part, head part)
    first: Float32  # 2 x 3 x outputs
    first_bias: Float32  # 2 x outputs
    basis: Float32  # 2 x packed: directions of layer 1's outputs; no panels: none
    reduced: Float32  # 2 x packed: the product of layer 2 for coordinates along those
    inner: Float32  # inner layers x 2 x packed: values, then the parts of the logits
    inner_bias: Float32  # inner layers x 2 x outputs
    last_logits: Float32  # 2 x 2 x inputs
    zeros: Float32  # a bias for products without

    @classmethod
    def of(cls, network: TBGAT, *, lowrank: bool = False) -> LayerWeights:
        """Copy the weights as they are now; if ``lowrank``, with a basis where that pays."""
        first, *inner, last = network.layers
        heads, outputs = network.config.heads, first.weight.shape[2]
        columns = outputs + 2 * heads
        with torch.no_grad():
            wide = [torch.cat([layer.weight, layer.logit_weights()], dim=2) for layer in inner]
            stacked = torch.stack(wide) if inner else torch.empty(0, 2, outputs, columns)
            biases = torch.stack([i.bias for i in inner]) if inner else torch.empty(0, 2, outputs)
            basis, reduced = torch.empty(2, outputs, 0), torch.empty(2, 0, columns)
            if lowrank and inner and coordinates_pay(outputs):
                with single_threaded():
                    rows = first_layer_of(network.layers, example_solutions())
                    basis = leading_directions(rows)
                reduced = basis.transpose(1, 2) @ stacked[0]
            return cls(
                heads=heads,
                first_logits=_copy(first.logit_weights().reshape(2, RAW_FEATURES, 2, heads)),
                first=_copy(first.weight),
                first_bias=_copy(first.bias),
                basis=packed(basis),
                reduced=packed(reduced),
                inner=packed(stacked),
                inner_bias=_copy(biases),
                last_logits=_copy(last.logit_weights().transpose(1, 2)),
                zeros=padded(np.zeros(columns)),
            )


class ScoringWeights(NamedTuple):
    """Weights of the last product and of the scoring network, copied."""

    last: Float32  # 2 x packed
    last_bias: Float32  # 2 x padded width
    pair: Float32  # packed; the scoring network's first product, split by what it multiplies
    graph: Float32  # packed
    graph_bias: Float32  # padded
    features: Float32  # move features x padded
    rest: tuple[Float32, ...]  # packed; the scoring network's further layers
    rest_bias: tuple[Float32, ...]  # padded
    shortcut: Float32  # move features; zeros if the network has none
    zeros: Float32  # padded; no bias

    @classmethod
    def of(cls, network: TBGAT) -> ScoringWeights:
        """Copy the weights as they are now."""
        config, features = network.config, len(network.config.move_features)
        last, (first, *rest) = network.layers[-1], network.linears
        with torch.no_grad():
            parts = torch.split(first.weight, [2 * config.width] * 4 + [features], dim=1)
            return cls(
                last=packed(last.weight),
                last_bias=padded(last.bias),
                pair=packed(torch.cat([parts[0], parts[2]], dim=1).T),
                graph=packed((parts[1] + parts[3]).T),
                graph_bias=padded(first.bias),
                features=padded(parts[4].T),
                rest=tuple(packed(linear.weight.T) for linear in rest),
                rest_bias=tuple(padded(linear.bias) for linear in rest),
                shortcut=_copy(network.shortcut if config.shortcut else torch.zeros(features)),
                zeros=padded(np.zeros(config.hidden[0])),
            )


class Memory(NamedTuple):
    """What is kept of a batch from step to step, and space to work in.

    Where threads take whole graphs each has a slot of its own; where they share graphs there is a
    slot per view.
    """

    features: Float32  # 2 x nodes x 3: raw features as last seen
    fresh: UInt8  # 2 x nodes
    stale: UInt8  # 2 x nodes
    changed: Int32  # 2 x nodes: changed nodes of each graph, numbered within it, from its first on
    counts: Int64  # 2 x graphs: how many
    values: Float32  # 2 x nodes x columns: product of layer 2; no nodes: not remembered
    raw: Float32  # slots x rows x 3 * heads
    hidden: Float32  # slots x rows x outputs
    coordinates: Float32  # slots x rows x directions
    spare: Float32  # slots x rows x columns: products that are not remembered
    parts: Float32  # slots x rows x 2
    shares: Float32  # slots x rows x 4

    @classmethod
    def of(cls, weights: LayerWeights, nodes: int, graphs: int, slots: int, rows: int) -> Memory:
        """Make the memory of a batch, which has seen nothing: no feature equals NaN."""
        depth, _, panels, outputs, _ = weights.inner.shape
        columns = PANEL * panels
        remember = depth > 0 and 2 * 4 * nodes * columns <= MEMORY_BYTES
        spare = 0 if depth <= remember else rows
        return cls(
            features=np.full((2, nodes, RAW_FEATURES), np.nan, dtype=np.float32),
            fresh=np.zeros((2, nodes), dtype=np.uint8),
            stale=np.zeros((2, nodes), dtype=np.uint8),
            changed=np.empty((2, nodes), dtype=np.int32),
            counts=np.zeros((2, graphs), dtype=np.int64),
            values=_empty(2, nodes if remember else 0, columns),
            raw=_empty(slots, rows, RAW_FEATURES * weights.heads),
            hidden=_empty(slots, rows, outputs),
            coordinates=_empty(slots, rows, PANEL * weights.basis.shape[1]),
            spare=_empty(slots, spare, columns),
            parts=_empty(slots, rows, 2),
            shares=_empty(slots, rows, 4),
        )

    def forget(self) -> None:
        """Let everything count as changed."""
        self.features.fill(np.nan)


class Rows(NamedTuple):
    """The moves of a batch of graphs, and space to score them; more of it than there are moves.

    Embedded rows: u of all moves, v of all moves, graphs.
    """

    starts: Int32  # graphs + 1: moves of graph b are starts[b] .. starts[b + 1] - 1
    u: Int32  # moves: operations of the batch
    v: Int32  # moves
    features: Float32  # moves x move features
    scores: Float32  # moves
    mixed: Float32  # 2 x embedded rows x inputs of the last layer
    embedded: Float32  # 2 x embedded rows x padded width
    pair: Float32  # moves x 4 * width
    graph: Float32  # graphs x 2 * width
    by_graph: Float32  # graphs x padded
    x: Float32  # 2 x moves x padded: layers of the scoring network, in turn
    order: Int32  # 0, 1, 2, ...

    @classmethod
    def of(cls, weights: ScoringWeights, moves: int, graphs: int, nodes: int) -> Rows:
        """Make space; ``nodes`` is that of the largest graph."""
        count = 2 * moves + graphs
        widest = max(len(weights.graph_bias), *(len(bias) for bias in weights.rest_bias))
        return cls(
            starts=np.zeros(graphs + 1, dtype=np.int32),
            u=np.zeros(moves, dtype=np.int32),
            v=np.zeros(moves, dtype=np.int32),
            features=_empty(moves, len(weights.features)),
            scores=_empty(moves),
            mixed=_empty(2, count, weights.last.shape[2]),
            embedded=_empty(2, count, weights.last_bias.shape[1]),
            pair=_empty(moves, weights.pair.shape[1]),
            graph=_empty(graphs, weights.graph.shape[1]),
            by_graph=_empty(graphs, len(weights.graph_bias)),
            x=_empty(2, moves, widest),
            order=np.arange(max(count, nodes), dtype=np.int32),
        )


def _copy(tensor: Tensor) -> Float32:
    return np.array(tensor.detach().numpy(), order="C")


def _empty(*shape: int) -> Float32:
    return np.empty(shape, dtype=np.float32)
