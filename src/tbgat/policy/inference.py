"""Scoring without gradients on a CPU: the same network, compiled, with memory of the last step.

What makes it fast, all of it exact:

- One compiled call per step holds everything, products included; threads share it inside.
- Layer 1 mixes three raw features per head before its product.
- A swap leaves much of the graph as it was. The product of layer 2, nearly all of the work, is
  computed again only for nodes whose neighbourhood changed.
- The last layer is computed at the operations of the candidate moves; its mean over a graph is the
  product of a mean.
- Attention, bias and ELU are one pass; all buffers are kept.

Only coordinates instead of layer 1's rows (``lowrank``), which are faster still, are not exact.
"""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import torch

from tbgat.errors import UsageError
from tbgat.graph.compiled import announce_compilation
from tbgat.graph.state import GraphBatch
from tbgat.policy.features import observe, observe_moves, training_scale
from tbgat.policy.links import links_of_batch
from tbgat.policy.network import TBGAT, check_products
from tbgat.policy.prepared import LayerWeights, Memory, Rows, ScoringWeights, Seen
from tbgat.policy.scoring import STAGES, score_moves
from tbgat.policy.sharing import counters

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
        On the CPU in float32 the compiled step runs; anything else goes through
        :meth:`TBGAT.forward` on the network's device.
    batch
        The solutions.
    threads
        Threads that share the work; scores do not depend on it.
    products
        How those of the inner layers, nearly all of the work, are computed; see
        :data:`~tbgat.policy.network.PRODUCTS`.
        ``lowrank`` computes that of layer 2 from the coordinates of layer 1's rows along a few
        directions (:mod:`tbgat.policy.basis`): a quarter of the work, about one part in 10,000 off.
        ``bfloat16`` goes through :meth:`TBGAT.forward`: it can pay for large batches on hardware
        that has it; elsewhere it is emulated and slow.
    """

    def __init__(
        self,
        network: TBGAT,
        batch: GraphBatch,
        *,
        threads: int = 1,
        products: str = "float32",
    ) -> None:
        if threads < 1:
            raise UsageError(f"threads must be 1 or more, got {threads}")
        check_products(products)
        self.network, self.batch = network, batch
        self._products = products
        self._compiled: _Compiled | None = None
        # Hidden units of the shortcut are for networks without a graph, which walk compiled.
        compiled = network.runs_compiled and products != "bfloat16"
        if compiled and not network.config.shortcut_units:
            self._compiled = _Compiled(network, batch, threads, products == "lowrank")

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
            scores = self.network(seen, self._products).float().cpu().numpy()
        return MoveScores(scores, seen.move_offsets, seen.move_u, seen.move_v)

    def refresh(self) -> None:
        """Read the network's weights again, after they changed."""
        if self._compiled is not None:
            self._compiled.refresh()


class _Compiled:
    """The compiled path of :class:`Scorer`."""

    def __init__(self, network: TBGAT, batch: GraphBatch, threads: int, lowrank: bool) -> None:
        announce_compilation(score_moves)
        self.network, self.batch, self.threads, self.lowrank = network, batch, threads, lowrank
        self.names = network.config.move_features
        g = batch.arrays
        self.scale = training_scale(g.duration, g.offset)
        self.seen = Seen(**{name: getattr(g, name) for name in Seen._fields})
        self.links = links_of_batch(batch)
        self._read()
        # Many graphs: threads take whole ones. Few: they share them.
        self.alone = threads == 1 or len(batch) >= 4 * threads
        nodes, self.largest = len(self.links[0].job), int(np.diff(g.offset).max()) + 2
        slots, rows = (threads, self.largest) if self.alone else (2, nodes)
        self.memory = Memory.of(self.layers, nodes, len(batch), slots, rows)
        self.rows = Rows.of(self.scoring, 0, len(batch), self.largest)
        stages = STAGES + 2 * network.config.layers
        self.shared = counters(stages)
        self.own = np.stack([counters(stages) for _ in range(threads)])
        self.number = 0
        self.helpers: list[Future[None]] = []

    def __call__(self, best: npt.ArrayLike | None) -> MoveScores:
        at, offsets, features = observe_moves(self.batch, self.names, best, self.scale)
        g, moves = self.batch.arrays, len(at)
        u, v = g.move_u[at], g.move_v[at]
        if moves > len(self.rows.scores):
            self.rows = Rows.of(self.scoring, 2 * moves, len(self.batch), self.largest)
            self._arrays_changed()
        rows = self.rows
        rows.starts[:], rows.u[:moves], rows.v[:moves] = offsets, u, v
        rows.features[:moves] = features
        if moves:
            self._call()
        return MoveScores(rows.scores[:moves].copy(), offsets, u, v)

    def _call(self) -> None:
        self.number += 1
        given = (
            self.alone, self.seen, self.links, self.scale, self.layers, self.scoring,
            self.memory, self.rows,
        )  # fmt: skip
        if self.threads > 1 and all(helper.done() for helper in self.helpers):
            pool = _helpers(self.threads - 1)
            self.helpers = [
                pool.submit(score_moves, self.shared, self.own, self.number, thread, *given)
                for thread in range(1, self.threads)
            ]
        score_moves(self.shared, self.own, self.number, 0, *given)

    def refresh(self) -> None:
        """Take new weights; nothing computed with the old ones is used again."""
        self._read()
        self.memory.forget()
        self._arrays_changed()

    def _read(self) -> None:
        self.layers = LayerWeights.of(self.network, lowrank=self.lowrank)
        self.scoring = ScoringWeights.of(self.network)

    def _arrays_changed(self) -> None:
        """Number further calls so that helpers who hold the old arrays keep away."""
        self.number = (self.number >> 32) + 1 << 32


@cache
def _helpers(threads: int) -> ThreadPoolExecutor:
    """Threads that all scorers with as many share: they start once."""
    return ThreadPoolExecutor(threads, thread_name_prefix="tbgat-policy")
