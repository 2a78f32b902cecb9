"""Candidates that decide what path relinking begins with: ``opening``, ``kick``, ``pairs``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.graph import GraphBatch
from tbgat.policy.network import TBGAT
from tbgat.search.kernels.arrays import load_order
from tbgat.search.kernels.relink import distance
from tbgat.search.pool import Member
from tbgat.search.relinking import RelinkingWalk, order_of, schedule_of
from tbgat.search.stop import MaxSteps
from tbgat.search.task import Task
from tbgat.solvers import learned
from tbgat.training.reinforce import Episode

__all__ = ["Kick", "NetworkKick", "Opening", "Pairs"]

OPENING_STEPS, KICK_STEPS, NETWORK_STEPS = 500, 100, 20
PAIRS_TRIED = 30
Float = npt.NDArray[np.float64]


class Opening(RelinkingWalk):
    """Fresh solutions go through the learned scorer first."""

    scorer: TBGAT

    def _next_start(self) -> int:
        before = self.fresh
        makespan = super()._next_start()
        if self.fresh == before:
            return makespan
        start = schedule_of(self._instance, self._shop, self._order)
        seed = int(self._rng.integers(2**31))
        task = Task(self._instance, "tbgat", MaxSteps(OPENING_STEPS), seed, start)
        self._order[:] = order_of(self._instance, learned.solve(task, self.scorer).schedule)
        return int(load_order(self._shop, self._state, self._order))


class Kick(RelinkingWalk):
    """Half of the children are one parent after moves that a policy drew."""

    scorer: TBGAT
    moves = KICK_STEPS

    def _relink(self, parent: Member, other: Member) -> int:
        if self._rng.random() < 0.5:
            return super()._relink(parent, other)
        start = schedule_of(self._instance, self._shop, parent.order)
        episode = Episode([self._instance], self._rng, products="lowrank")
        episode.batch = GraphBatch.from_schedules([self._instance], [start])
        episode.best = episode.batch.arrays.makespan.copy()
        episode.search(self.scorer, self.moves)
        self._origin = "kick"
        self._order[:] = order_of(self._instance, episode.batch.schedule(0))
        return int(load_order(self._shop, self._state, self._order))


class NetworkKick(Kick):
    """The same with the graph network, whose moves cost a thousand times as much."""

    moves = NETWORK_STEPS


class Pairs(RelinkingWalk):
    """Parents, and the place between them, by a linear model of what comes of it."""

    model: Float | None = None

    def __init__(self, *given: Any) -> None:
        self.seen: list[Float] = []
        self._trial: Float | None = None
        super().__init__(*given)

    def _relink(self, parent: Member, other: Member) -> int:
        members = self._pool.members
        tried = [(parent, other)]
        if self.model is not None:
            places = [self._rng.choice(len(members), 2, replace=False) for _ in range(PAIRS_TRIED)]
            tried += [(members[i], members[j]) for i, j in places]
        nearest = self._settings.nearest
        shares = self._rng.uniform(nearest, 1 - nearest, len(tried))
        best = members[0].makespan
        x = np.array(
            [self._describe(*pair, s, best) for pair, s in zip(tried, shares, strict=True)]
        )
        chosen = 0 if self.model is None else int((x @ self.model).argmin())
        self._trial = np.append(x[chosen], best)
        return self._go_between(*tried[chosen], float(shares[chosen]))

    def _describe(self, parent: Member, other: Member, share: float, best: int) -> list[float]:
        """Percent above the best of either, how far apart they are, where the child begins."""
        a, b = (100.0 * (m.makespan / best - 1.0) for m in (parent, other))
        apart = distance(self._shop, parent.rank, other.rank) / len(parent.order)
        clear = min(share, 1.0 - share)
        return [1.0, a, b, a * b, apart, apart * apart, clear, apart * clear]

    def _give(self) -> None:
        """Note what came of the last trial, as percent above the best there was before it."""
        if self._trial is not None:
            *x, best = self._trial
            self.seen.append(np.array([*x, 100.0 * (self._member().makespan / best - 1.0)]))
            self._trial = None
        super()._give()
