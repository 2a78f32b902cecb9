"""A progress bar with the time left."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from tbgat.bench.plan import Job

__all__ = ["Progress"]

WIDTH = 24
LINE_SECONDS = 20.0
BUSY_LOAD = 0.7


class Progress:
    """Tells on stderr how far a measurement is: one moving line, or a line now and then in a log.

    The time left of a run in seconds is known; that of a run in steps follows from what the method
    has taken so far per step and operation.
    """

    def __init__(self, jobs: Sequence[Job], *, done: int, quiet: bool = False) -> None:
        self._left = list(jobs)
        self._done = done
        self._total = done + sum(len(job.cases) for job in jobs)
        self._quiet = quiet
        self._moving = sys.stderr.isatty()
        self._spent: dict[str, list[float]] = {}
        self._last = -LINE_SECONDS
        if done and jobs:
            self._say(f"{done} of {self._total} runs are recorded already")

    def wait(self) -> None:
        """Say that another benchmark has the cores."""
        self._say("waiting for another benchmark on this machine to end")

    def warn_if_busy(self) -> None:
        """Say that times will be wrong if other programs keep the processor busy."""
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        if load > BUSY_LOAD:
            self._say(f"the machine is busy (load {load:.1f}): times will be too long")

    def show(self, job: Job) -> None:
        """Say what is run now."""
        now = time.perf_counter()
        if self._quiet or (not self._moving and now - self._last < LINE_SECONDS):
            return
        self._last = now
        case = job.cases[0]
        what = case.instance.name if len(job.cases) == 1 else f"{case.group} x {len(job.cases)}"
        filled = WIDTH * self._done // max(self._total, 1)
        bar = "#" * filled + "-" * (WIDTH - filled)
        text = (
            f"[{bar}] {self._done}/{self._total} runs, {_clock(self._seconds_left())} left, "
            f"{job.method.name} {what} seed {job.seed}"
        )
        sys.stderr.write(f"\r\x1b[2K{text}" if self._moving else text + "\n")
        sys.stderr.flush()

    def advance(self, job: Job, seconds: float) -> None:
        """Count a finished job and learn from the time it took."""
        self._left.pop(0)
        self._done += len(job.cases)
        spent = self._spent.setdefault(job.method.name, [0.0, 0.0])
        spent[0] += seconds
        spent[1] += _work(job)

    def close(self) -> None:
        """End the line and sum up."""
        if self._moving and not self._quiet and self._done:
            sys.stderr.write("\r\x1b[2K")
        self._say(f"{self._done} of {self._total} runs recorded")

    def _seconds_left(self) -> float | None:
        rates = {name: seconds / max(work, 1.0) for name, (seconds, work) in self._spent.items()}
        # A method that has not run yet is taken to be as slow as the slowest so far.
        unknown = max(rates.values(), default=None)
        total = 0.0
        for job in self._left:
            rate = rates.get(job.method.name, unknown)
            if job.budget.seconds is not None:
                total += job.budget.seconds
            elif rate is not None:
                total += _work(job) * rate
            else:
                return None
        return total

    def _say(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(text + "\n")


def _work(job: Job) -> float:
    steps = job.budget.steps or 0
    return float(sum(steps * case.instance.num_operations for case in job.cases))


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
