"""One step of inference for a run of graphs, on one thread or shared by several."""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.kernels import (
    activate_mixed,
    attend_and_activate,
    last_layer,
    look,
    mix_features,
    put_rows,
)
from tbgat.policy.network import RAW_FEATURES
from tbgat.policy.prepared import PreparedGraphs, PreparedNetwork, Scratch, affine

__all__ = ["Moves", "Run"]

# Nodes per piece: their hidden rows in `paper` take 0.8 MB, about what a core keeps close.
PIECE_NODES = 420
# Above this share of changed nodes all are computed: rows then need no copying.
EVERY_SHARE = 0.9

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Together = Callable[[Sequence[Callable[[], Any]]], list[Any]]


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves of some graphs: those of the i-th are ``offsets[i] .. offsets[i + 1] - 1``.

    ``u`` and ``v`` are operations of the batch; ``scores`` is to be filled.
    """

    offsets: Int32
    u: Int32
    v: Int32
    features: Float32
    scores: Float32

    def of_graphs(self, begin: int, end: int) -> Moves:
        """Moves of graphs ``begin .. end - 1``, sharing memory."""
        a, b = self.offsets[begin], self.offsets[end]
        offsets = self.offsets[begin : end + 1] - a
        return Moves(offsets, self.u[a:b], self.v[a:b], self.features[a:b], self.scores[a:b])


@dataclass(frozen=True, slots=True)
class _Piece:
    """Graphs ``begin .. end - 1`` and their nodes."""

    begin: int
    end: int
    first: int
    nodes: int


@dataclass(frozen=True, slots=True)
class _Rows:
    """Output of layer 1 for some nodes: how many, whether all, the rows and whose they are."""

    count: int
    every: bool
    hidden: Tensor
    index: npt.NDArray[np.int64]


class Run:
    """Graphs ``begin .. end - 1`` of a batch, with the buffers their scoring needs."""

    def __init__(
        self, network: PreparedNetwork, graphs: PreparedGraphs, begin: int, end: int
    ) -> None:
        self._network, self._graphs = network, graphs
        self._begin, self._end = begin, end
        self._pieces = list(_pieces(graphs.node_offset, begin, end))
        self._scratch = [Scratch(), Scratch()]

    def alone(self, batch_moves: Moves) -> None:
        """Score the moves of these graphs, given those of the whole batch, on this thread."""
        moves = batch_moves.of_graphs(self._begin, self._end)
        mixed = self._mixed(moves)
        with torch.inference_mode():
            for piece in self._pieces:
                for view in (0, 1):
                    rows = self._open(piece, view)
                    self._multiply(piece, view, rows, 0, rows.count)
                    self._close(piece, view, rows, moves, mixed)
            self._score(moves, mixed)

    def shared(self, batch_moves: Moves, threads: int, together: Together) -> None:
        """Do the same on several threads: one per view, and equal shares of the products."""
        moves = batch_moves.of_graphs(self._begin, self._end)
        mixed = self._mixed(moves)
        for piece in self._pieces:
            rows = together([partial(self._open, piece, view) for view in (0, 1)])
            total = rows[0].count + rows[1].count
            cuts = pairwise(total * i // threads for i in range(threads + 1))
            together([partial(self._multiply_both, piece, rows, a, b) for a, b in cuts])
            together([partial(self._close, piece, v, rows[v], moves, mixed) for v in (0, 1)])
        with torch.inference_mode():
            self._score(moves, mixed)

    def _mixed(self, moves: Moves) -> list[Tensor]:
        """Inputs of the last product per view: first operations of moves, second ones, graphs."""
        rows = 2 * len(moves.u) + self._end - self._begin
        inputs = self._network.layers[-1].weight.shape[1]
        return [scratch.take("mixed", rows, inputs) for scratch in self._scratch]

    def _open(self, piece: _Piece, view: int) -> _Rows:
        """Layer 1 for the nodes of a piece whose neighbourhood changed."""
        graphs, layer, scratch = self._graphs, self._network.layers[0], self._scratch[view]
        v = graphs.views[view]
        stale = look(
            graphs.arrays, v.links, view, piece.begin, piece.end, graphs.scale, v.features,
            v.fresh, v.stale,
        )  # fmt: skip
        every = graphs.remembered is None or stale > EVERY_SHARE * piece.nodes
        mixed = scratch.take("raw", piece.nodes, RAW_FEATURES * layer.heads).numpy()
        hidden = scratch.take("hidden", piece.nodes, layer.outputs)
        index = scratch.index(piece.nodes)
        count = mix_features(
            v.links, piece.begin, piece.end, v.features, v.stale, every, layer.logits[view],
            mixed, index,
        )  # fmt: skip
        activate_mixed(mixed, count, layer.first_weight[view], layer.bias[view], hidden.numpy())
        return _Rows(int(count), every, hidden, index)

    def _multiply_both(self, piece: _Piece, rows: Sequence[_Rows], a: int, b: int) -> None:
        """The product of layer 2 for rows a to b of both views, counted through."""
        first = rows[0].count
        self._multiply(piece, 0, rows[0], min(a, first), min(b, first))
        self._multiply(piece, 1, rows[1], max(a - first, 0), max(b - first, 0))

    def _multiply(self, piece: _Piece, view: int, rows: _Rows, a: int, b: int) -> None:
        """The product of layer 2 for rows a to b."""
        if a >= b or len(self._network.layers) == 2:
            return
        values = self._values(piece, view)
        with torch.inference_mode():
            if rows.every:
                self._network.product(1, view, rows.hidden[a:b], values[a:b])
                return
            fresh = self._scratch[view].take("fresh", piece.nodes, values.shape[1])[a:b]
            self._network.product(1, view, rows.hidden[a:b], fresh)
        put_rows(fresh.numpy(), rows.index[a:b], b - a, piece.first, values.numpy())

    def _values(self, piece: _Piece, view: int) -> Tensor:
        """Where the product of layer 2 of a piece is kept."""
        remembered = self._graphs.remembered
        if remembered is not None:
            return remembered[view][piece.first : piece.first + piece.nodes]
        columns = self._network.layers[1].wide.shape[2]
        return self._scratch[view].take("values", piece.nodes, columns)

    def _close(
        self, piece: _Piece, view: int, rows: _Rows, moves: Moves, mixed: Sequence[Tensor]
    ) -> None:
        """Everything behind the product of layer 2, up to the product of the last layer."""
        graphs, scratch, layers = self._graphs, self._scratch[view], self._network.layers
        links, nodes = graphs.views[view].links, piece.nodes
        hidden = rows.hidden
        for depth, layer in enumerate(layers[1:-1], start=1):
            if depth == 1:
                values = self._values(piece, view)
            else:
                values = scratch.take(f"values {depth}", nodes, layer.wide.shape[2])
                self._network.product(depth, view, hidden, values)
            hidden = scratch.take(f"hidden {depth}", nodes, layer.outputs)
            attend_and_activate(
                links, piece.begin, piece.end, layer.heads, values.numpy(), layer.bias[view],
                hidden.numpy(),
            )  # fmt: skip
        last_layer(
            links, piece.begin, piece.end, hidden.numpy(), layers[-1].logits_by_part[view],
            scratch.take("parts", nodes, 2).numpy(), scratch.take("shares", nodes, 4).numpy(),
            self._begin, moves.offsets, moves.u, moves.v, mixed[view].numpy(),
        )  # fmt: skip

    def _score(self, moves: Moves, mixed: Sequence[Tensor]) -> None:
        """The product of the last layer, and the scoring network."""
        if len(moves.u) == 0:
            return
        last = self._network.layers[-1]
        embedding = [affine(mixed[v], last.weight[v], last.bias_rows[v]) for v in (0, 1)]
        counts = torch.from_numpy(np.diff(moves.offsets))
        found = self._network.scoring(embedding, counts, torch.from_numpy(moves.features))
        moves.scores[:] = found.numpy()


def _pieces(node_offset: npt.NDArray[np.int64], begin: int, end: int) -> Iterator[_Piece]:
    """Cut graphs into pieces of at most :data:`PIECE_NODES` nodes, but one graph at least."""
    while begin < end:
        room = node_offset[begin] + PIECE_NODES
        stop = int(np.searchsorted(node_offset, room, side="right")) - 1
        stop = min(end, max(stop, begin + 1))
        first = int(node_offset[begin])
        yield _Piece(begin, stop, first, int(node_offset[stop]) - first)
        begin = stop
