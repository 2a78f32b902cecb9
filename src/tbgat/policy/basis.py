"""A few directions that hold nearly all that layer 1 gives.

A row of layer 1 is a smooth function of few numbers: three raw features, mixed head by head. So its
hundreds of entries hardly leave a space of some dozens of dimensions, and the product of layer 2
may be computed from the coordinates there.
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
from tbgat.policy.features import Observation, observe
from tbgat.schedule import Schedule

__all__ = ["DIRECTIONS", "coordinates_pay", "example_solutions", "leading_directions"]

DIRECTIONS = 64
"""Directions that are kept."""

# Rows that are looked at to find them.
_ROWS = 1536

# Small and large, flat and long: from the shortest schedules to those whose times are far beyond
# what the network was trained on.
_SHOPS = ((6, 6), (10, 10), (15, 15), (20, 10), (20, 20), (100, 5))


def coordinates_pay(outputs: int) -> bool:
    """Whether coordinates are much fewer than what they stand for."""
    return outputs >= 4 * DIRECTIONS


def leading_directions(rows: Tensor) -> Tensor:
    """Orthonormal directions, 2 x outputs x 64, that hold nearly all of 2 x any x outputs.

    They span random mixtures of the rows (Halko, Martinsson and Tropp, Finding structure with
    randomness, 2011): where few directions matter, such mixtures hold them all.
    """
    some = rows[:, :: max(1, rows.shape[1] // _ROWS)]
    generator = torch.Generator().manual_seed(0)
    mixtures = torch.randn(some.shape[1], DIRECTIONS, generator=generator)
    directions, _ = torch.linalg.qr(some.transpose(1, 2) @ mixtures)
    return cast(Tensor, directions)


@cache
def example_solutions() -> Observation:
    """The first solutions of some shops of many sizes; others need hardly any other direction."""
    rng = np.random.default_rng(0)
    instances = [generate.uniform(jobs, machines, rng) for jobs, machines in _SHOPS]
    starts = [Schedule.from_starts(i, dispatch_starts(i, rng=rng)) for i in instances]
    batch = GraphBatch.from_schedules(instances, starts)
    batch.levels()
    return observe(batch)
