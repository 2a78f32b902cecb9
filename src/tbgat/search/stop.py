"""When to stop: small criteria that compose with ``|`` and hold no state.

They look at :class:`Progress`, whose clock starts with the search, so one criterion can serve any
number of searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tbgat.errors import UsageError

__all__ = ["AnyOf", "MaxSeconds", "MaxSteps", "Patience", "Progress", "Stop", "Target", "stop_when"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a search has done so far.

    Attributes
    ----------
    step
        Moves made, or another unit the method documents.
    seconds
        Time since the search started.
    best
        Smallest makespan so far.
    last_gain
        Step at which it was found.
    lower_bound
        Largest proven lower bound so far.
    """

    step: int
    seconds: float
    best: int
    last_gain: int = 0
    lower_bound: int = 0


class Stop:
    """Base of the criteria: when to stop, and how much may still be done before asking again."""

    def __call__(self, progress: Progress) -> bool:
        """Whether the search is to stop now."""
        return self.steps_left(progress) <= 0 or self.seconds_left(progress) <= 0

    def steps_left(self, progress: Progress) -> float:
        """Steps that may be made before this criterion must be asked again."""
        return math.inf

    def seconds_left(self, progress: Progress) -> float:
        """Seconds left by this criterion."""
        return math.inf

    @property
    def target(self) -> int:
        """Makespan at which to stop at once; -1 for none."""
        return -1

    def __or__(self, other: Stop) -> Stop:
        return AnyOf((self, other))


@dataclass(frozen=True)
class MaxSteps(Stop):
    """Stop after a number of steps."""

    steps: int

    def steps_left(self, progress: Progress) -> float:
        """Steps up to the limit."""
        return self.steps - progress.step


@dataclass(frozen=True)
class MaxSeconds(Stop):
    """Stop after a time."""

    seconds: float

    def seconds_left(self, progress: Progress) -> float:
        """Seconds up to the limit."""
        return self.seconds - progress.seconds


@dataclass(frozen=True)
class Patience(Stop):
    """Stop after a number of steps without a better schedule."""

    steps: int

    def steps_left(self, progress: Progress) -> float:
        """Steps until patience ends, if nothing better is found."""
        return progress.last_gain + self.steps - progress.step


@dataclass(frozen=True)
class Target(Stop):
    """Stop once the makespan is at or below a value."""

    makespan: int

    def __call__(self, progress: Progress) -> bool:
        """Whether the value is reached."""
        return progress.best <= self.makespan

    @property
    def target(self) -> int:
        """The value."""
        return self.makespan


@dataclass(frozen=True)
class AnyOf(Stop):
    """Stop as soon as one of several criteria says so."""

    criteria: tuple[Stop, ...]

    def __call__(self, progress: Progress) -> bool:
        """Whether any criterion says stop."""
        return any(criterion(progress) for criterion in self.criteria)

    def steps_left(self, progress: Progress) -> float:
        """Fewest steps any criterion leaves."""
        return min((c.steps_left(progress) for c in self.criteria), default=math.inf)

    def seconds_left(self, progress: Progress) -> float:
        """Fewest seconds any criterion leaves."""
        return min((c.seconds_left(progress) for c in self.criteria), default=math.inf)

    @property
    def target(self) -> int:
        """Largest target of the criteria: it is met first."""
        return max((c.target for c in self.criteria), default=-1)


def stop_when(
    *,
    steps: int | None = None,
    seconds: float | None = None,
    target: int | None = None,
    patience: int | None = None,
) -> Stop:
    """Compose the criteria that are given; with none, the search runs until it is interrupted."""
    for name, value in (("steps", steps), ("seconds", seconds), ("patience", patience)):
        if value is not None and not value >= 0:
            raise UsageError(f"{name} must be 0 or more, got {value}")
    criteria: list[Stop] = []
    if steps is not None:
        criteria.append(MaxSteps(int(steps)))
    if seconds is not None:
        criteria.append(MaxSeconds(float(seconds)))
    if target is not None:
        criteria.append(Target(int(target)))
    if patience is not None:
        criteria.append(Patience(int(patience)))
    return AnyOf(tuple(criteria))
