"""What a method is asked to do, and what it hands back before anyone has checked it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np

from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.callbacks import Callback
from tbgat.search.result import Improvement, Result, Status
from tbgat.search.stop import Progress, Stop

__all__ = ["Outcome", "Task", "finish"]


@dataclass(frozen=True)
class Task:
    """One instance to be solved, with everything a method may need to know.

    Attributes
    ----------
    start
        The warm start if there is one, else the schedule of the FDD/MWKR rule: never ``None``.
    initial
        The warm start alone.
    seed
        Makes the run repeatable; use :meth:`rng` instead of this number where possible.
    lower_bound
        Proven before the search started; reaching it proves optimality.
    started
        ``time.perf_counter()`` at the call of ``solve``; the clock of every limit.
    cancelled
        Set from outside (Ctrl-C in ``solve_many``) to end the search early.
    """

    instance: Instance
    method: str
    stop: Stop
    seed: int
    start: Schedule
    initial: Schedule | None = None
    lower_bound: int = 0
    threads: int = 1
    callbacks: tuple[Callback, ...] = ()
    started: float = field(default_factory=time.perf_counter)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def rng(self, stream: int = 0) -> np.random.Generator:
        """Make a fresh generator; streams of one seed are independent."""
        return np.random.default_rng([self.seed, stream])

    def seconds(self) -> float:
        """Time since the call of ``solve``."""
        return time.perf_counter() - self.started

    def progress(self, step: int, best: int, last_gain: int = 0, bound: int = 0) -> Progress:
        """State the progress of this task as of now."""
        return Progress(step, self.seconds(), best, last_gain, max(bound, self.lower_bound))


@dataclass(frozen=True)
class Outcome:
    """What a method found; :func:`finish` checks it and makes it a result.

    Attributes
    ----------
    proof
        Why the schedule is optimal, empty if the method does not know. Meeting the lower bound
        needs no mention.
    stopped
        What ended the search, such as ``seconds`` or ``interrupt``.
    seconds
        Time it took by a clock of its own; without one that of the task counts.
    """

    schedule: Schedule
    steps: int = 0
    history: tuple[Improvement, ...] = ()
    lower_bound: int = 0
    proof: str = ""
    stopped: str = ""
    story: tuple[str, ...] = ()
    seconds: float | None = None


def finish(task: Task, outcome: Outcome) -> Result:
    """Check a schedule with the independent checker and state what is proven about it.

    A warm start is never made worse: if the method lost it, it is the answer.
    """
    instance, schedule = task.instance, outcome.schedule
    history = outcome.history
    if task.initial is not None and task.initial.makespan < schedule.makespan:
        schedule, history = task.initial, ()
    schedule.check(instance)
    makespan = schedule.makespan
    if not history:
        history = (Improvement(0, 0.0, makespan),)
    bound = max(task.lower_bound, outcome.lower_bound)
    reason = outcome.proof if schedule is outcome.schedule else ""
    if not reason and makespan <= bound:
        reason = "the makespan equals a lower bound"
    status: Status = "optimal" if reason else "feasible"
    return Result(
        instance=instance,
        method=task.method,
        schedule=schedule,
        makespan=makespan,
        lower_bound=makespan if reason else bound,
        status=status,
        reason=reason,
        steps=outcome.steps,
        seconds=task.seconds() if outcome.seconds is None else outcome.seconds,
        seed=task.seed,
        history=history,
        story=outcome.story,
        stopped=outcome.stopped,
    )
