"""n-step REINFORCE with entropy (Algorithm 1 of the paper), to be read beside it.

Roll-outs run without gradients. After every n steps, only the solutions whose window earned a
return that is not constant are evaluated again with gradients: for all others the normalised
return is zero, and what Algorithm 1 would add is their entropy term alone, of weight 1e-5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.dispatching import dispatch_starts
from tbgat.graph.state import GraphBatch, random_states
from tbgat.instance import Instance
from tbgat.policy.features import Observation, observe
from tbgat.policy.inference import MoveScores, Scorer
from tbgat.policy.moves import choose_moves, entropies, log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import add_gradients
from tbgat.schedule import Schedule
from tbgat.training.batches import begin_batch
from tbgat.training.config import TrainingConfig

__all__ = [
    "Episode",
    "Window",
    "even_pieces",
    "learn",
    "normalised_returns",
    "run_batch",
    "window_gradient",
]

Float = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

# States per backward pass, at most: enough for fast products, few enough for the cache.
CHUNK = 32


@dataclass(frozen=True)
class Window:
    """n steps of a batch of B solutions: what was seen, done and earned.

    Attributes
    ----------
    observations
        One per step, each of B states.
    actions
        n x B: index of the chosen move among the moves of its state, -1 where none was left.
    rewards
        n x B.
    """

    observations: tuple[Observation, ...]
    actions: Int64
    rewards: Int64


class Episode:
    """A batch of instances under local search by the policy, starting from FDD/MWKR.

    Parameters
    ----------
    rng
        Breaks ties of the rule, seeds the critical paths and draws the moves.
    products
        As for :class:`~tbgat.policy.inference.Scorer`.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        rng: np.random.Generator,
        *,
        threads: int = 1,
        products: str = "float32",
    ) -> None:
        schedules = [Schedule.from_starts(i, dispatch_starts(i, rng=rng)) for i in instances]
        self.batch = GraphBatch.from_schedules(instances, schedules, threads=threads)
        self.best: Int64 = self.batch.arrays.makespan.copy()
        self.paths = random_states(len(instances), rng)
        self._choices = rng
        self._threads, self._products = threads, products
        self._scorer: Scorer | None = None

    def window(self, policy: TBGAT, count: int) -> Window:
        """Make ``count`` moves in every solution that has one, without gradients, and keep them."""
        observations: list[Observation] = []
        actions, rewards = [], []
        scorer = self.scorer(policy)
        for _ in range(count):
            chosen, moves, reward = self.step(scorer, observations)
            actions.append(np.where(chosen >= 0, chosen - moves.offsets[:-1], -1))
            rewards.append(reward)
        return Window(tuple(observations), np.stack(actions), np.stack(rewards))

    def search(self, policy: TBGAT, count: int) -> None:
        """Make ``count`` moves, only for the best makespans."""
        scorer = self.scorer(policy)
        for _ in range(count):
            self.step(scorer)

    def scorer(self, policy: TBGAT) -> Scorer:
        """The policy as it is now, ready to score these solutions."""
        if self._scorer is None or self._scorer.network is not policy:
            self._scorer = Scorer(
                policy, self.batch, threads=self._threads, products=self._products
            )
        else:
            self._scorer.refresh()
        return self._scorer

    def look(self) -> None:
        """Bring levels and moves up to date."""
        self.batch.neighbourhood(self.paths)
        self.batch.levels()

    def step(
        self, scorer: Scorer, seen: list[Observation] | None = None
    ) -> tuple[Int64, MoveScores, Int64]:
        """One move: the flat index of the move chosen (-1: none), all moves, the reward.

        Appends what the policy saw to ``seen`` if that is given.
        """
        self.look()
        if seen is not None:
            seen.append(observe(self.batch, scorer.network.config.move_features, self.best))
        moves = scorer(self.best)
        chosen = choose_moves(moves.scores, moves.offsets, self._choices)
        return chosen, moves, self.move(moves.u, moves.v, chosen)

    def move(self, u: Int32, v: Int32, chosen: Int64) -> Int64:
        """Make the chosen moves (-1: none), given by their places among all; return the rewards."""
        if len(u):
            self.batch.swap(np.where(chosen >= 0, u[chosen], -1), v[chosen])
        # What the best makespan falls by, else 0.
        reward: Int64 = np.maximum(self.best - self.batch.arrays.makespan, 0)
        self.best = self.best - reward
        return reward


def normalised_returns(rewards: npt.ArrayLike) -> Float:
    """Sum the rewards still to come in the window (gamma = 1), to mean 0 and deviation 1.

    Steps run along the first axis. A window whose returns are all equal has none to compare: zero.
    """
    r = np.asarray(rewards, dtype=np.float64)
    returns = np.cumsum(r[::-1], axis=0)[::-1]
    spread = returns.std(axis=0, ddof=1) if len(r) > 1 else np.zeros(r.shape[1:])
    centred = returns - returns.mean(axis=0)
    return np.where(spread > 0, centred / np.where(spread > 0, spread, 1.0), 0.0)


def window_gradient(
    policy: TBGAT, window: Window, *, entropy: float, literal: bool = False, threads: int = 1
) -> tuple[float, float]:
    """Add the gradient of the loss of a window to the policy's; return loss and mean entropy.

    The loss is ``- sum over steps of (log pi * R + EC * entropy)``, mean over the batch.
    """
    returns = normalised_returns(window.rewards)
    states = len(window.observations[0])
    wanted = np.arange(states) if literal else np.flatnonzero((returns != 0).any(axis=0))
    disorder: list[tuple[float, int]] = []

    def loss(seen: Observation, actions: Int64, weights: Float) -> Tensor:
        log_pi = log_probabilities(policy(seen), seen.move_offsets)
        chosen = log_pi[torch.from_numpy(seen.move_offsets[:-1] + actions)]
        gain = (chosen * torch.from_numpy(weights).to(chosen)).sum()
        uncertainty = entropies(log_pi, seen.move_offsets).sum()
        disorder.append((float(uncertainty.detach()), len(seen)))
        return -(gain + entropy * uncertainty) / states

    losses = [partial(loss, *chunk) for chunk in _chunks(window, returns, wanted)]
    total = sum(add_gradients(policy, losses, threads))
    counted = sum(count for _, count in disorder)
    return total, sum(value for value, _ in disorder) / max(1, counted)


def _chunks(
    window: Window, returns: Float, wanted: Int64
) -> Iterator[tuple[Observation, Int64, Float]]:
    """Cut the wanted states of all steps that still had a move into small joint batches.

    The steps of a solution stay together: they have much of the graph in common.
    """
    places, steps = np.nonzero(window.actions[:, wanted].T >= 0)
    for piece in even_pieces(len(steps)):
        step, state = steps[piece], wanted[places[piece]]
        by_step = np.argsort(step, kind="stable")
        parts = [window.observations[s].select(state[step == s]) for s in np.unique(step)]
        joint = Observation.concatenate(parts).select(np.argsort(by_step))
        yield joint, window.actions[step, state], returns[step, state]


def even_pieces(count: int) -> list[slice]:
    """Cut into equal pieces of at most ``CHUNK``, an even number: two threads end together."""
    pieces = min(count, 2 * math.ceil(count / (2 * CHUNK)))
    ends = [count * i // pieces for i in range(pieces + 1)] if pieces else []
    return [slice(*pair) for pair in pairwise(ends)]


def learn(
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    window: Window,
    config: TrainingConfig,
    threads: int = 1,
) -> tuple[float, float]:
    """One update of the policy from one window (the innermost lines of Algorithm 1)."""
    optimiser.zero_grad(set_to_none=False)
    measured = window_gradient(
        policy, window, entropy=config.entropy, literal=config.literal, threads=threads
    )
    if config.clip:
        torch.nn.utils.clip_grad_norm_(policy.parameters(), config.clip)
    optimiser.step()
    return measured


def run_batch(
    policy: TBGAT,
    optimiser: torch.optim.Optimizer,
    config: TrainingConfig,
    number: int,
    *,
    threads: int = 1,
) -> dict[str, float]:
    """Train on batch ``number``: fresh instances, T steps, an update after every n of them.

    Everything random is drawn from the seed and the number, so a batch can be repeated alone.
    """
    rng, instances = begin_batch(config, optimiser, number)
    episode = Episode(instances, rng, threads=threads, products=config.products)
    first = episode.best.copy()
    losses, entropies, earning = [], [], []
    for begin in range(0, config.steps, config.window):
        window = episode.window(policy, min(config.window, config.steps - begin))
        loss, entropy = learn(policy, optimiser, window, config, threads)
        losses.append(loss)
        entropies.append(entropy)
        earning.append(float((window.rewards > 0).any(axis=0).mean()))
    return {
        "loss": float(np.mean(losses)),
        "entropy": float(np.mean(entropies)),
        "earning": float(np.mean(earning)),
        "gain": float(np.mean(1.0 - episode.best / first)),
        "lr": config.rate(number),
    }
