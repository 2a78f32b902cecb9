"""A few directions that hold nearly all that layer 1 gives.

A row of layer 1 is a smooth function of few numbers: three raw features, mixed head by head. So its
hundreds of entries hardly leave a space of some dozens of dimensions, and the product of layer 2
may be computed from the coordinates there. The directions depend on the weights alone: those that
the first solutions of some shops of many sizes need, which other solutions hardly leave.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np
import torch
from torch import Tensor

from tbgat import generate
from tbgat.dispatching import dispatch_starts
from tbgat.graph.state import GraphBatch
from tbgat.policy.differentiable import first_layer_of
from tbgat.policy.features import Observation, observe
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import single_threaded
from tbgat.schedule import Schedule

__all__ = ["DIRECTIONS", "coordinates_pay", "leading_directions"]

DIRECTIONS = 64
"""Directions that are kept."""

# Small and large, flat and long: from the shortest schedules to those whose times are far beyond
# what the network was trained on.
_SHOPS = ((6, 6), (10, 10), (15, 15), (20, 10), (20, 20), (100, 5))


def coordinates_pay(network: TBGAT) -> bool:
    """Whether there is a product of layer 2 and coordinates are much fewer than its inputs."""
    config = network.config
    return config.layers > 2 and config.heads * config.width >= 4 * DIRECTIONS


def leading_directions(network: TBGAT) -> Tensor:
    """Orthonormal directions for what layer 1 gives: 2 x outputs x 64.

    They span random mixtures of its rows (Halko, Martinsson and Tropp, Finding structure with
    randomness, 2011): where few directions matter, such mixtures hold them all.
    """
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad(), single_threaded():
        rows = first_layer_of(network.layers, _solutions())
        mixtures = torch.randn(rows.shape[1], DIRECTIONS, generator=generator)
        directions, _ = torch.linalg.qr(rows.transpose(1, 2) @ mixtures)
    return cast(Tensor, directions)


@cache
def _solutions() -> Observation:
    rng = np.random.default_rng(0)
    instances = [generate.uniform(jobs, machines, rng) for jobs, machines in _SHOPS]
    starts = [Schedule.from_starts(i, dispatch_starts(i, rng=rng)) for i in instances]
    batch = GraphBatch.from_schedules(instances, starts)
    batch.levels()
    return observe(batch)
