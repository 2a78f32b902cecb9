"""A policy of your own in place of the network: thirty lines, no training.

Run with ``python examples/own_policy.py``. It prefers moves that shorten the schedule and that no
recent move has made, and is compared with random moves at the same number of steps.
"""

import numpy as np

import tbgat
from tbgat.graph import GraphBatch
from tbgat.policy.features import move_positions


def cautious(batch: GraphBatch, best: np.ndarray) -> np.ndarray:
    """Score all moves of all solutions; the softmax over a solution's moves is drawn from."""
    at, offsets = move_positions(batch)
    g = batch.arrays
    solution = np.repeat(np.arange(len(batch)), np.diff(offsets))
    change = g.move_makespan[at] - g.makespan[solution]
    just_made = g.move_age[at] > 0
    return -change / 30.0 - 2.0 * just_made


def indifferent(batch: GraphBatch, best: np.ndarray) -> np.ndarray:
    return np.zeros(int(batch.arrays.move_count.sum()))


if __name__ == "__main__":
    instances = [tbgat.load(f"la{number:02d}") for number in range(16, 26)]
    for policy in (indifferent, cautious):
        results = tbgat.solve_many(instances, "tbgat", policy=policy, steps=200, seed=1)
        known = [tbgat.library.bounds(r.instance.name).upper_bound for r in results]
        gaps = [r.makespan / best - 1 for r, best in zip(results, known, strict=True)]
        print(f"{policy.__name__}: mean gap {np.mean(gaps):.1%}")
