"""Lower bounds on the makespan of any schedule.

The head of an operation is the work of its job before it, the tail the work after it. All three
bounds hold for every shop, recirculation and zero durations included.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

import numpy as np

from tbgat.instance import Instance, IntArray

__all__ = ["job_bound", "lower_bound", "machine_bound", "one_machine_bound", "preemptive_bound"]


def lower_bound(instance: Instance) -> int:
    """Best of the three bounds.

    That is the preemptive one: a machine's value is the largest ``smallest head + work + smallest
    tail`` over all sets of its operations (Carlier, 1982), of which the machine bound is the set of
    all and the job bound a set of one.
    """
    return preemptive_bound(instance)


def job_bound(instance: Instance) -> int:
    """Work of the longest job."""
    return int(np.add.reduceat(instance.durations, instance.job_offsets[:-1]).max())


def machine_bound(instance: Instance) -> int:
    """Largest ``smallest head + work + smallest tail`` of a machine."""
    heads, tails = _heads_and_tails(instance)
    machines, count = instance.machines, instance.num_machines
    work = np.zeros(count, dtype=np.int64)
    np.add.at(work, machines, instance.durations)
    far = np.iinfo(np.int64).max
    first, last = np.full(count, far), np.full(count, far)
    np.minimum.at(first, machines, heads)
    np.minimum.at(last, machines, tails)
    used = first < far
    return int((first[used] + work[used] + last[used]).max())


def preemptive_bound(instance: Instance) -> int:
    """Largest value of Jackson's preemptive schedule of a machine."""
    heads, tails = _heads_and_tails(instance)
    by_machine = np.lexsort((heads, instance.machines))
    counts = np.bincount(instance.machines, minlength=instance.num_machines)
    ends = np.concatenate(([0], np.cumsum(counts))).tolist()
    columns = (heads, instance.durations, tails)
    head, duration, tail = (column[by_machine].tolist() for column in columns)
    return max(
        _jackson(head[a:b], duration[a:b], tail[a:b]) for a, b in itertools.pairwise(ends) if a < b
    )


def one_machine_bound(heads: Sequence[int], durations: Sequence[int], tails: Sequence[int]) -> int:
    """Value of Jackson's preemptive schedule of one machine, operations in any order.

    Of the operations that are ready, always work on the one with the longest tail; stop it when one
    with a longer tail becomes ready. No schedule of the machine, preemptive or not, ends earlier.
    """
    order = sorted(range(len(heads)), key=heads.__getitem__)
    return _jackson(*([column[i] for i in order] for column in (heads, durations, tails)))


def _heads_and_tails(instance: Instance) -> tuple[IntArray, IntArray]:
    done = np.concatenate(([0], np.cumsum(instance.durations)))
    offsets, job = instance.job_offsets, instance.job_of
    return done[:-1] - done[offsets[:-1]][job], done[offsets[1:]][job] - done[1:]


def _jackson(heads: list[int], durations: list[int], tails: list[int]) -> int:
    """Run Jackson's schedule on operations sorted by head."""
    time, bound, arrived, count = 0, 0, 0, len(heads)
    ready: list[tuple[int, int]] = []
    while ready or arrived < count:
        if not ready:
            time = max(time, heads[arrived])
        while arrived < count and heads[arrived] <= time:
            heapq.heappush(ready, (-tails[arrived], durations[arrived]))
            arrived += 1
        minus_tail, left = ready[0]
        if arrived == count or time + left <= heads[arrived]:
            heapq.heappop(ready)
            time += left
            bound = max(bound, time - minus_tail)
        else:
            heapq.heapreplace(ready, (minus_tail, left - (heads[arrived] - time)))
            time = heads[arrived]
    return bound
