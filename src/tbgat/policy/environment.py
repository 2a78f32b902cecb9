"""The decision process as a Gymnasium environment, for policies and learners of your own.

One instance, one solution. The action set changes from state to state: an action is the number of a
move, and the mask in the observation (and in ``info``) says which numbers are moves now.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tbgat.dispatching import dispatch
from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.policy.features import MOVE_FEATURES, observe
from tbgat.policy.trajectories import ANY_SWAP, STAY, Trajectories

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise MissingExtraError("the environment", "gym") from None

__all__ = ["JobShopEnvironment"]

Observed: TypeAlias = dict[str, npt.NDArray[Any]]

# Illegal actions cost nothing but a step; a learner that ignores the mask sees this reward.
ILLEGAL_REWARD = 0.0


class JobShopEnvironment(gymnasium.Env[Observed, np.int64]):
    """Improve a schedule of one instance by N5 moves.

    Reward: what the best makespan falls by (Section 4.1 of the paper). ``terminated``: no move is
    left, the solution is optimal. ``truncated``: the budget of steps is spent.

    Parameters
    ----------
    instance
        The problem.
    steps
        Budget of an episode.
    max_moves
        Size of the action space; a state with more moves offers the first so many. N5 has at most
        two moves per block of the critical path, so jobs + machines is rarely reached.
    rule
        Dispatching rule of the first solution.

    Notes
    -----
    The observation is a dictionary: ``nodes`` (operations x 5: duration, EST, LST, forward and
    backward level, scaled), ``arcs`` (operations x 4: predecessor and successor by job and by
    machine, -1 for none), ``moves`` (max_moves x 2 operations, -1 beyond the last), ``features``
    (max_moves x move features) and ``mask``. ``info`` has the makespan, the best one, and the mask.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as Gymnasium declares it

    def __init__(
        self,
        instance: Instance,
        steps: int = 500,
        max_moves: int | None = None,
        rule: str = "fdd/mwkr",
    ) -> None:
        if steps < 1:
            raise UsageError(f"an episode needs at least one step, got {steps}")
        self.instance, self.steps, self.rule = instance, steps, rule
        n = instance.num_operations
        self.max_moves = max_moves or min(n, instance.num_jobs + instance.num_machines)
        self.action_space = spaces.Discrete(self.max_moves)
        self.observation_space: spaces.Space[Any] = spaces.Dict(
            {
                "nodes": spaces.Box(-np.inf, np.inf, (n, 5), np.float32),
                "arcs": spaces.Box(-1, n - 1, (n, 4), np.int32),
                "moves": spaces.Box(-1, n - 1, (self.max_moves, 2), np.int32),
                "features": spaces.Box(
                    -np.inf, np.inf, (self.max_moves, len(MOVE_FEATURES)), np.float32
                ),
                "mask": spaces.MultiBinary(self.max_moves),
            }
        )
        self._states: Trajectories | None = None
        self._made = 0

    @property
    def states(self) -> Trajectories:
        """The solution behind the observation; best schedule included."""
        if self._states is None:
            raise UsageError("call reset() first")
        return self._states

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Start again from the dispatching rule; the seed decides ties and critical paths."""
        super().reset(seed=seed)
        start = dispatch(self.instance, self.rule, self.np_random)
        self._states = Trajectories([self.instance], [start], [self.np_random])
        self._made = 0
        return self._observe(), self._info()

    def step(self, action: np.int64) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Make the move of that number; one outside the mask leaves the solution as it is."""
        states = self.states
        if bool(states.stuck[0]):
            chosen = ANY_SWAP
        else:
            chosen = int(action) if int(action) < len(states.at) else STAY
        reward = float(states.move([chosen])[0]) if chosen != STAY else ILLEGAL_REWARD
        self._made += 1
        terminated = bool(states.proved[0])
        truncated = not terminated and self._made >= self.steps
        return self._observe(), reward, terminated, truncated, self._info()

    def _mask(self) -> npt.NDArray[np.int8]:
        mask = np.zeros(self.max_moves, dtype=np.int8)
        mask[: len(self.states.at)] = 1
        return mask

    def _observe(self) -> Observed:
        states, g = self.states, self.states.batch.arrays
        seen = observe(states.batch, tuple(MOVE_FEATURES), states.best)
        moves = np.full((self.max_moves, 2), -1, dtype=np.int32)
        features = np.zeros((self.max_moves, len(MOVE_FEATURES)), dtype=np.float32)
        count = min(len(seen.move_u), self.max_moves)
        moves[:count, 0], moves[:count, 1] = seen.move_u[:count], seen.move_v[:count]
        features[:count] = seen.move_features[:count]
        arcs = [g.job_pred, g.job_succ, g.machine_pred, g.machine_succ]
        return {
            "nodes": seen.features,
            "arcs": np.stack(arcs, axis=1),
            "moves": moves,
            "features": features,
            "mask": self._mask(),
        }

    def _info(self) -> dict[str, Any]:
        states = self.states
        return {
            "makespan": int(states.batch.arrays.makespan[0]),
            "best": int(states.best[0]),
            "mask": self._mask(),
        }
