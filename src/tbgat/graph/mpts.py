"""MPTS, the message-passing topological sort: levels and longest paths of any DAG, in torch.

In every round the nodes settled last send along all their arcs; a node is settled once *all* its
predecessors have sent. (The paper lets a node settle at its first message, which yields shortest
distances.) A batch is many graphs side by side in one numbering: rounds are as many as the deepest
graph has levels, and each round is a handful of tensor operations on any device.
"""

# mypy: disable-error-code="no-untyped-call"
# Parts of torch carry no types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tbgat.errors import CycleError, MissingExtraError, UsageError

try:
    import torch
except ImportError:
    raise MissingExtraError("the message-passing topological sort", "torch") from None

if TYPE_CHECKING:
    from tbgat.graph.state import GraphBatch

__all__ = ["Evaluation", "arcs_of", "evaluate", "longest_paths", "topological_levels"]

Tensor = torch.Tensor


def topological_levels(arcs: Tensor, num_nodes: int, *, reverse: bool = False) -> Tensor:
    """Compute the level of every node: arcs on the longest path from a source to it.

    Parameters
    ----------
    arcs
        Two rows of node numbers: arcs lead from ``arcs[0]`` to ``arcs[1]``. Parallel arcs are
        allowed.
    num_nodes
        Nodes are numbered ``0 .. num_nodes - 1``.
    reverse
        Follow the arcs backwards: arcs on the longest path from a node to a sink.

    Returns
    -------
    Tensor
        Whole numbers on the device of ``arcs``.

    Raises
    ------
    CycleError
        If the arcs contain a cycle.

    Examples
    --------
    >>> topological_levels(torch.tensor([[0, 0, 1], [1, 2, 2]]), 3).tolist()
    [0, 1, 2]
    """
    return longest_paths(arcs, torch.ones(num_nodes, dtype=torch.int64), reverse=reverse)


def longest_paths(arcs: Tensor, weights: Tensor, *, reverse: bool = False) -> Tensor:
    """Compute the largest sum of weights over the nodes before each node on any path to it.

    With durations as weights this is the earliest start of every operation (Eq. 1); with ones it is
    the topological level.
    """
    num_nodes = len(weights)
    _check_arcs(arcs, num_nodes)
    source, target = (arcs[1], arcs[0]) if reverse else (arcs[0], arcs[1])
    source, target = source.long(), target.long()
    weights = weights.to(arcs.device)
    waiting = torch.zeros(num_nodes, dtype=torch.int64, device=arcs.device)
    waiting.index_add_(0, target, torch.ones_like(target))
    longest = torch.zeros_like(weights)
    # Only arcs that have not carried their message yet take part in a round.
    newly = waiting == 0
    settled = int(newly.sum())
    while settled < num_nodes:
        sends = newly[source]
        sender, receiver = source[sends], target[sends]
        if len(receiver) == 0:
            raise CycleError(f"the graph has a cycle: {num_nodes - settled} nodes lie on or after")
        longest.scatter_reduce_(0, receiver, longest[sender] + weights[sender], "amax")
        waiting.index_add_(0, receiver, torch.full_like(receiver, -1))
        heard = torch.zeros_like(newly)
        heard[receiver] = True
        newly = heard & (waiting == 0)
        settled += int(newly.sum())
        source, target = source[~sends], target[~sends]
    return longest


class Evaluation(NamedTuple):
    """What is known about every operation and solution of a batch; see :func:`evaluate`."""

    est: Tensor
    lst: Tensor
    level: Tensor
    back_level: Tensor
    makespan: Tensor
    sink_level: Tensor

    @property
    def critical(self) -> Tensor:
        """Whether each operation is critical: EST = LST."""
        return self.est == self.lst


def evaluate(graph: GraphBatch, device: str | torch.device = "cpu") -> Evaluation:
    """Evaluate a batch of solutions by message passing: the same numbers as the compiled functions.

    Source and sink of every solution take part, so that levels count from the source.
    """
    arrays = graph.arrays
    n, b = len(arrays.duration), len(graph)
    arcs = arcs_of(graph).to(device)
    weights = torch.zeros(n + 2 * b, dtype=torch.int64)
    weights[:n] = torch.from_numpy(arrays.duration)
    weights = weights.to(device)
    start = longest_paths(arcs, weights)
    tail = longest_paths(arcs, weights, reverse=True)
    level = topological_levels(arcs, n + 2 * b)
    back_level = topological_levels(arcs, n + 2 * b, reverse=True)
    makespan = start[n + b :]
    solution = torch.from_numpy(np.repeat(np.arange(b), np.diff(arrays.offset))).to(device)
    return Evaluation(
        est=start[:n],
        lst=makespan[solution] - tail[:n] - weights[:n],
        level=level[:n],
        back_level=back_level[:n],
        makespan=makespan,
        sink_level=level[n + b :],
    )


def arcs_of(graph: GraphBatch) -> Tensor:
    """List the arcs of a batch: N operations, then the B sources, then the B sinks."""
    g = graph.arrays
    n, b = len(g.duration), len(graph)
    nodes = np.arange(n)
    solution = np.repeat(np.arange(b), np.diff(g.offset))
    first, last = g.job_pred < 0, g.job_succ < 0
    on_machine = g.machine_succ >= 0
    pairs = [
        (nodes[~last], g.job_succ[~last]),
        (nodes[on_machine], g.machine_succ[on_machine]),
        (n + solution[first], nodes[first]),
        (nodes[last], n + b + solution[last]),
    ]
    listed = [np.concatenate(side) for side in zip(*pairs, strict=True)]
    return torch.from_numpy(np.stack(listed).astype(np.int64))


def _check_arcs(arcs: Tensor, num_nodes: int) -> None:
    if arcs.ndim != 2 or arcs.shape[0] != 2 or arcs.is_floating_point():
        raise UsageError(f"arcs must be two rows of whole numbers, got shape {tuple(arcs.shape)}")
    if arcs.numel() and not (int(arcs.min()) >= 0 and int(arcs.max()) < num_nodes):
        raise UsageError(f"arcs must name nodes from 0 to {num_nodes - 1}")
