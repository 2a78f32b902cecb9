"""How good a policy is: its mean gap on a fixed set that nobody reports on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tbgat.generate.sizes import Sizes
from tbgat.library.sets import InstanceSet, load_set
from tbgat.policy.move_walk import flat_weights, search_all
from tbgat.policy.network import TBGAT
from tbgat.training.reinforce import Episode

__all__ = ["Validation", "validate", "validation_sets"]

# Solutions searched side by side: enough for fast products, little memory.
TOGETHER = 64


@dataclass(frozen=True)
class Validation:
    """Mean gap in percent to the references, per size and over all."""

    gaps: dict[str, float]
    error: float

    @property
    def gap(self) -> float:
        """Mean over the sizes."""
        return float(np.mean(list(self.gaps.values())))


def validation_sets(sizes: Sizes, count: int) -> list[InstanceSet]:
    """The shipped validation instances of these sizes; the nearest size where one is missing."""
    shipped = load_set("validation")
    nearest = [
        min(shipped, key=lambda size: (abs(size[0] - jobs) + abs(size[1] - machines), size))
        for jobs, machines in sizes
    ]
    return [shipped[size].head(count) for size in dict.fromkeys(nearest)]


def validate(
    policy: TBGAT,
    sets: Sequence[InstanceSet],
    *,
    marks: Sequence[int],
    seed: int = 0,
    threads: int = 1,
) -> Validation:
    """Search every instance once with sampled moves; the same seed draws the same noise.

    Parameters
    ----------
    marks
        Numbers of steps, rising; the gap of an instance is the mean of those after so many.
    """
    gaps, spread = {}, []
    for group in sets:
        found = []
        for begin in range(0, len(group.instances), TOGETHER):
            episode = Episode(
                group.instances[begin : begin + TOGETHER],
                np.random.default_rng([seed, begin]),
                threads=threads,
                products="lowrank",
            )
            found.append(_best_at(episode, policy, marks))
        best = np.concatenate(found, axis=1).mean(axis=0)
        percent = 100.0 * (best / group.makespans - 1.0)
        gaps[f"{group.size[0]}x{group.size[1]}"] = float(percent.mean())
        spread.append(percent.var(ddof=1) / len(percent) if len(percent) > 1 else 0.0)
    return Validation(gaps, float(np.sqrt(np.sum(spread)) / max(1, len(spread))))


def _best_at(episode: Episode, policy: TBGAT, marks: Sequence[int]) -> npt.NDArray[np.int64]:
    """Best makespans, marks x solutions."""
    if not policy.config.layers:
        flat = flat_weights(policy)[None]
        found = search_all(policy.config, flat, episode.batch, episode.paths, marks)
        return np.asarray(found[0].T)
    best, made = [], 0
    for mark in marks:
        episode.search(policy, mark - made)
        made = mark
        best.append(episode.best)
    return np.stack(best)
