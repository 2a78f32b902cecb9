"""First solutions: dispatching rules with left shift.

Every rule runs the same loop. Over the jobs with operations left, take the next operation that
the rule likes best and put it into the earliest gap on its machine that is long enough, moving
nothing. What differs is the key to be minimised:

======== ===========================================================================
fdd/mwkr work of the job up to and including the operation / work left including it
spt, lpt duration of the operation: shortest, longest first
mwkr     most work left in the job, the operation included
lwkr     least work left in the job, the operation included
mopnr    most operations left in the job
fifo     the operation that has been ready longest
random   nothing
======== ===========================================================================

Ties are broken at random with a generator, by job number without one.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.instance import Instance, IntArray
from tbgat.schedule import Schedule

__all__ = ["DEFAULT_RULE", "RULES", "dispatch", "dispatch_starts", "priorities"]

FloatArray = npt.NDArray[np.float64]

RULES = ("fdd/mwkr", "spt", "lpt", "mwkr", "lwkr", "mopnr", "fifo", "random")
DEFAULT_RULE = "fdd/mwkr"


def dispatch(
    instance: Instance, rule: str = DEFAULT_RULE, rng: np.random.Generator | None = None
) -> Schedule:
    """Build a schedule by a dispatching rule.

    Parameters
    ----------
    rule
        One of :data:`RULES`.
    rng
        Breaks ties; without it the lowest job number wins. The rule ``random`` needs it.
    """
    return Schedule.from_starts(instance, dispatch_starts(instance, rule, rng))


def dispatch_starts(
    instance: Instance, rule: str = DEFAULT_RULE, rng: np.random.Generator | None = None
) -> IntArray:
    """Like :func:`dispatch`, but only the start times in the order of the operations."""
    name = rule.lower()
    if name == "random" and rng is None:
        raise UsageError("the rule 'random' needs a random generator")
    keys = priorities(instance, name)
    ties = np.zeros(instance.num_operations) if rng is None else rng.random(instance.num_operations)
    per_machine = np.bincount(instance.machines, minlength=instance.num_machines)
    machine_offsets = np.concatenate(([0], np.cumsum(per_machine)))
    return _place_all(
        instance.durations,
        instance.machines,
        instance.job_offsets,
        machine_offsets,
        keys,
        ties,
        name == "fifo",
    )


def priorities(instance: Instance, rule: str = DEFAULT_RULE) -> FloatArray:
    """Key of every operation under a rule, the smallest first.

    All rules but ``fifo`` (and ``random``) know their keys before anything is placed.
    """
    if rule == "fdd/mwkr":
        done, left = _work_done(instance), _work_left(instance)
        # No work left: only operations of length zero follow, which can wait.
        ratio = np.full(len(done), np.inf)
        np.divide(done, left, out=ratio, where=left > 0)
        return ratio
    if rule == "spt":
        return instance.durations.astype(np.float64)
    if rule == "lpt":
        return -instance.durations.astype(np.float64)
    if rule == "mwkr":
        return -_work_left(instance)
    if rule == "lwkr":
        return _work_left(instance)
    if rule == "mopnr":
        return (instance.step_of - np.diff(instance.job_offsets)[instance.job_of]).astype(float)
    if rule in ("fifo", "random"):
        return np.zeros(instance.num_operations)
    raise UsageError(f"there is no rule {rule!r}, there are {', '.join(RULES)}")


def _work_done(instance: Instance) -> FloatArray:
    """Work of the job up to and including each operation."""
    total = np.concatenate(([0], np.cumsum(instance.durations)))
    before = total[instance.job_offsets[:-1]][instance.job_of]
    return (total[1:] - before).astype(np.float64)


def _work_left(instance: Instance) -> FloatArray:
    """Work of the job from each operation on, that operation included."""
    total = np.concatenate(([0], np.cumsum(instance.durations)))
    end = total[instance.job_offsets[1:]][instance.job_of]
    return (end - total[:-1]).astype(np.float64)


def _place_all(
    durations: IntArray,
    machines: IntArray,
    job_offsets: IntArray,
    machine_offsets: IntArray,
    keys: FloatArray,
    ties: FloatArray,
    by_ready_time: bool,
) -> IntArray:
    """Place all operations in the order of their keys, each as early as it fits."""
    starts = np.zeros(len(durations), dtype=np.int64)
    # What stands on each machine, in order of time.
    begin = np.zeros(len(durations), dtype=np.int64)
    finish = np.zeros(len(durations), dtype=np.int64)
    stop = machine_offsets[:-1].copy()
    queue = [
        (keys[job_offsets[job]], ties[job_offsets[job]], job, job_offsets[job])
        for job in range(len(job_offsets) - 1)
    ]
    heapq.heapify(queue)
    while queue:
        _, _, job, op = heapq.heappop(queue)
        machine, length = machines[op], durations[op]
        ready = 0
        if op > job_offsets[job]:
            ready = starts[op - 1] + durations[op - 1]
        first, last = machine_offsets[machine], stop[machine]
        # Skip what ends by the time the job is ready: nothing before it can fit.
        place, high = first, last
        while place < high:
            middle = (place + high) // 2
            if finish[middle] <= ready:
                place = middle + 1
            else:
                high = middle
        start = ready
        while place < last and start + length > begin[place]:
            start = max(start, finish[place])
            place += 1
        for position in range(last, place, -1):
            begin[position] = begin[position - 1]
            finish[position] = finish[position - 1]
        begin[place], finish[place] = start, start + length
        stop[machine] = last + 1
        starts[op] = start
        if op + 1 < job_offsets[job + 1]:
            key = float(start + length) if by_ready_time else keys[op + 1]
            heapq.heappush(queue, (key, ties[op + 1], job, op + 1))
    return starts
