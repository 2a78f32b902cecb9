"""Who listens to a search: called a few dozen times a second, may end it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.result import Improvement
from tbgat.search.stop import Progress

__all__ = ["Callback", "Recorder", "Snapshot", "notify"]


@dataclass(frozen=True)
class Snapshot:
    """The state of a search, handed to every callback.

    Attributes
    ----------
    progress
        Steps, seconds, best makespan and bound so far.
    improvements
        What was found since the last call, oldest first; empty when nothing was.
    schedule
        Call it, before the callback returns, for the schedule with that best makespan; it is only
        built then.
    """

    instance: Instance
    method: str
    progress: Progress
    improvements: tuple[Improvement, ...]
    schedule: Callable[[], Schedule]


# True or "stop" ends the search; it then returns its best schedule like any other.
Callback = Callable[[Snapshot], bool | Literal["stop"] | None]


def notify(callbacks: Iterable[Callback], snapshot: Snapshot) -> bool:
    """Call every callback and say whether any asked to stop."""
    answers = [callback(snapshot) for callback in callbacks]
    return any(answer is True or answer == "stop" for answer in answers)


class Recorder:
    """A callback that keeps every improvement with its schedule, for replays and animations.

    Improvements that follow each other faster than the callbacks are called share one schedule:
    the last of them.
    """

    def __init__(self) -> None:
        self.frames: list[tuple[Improvement, Schedule]] = []

    def __call__(self, snapshot: Snapshot) -> None:
        """Keep the newest improvement, if there is one."""
        if snapshot.improvements:
            self.frames.append((snapshot.improvements[-1], snapshot.schedule()))
