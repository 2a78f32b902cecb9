"""States of all kinds to test the network on."""

import numpy as np

from tbgat.dispatching import dispatch
from tbgat.generate import uniform
from tbgat.graph import GraphBatch, random_states
from tbgat.instance import Instance
from tbgat.policy.features import Observation, observe

ODD_SHOPS = (
    # Ragged jobs, a skipped machine, recirculation, two steps in a row on one machine, duration 0.
    Instance([[(0, 3), (1, 5), (0, 2)], [(1, 4)], [(2, 7), (2, 1), (1, 0)], [(0, 9), (2, 6)]]),
    Instance([[(0, 4)]]),
    Instance([[(0, 400), (1, 2300)], [(1, 24000), (0, 1)], [(0, 5000), (1, 700)]]),
)


def mixed_instances(seed: int = 0) -> list[Instance]:
    classic = [
        uniform(j, m, seed + k) for k, (j, m) in enumerate([(3, 3), (6, 4), (4, 7), (10, 10)])
    ]
    return [*classic, *ODD_SHOPS, uniform(5, 5, seed + 9)]


def walk(
    instances: list[Instance], steps: int, seed: int = 0, names: tuple[str, ...] = ("recent",)
) -> tuple[GraphBatch, list[Observation]]:
    """Make random moves; return the batch and the observation before each move and at the end."""
    rng = np.random.default_rng(seed)
    batch = GraphBatch.from_schedules(instances, [dispatch(i, rng=rng) for i in instances])
    random = random_states(len(batch), rng)
    best = batch.arrays.makespan.copy()
    seen = []
    for step in range(steps + 1):
        batch.levels()
        batch.neighbourhood(random)
        best = np.minimum(best, batch.arrays.makespan)
        seen.append(observe(batch, names, best))
        if step < steps:
            batch.swap(*random_move(batch, rng))
    return batch, seen


def random_move(batch: GraphBatch, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    g = batch.arrays
    some = np.maximum(g.move_count, 1)
    at = np.minimum(g.offset[:-1] + rng.integers(0, some), len(g.move_u) - 1)
    has = g.move_count > 0
    return np.where(has, g.move_u[at], -1), np.where(has, g.move_v[at], -1)
