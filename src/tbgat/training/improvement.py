"""Policy improvement by roll-outs: learn which moves lead to short makespans, and prefer those.

An imitation cannot pass its teacher, and where the network does not see what its teacher goes by it
learns to be undecided. Here a lesson asks what its moves are worth. From states of the network's
own searches every move is made and followed several times by the teacher, which costs microseconds
a step. The loss of a state is ``KL(network || network at the start) - sum of pi * value / tau``, so
that the scoring network ends near ``pi at the start * exp(expected value / tau)``.

The value of a move is its gain over the mean of the moves that undo a recent swap, if it is one, or
over the mean of the others: one step back costs its roll-outs little, since they leave again at
once, but a policy that learns from this to step back would do so again and again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.features import Observation, observe
from tbgat.policy.moves import choose_moves, log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.training.batches import begin_batch
from tbgat.training.config import TrainingConfig
from tbgat.training.imitation import lead
from tbgat.training.reinforce import Episode
from tbgat.training.values import lowest_makespans

__all__ = ["gains", "improvement_loss", "run_improvement"]

# Moves of the network between two states that are learned from.
STRIDE = 4


def gains(
    values: npt.ArrayLike, recent: npt.ArrayLike, offsets: npt.NDArray[np.int32]
) -> npt.NDArray[np.float32]:
    """How far each move's value is below the mean of those like it in its state."""
    given = np.asarray(values, dtype=np.float64)
    states = len(offsets) - 1
    group = 2 * np.repeat(np.arange(states), np.diff(offsets)) + (np.asarray(recent) > 0)
    count = np.bincount(group, minlength=2 * states)
    mean = np.bincount(group, given, minlength=2 * states) / np.maximum(1, count)
    return (mean[group] - given).astype(np.float32)


def improvement_loss(
    scores: Tensor, before: Tensor, gain: Tensor, offsets: npt.NDArray[np.int32]
) -> tuple[Tensor, Tensor]:
    """Sums over the states: KL(now || before), and the gain to be expected."""
    log_pi = log_probabilities(scores, offsets)
    pi = log_pi.exp()
    return (pi * (log_pi - log_probabilities(before, offsets))).sum(), (pi * gain).sum()


def run_improvement(
    teacher: TBGAT,
    before: TBGAT,
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    config: TrainingConfig,
    number: int,
    *,
    threads: int = 1,
) -> dict[str, float]:
    """One lesson; it depends on the seed, its number and the weights alone.

    The attention layers of ``policy`` stay those of ``before``.
    """
    rng, instances = begin_batch(config, optimiser, number)
    episode = Episode(instances, rng, threads=threads, products=config.products)
    first = episode.best.copy()
    lead(teacher, episode, rng.integers(0, config.steps, len(instances)), rng)
    scorer = episode.scorer(policy)
    states = []
    for _ in range(config.window):
        for _ in range(STRIDE - 1):
            episode.step(scorer)
        states.append(_look(teacher, before, policy, episode, config, rng, threads))
        seen = states[-1][1]
        with torch.no_grad():
            scores = policy.score(states[-1][0], seen).numpy()
        episode.move(seen.move_u, seen.move_v, choose_moves(scores, seen.move_offsets, rng))
    moved, gained = [], []
    for _ in range(max(1, config.passes)):
        for i in rng.permutation(len(states)):
            embedding, seen, old, gain = states[i]
            optimiser.zero_grad()
            found = improvement_loss(policy.score(embedding, seen), old, gain, seen.move_offsets)
            ((found[0] - found[1] / config.tau) / len(seen)).backward()  # type: ignore[no-untyped-call]
            if config.clip:
                torch.nn.utils.clip_grad_norm_(policy.parameters(), config.clip)
            optimiser.step()
            moved.append(found[0].item() / len(seen))
            gained.append(found[1].item() / len(seen))
    fresh = len(states)  # in later passes the states are known
    return {
        "moved": float(np.mean(moved[:fresh])),
        "gained": float(np.mean(gained[:fresh])),
        "gain": float(np.mean(1.0 - episode.best / first)),
        "lr": config.rate(number),
    }


def _look(
    teacher: TBGAT,
    before: TBGAT,
    policy: TBGAT,
    episode: Episode,
    config: TrainingConfig,
    rng: np.random.Generator,
    threads: int,
) -> tuple[Tensor, Observation, Tensor, Tensor]:
    """The states as they stand: embedded, seen, scored at the start of the run, and the gains."""
    episode.look()
    seen = observe(episode.batch, policy.config.move_features, episode.best)
    recent = observe(episode.batch, ("recent",), episode.best).move_features[:, 0]
    with torch.no_grad():
        embedding = policy.embed(seen, config.products)
        old = before.score(embedding, seen)
    lowest = lowest_makespans(
        episode.batch, seen, teacher, rollouts=config.rollouts, marks=config.marks, rng=rng,
        threads=threads,
    )  # fmt: skip
    best = np.repeat(episode.best, seen.num_moves)
    percent = 100.0 * lowest.mean(axis=(1, 2)) / best
    return embedding, seen, old, torch.from_numpy(gains(percent, recent, seen.move_offsets))
