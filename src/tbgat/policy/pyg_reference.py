"""The same network written plainly with PyTorch Geometric's ``GATConv``.

Nothing of the package uses it: it is the oracle of the tests and the opponent of the speed
comparisons, as a researcher would write TBGAT today. Weights are copied from ours.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from tbgat.errors import MissingExtraError
from tbgat.policy.attention import NEGATIVE_SLOPE, GraphAttention
from tbgat.policy.features import Observation
from tbgat.policy.network import TBGAT

try:
    from torch_geometric.nn import GATConv, global_mean_pool
except ModuleNotFoundError:  # pragma: no cover - tests always have it
    raise MissingExtraError("the PyTorch Geometric reference", "test") from None

__all__ = ["PygNetwork", "PygState", "gat_convolution"]


@dataclass(frozen=True)
class PygState:
    """A batch of graphs as PyTorch Geometric wants it; nodes per graph: source, operations, sink.

    Attributes
    ----------
    features
        Per view, nodes x 3.
    arcs
        Per view, 2 x arcs.
    graph
        Graph of each node.
    pairs
        2 x moves, node numbers.
    move_graph
        Graph of each move.
    move_features
        moves x number of features.
    """

    features: tuple[Tensor, Tensor]
    arcs: tuple[Tensor, Tensor]
    graph: Tensor
    pairs: Tensor
    move_graph: Tensor
    move_features: Tensor

    @classmethod
    def of(cls, observation: Observation) -> PygState:
        """Lay out an observation, independently of the index tables of our own network."""
        features: list[list[list[float]]] = [[], []]
        arcs: set[tuple[int, int]] = set()
        graph: list[int] = []
        bounds = observation.operation_offsets.tolist()
        for b, (lo, hi) in enumerate(itertools.pairwise(bounds)):
            source, sink = lo + 2 * b, hi + 2 * b + 1
            span = float(observation.makespans[b])
            rows = observation.features[lo:hi].tolist()
            features[0] += [[0, 0, 0], *([p, e, f] for p, e, _, f, _ in rows), [0, span, 1]]
            features[1] += [[0, 0, 1], *([p, s, k] for p, _, s, _, k in rows), [0, span, 0]]
            graph += [b] * (hi - lo + 2)
            for x in range(lo, hi):
                node = x + 2 * b + 1
                arcs.add((source if observation.starts_job[x] else node - 1, node))
                if x + 1 == hi or observation.starts_job[x + 1]:
                    arcs.add((node, sink))
                before = int(observation.machine_pred[x])
                if before >= 0:
                    arcs.add((before + 2 * b + 1, node))
        arc = torch.tensor(sorted(arcs)).T.contiguous()
        move_graph = np.repeat(np.arange(len(observation)), observation.num_moves)

        def nodes(operations: npt.NDArray[np.int32]) -> Tensor:
            return torch.from_numpy(operations + 2 * move_graph + 1)

        return cls(
            features=(torch.tensor(features[0]), torch.tensor(features[1])),
            arcs=(arc, arc.flip(0).contiguous()),
            graph=torch.tensor(graph),
            pairs=torch.stack([nodes(observation.move_u), nodes(observation.move_v)]),
            move_graph=torch.from_numpy(move_graph),
            move_features=torch.from_numpy(observation.move_features),
        )


def gat_convolution(layer: GraphAttention, view: int) -> GATConv:
    """One view of one of our layers as a ``GATConv`` with the same weights."""
    convolution = GATConv(
        layer.inputs, layer.width, heads=layer.heads, negative_slope=NEGATIVE_SLOPE
    )
    with torch.no_grad():
        convolution.lin.weight.copy_(layer.weight[view].T)
        convolution.att_src.copy_(layer.source[view].unsqueeze(0))
        convolution.att_dst.copy_(layer.target[view].unsqueeze(0))
        convolution.bias.copy_(layer.bias[view])
    return convolution


class PygNetwork(nn.Module):
    """TBGAT from ``GATConv`` layers, mean pooling and a scoring network, weights copied."""

    def __init__(self, network: TBGAT) -> None:
        super().__init__()
        self.views = nn.ModuleList(
            nn.ModuleList(gat_convolution(layer, view) for layer in network.layers)
            for view in (0, 1)
        )
        stack: list[nn.Module] = []
        for linear in network.linears:
            copy = nn.Linear(linear.in_features, linear.out_features)
            copy.load_state_dict(linear.state_dict())
            stack += [copy, nn.Tanh()]
        self.scoring = nn.Sequential(*stack[:-1])
        self.shortcut = network.shortcut.detach().clone() if network.config.shortcut else None

    def forward(self, state: PygState) -> Tensor:
        """Score every move, flat."""
        views = []
        for layers, x, arcs in zip(self.views, state.features, state.arcs, strict=True):
            *inner, last = list(cast(nn.ModuleList, layers))
            for layer in inner:
                x = functional.elu(layer(x, arcs))
            views.append(last(x, arcs))
        node = torch.cat(views, dim=1)
        graph = global_mean_pool(node, state.graph)
        full = torch.cat([node, graph[state.graph]], dim=1)
        u, v = state.pairs
        scores: Tensor = self.scoring(torch.cat([full[u], full[v], state.move_features], dim=1))
        scores = scores.squeeze(1)
        return scores if self.shortcut is None else scores + state.move_features @ self.shortcut
