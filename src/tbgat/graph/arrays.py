"""The flat arrays of a batch of solutions, as the compiled functions see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["UNKNOWN", "Arrays", "Int32", "Int64", "allocate"]

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

# A makespan above all others.
UNKNOWN = 1 << 62


class Arrays(NamedTuple):
    """What the compiled functions see. N operations, B solutions, J jobs, all in one numbering.

    An operation's neighbours are operation numbers of the whole batch, -1 for none.
    """

    offset: Int64  # B+1: operations of solution b are offset[b] .. offset[b+1]-1
    job_start: Int64  # B+1: jobs of solution b are job_start[b] .. job_start[b+1]-1
    last_of_job: Int32  # J
    duration: Int64  # N
    machine: Int32  # N, numbered within its instance
    job: Int32  # N, numbered over the batch
    job_pred: Int32  # N
    job_succ: Int32  # N
    machine_pred: Int32  # N
    machine_succ: Int32  # N
    order: Int32  # N: a topological order of each solution's operations
    position: Int32  # N: its inverse
    est: Int64  # N: earliest start
    tail: Int64  # N: longest path from the end of x to the sink
    level: Int32  # N: forward sort
    back_level: Int32  # N: backward sort
    sink_level: Int32  # B: level of the sink = backward level of the source
    makespan: Int64  # B
    path: Int32  # N: last drawn critical path of b, path_length[b] operations from offset[b]
    path_length: Int32  # B
    block_count: Int32  # B
    move_u: Int32  # N: moves of b are move_count[b] entries from offset[b]
    move_v: Int32  # N
    move_makespan: Int64  # N: exact makespan after the move
    move_age: Int32  # N: steps since a swap made this arc, 0 if not within memory
    move_count: Int32  # B
    memory_u: Int32  # B x memory: arcs made by the latest swaps, a ring
    memory_v: Int32  # B x memory
    memory_makespan: Int64  # B x memory: makespans before the latest swaps, the same ring
    swaps: Int64  # B: swaps made so far
    moved_at: Int64  # N: number of the latest swap that moved x, counted from 1; 0 if none
    moves_made: Int32  # N: how many swaps moved x
    lowest: Int64  # B: smallest makespan so far
    lowest_at: Int64  # B: swaps made when it was reached
    mark: npt.NDArray[np.uint8]  # N: scratch, all zero between calls


def allocate(instances: Sequence[Instance], memory: int) -> Arrays:
    """Lay the instances side by side; machine orders are still empty."""
    sizes = np.array([i.num_operations for i in instances], dtype=np.int64)
    jobs = np.array([i.num_jobs for i in instances], dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    job_start = np.concatenate([[0], np.cumsum(jobs)]).astype(np.int64)
    n, b = int(offset[-1]), len(instances)
    if n > np.iinfo(np.int32).max:
        raise UsageError(f"{n} operations are too many for one batch")
    job = np.concatenate([i.job_of + s for i, s in zip(instances, job_start[:-1], strict=True)])
    same_job = job[1:] == job[:-1]
    index = np.arange(n, dtype=np.int32)
    job_pred, job_succ = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    job_pred[1:][same_job] = index[:-1][same_job]
    job_succ[:-1][same_job] = index[1:][same_job]

    def per_operation(dtype: type = np.int32, value: int = 0) -> npt.NDArray[Any]:
        return np.full(n, value, dtype=dtype)

    def per_solution(dtype: type = np.int32) -> npt.NDArray[Any]:
        return np.zeros(b, dtype=dtype)

    return Arrays(
        offset=offset,
        job_start=job_start,
        last_of_job=np.flatnonzero(job_succ < 0).astype(np.int32),
        duration=np.concatenate([i.durations for i in instances]),
        machine=np.concatenate([i.machines for i in instances]).astype(np.int32),
        job=job.astype(np.int32),
        job_pred=job_pred,
        job_succ=job_succ,
        machine_pred=per_operation(value=-1),
        machine_succ=per_operation(value=-1),
        order=per_operation(),
        position=per_operation(),
        est=per_operation(np.int64),
        tail=per_operation(np.int64),
        level=per_operation(),
        back_level=per_operation(),
        sink_level=per_solution(),
        makespan=per_solution(np.int64),
        path=per_operation(),
        path_length=per_solution(),
        block_count=per_solution(),
        move_u=per_operation(),
        move_v=per_operation(),
        move_makespan=per_operation(np.int64),
        move_age=per_operation(),
        move_count=per_solution(),
        memory_u=np.full((b, memory), -1, dtype=np.int32),
        memory_v=np.full((b, memory), -1, dtype=np.int32),
        memory_makespan=np.zeros((b, memory), dtype=np.int64),
        swaps=per_solution(np.int64),
        moved_at=per_operation(np.int64),
        moves_made=per_operation(),
        lowest=np.full(b, UNKNOWN, dtype=np.int64),
        lowest_at=per_solution(np.int64),
        mark=per_operation(np.uint8),
    )
