"""Policy improvement by roll-outs: learn which moves lead to short makespans, and prefer those.

An imitation cannot pass its teacher, and where the network does not see what its teacher goes by it
learns to be undecided. Here a lesson asks what its moves are worth. From states of the network's
own searches every move is made and followed several times by the teacher, which costs microseconds
a step. The loss of a state is ``KL(network || network at the start) - sum of pi * value / tau``, so
that the network ends near ``pi at the start * exp(expected value / tau)``.

The value of a move is its gain over the mean of the moves that undo a recent swap, if it is one, or
over the mean of the others: one step back costs its roll-outs little, since they leave again at
once, but a policy that learns from this to step back would do so again and again.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.features import Observation, observe
from tbgat.policy.moves import choose_moves, log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.training.batches import begin_batch
from tbgat.training.config import TrainingConfig
from tbgat.training.imitation import lead, learn
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

    With ``config.passes`` the attention layers of ``policy`` stay those of ``before``, and the
    scoring network passes so often over the states; otherwise the whole network sees each once.
    """
    rng, instances = begin_batch(config, optimiser, number)
    episode = Episode(instances, rng, threads=threads, products=config.products)
    first = episode.best.copy()
    lead(teacher, episode, rng.integers(0, config.steps, len(instances)), rng)
    scorer = episode.scorer(policy)
    lesson = _Lesson(policy, optimiser, config, threads)
    states = []
    for _ in range(config.window):
        for _ in range(STRIDE - 1):
            episode.step(scorer)
        seen, gain = _look(teacher, policy, episode, config, rng, threads)
        if config.passes:
            with torch.no_grad():
                embedding = policy.embed(seen, config.products)
                states.append((embedding, seen, before.score(embedding, seen), gain))
                scores = policy.score(embedding, seen).numpy()
        else:
            with torch.no_grad():
                old = before(seen, config.products)
            scores = lesson.learn_all(seen, old, gain)
            scorer = episode.scorer(policy)
        episode.move(seen.move_u, seen.move_v, choose_moves(scores, seen.move_offsets, rng))
    for _ in range(config.passes):
        for i in rng.permutation(len(states)):
            lesson.learn_to_score(*states[i])
    fresh = config.window  # in later passes the states are known
    return {
        "moved": float(np.mean(lesson.moved[:fresh])),
        "gained": float(np.mean(lesson.gained[:fresh])),
        "gain": float(np.mean(1.0 - episode.best / first)),
        "lr": config.rate(number),
    }


class _Lesson:
    """Updates of the scoring network or of all, and how far each moved the policy and gained."""

    def __init__(
        self,
        policy: TBGAT,
        optimiser: torch.optim.Optimizer,
        config: TrainingConfig,
        threads: int,
    ) -> None:
        self.policy, self.optimiser, self.config = policy, optimiser, config
        self.threads = threads
        self.moved: list[float] = []
        self.gained: list[float] = []

    def learn_to_score(
        self, embedding: Tensor, seen: Observation, old: Tensor, gain: Tensor
    ) -> None:
        """One update of the scoring network."""
        self.optimiser.zero_grad()
        found = improvement_loss(self.policy.score(embedding, seen), old, gain, seen.move_offsets)
        loss = (found[0] - found[1] / self.config.tau) / len(seen)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.clip)
        self.optimiser.step()
        self._note(len(seen), found[0].item(), found[1].item())

    def learn_all(self, seen: Observation, old: Tensor, gain: Tensor) -> npt.NDArray[np.float32]:
        """One update of the whole network; return its scores before."""
        pieces: list[tuple[float, float]] = []

        def loss(
            scores: Tensor, at: npt.NDArray[np.int64], offsets: npt.NDArray[np.int32]
        ) -> Tensor:
            moved, gained = improvement_loss(scores, old[at], gain[at], offsets)
            pieces.append((moved.item(), gained.item()))
            return moved - gained / self.config.tau

        scores, _ = learn(self.policy, self.optimiser, seen, loss, self.config, self.threads)
        self._note(len(seen), *(math.fsum(part) for part in zip(*pieces, strict=True)))
        return scores

    def _note(self, states: int, moved: float, gained: float) -> None:
        self.moved.append(moved / states)
        self.gained.append(gained / states)


def _look(
    teacher: TBGAT,
    policy: TBGAT,
    episode: Episode,
    config: TrainingConfig,
    rng: np.random.Generator,
    threads: int,
) -> tuple[Observation, Tensor]:
    """What the network sees of the searches as they stand, and what each move gains."""
    episode.look()
    seen = observe(episode.batch, policy.config.move_features, episode.best)
    recent = observe(episode.batch, ("recent",), episode.best).move_features[:, 0]
    lowest = lowest_makespans(
        episode.batch, seen, teacher, rollouts=config.rollouts, marks=config.marks, rng=rng,
        threads=threads,
    )  # fmt: skip
    best = np.repeat(episode.best, seen.num_moves)
    percent = 100.0 * lowest.mean(axis=(1, 2)) / best
    return seen, torch.from_numpy(gains(percent, recent, seen.move_offsets))
