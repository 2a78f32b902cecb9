"""Imitation: learn from a policy that is better and cheaper, on the states both of them meet.

A lesson is a batch of instances. The teacher first leads every search to a random moment of its
episode. From there the network scores what it sees, and the loss is the divergence of its choice
from the teacher's, over all moves of a state: far more is learned from a state than from a reward.
Half of the searches go on with the network's own moves, so that it learns what to do where its
mistakes lead (Ross, Gordon and Bagnell, A reduction of imitation learning and structured prediction
to no-regret online learning, 2011); the others go on with the teacher's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.features import Observation, observe
from tbgat.policy.moves import choose_moves, log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import add_gradients
from tbgat.training.batches import begin_batch
from tbgat.training.config import TrainingConfig
from tbgat.training.reinforce import Episode, even_pieces

__all__ = ["divergence", "lead", "learn", "run_lesson"]

Int64 = npt.NDArray[np.int64]

# Moves of the teacher between two states that are learned from, in the searches it leads.
STRIDE = 5


def divergence(scores: Tensor, wanted: Tensor, offsets: npt.NDArray[np.int32]) -> Tensor:
    """Sum over the states of KL(teacher || network) + KL(network || teacher), by their scores.

    The first alone hardly minds moves that the teacher would never make, if the network makes them
    now and then; but such a move, back to where the search came from, costs many steps.
    """
    log_pi = log_probabilities(scores, offsets)
    log_wanted = log_probabilities(wanted, offsets)
    return ((log_wanted.exp() - log_pi.exp()) * (log_wanted - log_pi)).sum()


def run_lesson(
    teacher: TBGAT,
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    config: TrainingConfig,
    number: int,
    *,
    threads: int = 1,
) -> dict[str, float]:
    """One lesson of ``config.window`` updates; it depends on seed, number and weights alone."""
    rng, instances = begin_batch(config, optimiser, number)
    episode = Episode(instances, rng, threads=threads)
    first = episode.best.copy()
    lead(teacher, episode, rng.integers(0, config.steps, len(instances)), rng)
    own = np.arange(len(instances)) % 2 == 0
    found = []
    states: list[tuple[Tensor, Observation, Tensor]] = []
    for _ in range(config.window):
        seen, wish = _wish(teacher, episode)
        mine = observe(episode.batch, policy.config.move_features, episode.best)
        if config.passes:
            with torch.no_grad():
                states.append((policy.embed(mine, config.products), mine, torch.from_numpy(wish)))
                scores = policy.score(states[-1][0], mine).numpy()
        else:
            follow = partial(_parting, torch.from_numpy(wish))
            scores, value = learn(policy, optimiser, mine, follow, config, threads)
            found.append(value)
        chosen = [choose_moves(x, seen.move_offsets, rng) for x in (scores, wish)]
        _move(episode, seen, np.where(own, *chosen), True)
        for _ in range(STRIDE - 1):
            seen, wish = _wish(teacher, episode)
            _move(episode, seen, choose_moves(wish, seen.move_offsets, rng), ~own)
    for _ in range(config.passes):
        found += [
            _learn_to_score(policy, optimiser, *states[i]) for i in rng.permutation(len(states))
        ]
    return {
        "divergence": float(np.mean(found)),
        "gain": float(np.mean(1.0 - episode.best / first)),
        "lr": config.rate(number),
    }


def lead(teacher: TBGAT, episode: Episode, steps: Int64, rng: np.random.Generator) -> None:
    """Let the teacher make so many moves in every search."""
    for step in range(int(steps.max())):
        seen, wish = _wish(teacher, episode)
        _move(episode, seen, choose_moves(wish, seen.move_offsets, rng), steps > step)


def _wish(teacher: TBGAT, episode: Episode) -> tuple[Observation, npt.NDArray[np.float32]]:
    """What the teacher sees of the searches as they stand, and how it scores their moves."""
    episode.look()
    seen = observe(episode.batch, teacher.config.move_features, episode.best)
    with torch.inference_mode():
        return seen, teacher(seen).numpy()


def _move(episode: Episode, seen: Observation, chosen: Int64, who: npt.ArrayLike) -> None:
    """Make the chosen moves of these searches, and leave the others as they are."""
    episode.move(seen.move_u, seen.move_v, np.where(who, chosen, -1))


def learn(
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    seen: Observation,
    loss: Callable[[Tensor, Int64, npt.NDArray[np.int32]], Tensor],
    config: TrainingConfig,
    threads: int,
) -> tuple[npt.NDArray[np.float32], float]:
    """One update of the whole network; return its scores before, and the loss per state.

    ``loss(scores, at, offsets)`` is the sum over some of the states, whose moves are ``at``.
    """
    alive = np.flatnonzero(seen.num_moves)
    scores = np.zeros(len(seen.move_u), dtype=np.float32)

    def piece(some: Int64) -> Tensor:
        part, at = seen.select(some), _moves_of(seen, some)
        given = policy(part, config.products)
        scores[at] = given.detach().numpy()
        return loss(given, at, part.move_offsets) / len(alive)

    optimiser.zero_grad(set_to_none=False)
    parts = [alive[some] for some in even_pieces(len(alive))]
    value = sum(add_gradients(policy, [partial(piece, part) for part in parts], threads))
    if config.clip:
        torch.nn.utils.clip_grad_norm_(policy.parameters(), config.clip)
    optimiser.step()
    return scores, value


def _parting(wish: Tensor, scores: Tensor, at: Int64, offsets: npt.NDArray[np.int32]) -> Tensor:
    """The divergence of the states whose moves are ``at``."""
    return divergence(scores, wish[at], offsets)


def _learn_to_score(
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    embedding: Tensor,
    seen: Observation,
    wish: Tensor,
) -> float:
    """One update of the scoring network towards the teacher; return the mean divergence."""
    optimiser.zero_grad()
    loss = divergence(policy.score(embedding, seen), wish, seen.move_offsets) / len(seen)
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return loss.item()


def _moves_of(seen: Observation, states: Int64) -> Int64:
    """Places of the moves of these states in the flat arrays."""
    offsets = seen.move_offsets
    return np.concatenate([np.arange(offsets[b], offsets[b + 1]) for b in states])
