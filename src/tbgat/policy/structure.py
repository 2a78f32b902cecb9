"""The arcs of a batch of graphs as index tensors, both views at once.

The backward view is a forward view of the reversed graph. So a view has *operations*, a *root*
(source of the forward, sink of the backward view) whose only in-neighbour is itself, and a *sink*
whose in-neighbours are the ends of all jobs; both views run through the same code. Nodes of a view:
all operations, then the roots of all graphs, then their sinks. Nodes are numbered over both views,
the backward ones behind the forward ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.features import Observation

__all__ = ["Structure"]


@dataclass(frozen=True)
class Structure:
    """Features and in-neighbours of all nodes of both views.

    Attributes
    ----------
    features
        2 x nodes x 3.
    job
        2 x N; in-neighbour by the job: an operation or the root.
    machine
        2 x N; in-neighbour by the machine, itself where there is none.
    has_machine
        2 x N; whether there is one. An arc of the job and the machine at once counts once.
    ends
        2 x B x most jobs; in-neighbours of each sink, filled up with the sink itself.
    has_end
        2 x B x most jobs; whether an entry is real.
    graph
        nodes of a view; the graph each belongs to.
    sizes
        B; number of nodes of each graph.
    """

    features: Tensor
    job: Tensor
    machine: Tensor
    has_machine: Tensor
    ends: Tensor
    has_end: Tensor
    graph: Tensor
    sizes: Tensor

    @property
    def num_operations(self) -> int:
        """Operations of all graphs."""
        return self.job.shape[1]

    @property
    def num_graphs(self) -> int:
        """Graphs in the batch."""
        return self.ends.shape[1]

    @classmethod
    def of(cls, observation: Observation, device: torch.device | str = "cpu") -> Structure:
        """Read the structure off an observation."""
        offsets = observation.operation_offsets.astype(np.int64)
        count, graphs = int(offsets[-1]), len(observation)
        nodes = count + 2 * graphs
        sizes = np.diff(offsets)
        operation = np.arange(count)
        graph = np.repeat(np.arange(graphs), sizes)

        starts = observation.starts_job
        ends = np.append(starts[1:], True)
        job = np.empty((2, count), dtype=np.int64)
        job[0] = np.where(starts, count + graph, operation - 1)
        job[1] = nodes + np.where(ends, count + graph, operation + 1)
        machine = np.stack([observation.machine_pred, observation.machine_succ]).astype(np.int64)
        shift = np.array([[0], [nodes]])
        has_machine = (machine >= 0) & (machine + shift != job)
        machine = np.where(has_machine, machine, operation) + shift

        job_of = np.cumsum(starts) - 1
        jobs_before = np.append(job_of[offsets[:-1]], job_of[-1] + 1)
        jobs = np.diff(jobs_before)
        slot = np.arange(int(jobs.max()))
        has_end = np.broadcast_to(slot < jobs[:, None], (2, graphs, len(slot)))
        which = np.minimum(jobs_before[:-1, None] + slot, job_of[-1])
        sink = (count + graphs + np.arange(graphs))[:, None]
        last, first = np.flatnonzero(ends), np.flatnonzero(starts)
        table = np.stack([np.where(has_end[0], side[which], sink) for side in (last, first)])

        def tensor(array: npt.NDArray[np.generic]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device)

        return cls(
            features=tensor(_node_features(observation)),
            job=tensor(job),
            machine=tensor(machine),
            has_machine=tensor(has_machine),
            ends=tensor(table + shift[:, :, None]),
            has_end=tensor(has_end),
            graph=tensor(np.concatenate([graph, np.arange(graphs), np.arange(graphs)])),
            sizes=tensor(sizes + 2),
        )


def _node_features(observation: Observation) -> npt.NDArray[np.float32]:
    """Raw features of operations, roots and sinks in both views."""
    count, graphs = len(observation.features), len(observation)
    features = np.zeros((2, count + 2 * graphs, 3), dtype=np.float32)
    features[0, :count] = observation.features[:, [0, 1, 3]]
    features[1, :count] = observation.features[:, [0, 2, 4]]
    # Forward: the root is the source (0, 0, 0), the sink starts at the makespan and is deepest.
    # Backward: the root is the sink (level 0) at the makespan, the source is deepest at time 0.
    sinks = slice(count + graphs, None)
    features[0, sinks, 1] = observation.makespans
    features[1, count : count + graphs, 1] = observation.makespans
    features[:, sinks, 2] = 1.0
    return features
