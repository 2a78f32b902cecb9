"""Scoring without gradients on a CPU: the same network, compiled, with memory of the last step.

What makes it fast, all of it exact:

- Layer 1 mixes three raw features per head before its product.
- A swap leaves much of the graph as it was. The product of layer 2, nearly all of the work, is
  computed again only for nodes whose neighbourhood changed.
- The last layer is computed at the operations of the candidate moves; its mean over a graph is the
  product of a mean.
- Attention, bias and ELU are one pass; all buffers are kept, in pieces that fit the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch

from tbgat.errors import UsageError
from tbgat.graph.state import GraphBatch
from tbgat.policy.features import observe, observe_moves, training_scale
from tbgat.policy.network import TBGAT
from tbgat.policy.prepared import PreparedGraphs, PreparedNetwork
from tbgat.policy.run import Moves, Run
from tbgat.policy.threads import single_threaded, together

__all__ = ["MoveScores", "Scorer"]


@dataclass(frozen=True, slots=True)
class MoveScores:
    """Scores of the moves of all solutions.

    Attributes
    ----------
    scores
        Flat, one per move.
    offsets
        Moves of solution b are ``offsets[b] .. offsets[b + 1] - 1``.
    u, v
        The operations of each move.
    """

    scores: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.int32]
    u: npt.NDArray[np.int32]
    v: npt.NDArray[np.int32]


class Scorer:
    """Scores the moves of one batch of solutions, step after step.

    The weights are read when it is made and by :meth:`refresh`. It notices by itself which parts of
    the graphs changed since the last call.

    Parameters
    ----------
    network
        On the CPU in float32 the compiled path runs; anything else goes through
        :meth:`TBGAT.forward` on the network's device.
    batch
        The solutions.
    threads
        Threads that share the work; scores do not depend on it but for rounding.
    bf16
        Compute the products of the inner layers in bfloat16, which pays on hardware that has it;
        elsewhere it is emulated and slow.
    """

    def __init__(
        self, network: TBGAT, batch: GraphBatch, *, threads: int = 1, bf16: bool = False
    ) -> None:
        if threads < 1:
            raise UsageError(f"threads must be 1 or more, got {threads}")
        self.network, self.batch = network, batch
        self._bf16 = bf16
        self._compiled: _Compiled | None = None
        if network.runs_compiled:
            self._compiled = _Compiled(network, batch, threads, bf16)

    def __call__(self, best: npt.ArrayLike | None = None) -> MoveScores:
        """Score the moves of the batch, whose levels and moves must be up to date.

        Parameters
        ----------
        best
            Smallest makespan so far per solution; the current one if not given.
        """
        if self._compiled is not None:
            return self._compiled(best)
        seen = observe(self.batch, self.network.config.move_features, best)
        with torch.inference_mode():
            scores = self.network(seen, self._bf16).float().cpu().numpy()
        return MoveScores(scores, seen.move_offsets, seen.move_u, seen.move_v)

    def refresh(self) -> None:
        """Read the network's weights again, after they changed."""
        if self._compiled is not None:
            self._compiled.refresh(self.network)


class _Compiled:
    """The compiled path of :class:`Scorer`."""

    def __init__(self, network: TBGAT, batch: GraphBatch, threads: int, bf16: bool) -> None:
        self.batch, self.threads = batch, threads
        self.names = network.config.move_features
        g = batch.arrays
        self.scale = training_scale(g.duration, g.offset)
        self.weights = PreparedNetwork(network, bf16)
        self.graphs = PreparedGraphs(batch, self.scale, self.weights)
        # Many graphs: a run of them per thread. Few: the threads share one run.
        self.runs = [
            Run(self.weights, self.graphs, begin, end)
            for begin, end in _cut(
                self.graphs.node_offset, threads if len(batch) >= 4 * threads else 1
            )
        ]

    def __call__(self, best: npt.ArrayLike | None) -> MoveScores:
        at, offsets, features = observe_moves(self.batch, self.names, best, self.scale)
        g = self.batch.arrays
        scores = np.empty(len(at), dtype=np.float32)
        moves = Moves(offsets, g.move_u[at], g.move_v[at], features, scores)
        with single_threaded():
            if len(self.runs) > 1:
                together([partial(run.alone, moves) for run in self.runs])
            elif self.threads > 1:
                self.runs[0].shared(moves, self.threads, together)
            else:
                self.runs[0].alone(moves)
        return MoveScores(scores, offsets, moves.u, moves.v)

    def refresh(self, network: TBGAT) -> None:
        """Take new weights; nothing computed with the old ones is used again."""
        self.weights.read(network)
        self.graphs.forget()


def _cut(node_offset: npt.NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """Cut the graphs into at most ``count`` runs of about equal size."""
    graphs = len(node_offset) - 1
    wanted = node_offset[-1] * np.arange(1, count) / count
    return list(pairwise(sorted({0, graphs, *np.searchsorted(node_offset, wanted).tolist()})))
