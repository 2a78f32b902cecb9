"""Local search in which a policy chooses the moves (Figure 2 of the paper), many at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tbgat.policy.moves import choose_moves
from tbgat.policy.protocol import Policy
from tbgat.policy.trajectories import ANY_SWAP, CRITICAL_SWAP, NO_MOVE, STAY, Trajectories
from tbgat.schedule import Schedule
from tbgat.search.callbacks import Snapshot, notify
from tbgat.search.local_search import CHUNK_SECONDS, name_of
from tbgat.search.result import Improvement
from tbgat.search.task import Outcome, Task

__all__ = ["policy_search"]

# Random numbers are drawn in blocks of so many steps.
BLOCK = 256


def policy_search(
    tasks: Sequence[Task],
    policy: Policy,
    *,
    greedy: bool = False,
    trajectories: int = 1,
    escape: int = 0,
) -> list[Outcome]:
    """Search on all tasks at once until each one's criterion says stop.

    Parameters
    ----------
    policy
        Scores the moves.
    greedy
        Take the move with the highest score instead of drawing from the softmax of the scores.
    trajectories
        Searches of each task side by side, from the same start; the best wins. A step is one move
        in each of them.
    escape
        How many swaps of neighbours on a critical path, drawn at random, a search makes that goes
        round in circles (see :attr:`Trajectories.circling`), each a step.
    """
    search = _Search(tasks, policy, greedy, trajectories, escape)
    try:
        while search.ask_who_goes_on():
            search.advance()
    except KeyboardInterrupt:
        search.stop_all("interrupt")
    return search.outcomes()


class _Search:
    def __init__(
        self,
        tasks: Sequence[Task],
        policy: Policy,
        greedy: bool,
        trajectories: int,
        escape: int,
    ) -> None:
        self.tasks, self.policy, self.greedy, self.width = tasks, policy, greedy, trajectories
        repeated = [task for task in tasks for _ in range(trajectories)]
        self.rngs = [task.rng(i % trajectories) for i, task in enumerate(repeated)]
        self.states = Trajectories(
            [task.instance for task in repeated],
            [task.start for task in repeated],
            self.rngs,
            threads=max((task.threads for task in tasks), default=1),
        )
        self.step = 0
        self.chunk = 1
        self.best = np.array([task.start.makespan for task in tasks], dtype=np.int64)
        self.goal = np.array([max(t.stop.target, t.lower_bound) for t in tasks], dtype=np.int64)
        self.history = [[Improvement(0, 0.0, task.start.makespan)] for task in tasks]
        self.told = [0] * len(tasks)
        self.stopped = [""] * len(tasks)
        self.steps = [0] * len(tasks)
        self.proof = [""] * len(tasks)
        self.running = np.ones(len(tasks), dtype=np.bool_)
        self.noise = np.empty((len(repeated), BLOCK))
        self.escape = escape
        self.leaving = np.zeros(len(repeated), dtype=np.int64)  # swaps still to make

    def ask_who_goes_on(self) -> bool:
        """Tell the callbacks, look at the criteria; return whether any task goes on."""
        for number in np.flatnonzero(self.running).tolist():
            task = self.tasks[number]
            history = self.history[number]
            progress = task.progress(self.step, int(self.best[number]), history[-1].step)
            if task.callbacks:
                new = tuple(history[self.told[number] :])
                self.told[number] = len(history)
                snapshot = Snapshot(
                    task.instance, task.method, progress, new, partial(self.schedule, number)
                )
                if notify(task.callbacks, snapshot):
                    self._stop(number, "callback")
                    continue
            if self.best[number] <= progress.lower_bound:
                self._stop(number, "optimal")
            elif task.cancelled.is_set():
                self._stop(number, "interrupt")
            elif task.stop(progress):
                self._stop(number, name_of(task.stop, progress))
        return bool(self.running.any())

    def advance(self) -> None:
        """Make as many steps as no criterion has to be asked between, for about a moment."""
        left, wanted = math.inf, CHUNK_SECONDS
        for number in np.flatnonzero(self.running).tolist():
            task = self.tasks[number]
            progress = task.progress(
                self.step, int(self.best[number]), self.history[number][-1].step
            )
            left = min(left, task.stop.steps_left(progress))
            wanted = min(wanted, max(task.stop.seconds_left(progress), 1e-3))
        clock = self.tasks[0].seconds
        begun, made = clock(), 0
        for _ in range(math.ceil(min(self.chunk, left))):
            self._one_step()
            made += 1
            if not self.running.any():
                break
        rate = made / max(clock() - begun, 1e-6)
        self.chunk = max(1, min(4 * self.chunk, int(rate * wanted)))

    def _one_step(self) -> None:
        states = self.states
        proved = (states.proved & self._moving()).reshape(-1, self.width).any(axis=1)
        for number in np.flatnonzero(proved).tolist():
            self.proof[number] = NO_MOVE
            self._stop(number, "optimal")
        if not self.running.any():
            return
        scores = self.policy(states.batch, states.best)
        chosen = choose_moves(scores, states.offsets, None if self.greedy else self._uniforms())
        chosen[states.stuck] = ANY_SWAP
        if self.escape:
            self.leaving[(self.leaving == 0) & states.circling] = self.escape
            chosen[self.leaving > 0] = CRITICAL_SWAP
            self.leaving -= self.leaving > 0
        chosen[~self._moving()] = STAY
        states.move(chosen)
        self.step += 1
        best = states.best.reshape(-1, self.width).min(axis=1)
        for number in np.flatnonzero(best < self.best).tolist():
            found = Improvement(self.step, self.tasks[number].seconds(), int(best[number]))
            self.history[number].append(found)
            self.best[number] = best[number]
            if best[number] <= self.goal[number]:
                reached = best[number] <= self.tasks[number].lower_bound
                self._stop(number, "optimal" if reached else "target")

    def _moving(self) -> npt.NDArray[np.bool_]:
        return np.repeat(self.running, self.width)

    def _uniforms(self) -> npt.NDArray[np.float64]:
        column = self.step % BLOCK
        if column == 0:
            for row, rng in zip(self.noise, self.rngs, strict=True):
                rng.random(out=row)
        return self.noise[:, column]

    def _stop(self, number: int, why: str) -> None:
        self.running[number] = False
        self.stopped[number] = why
        self.steps[number] = self.step

    def stop_all(self, why: str) -> None:
        """End what still runs."""
        for number in np.flatnonzero(self.running).tolist():
            self._stop(number, why)

    def schedule(self, number: int) -> Schedule:
        """Best schedule of a task so far."""
        mine = self.states.best[number * self.width : (number + 1) * self.width]
        if self.proof[number] or mine.min() < self.tasks[number].start.makespan:
            return self.states.best_schedule(number * self.width + int(mine.argmin()))
        return self.tasks[number].start

    def outcomes(self) -> list[Outcome]:
        """What was found for each task."""
        return [
            Outcome(
                schedule=self.schedule(number),
                steps=self.steps[number],
                history=tuple(self.history[number]),
                proof=self.proof[number],
                stopped=self.stopped[number],
            )
            for number in range(len(self.tasks))
        ]
