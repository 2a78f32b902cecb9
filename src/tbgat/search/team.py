"""Several walks in step with each other, seen as one; the merge does not depend on timing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from tbgat.schedule import Schedule
from tbgat.search.result import Improvement

if TYPE_CHECKING:
    from tbgat.search.local_search import Walk

__all__ = ["Team"]


class Team:
    """Walks that all make the same steps, each on a thread of its own or sharing some.

    Attributes
    ----------
    step, best, last_gain, history
        Steps made by each walk, smallest makespan of all, the step it was found at, all new bests.
    proof
        Why the best schedule is optimal, empty while that is not known.
    """

    def __init__(self, walks: Sequence[Walk], start: Schedule, threads: int | None = None) -> None:
        self._walks = walks
        self._start = start
        self._pool = ThreadPoolExecutor(threads or len(walks)) if len(walks) > 1 else None
        self._running: list[Future[int]] = []
        self._leader = -1
        self.step = 0
        self.best = start.makespan
        self.last_gain = 0
        self.proof = ""
        self.history = [Improvement(0, 0.0, self.best)]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def schedule(self) -> Schedule:
        """Return the best schedule of all."""
        return self._start if self._leader < 0 else self._walks[self._leader].schedule()

    def advance(self, steps: int, goal: int, clock: Callable[[], float]) -> None:
        """Let every walk make ``steps`` steps, fewer if one reaches the goal or proves optimality.

        What the others found after that step is dropped: how far they had come is a matter of
        timing.
        """
        begun = clock()
        if self._pool is None:
            made = [self._walks[0].advance(steps, goal)]
        else:
            self._running = [self._pool.submit(w.advance, steps, goal) for w in self._walks]
            made = [future.result() for future in self._running]
            self._running = []
        per_step = (clock() - begun) / max(max(made), 1)
        halted = [
            (self.step + count, number)
            for number, (walk, count) in enumerate(zip(self._walks, made, strict=True))
            if walk.proof or walk.best <= goal
        ]
        last = min(halted, default=(self.step + steps, len(self._walks)))
        found = sorted(
            (step, number, makespan)
            for number, walk in enumerate(self._walks)
            for step, makespan in walk.improvements()
        )
        for step, number, makespan in found:
            if makespan < self.best and (step, number) <= last:
                seconds = begun + per_step * (step - self.step)
                self._take(number, Improvement(step, seconds, makespan))
        self.step = last[0]
        if halted:
            self.proof = self._walks[last[1]].proof

    def settle(self, seconds: float) -> None:
        """After an interruption: let the threads come to rest and keep the best of all."""
        wait(self._running)
        for number, walk in enumerate(self._walks):
            # Not ``walk.best``: what was interrupted may know more by now than it has counted.
            makespan = walk.schedule().makespan
            if makespan < self.best:
                self._take(number, Improvement(self.step, seconds, makespan))

    def _take(self, number: int, gain: Improvement) -> None:
        self._leader = number
        self.best = gain.makespan
        self.last_gain = gain.step
        self.history.append(gain)
