"""Stretches of one local search, some of them with CP-SAT in the place of some of its walks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tbgat.schedule import Schedule
from tbgat.search.callbacks import Callback, Snapshot
from tbgat.search.kernels.arrays import shop_of
from tbgat.search.local_search import Walk, local_search
from tbgat.search.pool import Member, Pool
from tbgat.search.relinking import RelinkingWalk, schedule_of
from tbgat.search.result import Improvement
from tbgat.search.stop import MaxSeconds
from tbgat.search.task import Outcome, Task
from tbgat.solvers.partner import Partner, Proved

__all__ = ["Relay", "Spectator", "Stretch"]

MOMENT_SECONDS = 1e-4


@dataclass(frozen=True)
class Stretch:
    """A part of the search: up to which second, and how many threads CP-SAT has in it."""

    until: float
    workers: int = 0


class Relay:
    """One search told as one story, whoever has the threads.

    Attributes
    ----------
    outcome
        What was found so far, as if by a single search.
    over
        Whether a criterion of the task ended it, rather than the end of a stretch.
    """

    def __init__(
        self, task: Task, pool: Pool, walks: Sequence[RelinkingWalk], partner: Partner
    ) -> None:
        self._task = task
        self._pool = pool
        self._walks = walks
        self._partner = partner
        start = task.start
        self.outcome = Outcome(start, history=(Improvement(0, 0.0, start.makespan),))
        self.over = False

    def run(self, stretch: Stretch) -> None:
        """Search until the stretch ends, or the task does."""
        partner, before = self._partner, self.outcome
        left: Sequence[Walk] = self._walks[: len(self._walks) - stretch.workers]
        task = replace(
            self._task,
            start=before.schedule,
            stop=self._task.stop | Proved(partner) | MaxSeconds(stretch.until),
            lower_bound=max(self._task.lower_bound, partner.bound),
            callbacks=tuple(self._passed_on(c, bool(left)) for c in self._task.callbacks),
        )
        if stretch.workers:
            with partner:
                found = local_search(task, left or [Spectator(task, self._pool)])
        else:
            found = local_search(task, left)
        self._add(found, bool(left))
        for walk in self._walks:
            walk.count_anew()

    def interrupted(self) -> Outcome:
        """What there is when Ctrl-C comes between two stretches, where no loop handles it."""
        return replace(self._up_to_date(self.outcome), stopped="interrupt")

    def _add(self, found: Outcome, moved: bool) -> None:
        # CP-SAT may have found something after the last look at the pool.
        found = self._up_to_date(found)
        before, makespan = self.outcome, found.schedule.makespan
        steps = before.steps + (found.steps if moved else 0)
        bound = self._partner.bound
        proved = bound >= makespan
        self.outcome = replace(
            found,
            steps=steps,
            # The first entry is what was there before.
            history=(*before.history, *(self._shifted(g, moved) for g in found.history[1:])),
            lower_bound=min(bound, makespan),
            proof="proved by CP-SAT" if proved and makespan > self._task.lower_bound else "",
            stopped="optimal" if proved else found.stopped,
        )
        progress = self._task.progress(steps, makespan, self.outcome.history[-1].step)
        self.over = found.stopped != "seconds" or proved or self._task.stop(progress)

    def _up_to_date(self, outcome: Outcome) -> Outcome:
        best = self._pool.best
        if best is None or best.makespan >= outcome.schedule.makespan:
            return outcome
        gain = Improvement(outcome.steps, self._task.seconds(), best.makespan)
        schedule = schedule_of(self._task.instance, shop_of(self._task.instance), best.order)
        return replace(outcome, schedule=schedule, history=(*outcome.history, gain))

    def _shifted(self, gain: Improvement, moved: bool) -> Improvement:
        return replace(gain, step=self.outcome.steps + (gain.step if moved else 0))

    def _passed_on(self, callback: Callback, moved: bool) -> Callback:
        earlier, first = self.outcome.steps, not self.outcome.stopped

        def call(snapshot: Snapshot) -> Any:
            progress = snapshot.progress
            step = earlier + (progress.step if moved else 0)
            # The start is told once, not at the head of every stretch.
            news = [g for g in snapshot.improvements if first or g.seconds > 0]
            shifted = tuple(self._shifted(gain, moved) for gain in news)
            told = replace(snapshot, progress=replace(progress, step=step), improvements=shifted)
            return callback(told)

        return call


class Spectator:
    """A walk that makes no moves: it waits for what others put into the pool."""

    def __init__(self, task: Task, pool: Pool) -> None:
        self._task = task
        self._pool = pool
        self._step = 0
        self._seen = self._look()
        self._told = self.best

    @property
    def best(self) -> int:
        """Smallest makespan in the pool, as of the last step."""
        return self._seen.makespan

    @property
    def proof(self) -> str:
        """Nothing of its own."""
        return ""

    def advance(self, max_steps: int, target: int) -> int:
        """Let a moment pass for every step."""
        time.sleep(max_steps * MOMENT_SECONDS)
        self._step += max_steps
        self._seen = self._look()
        return max_steps

    def improvements(self) -> list[tuple[int, int]]:
        """Return the best of the pool if it is new."""
        if self.best >= self._told:
            return []
        self._told = self.best
        return [(self._step, self.best)]

    def schedule(self) -> Schedule:
        """Return the best schedule in the pool, as of the last step."""
        instance = self._task.instance
        return schedule_of(instance, shop_of(instance), self._seen.order)

    def _look(self) -> Member:
        best = self._pool.best
        assert best is not None
        return best
