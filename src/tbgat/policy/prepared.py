"""Weights, graphs and buffers laid out for the compiled functions of inference."""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.graph.compiled import announce_compilation
from tbgat.graph.state import GraphBatch
from tbgat.policy.attention import GraphAttention
from tbgat.policy.kernels import (
    add_product_of_few,
    attend_and_activate,
    last_layer,
    look,
    mix_features,
)
from tbgat.policy.links import Links, links_of_batch
from tbgat.policy.network import RAW_FEATURES, TBGAT

__all__ = ["PreparedGraphs", "PreparedNetwork", "Scratch", "affine"]

# Up to so many rows the plain loop beats the library.
FEW = 10
# Above this the products of layer 2 are not remembered from step to step.
MEMORY_BYTES = 1 << 30

Int64 = npt.NDArray[np.int64]


class Layer:
    """Weights of one attention layer, laid out for the compiled functions; a row per view."""

    def __init__(self, layer: GraphAttention) -> None:
        with torch.no_grad():
            logits = layer.logit_weights()
            self.heads = layer.heads
            self.outputs = layer.heads * layer.width
            self.weight = layer.weight.detach().clone()
            self.first_weight = self.weight.numpy()
            self.rounded = self.weight.bfloat16()
            # The columns behind the values give the logits.
            self.wide = torch.cat([self.weight, logits], dim=2).contiguous()
            self.logits = logits.reshape(2, layer.inputs, 2, layer.heads).numpy()
            self.logits_by_part = logits.transpose(1, 2).contiguous().numpy()
            self.bias = layer.bias.detach().clone().numpy()
            self.bias_rows = torch.from_numpy(self.bias)


class View:
    """One view of the batch: its links, and what was seen of it last time."""

    def __init__(self, links: Links) -> None:
        nodes = len(links.job)
        self.links = links
        self.features = np.empty((nodes, RAW_FEATURES), dtype=np.float32)
        self.fresh = np.zeros(nodes, dtype=np.uint8)
        self.stale = np.zeros(nodes, dtype=np.uint8)
        self.forget()

    def forget(self) -> None:
        """Let everything count as changed: nothing equals NaN."""
        self.features.fill(np.nan)


class Scratch:
    """Buffers of one thread and view, grown when need be and kept."""

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}
        self._index = np.empty(0, dtype=np.int64)

    def take(self, name: str, rows: int, columns: int) -> Tensor:
        """Give the buffer of that name, content undefined."""
        kept = self._kept.get(name)
        if kept is None or kept.shape[0] < rows:
            kept = self._kept[name] = torch.empty(rows, columns)
        return kept[:rows]

    def index(self, rows: int) -> Int64:
        """Give the buffer of node numbers."""
        if len(self._index) < rows:
            self._index = np.empty(rows, dtype=np.int64)
        return self._index


class PreparedNetwork:
    """All weights of a network, copied; ``bf16`` says how inner products are computed."""

    def __init__(self, network: TBGAT, bf16: bool = False) -> None:
        self.bf16 = bf16
        self.read(network)

    def read(self, network: TBGAT) -> None:
        """Copy the weights as they are now."""
        self.layers = [Layer(layer) for layer in network.layers]
        self.scoring = Scoring(network)

    def product(self, depth: int, view: int, rows: Tensor, out: Tensor) -> None:
        """Multiply rows by the weights of an inner layer: values, then parts of the logits."""
        layer = self.layers[depth]
        if not self.bf16:
            torch.mm(rows, layer.wide[view], out=out)
            return
        # The logits are few and steer everything: they stay in float32.
        out[:, : layer.outputs] = torch.mm(rows.bfloat16(), layer.rounded[view])
        out[:, layer.outputs :] = torch.mm(rows, layer.wide[view, :, layer.outputs :])


class PreparedGraphs:
    """A batch of graphs with what inference remembers of them from step to step.

    Attributes
    ----------
    node_offset
        Nodes of graph b are ``node_offset[b] .. node_offset[b + 1] - 1``.
    remembered
        Per view the product of layer 2 of every node; None if there is no such layer or too little
        memory.
    """

    def __init__(
        self, batch: GraphBatch, scale: npt.NDArray[np.float64], network: PreparedNetwork
    ) -> None:
        announce_compilation(look, mix_features, attend_and_activate, last_layer)
        self.arrays = batch.arrays
        self.scale = scale
        self.views = [View(links) for links in links_of_batch(batch)]
        self.node_offset = self.arrays.offset + 2 * np.arange(len(batch) + 1)
        self.remembered: list[Tensor] | None = None
        shape = int(self.node_offset[-1]), network.layers[1].wide.shape[2]
        if len(network.layers) > 2 and 2 * 4 * shape[0] * shape[1] <= MEMORY_BYTES:
            self.remembered = [torch.empty(shape) for _ in self.views]

    def forget(self) -> None:
        """Let everything count as changed."""
        for view in self.views:
            view.forget()


class Scoring:
    """The scoring network with its first product split by what it multiplies."""

    def __init__(self, network: TBGAT) -> None:
        first, *rest = network.linears
        node, features = 2 * network.config.width, len(network.config.move_features)
        parts = torch.split(first.weight.detach(), [node] * 4 + [features], dim=1)
        self.pair = torch.cat([parts[0], parts[2]], dim=1).T.contiguous()
        self.graph = (parts[1] + parts[3]).T.contiguous()
        self.features = parts[4].T.contiguous()
        self.bias = first.bias.detach().clone()
        self.shortcut = network.shortcut.detach().clone() if network.config.shortcut else None
        self.rest = [
            (linear.weight.detach().T.contiguous(), linear.bias.detach().clone()) for linear in rest
        ]

    def __call__(self, embedding: Sequence[Tensor], counts: Tensor, features: Tensor) -> Tensor:
        """Score moves by the embeddings of their operations and graphs.

        Parameters
        ----------
        embedding
            Per view rows x width: the first operations of all moves, their second ones, the graphs.
        counts
            Moves of each graph.
        features
            Moves x number of features.
        """
        moves = len(features)
        node = torch.cat([embedding[0], embedding[1]], dim=1)
        by_graph = affine(node[2 * moves :], self.graph, self.bias)
        x = by_graph.repeat_interleave(counts, dim=0)
        add_product(torch.cat([node[:moves], node[moves : 2 * moves]], dim=1), self.pair, x)
        if features.shape[1]:
            add_product(features, self.features, x)
        for weight, bias in self.rest:
            x = affine(x.tanh_(), weight, bias)
        scores = x.squeeze(1)
        return scores if self.shortcut is None else scores.add_(features @ self.shortcut)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return ``x @ weight + bias``."""
    if len(x) > FEW:
        return torch.addmm(bias, x, weight)
    out = bias.repeat(len(x), 1)
    add_product(x, weight, out)
    return out


def add_product(x: Tensor, weight: Tensor, out: Tensor) -> None:
    """Add ``x @ weight`` to ``out``."""
    if len(x) > FEW:
        out.addmm_(x, weight)
    else:
        add_product_of_few(x.numpy(), weight.numpy(), out.numpy())
