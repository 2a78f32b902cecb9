"""What a picture of a schedule shows: start times, slack, one critical path and its blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.instance import Instance, IntArray
from tbgat.schedule import Schedule

__all__ = ["View", "chart_data", "critical_blocks", "job_colour", "view"]


@dataclass(frozen=True)
class View:
    """A checked schedule, seen operation by operation (numbers as in :class:`Instance`).

    Attributes
    ----------
    critical
        Operations that cannot end later without a larger makespan.
    path
        One critical path; the smallest operation number decides between several.
    """

    start: IntArray
    end: IntArray
    orders: list[list[int]]
    critical: npt.NDArray[np.bool_]
    path: list[int]

    @property
    def makespan(self) -> int:
        """Time at which the last operation ends."""
        return int(self.end.max())


def view(instance: Instance, schedule: Schedule) -> View:
    """Check a schedule and find what is critical in it."""
    orders = schedule.machine_orders(instance)
    start = schedule.starts(instance)
    end = start + instance.durations
    successors, predecessors = _neighbours(instance, orders)
    makespan = int(end.max())
    latest = np.full(instance.num_operations, makespan, dtype=np.int64)
    durations = instance.durations.tolist()
    for op in _backwards(start, end, orders, instance):
        for after in successors[op]:
            latest[op] = min(latest[op], latest[after] - durations[after])
    critical = latest == end
    path = _walk_back(start, end, critical, predecessors)
    return View(start, end, orders, critical, path)


def _neighbours(
    instance: Instance, orders: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    successors: list[list[int]] = [[] for _ in range(instance.num_operations)]
    predecessors: list[list[int]] = [[] for _ in range(instance.num_operations)]
    chains = [range(a, b) for a, b in itertools.pairwise(instance.job_offsets.tolist())]
    for chain in [*chains, *orders]:
        for before, after in itertools.pairwise(chain):
            successors[before].append(after)
            predecessors[after].append(before)
    return successors, predecessors


def _backwards(
    start: IntArray, end: IntArray, orders: list[list[int]], instance: Instance
) -> list[int]:
    """Every operation after all that follow it: by time, then (zero lengths) by position."""
    position = np.empty(instance.num_operations, dtype=np.int64)
    for order in orders:
        position[order] = np.arange(len(order))
    by_time = np.lexsort((position, instance.step_of, end, start))
    return [int(op) for op in by_time[::-1]]


def _walk_back(
    start: IntArray,
    end: IntArray,
    critical: npt.NDArray[np.bool_],
    predecessors: list[list[int]],
) -> list[int]:
    op = int(np.flatnonzero(end == end.max())[0])
    path = [op]
    while True:
        tight = [b for b in predecessors[op] if end[b] == start[op] and critical[b]]
        if not tight:
            return path[::-1]
        op = min(tight)
        path.append(op)


def critical_blocks(instance: Instance, path: list[int]) -> list[list[int]]:
    """Cut a critical path into runs of operations on one machine."""
    return [
        list(run) for _, run in itertools.groupby(path, key=lambda op: int(instance.machines[op]))
    ]


def job_colour(job: int) -> tuple[float, float, float]:
    """Hue, saturation, lightness of a job's bars; neighbours differ, black text stays legible."""
    return (job * 137.508) % 360, 0.62, (0.72, 0.62, 0.80)[job % 3]


def chart_data(
    instance: Instance,
    schedule: Schedule,
    *,
    lower_bound: int | None = None,
    best_known: int | None = None,
    title: str = "",
) -> dict[str, Any]:
    """Everything ``gantt.js`` needs to draw a schedule, as plain numbers and texts."""
    seen = view(instance, schedule)
    return {
        "title": title or instance.name or instance.shape,
        "jobs": [instance.job_label(j) for j in range(instance.num_jobs)],
        "machines": [instance.machine_label(m) for m in range(instance.num_machines)],
        "job": instance.job_of.tolist(),
        "step": instance.step_of.tolist(),
        "machine": instance.machines.tolist(),
        "start": seen.start.tolist(),
        "end": seen.end.tolist(),
        "critical": seen.critical.astype(int).tolist(),
        "blocks": critical_blocks(instance, seen.path),
        "makespan": seen.makespan,
        "lowerBound": lower_bound,
        "bestKnown": best_known,
    }
