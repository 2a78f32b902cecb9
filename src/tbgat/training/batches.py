"""How a batch of any learner begins: from the run's configuration and the batch's number alone."""

from __future__ import annotations

import numpy as np
import torch

from tbgat import generate
from tbgat.instance import Instance
from tbgat.training.config import TrainingConfig

__all__ = ["begin_batch"]


def begin_batch(
    config: TrainingConfig, optimiser: torch.optim.Optimizer, number: int
) -> tuple[np.random.Generator, list[Instance]]:
    """Set the learning rate; return the source of everything random, and fresh instances."""
    for group in optimiser.param_groups:
        group["lr"] = config.rate(number)
    rng = np.random.default_rng([config.seed, number])
    return rng, [generate.uniform(jobs, machines, rng) for jobs, machines in config.size_of(number)]
