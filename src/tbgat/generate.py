"""Random instances, all seeded.

A seed is a whole number, a :class:`numpy.random.Generator`, or None for an instance that nobody
can repeat.
"""

from __future__ import annotations

import numpy as np

from tbgat.errors import UsageError
from tbgat.instance import Instance, IntArray

__all__ = ["uniform", "uniform_batch"]

Seed = int | np.random.Generator | None


def uniform(
    jobs: int, machines: int, seed: Seed = None, *, low: int = 1, high: int = 99, name: str = ""
) -> Instance:
    """Draw durations from ``low..high`` (both included) and the route of every job at random.

    Every job visits every machine once. These are the training instances of the TBGAT paper.
    """
    _check_size(jobs, machines)
    _check_range(low, high)
    rng = np.random.default_rng(seed)
    durations = rng.integers(low, high, size=(jobs, machines), endpoint=True)
    return Instance.from_arrays(
        durations, _routes(rng, jobs, machines), name=name, num_machines=machines
    )


def uniform_batch(
    count: int,
    jobs: int,
    machines: int,
    rng: np.random.Generator,
    *,
    low: int = 1,
    high: int = 99,
) -> list[Instance]:
    """Draw many instances like :func:`uniform`, in one go."""
    _check_size(jobs, machines)
    _check_range(low, high)
    durations = rng.integers(low, high, size=(count, jobs, machines), endpoint=True)
    routes = _routes(rng, count * jobs, machines).reshape(count, jobs, machines)
    return [
        Instance.from_arrays(p, m, num_machines=machines)
        for p, m in zip(durations, routes, strict=True)
    ]


def _routes(rng: np.random.Generator, jobs: int, machines: int) -> IntArray:
    return rng.permuted(np.tile(np.arange(machines), (jobs, 1)), axis=1)


def _check_size(jobs: int, machines: int) -> None:
    if jobs < 1 or machines < 1:
        raise UsageError(f"an instance needs at least one job and one machine: {jobs}x{machines}")


def _check_range(low: int, high: int) -> None:
    if not 0 <= low <= high:
        raise UsageError(f"durations must be drawn from a range of 0 or more, got {low}..{high}")
