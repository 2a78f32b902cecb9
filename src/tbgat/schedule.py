"""A solution, and the independent judge of solutions. No graph code lives here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.errors import CycleError, ScheduleError
from tbgat.instance import Instance, IntArray

__all__ = ["Schedule"]

_LARGEST = 2**60


@dataclass(frozen=True, eq=False)
class Schedule:
    """Start times, one entry per operation, in whatever order they came.

    The entries repeat job, step, machine and end so that a schedule from elsewhere can be wrong in
    every way a schedule can be wrong, and :meth:`check` can say so.
    """

    job: npt.NDArray[Any]
    step: npt.NDArray[Any]
    machine: npt.NDArray[Any]
    start: npt.NDArray[Any]
    end: npt.NDArray[Any]

    def __post_init__(self) -> None:
        for field in self.__dataclass_fields__:
            array = np.array(getattr(self, field))
            array.setflags(write=False)
            object.__setattr__(self, field, array)
        if len({len(getattr(self, field)) for field in self.__dataclass_fields__}) != 1:
            raise ScheduleError("the columns of a schedule must have one length")

    @classmethod
    def from_starts(cls, instance: Instance, starts: npt.ArrayLike) -> Schedule:
        """Take start times in the order of the instance's operations (job by job)."""
        array = np.asarray(starts)
        if array.shape != (instance.num_operations,):
            raise ScheduleError(
                f"expected {instance.num_operations} start times, got shape {array.shape}"
            )
        return cls(
            instance.job_of, instance.step_of, instance.machines, array, array + instance.durations
        )

    @classmethod
    def from_machine_orders(cls, instance: Instance, orders: Sequence[Sequence[int]]) -> Schedule:
        """Start everything as early as the operation order of each machine allows.

        ``orders[m]`` lists the operations of machine ``m`` (numbers as in :class:`Instance`) in
        processing order. Orders that contradict each other raise :class:`CycleError`.
        """
        ops = [int(op) for order in orders for op in order]
        if len(orders) != instance.num_machines or sorted(ops) != list(
            range(instance.num_operations)
        ):
            raise ScheduleError("machine orders must list every operation exactly once")
        for machine, order in enumerate(orders):
            for op in order:
                if instance.machines[op] != machine:
                    raise ScheduleError(
                        f"operation {op} is listed on machine {machine} "
                        f"but belongs to machine {instance.machines[op]}"
                    )
        return cls.from_starts(instance, _earliest_starts(instance, orders))

    @property
    def makespan(self) -> int:
        """Time at which the last operation ends."""
        return int(self.end.max()) if len(self.end) else 0

    def starts(self, instance: Instance) -> IntArray:
        """Start times in the order of the instance's operations; checks first."""
        self.check(instance)
        result = np.empty(instance.num_operations, dtype=np.int64)
        result[instance.job_offsets[self.job.astype(np.int64)] + self.step.astype(np.int64)] = (
            self.start
        )
        return result

    def machine_orders(self, instance: Instance) -> list[list[int]]:
        """Operations of each machine in processing order; checks first.

        Zero-length operations that share a start time come in an order that keeps jobs legal.
        """
        starts = self.starts(instance)
        order = np.lexsort((instance.step_of, starts + instance.durations, starts))
        result: list[list[int]] = [[] for _ in range(instance.num_machines)]
        for op in order.tolist():
            result[instance.machines[op]].append(op)
        return result

    def violations(self, instance: Instance, limit: int = 20) -> list[str]:
        """Say everything that is wrong with this schedule, at most ``limit`` sentences."""
        found = _malformed(self, instance)
        if not found:
            whole = Schedule(*(column.astype(np.int64) for column in self._columns()))
            found = _misplaced(whole, instance)
            if not found:
                found = _early(whole, instance) + _overlapping(whole, instance)
        return found[:limit]

    def check(self, instance: Instance) -> None:
        """Raise :class:`ScheduleError` unless this is a complete, legal schedule."""
        found = self.violations(instance)
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise ScheduleError(found[0] + more)

    def utilisation(self, instance: Instance) -> npt.NDArray[np.float64]:
        """Share of the makespan during which each machine works."""
        load = np.bincount(
            instance.machines, weights=instance.durations, minlength=instance.num_machines
        )
        return load / max(self.makespan, 1)

    def idle_time(self, instance: Instance) -> IntArray:
        """Time each machine stands still before the makespan."""
        load = np.zeros(instance.num_machines, dtype=np.int64)
        np.add.at(load, instance.machines, instance.durations)
        return self.makespan - load

    def critical_operations(self, instance: Instance) -> IntArray:
        """Operations that cannot start later without ending the schedule later; checks first.

        The order of operations on each machine is kept.
        """
        orders = self.machine_orders(instance)
        starts = self.starts(instance)
        latest_end = np.full(instance.num_operations, self.makespan)
        machine_next = {a: b for order in orders for a, b in itertools.pairwise(order)}
        last_of_job = set((instance.job_offsets[1:] - 1).tolist())
        by_time = np.lexsort((instance.step_of, starts + instance.durations, starts))
        for op in by_time[::-1].tolist():
            followers = [machine_next[op]] if op in machine_next else []
            followers += [] if op in last_of_job else [op + 1]
            for after in followers:
                latest = latest_end[after] - instance.durations[after]
                latest_end[op] = min(latest_end[op], latest)
        return np.flatnonzero(latest_end - instance.durations == starts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._rows() == other._rows()

    def __hash__(self) -> int:
        return hash(tuple(self._rows()))

    def _columns(self) -> tuple[npt.NDArray[Any], ...]:
        return (self.job, self.step, self.machine, self.start, self.end)

    def _rows(self) -> list[tuple[Any, ...]]:
        return sorted(zip(*(column.tolist() for column in self._columns()), strict=True))


def _earliest_starts(instance: Instance, orders: Sequence[Sequence[int]]) -> IntArray:
    starts = np.zeros(instance.num_operations, dtype=np.int64)
    job_next = instance.job_offsets[:-1].tolist()
    job_stop = instance.job_offsets[1:].tolist()
    job_free = [0] * instance.num_jobs
    machine_free = [0] * instance.num_machines
    position = [0] * instance.num_machines
    durations, machines = instance.durations.tolist(), instance.machines.tolist()
    ready = list(range(instance.num_jobs))
    placed = 0
    while ready:
        job = ready.pop()
        while job_next[job] < job_stop[job]:
            op = job_next[job]
            machine = machines[op]
            if orders[machine][position[machine]] != op:
                break
            start = max(job_free[job], machine_free[machine])
            starts[op] = start
            job_free[job] = machine_free[machine] = start + durations[op]
            job_next[job] += 1
            position[machine] += 1
            placed += 1
            if position[machine] < len(orders[machine]):
                waiting = int(instance.job_of[orders[machine][position[machine]]])
                if waiting != job:
                    ready.append(waiting)
    if placed < instance.num_operations:
        job = next(j for j in range(instance.num_jobs) if job_next[j] < job_stop[j])
        raise CycleError(
            f"the machine orders contradict each other: job {instance.job_label(job)} can never "
            f"start its operation {job_next[job] - int(instance.job_offsets[job])}"
        )
    return starts


def _malformed(schedule: Schedule, instance: Instance) -> list[str]:
    """Find entries whose numbers are no whole numbers, out of all range, or name nothing."""
    found = []
    for name in ("job", "step", "machine", "start", "end"):
        values = getattr(schedule, name)
        # Beyond this, sums would wrap around and could make a wrong schedule look right.
        in_range = values.dtype == np.int64 and ((values >= -_LARGEST) & (values <= _LARGEST)).all()
        if in_range:
            continue
        for row, value in enumerate(values.tolist()):
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            if not whole or isinstance(value, bool):
                found.append(f"entry {row}: {name} {value!r} is not a whole number")
            elif abs(value) > _LARGEST:
                found.append(f"entry {row}: {name} {value} is out of all range")
    if found:
        return found
    job, step = schedule.job.astype(np.int64), schedule.step.astype(np.int64)
    known = (job >= 0) & (job < instance.num_jobs)
    lengths = np.diff(instance.job_offsets)[np.where(known, job, 0)]
    for row in np.flatnonzero(~known | (step < 0) | (step >= lengths)).tolist():
        if known[row]:
            label = instance.job_label(int(job[row]))
            found.append(f"entry {row}: job {label} has no operation {step[row]}")
        else:
            found.append(f"entry {row}: there is no job {job[row]}")
    return found


def _misplaced(schedule: Schedule, instance: Instance) -> list[str]:
    """Find operations missing, doubled, on a wrong machine, of wrong length or before time 0."""
    ops = instance.job_offsets[schedule.job] + schedule.step
    counts = np.bincount(ops, minlength=instance.num_operations)
    found = [f"{_label(instance, op)} is missing" for op in np.flatnonzero(counts == 0)]
    found += [f"{_label(instance, op)} is scheduled twice" for op in np.flatnonzero(counts > 1)]
    machine, duration = instance.machines[ops], instance.durations[ops]
    for row in np.flatnonzero(schedule.machine != machine):
        found.append(
            f"{_label(instance, ops[row])} is on machine {schedule.machine[row]} "
            f"instead of {instance.machine_label(machine[row])}"
        )
    for row in np.flatnonzero(schedule.start < 0):
        found.append(f"{_label(instance, ops[row])} starts at {schedule.start[row]}, before time 0")
    for row in np.flatnonzero(schedule.end - schedule.start != duration):
        found.append(
            f"{_label(instance, ops[row])} lasts {schedule.end[row] - schedule.start[row]} "
            f"instead of {duration[row]}"
        )
    return found


def _early(schedule: Schedule, instance: Instance) -> list[str]:
    """Find operations that start before the one before them in their job has ended."""
    rank = np.lexsort((schedule.step, schedule.job))
    return [
        f"{_label_of(schedule, instance, after)} starts at {schedule.start[after]}, "
        f"before its predecessor ends at {schedule.end[before]}"
        for before, after in _colliding(schedule, schedule.job, rank)
    ]


def _overlapping(schedule: Schedule, instance: Instance) -> list[str]:
    """Find operations that share a machine at a time.

    An operation of length zero may sit at either border of another one but not inside it.
    """
    rank = np.lexsort((schedule.end, schedule.start, schedule.machine))
    return [
        f"{_label_of(schedule, instance, after)} starts at {schedule.start[after]} while "
        f"{_label_of(schedule, instance, before)} occupies machine "
        f"{instance.machine_label(int(schedule.machine[before]))} until {schedule.end[before]}"
        for before, after in _colliding(schedule, schedule.machine, rank)
    ]


def _colliding(
    schedule: Schedule, group: npt.NDArray[Any], rank: npt.NDArray[np.intp]
) -> Iterator[tuple[int, int]]:
    """Yield neighbours in a ranking, of one group, of which the later starts too early."""
    before, after = rank[:-1], rank[1:]
    wrong = (group[before] == group[after]) & (schedule.start[after] < schedule.end[before])
    return zip(before[wrong].tolist(), after[wrong].tolist(), strict=True)


def _label_of(schedule: Schedule, instance: Instance, row: int) -> str:
    return _label(instance, instance.job_offsets[schedule.job[row]] + schedule.step[row])


def _label(instance: Instance, op: Any) -> str:
    job = int(instance.job_of[op])
    return f"job {instance.job_label(job)} operation {int(instance.step_of[op])}"
