"""Method ``cpsat``: Google OR-Tools' CP-SAT on the standard interval model.

Here a step is one conflict of the solver: ``steps`` limits the conflicts. Results repeat with one
thread and a limit in steps, not with several threads.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.callbacks import Snapshot, notify
from tbgat.search.local_search import name_of
from tbgat.search.result import Improvement
from tbgat.search.task import Outcome, Task

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["build_model", "prepare", "search", "solve"]

POLL_SECONDS = 0.03
MAX_HORIZON = 2**40


def prepare() -> None:
    """Import OR-Tools, or say which extra has it."""
    try:
        import ortools.sat.python.cp_model  # noqa: F401  (only to have it loaded)
    except ImportError:
        raise MissingExtraError("the method cpsat", "cpsat") from None


def solve(task: Task) -> Outcome:
    """Search with CP-SAT; a warm start is its hint, and its bound is reported."""
    prepare()
    return search(task, *build_model(task.instance, task.initial))


def search(
    task: Task, model: cp_model.CpModel, starts: Sequence[Any], name: str = "CP-SAT"
) -> Outcome:
    """Search in a model of the task's instance with CP-SAT's defaults; ``starts`` by operation."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = task.threads
    solver.parameters.random_seed = task.seed % 2**31
    # The loop below handles Ctrl-C; a handler of the solver would take it away from Python.
    solver.parameters.catch_sigint_signal = False
    fallback = task.start
    begin = task.progress(0, fallback.makespan)
    steps_left, seconds_left = task.stop.steps_left(begin), task.stop.seconds_left(begin)
    if math.isfinite(steps_left):
        solver.parameters.max_number_of_conflicts = max(0, int(steps_left))
    if math.isfinite(seconds_left):
        solver.parameters.max_time_in_seconds = max(0.0, seconds_left)
    listener = _listener(task, starts)
    worker = threading.Thread(target=listener.run, args=(solver, model), daemon=True)
    worker.start()
    stopped = _watch(task, listener)
    if listener.error is not None:
        raise listener.error
    return _outcome(task, listener, solver, stopped, name)


def build_model(
    instance: Instance, hint: Schedule | None = None
) -> tuple[cp_model.CpModel, list[Any]]:
    """Write an instance as a CP-SAT model; return it with the start variables."""
    from ortools.sat.python import cp_model

    horizon = int(instance.durations.sum())
    if horizon > MAX_HORIZON:
        raise UsageError(f"CP-SAT cannot handle durations that add up to {horizon}")
    model = cp_model.CpModel()
    starts = [model.new_int_var(0, horizon, "") for _ in range(instance.num_operations)]
    makespan = model.new_int_var(0, horizon, "makespan")
    on_machine: list[list[Any]] = [[] for _ in range(instance.num_machines)]
    durations, machines = instance.durations.tolist(), instance.machines.tolist()
    last = set((instance.job_offsets[1:] - 1).tolist())
    for op, (duration, machine) in enumerate(zip(durations, machines, strict=True)):
        interval = model.new_fixed_size_interval_var(starts[op], duration, "")
        on_machine[machine].append(interval)
        after = makespan if op in last else starts[op + 1]
        model.add(after >= starts[op] + duration)
    for intervals in on_machine:
        model.add_no_overlap(intervals)
    model.minimize(makespan)
    if hint is not None:
        for variable, value in zip(starts, hint.starts(instance).tolist(), strict=True):
            model.add_hint(variable, value)
        model.add_hint(makespan, hint.makespan)
    return model, starts


def _watch(task: Task, listener: Any) -> str:
    """Poll the stop criteria and call the callbacks until the solver ends; say what ended it."""
    stopped, told, finished = "", 0, False
    # A look after the end as well: the solver may have met its target before the first one.
    while not finished:
        try:
            # An event, for an interrupted Thread.join may take the thread for dead (Python 3.11).
            finished = listener.finished.wait(POLL_SECONDS)
            best, bound, history, schedule = listener.state()
            gain = history[-1].step
            progress = task.progress(gain, best, gain, bound)
            # The solver itself counts conflicts: a poll would cut it at a moment of chance.
            timed = replace(progress, step=0, last_gain=0)
            if task.callbacks:
                new = tuple(history[told:])
                told = len(history)
                snapshot = Snapshot(task.instance, task.method, progress, new, schedule)
                if notify(task.callbacks, snapshot):
                    stopped = "callback"
            if task.cancelled.is_set():
                stopped = "interrupt"
            elif not stopped and task.stop(timed):
                stopped = name_of(task.stop, timed)
        except KeyboardInterrupt:
            stopped = "interrupt"
        if stopped:
            listener.halt()
    return stopped


def _listener(task: Task, starts: Sequence[Any]) -> Any:
    """Make the object CP-SAT tells of solutions; its base class needs OR-Tools."""
    from ortools.sat.python import cp_model

    class Listener(cp_model.CpSolverSolutionCallback):
        def __init__(self) -> None:
            super().__init__()
            self.error: BaseException | None = None
            self.finished = threading.Event()
            self.status = cp_model.UNKNOWN
            self._lock = threading.Lock()
            self._starts: list[int] | None = None
            # It competes with the first schedule from the start, as every method does.
            self._history = [Improvement(0, 0.0, task.start.makespan)]
            self.solutions = 0
            self._bound = task.lower_bound
            self._halt = False
            self._solver: cp_model.CpSolver | None = None

        def run(self, solver: cp_model.CpSolver, model: cp_model.CpModel) -> None:
            self._solver = solver
            solver.best_bound_callback = self.on_bound
            try:
                self.status = solver.solve(model, self)
            except BaseException as error:  # handed to the waiting thread
                self.error = error
            finally:
                self.finished.set()

        def on_bound(self, bound: float) -> None:
            with self._lock:
                self._bound = max(self._bound, math.ceil(bound - 1e-6))

        def on_solution_callback(self) -> None:
            values = [self.value(variable) for variable in starts]
            with self._lock:
                self.solutions += 1
                before = self._history[-1]
                # Each worker of the solver counts for itself; the curve needs a growing number.
                step = max(before.step, self.num_conflicts)
                found = Improvement(step, task.seconds(), int(self.objective_value))
                if found.makespan < before.makespan:
                    self._starts = values
                    self._history.append(found)
                if found.makespan <= max(task.stop.target, self._bound):
                    self._halt = True
            if self._halt:
                self.stop_search()

        def halt(self) -> None:
            self._halt = True
            if self._solver is not None:
                self._solver.stop_search()

        def state(self) -> tuple[int, int, list[Improvement], Callable[[], Schedule]]:
            """Makespan, bound, history and schedule, of one moment."""
            with self._lock:
                history = list(self._history)
                schedule = partial(self.schedule, self._starts)
                return history[-1].makespan, self._bound, history, schedule

        def schedule(self, starts: list[int] | None) -> Schedule:
            return task.start if starts is None else Schedule.from_starts(task.instance, starts)

    return Listener()


def _outcome(task: Task, listener: Any, solver: Any, stopped: str, name: str) -> Outcome:
    from ortools.sat.python import cp_model

    proved = listener.status == cp_model.OPTIMAL
    _, bound, history, latest = listener.state()
    if listener.status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = max(bound, math.ceil(solver.best_objective_bound - 1e-6))
    schedule = latest()
    if proved or schedule.makespan <= bound:
        stopped = stopped or "optimal"
    elif not stopped:
        limits = solver.parameters
        timed = math.isfinite(limits.max_time_in_seconds)
        counted = solver.num_conflicts >= limits.max_number_of_conflicts
        stopped = "seconds" if timed and not counted else "steps"
    found = f"{name} found {listener.solutions} schedules in {solver.num_conflicts} conflicts"
    return Outcome(
        schedule=schedule,
        steps=int(solver.num_conflicts),
        history=tuple(history),
        lower_bound=bound,
        proof=f"proved by {name}" if proved else "",
        stopped=stopped,
        story=(f"{found} on {task.threads} threads, bound {bound}.",),
    )
