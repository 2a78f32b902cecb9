"""A search over N5 recorded move by move, and what could have been done at each step.

This is for looking, not for speed: the methods of :mod:`tbgat.solvers` make millions of such moves
without keeping them. A trace keeps the swaps alone; :meth:`Trace.position` makes them again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.graph.state import GraphBatch, random_states
from tbgat.instance import Instance
from tbgat.schedule import Schedule

if TYPE_CHECKING:
    from tbgat.policy.network import TBGAT

__all__ = ["CHOOSERS", "NETWORK", "Move", "Position", "Trace", "analyse", "make_move", "record"]

Shares = npt.NDArray[np.float64]
Chooser = Callable[[GraphBatch, int], Shares]

TENURE = 12
NETWORK = "network"


@dataclass(frozen=True)
class Move:
    """Swap two operations that follow each other on a machine.

    Attributes
    ----------
    makespan
        Exact makespan after the swap.
    probability
        With which the chooser of the trace would take it; None without a chooser.
    policy
        Probability the network gives it; None without a network.
    """

    first: int
    second: int
    makespan: int
    probability: float | None = None
    policy: float | None = None


@dataclass(frozen=True)
class Position:
    """A schedule, the critical path that was drawn in it, and the moves that path allows."""

    schedule: Schedule
    makespan: int
    path: tuple[int, ...]
    moves: tuple[Move, ...]
    chosen: int | None = None


@dataclass(frozen=True)
class Trace:
    """A recorded search: where it started, every swap, the makespan after each.

    Attributes
    ----------
    makespans
        One more than there are swaps: that of the start comes first.
    random
        State of the generator that draws the critical path, before each step.
    """

    instance: Instance
    chooser: str
    start: tuple[tuple[int, ...], ...]
    swaps: tuple[tuple[int, int], ...]
    makespans: tuple[int, ...]
    random: tuple[int, ...]

    def position(self, step: int, network: TBGAT | None = None) -> Position:
        """Go to a step, 0 being the start; with a network, see what it thinks of every move."""
        if not 0 <= step <= len(self.swaps):
            raise UsageError(f"the recorded search has steps 0 to {len(self.swaps)}, not {step}")
        batch = GraphBatch([self.instance], [self.start])
        for u, v in self.swaps[:step]:
            batch.swap([u], [v])
        batch.neighbourhood(np.array([self.random[step]], dtype=np.uint64))
        best = min(self.makespans[: step + 1])
        chosen = self.swaps[step] if step < len(self.swaps) else None
        chooser = find_chooser(self.chooser, network)
        return _position(batch, best, chosen, chooser, network)


def record(
    instance: Instance,
    chooser: str,
    *,
    steps: int,
    seed: int,
    start: Schedule,
    seconds: float = 10.0,
    network: TBGAT | None = None,
) -> Trace:
    """Search from a schedule, keeping every move.

    Ends early when no move is left or the seconds are over.

    Parameters
    ----------
    chooser
        A name of :data:`CHOOSERS`, or ``network`` to draw from the probabilities of one.
    """
    choose = find_chooser(chooser, network)
    rng = np.random.default_rng([seed, 7])
    orders = start.machine_orders(instance)
    batch = GraphBatch([instance], [orders])
    state = random_states(1, rng)
    g = batch.arrays
    swaps: list[tuple[int, int]] = []
    makespans, random = [int(g.makespan[0])], []
    until = math.inf
    while True:
        random.append(int(state[0]))
        batch.neighbourhood(state)
        count = int(g.move_count[0])
        if count == 0 or len(swaps) >= steps or time.perf_counter() > until:
            break
        shares = choose(batch, min(makespans))
        k = int(rng.choice(count, p=shares))
        swaps.append((int(g.move_u[k]), int(g.move_v[k])))
        batch.swap([g.move_u[k]], [g.move_v[k]])
        makespans.append(int(g.makespan[0]))
        if len(swaps) == 1:
            # The clock starts after the first step: that one may still have to be compiled.
            until = time.perf_counter() + seconds
    kept = tuple(tuple(order) for order in orders)
    return Trace(instance, chooser, kept, tuple(swaps), tuple(makespans), tuple(random))


def analyse(instance: Instance, schedule: Schedule, network: TBGAT | None = None) -> Position:
    """List the N5 moves of a schedule; with a network, what it thinks of each."""
    batch = GraphBatch.from_schedules([instance], [schedule])
    # One fixed draw among the critical paths: the same schedule always shows the same one.
    batch.neighbourhood(np.array([1], dtype=np.uint64))
    return _position(batch, int(batch.arrays.makespan[0]), None, None, network)


def make_move(instance: Instance, schedule: Schedule, first: int, second: int) -> Schedule:
    """Swap two operations that follow each other on a machine, in either order."""
    count = instance.num_operations
    if not (0 <= first < count and 0 <= second < count):
        raise UsageError(f"operations are numbered 0 to {count - 1}")
    batch = GraphBatch.from_schedules([instance], [schedule])
    if batch.arrays.machine_succ[first] != second:
        first, second = second, first
    batch.swap([first], [second])
    return batch.schedule(0)


def find_chooser(name: str, network: TBGAT | None = None) -> Chooser:
    """Look a chooser up by name."""
    if name == NETWORK:
        if network is None:
            raise UsageError("the chooser 'network' needs weights, and there are none")
        return partial(_by_network, network)
    if name not in CHOOSERS:
        known = ", ".join([*CHOOSERS, NETWORK])
        raise UsageError(f"there is no chooser {name!r}; there are {known}")
    return CHOOSERS[name]


def _position(
    batch: GraphBatch,
    best: int,
    chosen: tuple[int, int] | None,
    chooser: Chooser | None,
    network: TBGAT | None,
) -> Position:
    g = batch.arrays
    count = int(g.move_count[0])
    shares = chooser(batch, best) if chooser and count else None
    policy = _by_network(network, batch, best) if network and count else None
    moves = [
        Move(
            int(g.move_u[k]),
            int(g.move_v[k]),
            int(g.move_makespan[k]),
            None if shares is None else float(shares[k]),
            None if policy is None else float(policy[k]),
        )
        for k in range(count)
    ]
    taken = next((k for k, move in enumerate(moves) if (move.first, move.second) == chosen), None)
    return Position(
        batch.schedule(0),
        int(g.makespan[0]),
        tuple(int(op) for op in g.path[: g.path_length[0]]),
        tuple(moves),
        taken,
    )


def _even(allowed: npt.NDArray[np.bool_]) -> Shares:
    return np.asarray(allowed / allowed.sum())


def _uniform(batch: GraphBatch, best: int) -> Shares:
    """Every move alike."""
    return _even(np.ones(int(batch.arrays.move_count[0]), dtype=np.bool_))


def _greedy(batch: GraphBatch, best: int) -> Shares:
    """The move with the smallest makespan; ties alike."""
    after = batch.arrays.move_makespan[: batch.arrays.move_count[0]]
    return _even(after == after.min())


def _tabu(batch: GraphBatch, best: int) -> Shares:
    """The best move that does not undo a recent one, unless it leads below the best so far."""
    g = batch.arrays
    count = int(g.move_count[0])
    after, age = g.move_makespan[:count], g.move_age[:count]
    free = (age == 0) | (age > TENURE) | (after < best)
    if not free.any():
        return _uniform(batch, best)
    return _even(free & (after == after[free].min()))


def _by_network(network: TBGAT, batch: GraphBatch, best: int) -> Shares:
    """Give the softmax of the network's scores, as the method ``tbgat`` draws from it."""
    from tbgat.policy.inference import Scorer

    batch.levels()
    scores = Scorer(network, batch)([best]).scores.astype(np.float64)
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


CHOOSERS: dict[str, Chooser] = {"random": _uniform, "greedy": _greedy, "tabu": _tabu}
