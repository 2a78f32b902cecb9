"""What chooses moves: anything that scores them. The network is one such policy."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from tbgat.graph.state import GraphBatch
from tbgat.policy.inference import Scorer
from tbgat.policy.network import TBGAT

__all__ = ["NetworkPolicy", "Policy"]


class Policy(Protocol):
    """Scores the moves of a batch of solutions."""

    def __call__(self, batch: GraphBatch, best: npt.NDArray[np.int64]) -> npt.NDArray[np.floating]:
        """Score every move, flat; within a solution a higher score is more likely to be chosen.

        Parameters
        ----------
        batch
            The solutions. ``batch.arrays`` has everything about them; the moves and their order are
            those of :func:`tbgat.policy.features.move_positions`.
        best
            Smallest makespan of each so far.
        """


class NetworkPolicy:
    """The network as a policy; it remembers the batch it saw last.

    Parameters
    ----------
    threads, products
        As for :class:`~tbgat.policy.inference.Scorer`.
    """

    def __init__(self, network: TBGAT, threads: int = 1, products: str = "float32") -> None:
        self._network, self._threads, self._products = network.eval(), threads, products
        self._scorer: Scorer | None = None

    def __call__(self, batch: GraphBatch, best: npt.NDArray[np.int64]) -> npt.NDArray[np.floating]:
        """Score every move."""
        if self._scorer is None or self._scorer.batch is not batch:
            self._scorer = Scorer(
                self._network, batch, threads=self._threads, products=self._products
            )
        return self._scorer(best).scores
