"""The arcs of one view of a batch of graphs, laid out for the compiled functions.

Nodes stand graph by graph: operations, root, sink (see :mod:`tbgat.policy.structure` for these
words); graph ``b`` begins at node ``offset[b] + 2 * b``. Neighbours are numbered within a graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tbgat.graph.state import GraphBatch
from tbgat.policy.features import Observation

__all__ = ["Links", "links_of_batch", "links_of_observation"]

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class Links(NamedTuple):
    """In-neighbours of all nodes of one view."""

    offset: Int64  # B+1: operations of graph b are offset[b] .. offset[b+1]-1
    job_start: Int64  # B+1: jobs of graph b are job_start[b] .. job_start[b+1]-1
    job: Int32  # nodes: in-neighbour by the job, an operation or the root; -1 for root and sink
    machine: Int32  # nodes: in-neighbour by the machine, -1 for none or where the job has the same
    ends: Int32  # jobs: in-neighbours of the sinks


def links_of_batch(batch: GraphBatch) -> tuple[Links, Links]:
    """Links of both views but for the machines, which change from step to step: all -1."""
    g = batch.arrays
    return _links(g.offset, g.job_pred < 0)


def links_of_observation(observation: Observation) -> tuple[Links, Links]:
    """Links of both views."""
    offset = observation.operation_offsets.astype(np.int64)
    both = _links(offset, observation.starts_job)
    graph = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    node = np.arange(len(graph)) + 2 * graph
    for links, neighbour in zip(
        both, (observation.machine_pred, observation.machine_succ), strict=True
    ):
        local = neighbour - offset[graph]
        links.machine[node] = np.where((neighbour < 0) | (local == links.job[node]), -1, local)
    return both


def _links(offset: Int64, starts_job: npt.NDArray[np.bool_]) -> tuple[Links, Links]:
    sizes = np.diff(offset)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    local = np.arange(len(graph)) - offset[graph]
    node = local + offset[graph] + 2 * graph
    ends_job = np.append(starts_job[1:], True)
    job_start = np.append(0, np.cumsum(np.add.reduceat(starts_job.astype(np.int64), offset[:-1])))
    both = []
    for outer, inner, step in ((starts_job, ends_job, -1), (ends_job, starts_job, 1)):
        job = np.full(len(graph) + 2 * len(sizes), -1, dtype=np.int32)
        job[node] = np.where(outer, sizes[graph], local + step)
        ends = local[inner].astype(np.int32)
        both.append(Links(offset, job_start, job, np.full_like(job, -1), ends))
    return both[0], both[1]
