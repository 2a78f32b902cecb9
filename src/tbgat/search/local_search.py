"""The search loop that every step-by-step method shares.

A method supplies a :class:`Walk`: compiled state that makes as many steps as it is told. The loop
asks it for a chunk of steps, tells the callbacks, looks at the stop criteria, and goes on. The
chunks are sized by the measured speed, so that neither the clock nor the callbacks cost anything;
how the steps are cut into chunks never changes what the walk does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from tbgat.schedule import Schedule
from tbgat.search.callbacks import Snapshot, notify
from tbgat.search.stop import AnyOf, MaxSeconds, MaxSteps, Patience, Progress, Stop, Target
from tbgat.search.task import Outcome, Task
from tbgat.search.team import Team

__all__ = ["Walk", "local_search", "name_of"]

CHUNK_SECONDS = 0.03


class Walk(Protocol):
    """A resumable search from one solution to the next."""

    @property
    def best(self) -> int:
        """Smallest makespan so far."""

    @property
    def proof(self) -> str:
        """Why the best schedule is optimal; empty while that is not known."""

    def advance(self, max_steps: int, target: int) -> int:
        """Make at most ``max_steps`` steps and say how many were made.

        Fewer are made only when the best makespan is at or below ``target`` or a proof was found.
        """

    def improvements(self) -> list[tuple[int, int]]:
        """Return step and makespan of every new best since the last call, oldest first."""

    def schedule(self) -> Schedule:
        """Return the best schedule so far."""


def local_search(
    task: Task, walks: Sequence[Walk], story: Sequence[str] = (), threads: int | None = None
) -> Outcome:
    """Run one walk, or several side by side on a thread each, until a criterion says stop.

    With ``threads`` the walks share so many.

    Every walk makes the same number of steps and the best schedule wins, the first by step and then
    by number among equals. So the result depends on seed and number of walks, not on timing.
    """
    with Team(walks, task.start, threads) as team:
        try:
            stopped = _run(task, team)
        except KeyboardInterrupt:
            team.settle(task.seconds())
            stopped = "interrupt"
    return Outcome(
        schedule=team.schedule(),
        steps=team.step,
        history=tuple(team.history),
        proof=team.proof,
        stopped=stopped,
        story=tuple(story),
    )


def _run(task: Task, team: Team) -> str:
    goal = max(task.stop.target, task.lower_bound)
    chunk, told = 64, 0
    while True:
        progress = task.progress(team.step, team.best, team.last_gain)
        if task.callbacks:
            new = tuple(team.history[told:])
            told = len(team.history)
            snapshot = Snapshot(task.instance, task.method, progress, new, team.schedule)
            if notify(task.callbacks, snapshot):
                return "callback"
        if stopped := _why_stop(task, team, progress):
            return stopped
        steps = math.ceil(min(chunk, task.stop.steps_left(progress)))
        begun = task.seconds()
        team.advance(steps, goal, task.seconds)
        wanted = min(CHUNK_SECONDS, max(task.stop.seconds_left(progress), 1e-3))
        # Growing at most fourfold keeps one lucky measurement from overshooting the limit.
        rate = steps / max(task.seconds() - begun, 1e-6)
        chunk = max(1, min(4 * chunk, int(rate * wanted)))


def _why_stop(task: Task, team: Team, progress: Progress) -> str:
    if team.proof or team.best <= progress.lower_bound:
        return "optimal"
    if task.cancelled.is_set():
        return "interrupt"
    return name_of(task.stop, progress) if task.stop(progress) else ""


def name_of(stop: Stop, progress: Progress) -> str:
    """Name the criterion that says stop."""
    if isinstance(stop, AnyOf):
        hit = next((criterion for criterion in stop.criteria if criterion(progress)), None)
        return name_of(hit, progress) if hit else ""
    names = {MaxSteps: "steps", MaxSeconds: "seconds", Target: "target", Patience: "patience"}
    return names.get(type(stop), type(stop).__name__)
