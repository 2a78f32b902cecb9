"""Random instances, all seeded.

A seed is a whole number, a :class:`numpy.random.Generator`, or None for an instance that nobody
can repeat.
"""

from __future__ import annotations

import numpy as np

from tbgat.errors import UsageError
from tbgat.generate.taillard import taillard, taillard_benchmark
from tbgat.instance import Instance, IntArray

__all__ = [
    "flow_shop_like",
    "general",
    "taillard",
    "taillard_benchmark",
    "uniform",
    "uniform_batch",
]

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


def flow_shop_like(
    jobs: int,
    machines: int,
    seed: Seed = None,
    *,
    stages: int = 2,
    low: int = 1,
    high: int = 99,
    name: str = "",
) -> Instance:
    """Draw routings that pass groups of machines in one order, each group in an order at random.

    Two stages make the kind of swv01-15 and dmu41-80, which are harder than their size tells; as
    many stages as machines make a flow shop.
    """
    _check_size(jobs, machines)
    _check_range(low, high)
    if not 1 <= stages <= machines:
        raise UsageError(f"stages must be 1..{machines}, got {stages}")
    rng = np.random.default_rng(seed)
    durations = rng.integers(low, high, size=(jobs, machines), endpoint=True)
    groups = np.array_split(np.arange(machines), stages)
    routes = [rng.permuted(np.tile(group, (jobs, 1)), axis=1) for group in groups]
    return Instance.from_arrays(
        durations, np.concatenate(routes, axis=1), name=name, num_machines=machines
    )


def general(
    jobs: int,
    machines: int,
    seed: Seed = None,
    *,
    steps: tuple[int, int] | None = None,
    recirculate: bool = True,
    low: int = 0,
    high: int = 99,
    name: str = "",
) -> Instance:
    """Draw a ragged shop: jobs of different lengths that skip machines and come back to them.

    Parameters
    ----------
    steps
        Fewest and most operations of a job; by default 1 and ``2 * machines``, or ``machines``
        without recirculation.
    recirculate
        Whether a job may visit a machine more than once.
    """
    _check_size(jobs, machines)
    _check_range(low, high)
    fewest, most = steps or (1, 2 * machines if recirculate else machines)
    if not 1 <= fewest <= most or (most > machines and not recirculate):
        raise UsageError(f"a job cannot have {fewest}..{most} steps on {machines} machines")
    rng = np.random.default_rng(seed)
    lengths = rng.integers(fewest, most, size=jobs, endpoint=True)
    if recirculate:
        route = rng.integers(0, machines, size=lengths.sum())
    else:
        route = np.concatenate([rng.permutation(machines)[:length] for length in lengths])
    return Instance.from_flat(
        rng.integers(low, high, size=len(route), endpoint=True),
        route,
        np.concatenate(([0], np.cumsum(lengths))),
        name=name,
        num_machines=machines,
    )


def _routes(rng: np.random.Generator, jobs: int, machines: int) -> IntArray:
    return rng.permuted(np.tile(np.arange(machines), (jobs, 1)), axis=1)


def _check_size(jobs: int, machines: int) -> None:
    if jobs < 1 or machines < 1:
        raise UsageError(f"an instance needs at least one job and one machine: {jobs}x{machines}")


def _check_range(low: int, high: int) -> None:
    if not 0 <= low <= high:
        raise UsageError(f"durations must be drawn from a range of 0 or more, got {low}..{high}")
