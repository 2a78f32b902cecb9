"""An evolution strategy: learn from where whole searches end, without a gradient through them.

A generation perturbs the weights in antithetic pairs, lets every perturbed network search the same
instances from the same starts with the same random numbers, and ranks them by the best makespans
after some numbers of steps. The ranks weigh the perturbations into an estimate of the gradient,
which Adam follows (Salimans et al., Evolution strategies as a scalable alternative to
reinforcement learning, 2017). The paper's returns over ten steps cannot see what a move is worth
thousands of moves later; this can.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from tbgat.dispatching import dispatch_starts
from tbgat.graph.state import GraphBatch, random_states
from tbgat.policy.move_walk import flat_weights, put_weights, search_all
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import together
from tbgat.schedule import Schedule
from tbgat.training.batches import begin_batch
from tbgat.training.config import TrainingConfig

__all__ = ["centred_ranks", "estimate_gradient", "run_generation"]

Float = npt.NDArray[np.float64]


def centred_ranks(values: npt.ArrayLike) -> Float:
    """Ranks along the first axis from -1/2, the smallest, to 1/2; equals share their mean rank."""
    given = np.asarray(values)
    below = (given[None] < given[:, None]).sum(axis=1)
    equal = (given[None] == given[:, None]).sum(axis=1) - 1
    return np.asarray((below + 0.5 * equal) / max(1, len(given) - 1) - 0.5)


def estimate_gradient(
    centre: Float,
    cost: Callable[[Float], Float],
    *,
    pairs: int,
    sigma: float,
    rng: np.random.Generator,
) -> tuple[Float, Float]:
    """Estimate the direction in which the cost rises, from ranks alone.

    Parameters
    ----------
    centre
        The weights now.
    cost
        Of many rows of weights: one row of costs each, of things that are ranked one by one.
    pairs
        Perturbations; each is tried in both directions.
    sigma
        Their standard deviation.

    Returns
    -------
    gradient, costs
        The costs are those of all perturbed weights.
    """
    noise = rng.standard_normal((pairs, len(centre)))
    costs = cost(np.concatenate([centre + sigma * noise, centre - sigma * noise]))
    ranks = centred_ranks(costs).mean(axis=tuple(range(1, costs.ndim)))
    return ((ranks[:pairs] - ranks[pairs:])[:, None] * noise).mean(axis=0) / sigma, costs


def run_generation(
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    config: TrainingConfig,
    number: int,
    *,
    threads: int = 1,
) -> dict[str, float]:
    """One generation; it depends on the seed, its number and the weights alone."""
    rng, instances = begin_batch(config, optimiser, number)
    starts = [Schedule.from_starts(i, dispatch_starts(i, rng=rng)) for i in instances]
    first = np.array([start.makespan for start in starts])
    random = random_states(len(instances), rng)

    def search(weights: Float) -> npt.NDArray[np.int64]:
        batch = GraphBatch.from_schedules(instances, starts)
        return search_all(policy.config, weights, batch, random, config.marks)

    def cost(weights: Float) -> Float:
        parts = np.array_split(weights, min(threads, len(weights)))
        found = together([partial(search, part) for part in parts])
        return np.asarray(np.concatenate(found) / first[:, None])

    gradient, costs = estimate_gradient(
        flat_weights(policy).astype(np.float64),
        cost,
        pairs=config.pairs,
        sigma=config.sigma,
        rng=rng,
    )
    put_weights(policy, gradient, gradient=True)
    optimiser.step()
    return {
        "gain": float(1.0 - costs.mean()),
        "spread": float(costs.mean(axis=(1, 2)).std()),
        "lr": config.rate(number),
    }
