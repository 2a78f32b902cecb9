"""The network without a graph, compiled: score the moves of a solution and draw one.

Such a network (``layers=0``) sees features of the moves alone. Its score of a move is a linear map
plus a few hidden units, so that a step costs what a step of a tabu search costs.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from tbgat.graph.compiled import float_kernel, inner_kernel, lean_kernel, next_random
from tbgat.graph.critical import (
    makespan_after_swap,
    n5_pairs,
    one_machine_or_one_job,
    steps_since_made,
)
from tbgat.graph.state import GraphBatch
from tbgat.graph.swap import restart, swap_adjacent
from tbgat.policy.features import MOVE_UNIT, feature_codes, training_scale
from tbgat.policy.move_features import EXACT_FEATURES, describe_move
from tbgat.policy.network import TBGAT, NetworkConfig

__all__ = ["MoveScorer", "choose_move", "flat_weights", "put_weights", "search_all"]

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


class MoveScorer(NamedTuple):
    """What a network without a graph is to the compiled functions.

    Its weights are one vector, see :func:`flat_weights`; F features, H hidden units.
    """

    codes: Int64  # F
    units: int
    exact: bool  # whether a feature needs the exact makespan after a move
    x: Float32  # scratch: F
    scores: npt.NDArray[np.float64]  # scratch: one per move

    @classmethod
    def of(cls, config: NetworkConfig, operations: int) -> MoveScorer:
        """Lay out for solutions of at most so many operations."""
        return cls(
            codes=feature_codes(config.move_features),
            units=config.shortcut_units,
            exact=any(name in EXACT_FEATURES for name in config.move_features),
            x=np.zeros(len(config.move_features), dtype=np.float32),
            scores=np.zeros(operations),
        )


def flat_weights(network: TBGAT) -> Float32:
    """All weights in one vector: the linear map, the hidden units, their biases, their weights."""
    return np.concatenate([p.detach().numpy().ravel() for p in _parameters(network)])


def put_weights(network: TBGAT, flat: npt.NDArray[np.floating], gradient: bool = False) -> None:
    """Inverse of :func:`flat_weights`; or lay a vector out as the gradient."""
    at = 0
    for parameter in _parameters(network):
        part = torch.from_numpy(flat[at : at + parameter.numel()]).reshape(parameter.shape)
        at += parameter.numel()
        if gradient:
            parameter.grad = part.to(parameter.dtype)
        else:
            with torch.no_grad():
                parameter.copy_(part)


def _parameters(network: TBGAT) -> list[torch.Tensor]:
    if not network.config.shortcut_units:
        return [network.shortcut]
    inner = network.shortcut_inner
    return [network.shortcut, inner.weight, inner.bias, network.shortcut_outer]


@float_kernel
def _score(weights, units, x):
    """The linear map and the hidden units."""
    count = len(x)
    total = _ZERO
    for i in range(count):
        total += weights[i] * x[i]
    bias = count + units * count
    for h in range(units):
        row = count + h * count
        z = _ZERO
        for i in range(count):
            z += weights[row + i] * x[i]
        z += weights[bias + h]
        total += weights[bias + units + h] * z / (_ONE + abs(z))
    return total


@inner_kernel
def _draw(random, b, scores, count):
    """Draw a place from the softmax of the scores."""
    top = scores[0]
    for k in range(1, count):
        top = max(top, scores[k])
    total = 0.0
    for k in range(count):
        scores[k] = math.exp(scores[k] - top)
        total += scores[k]
    rest = (next_random(random, b) >> np.uint64(11)) * _TO_UNIT * total
    for k in range(count):
        rest -= scores[k]
        if rest < 0.0:
            return k
    # Rounding may leave a little after the last.
    return count - 1


@inner_kernel
def choose_move(g, b, random, path, head, scorer, weights, best, unit, greedy):
    """Choose one of the N5 moves of a random critical path: its place in ``g.move_*``, -1 if none.

    Parameters
    ----------
    path, head
        Scratch: path of the solution's operations; head of the batch's.
    weights
        Of the scorer.
    best
        Smallest makespan so far.
    unit
        Brings times into hundreds of training units.
    greedy
        Take the highest score, the first of equals.
    """
    count = n5_pairs(g, b, random, path)
    if count == 0:
        return -1
    lo = g.offset[b]
    top = 0
    for k in range(count):
        u = g.move_u[lo + k]
        v = g.move_v[lo + k]
        g.move_age[lo + k] = steps_since_made(g, b, u, v)
        if scorer.exact:
            g.move_makespan[lo + k] = makespan_after_swap(g, b, g.offset[b + 1], u, v, head)
        describe_move(g, b, lo + k, best, unit, scorer.codes, scorer.x)
        scorer.scores[k] = _score(weights, scorer.units, scorer.x)
        if scorer.scores[k] > scorer.scores[top]:
            top = k
    return lo + (top if greedy else _draw(random, b, scorer.scores, count))


@lean_kernel
def _search_all(
    g, order, starts, random, weights, scorer, unit, marks, path, head, buffer, last_on, found
):
    """Search every solution once with every row of weights, always from the same start."""
    for row in range(len(weights)):
        for b in range(len(g.makespan)):
            restart(g, b, order, last_on)
            random[b] = starts[b]
            mark = 0
            for step in range(1, marks[-1] + 1):
                k = choose_move(
                    g, b, random, path, head, scorer, weights[row], g.lowest[b], unit[b], False
                )
                if k < 0 and one_machine_or_one_job(g, b):
                    break
                if k >= 0:
                    swap_adjacent(g, b, g.move_u[k], g.move_v[k], buffer)
                if step == marks[mark]:
                    found[row, b, mark] = g.lowest[b]
                    mark += 1
            for rest in range(mark, len(marks)):
                found[row, b, rest] = g.lowest[b]


def search_all(
    config: NetworkConfig,
    weights: npt.NDArray[np.floating],
    batch: GraphBatch,
    random: npt.NDArray[np.uint64],
    marks: Sequence[int],
) -> Int64:
    """Search a batch with many networks, all from the same starts with the same random numbers.

    Parameters
    ----------
    config
        Of all the networks.
    weights
        One row per network, as :func:`flat_weights` gives them.
    batch
        The first solutions. They are changed: those of the last network stay.
    random
        One generator state per solution.
    marks
        Numbers of steps, rising.

    Returns
    -------
    networks x solutions x marks
        The best makespans after so many steps.
    """
    g = batch.arrays
    count = len(g.duration)
    unit = training_scale(g.duration, g.offset) / MOVE_UNIT
    found = np.zeros((len(weights), len(batch), len(marks)), dtype=np.int64)
    _search_all(
        g,
        g.order.copy(),
        random,
        random.copy(),
        np.ascontiguousarray(weights, dtype=np.float32),
        MoveScorer.of(config, count),
        unit,
        np.array(marks, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
        np.zeros(max(i.num_machines for i in batch.instances), dtype=np.int32),
        found,
    )
    return found
