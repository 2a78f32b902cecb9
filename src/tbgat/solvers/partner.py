"""CP-SAT beside a local search: it proves, sometimes improves, and hears of what the search finds.

It only ever looks for something better than the best solution known, so that good solutions of the
search cut its work down, and "there is none" is the proof. CP-SAT cannot be told of a new best
while it runs. It is then started again, at growing intervals so that restarts cost little in all.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.pool import Member, Pool
from tbgat.search.relinking import order_of
from tbgat.search.stop import Progress, Stop
from tbgat.search.task import Task

__all__ = ["Partner", "Proved", "better_than"]

FIRST_SLICE_SECONDS = 1.0
LIGHT_TURNS = 2
NAME = "CP-SAT"


class Partner:
    """CP-SAT on a thread of its own, exchanging solutions with a pool; use it in a ``with``.

    It may be entered several times: its bound stays.

    Parameters
    ----------
    bounding
        Raise the bound step by step rather than look for solutions: for shops that are too large
        for a proof, and short turns.

    Attributes
    ----------
    bound
        Largest lower bound proved so far.
    rounds
        How often the solver was started.
    """

    def __init__(self, task: Task, pool: Pool, workers: int, *, bounding: bool = False) -> None:
        self._task = task
        self._pool = pool
        self._workers = workers
        self._bounding = bounding
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._solver: Any = None
        self._cutoff = 0
        self._until = 0.0
        self._slice = FIRST_SLICE_SECONDS
        self._thread: threading.Thread | None = None
        self.bound = task.lower_bound
        self.rounds = 0
        self._turns = 0
        self.error: BaseException | None = None

    def __enter__(self) -> Partner:
        self._ending.clear()
        self._turns += 1
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """End the thread, if it runs."""
        self._ending.set()
        # A request to stop is lost on a solver that is just about to start.
        while self._thread is not None and self._thread.is_alive():
            self._halt()
            self._thread.join(0.02)

    def proves(self, makespan: int) -> bool:
        """Whether nothing shorter than this exists; also hand a better solution on."""
        with self._lock:
            if self.bound < makespan < self._cutoff and time.perf_counter() > self._until:
                self._slice *= 2
                self._until = math.inf
                if self._solver is not None:
                    self._solver.stop_search()
        return makespan <= self.bound or self.error is not None

    def _run(self) -> None:
        try:
            while not self._ending.is_set() and self._round():
                pass
        except BaseException as error:
            self.error = error

    def _round(self) -> bool:
        """Search once for something better than the best; say whether to go on."""
        from ortools.sat.python import cp_model

        best = self._pool.best
        assert best is not None
        if best.makespan <= self.bound:
            return False
        model, starts = better_than(self._task.instance, best.makespan, self.bound)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self._workers
        solver.parameters.random_seed = (self._task.seed + self.rounds) % 2**31
        # Below a cutoff, a single worker proves several times faster with this than by default.
        solver.parameters.use_strong_propagation_in_disjunctive = True
        if self._bounding:
            # Presolve would take longer than a turn. The first ones, which are short, gain most
            # without strong propagation, the later ones with it.
            solver.parameters.cp_model_presolve = False
            solver.parameters.optimize_with_core = True
            solver.parameters.use_strong_propagation_in_disjunctive = self._turns > LIGHT_TURNS
        # Ctrl-C belongs to whoever called the search.
        solver.parameters.catch_sigint_signal = False
        solver.best_bound_callback = self._note_bound
        with self._lock:
            self._solver = solver
            self._cutoff = best.makespan
            # A turn for the bound is short, and what it has learned is worth more than a cutoff.
            self._until = math.inf if self._bounding else time.perf_counter() + self._slice
            self.rounds += 1
        status = solver.solve(model, _listener(self._task.instance, starts, self._pool, self))
        with self._lock:
            self._solver = None
        if status == cp_model.INFEASIBLE:
            self._note_bound(best.makespan)
        elif status == cp_model.OPTIMAL:
            self._note_bound(solver.objective_value)
        return status not in (cp_model.INFEASIBLE, cp_model.OPTIMAL, cp_model.MODEL_INVALID)

    def found(self, makespan: int) -> None:
        """Note that the solver itself knows of a solution this good."""
        with self._lock:
            self._cutoff = min(self._cutoff, makespan)

    def _note_bound(self, bound: float) -> None:
        with self._lock:
            # Under the cutoff no bound can exceed the best makespan: that much is proved.
            self.bound = max(self.bound, min(math.ceil(bound - 1e-6), self._cutoff))

    def _halt(self) -> None:
        with self._lock:
            if self._solver is not None:
                self._solver.stop_search()


class Proved(Stop):
    """Stop once the partner has proved that nothing shorter than the best exists."""

    def __init__(self, partner: Partner) -> None:
        self._partner = partner

    def __call__(self, progress: Progress) -> bool:
        """Whether it is proved."""
        return self._partner.proves(progress.best)


def better_than(instance: Instance, makespan: int, bound: int = 0) -> tuple[Any, list[Any]]:
    """Model the search for a schedule shorter than a makespan; return it and the start variables.

    Every start variable has the window that its job alone leaves it. No schedule is shorter than
    ``bound``.
    """
    from ortools.sat.python import cp_model

    limit = makespan - 1
    model = cp_model.CpModel()
    durations, machines = instance.durations.tolist(), instance.machines.tolist()
    offsets = instance.job_offsets.tolist()
    longest = model.new_int_var(min(bound, limit), limit, "makespan")
    starts: list[Any] = []
    on_machine: list[list[Any]] = [[] for _ in range(instance.num_machines)]
    for job in range(instance.num_jobs):
        first, end = offsets[job], offsets[job + 1]
        head, tail = 0, sum(durations[first:end])
        for op in range(first, end):
            starts.append(model.new_int_var(head, max(head, limit - tail), ""))
            on_machine[machines[op]].append(
                model.new_fixed_size_interval_var(starts[op], durations[op], "")
            )
            if op > first:
                model.add(starts[op] >= starts[op - 1] + durations[op - 1])
            head += durations[op]
            tail -= durations[op]
        model.add(longest >= starts[-1] + durations[end - 1])
    for intervals in on_machine:
        model.add_no_overlap(intervals)
    model.minimize(longest)
    return model, starts


def _listener(instance: Instance, starts: list[Any], pool: Pool, partner: Partner) -> Any:
    """Make the object CP-SAT tells of solutions; its base class needs OR-Tools."""
    from ortools.sat.python import cp_model

    class Listener(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            values = np.array([self.value(variable) for variable in starts])
            schedule = Schedule.from_starts(instance, values)
            makespan = schedule.makespan
            partner.found(makespan)
            pool.offer(Member.of(makespan, order_of(instance, schedule), NAME))

    return Listener()
