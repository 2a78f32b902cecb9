"""The loop of all dispatching rules, compiled."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are those of Instance.

import heapq

import numpy as np

from tbgat.graph.compiled import kernel

__all__ = [
    "FDD_MWKR",
    "FIFO",
    "LPT",
    "LWKR",
    "MOPNR",
    "MWKR",
    "RANDOM",
    "SPT",
    "fill_keys",
    "place",
]

FDD_MWKR, SPT, LPT, MWKR, LWKR, MOPNR, FIFO, RANDOM = range(8)


@kernel
def fill_keys(rule, durations, job_offsets, keys):
    """Set the key of every operation; those of ``FIFO`` come up while placing."""
    for job in range(len(job_offsets) - 1):
        lo, hi = job_offsets[job], job_offsets[job + 1]
        left = 0
        for op in range(lo, hi):
            left += durations[op]
        done = 0
        for op in range(lo, hi):
            length = durations[op]
            done += length
            if rule == FDD_MWKR:
                # No work left: only operations of length zero follow, which can wait.
                keys[op] = done / left if left > 0 else np.inf
            elif rule == SPT:
                keys[op] = length
            elif rule == LPT:
                keys[op] = -length
            elif rule == MWKR:
                keys[op] = -left
            elif rule == LWKR:
                keys[op] = left
            elif rule == MOPNR:
                keys[op] = op - hi
            else:
                keys[op] = 0
            left -= length


@kernel
def place(rule, durations, machines, job_offsets, num_machines, ties):
    """Place all operations in the order of their keys, each as early as it fits."""
    keys = np.empty(len(durations), dtype=np.float64)
    fill_keys(rule, durations, job_offsets, keys)
    starts = np.zeros(len(durations), dtype=np.int64)
    # What stands on machine m, in order of time: positions machine_offsets[m] .. stop[m] - 1.
    begin = np.zeros(len(durations), dtype=np.int64)
    finish = np.zeros(len(durations), dtype=np.int64)
    machine_offsets = np.zeros(num_machines + 1, dtype=np.int64)
    for machine in machines:
        machine_offsets[machine + 1] += 1
    for machine in range(num_machines):
        machine_offsets[machine + 1] += machine_offsets[machine]
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
        position, high = first, last
        while position < high:
            middle = (position + high) // 2
            if finish[middle] <= ready:
                position = middle + 1
            else:
                high = middle
        start = ready
        while position < last and start + length > begin[position]:
            start = max(start, finish[position])
            position += 1
        for moved in range(last, position, -1):
            begin[moved] = begin[moved - 1]
            finish[moved] = finish[moved - 1]
        begin[position] = start
        finish[position] = start + length
        stop[machine] = last + 1
        starts[op] = start
        if op + 1 < job_offsets[job + 1]:
            key = float(start + length) if rule == FIFO else keys[op + 1]
            heapq.heappush(queue, (key, ties[op + 1], job, op + 1))
    return starts
