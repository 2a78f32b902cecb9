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
    swap_estimate,
)
from tbgat.graph.state import DEFAULT_MEMORY, GraphBatch
from tbgat.graph.swap import restart, swap_adjacent
from tbgat.policy.features import MOVE_UNIT, feature_codes, training_scale
from tbgat.policy.move_features import EXACT_FEATURES, describe_move
from tbgat.policy.network import TBGAT, NetworkConfig
from tbgat.policy.trials import (
    TRIAL_FEATURES,
    Saved,
    describe_trial,
    save,
    take_back,
)

__all__ = ["MoveScorer", "flat_weights", "make_move", "put_weights", "score_n5", "search_all"]

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
# By how much a move on trial may score below the highest; forbidden moves are further behind.
MAX_BEHIND = 1.0
_TO_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


class MoveScorer(NamedTuple):
    """What a network without a graph is to the compiled functions.

    Its weights are one vector, see :func:`flat_weights`; F features, H hidden units.
    """

    codes: Int64  # F
    units: int
    exact: bool  # whether a feature needs the exact makespan after a move
    sharpness: float
    tries: int
    look_ahead: int
    trial_steps: int
    trial_codes: Int64
    x: Float32  # scratch from here on: F
    trial_x: Float32  # one per trial feature
    scores: npt.NDArray[np.float64]  # one per move
    try_score: npt.NDArray[np.float64]  # moves to try
    try_u: npt.NDArray[np.int32]
    try_v: npt.NDArray[np.int32]
    saved: Saved

    @classmethod
    def of(cls, config: NetworkConfig, operations: int, memory: int = DEFAULT_MEMORY) -> MoveScorer:
        """Lay out for solutions of at most so many operations and remembered swaps."""
        places = {name: place for place, name in enumerate(TRIAL_FEATURES)}
        trial_codes = [places[name] for name in config.trial_features]
        return cls(
            codes=feature_codes(config.move_features),
            units=config.shortcut_units,
            exact=any(name in EXACT_FEATURES for name in config.move_features),
            sharpness=config.sharpness,
            tries=config.tries,
            look_ahead=config.look_ahead,
            trial_steps=config.trial_steps,
            trial_codes=np.array(trial_codes, dtype=np.int64),
            x=np.zeros(len(config.move_features), dtype=np.float32),
            trial_x=np.zeros(len(trial_codes), dtype=np.float32),
            scores=np.zeros(operations),
            try_score=np.zeros(operations),
            try_u=np.zeros(operations, dtype=np.int32),
            try_v=np.zeros(operations, dtype=np.int32),
            saved=Saved.of(operations, memory),
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
    found: list[torch.Tensor] = [network.shortcut]
    units = network.config.shortcut_units
    if units:
        inner = network.shortcut_inner
        found += [inner.weight, inner.bias, network.shortcut_outer]
    if network.config.tries > 1:
        found.append(network.trial)
        if units:
            inner = network.trial_inner
            found += [inner.weight, inner.bias, network.trial_outer]
    return found


@float_kernel
def _score(weights, first, units, x):
    """The linear map and the hidden units whose weights start at ``first``."""
    count = len(x)
    total = _ZERO
    for i in range(count):
        total += weights[first + i] * x[i]
    bias = first + count + units * count
    for h in range(units):
        row = first + count + h * count
        z = _ZERO
        for i in range(count):
            z += weights[row + i] * x[i]
        z += weights[bias + h]
        total += weights[bias + units + h] * z / (_ONE + abs(z))
    return total


@inner_kernel
def _draw(random, b, scores, count, sharpness):
    """Draw a place from the softmax of the scores times the sharpness."""
    top = scores[0]
    for k in range(1, count):
        top = max(top, scores[k])
    total = 0.0
    for k in range(count):
        scores[k] = math.exp(sharpness * (scores[k] - top))
        total += scores[k]
    rest = (next_random(random, b) >> np.uint64(11)) * _TO_UNIT * total
    for k in range(count):
        rest -= scores[k]
        if rest < 0.0:
            return k
    # Rounding may leave a little after the last.
    return count - 1


@inner_kernel
def score_n5(g, b, random, path, head, scorer, weights, best, unit):
    """List the N5 moves of a random critical path, score them, return their number."""
    count = n5_pairs(g, b, random, path)
    lo = g.offset[b]
    for k in range(count):
        u = g.move_u[lo + k]
        v = g.move_v[lo + k]
        g.move_age[lo + k] = steps_since_made(g, b, u, v)
        if scorer.exact:
            g.move_makespan[lo + k] = makespan_after_swap(g, b, g.offset[b + 1], u, v, head)
        else:
            g.move_makespan[lo + k] = swap_estimate(g, u, v)
        describe_move(g, b, lo + k, best, unit, scorer.codes, scorer.x)
        scorer.scores[k] = _score(weights, 0, scorer.units, scorer.x)
    return count


@inner_kernel
def _highest(scores, count):
    """The place of the highest score, the first of equals."""
    top = 0
    for k in range(1, count):
        if scores[k] > scores[top]:
            top = k
    return top


@inner_kernel
def _collect(g, b, random, scorer, count, greedy):
    """Note the moves with their scores and the noise of a draw; return how many are worth a trial.

    The highest sum of a score and its Gumbel noise is a draw from the softmax of the scores.
    """
    tries = 1
    if g.swaps[b] < scorer.trial_steps:
        tries = max(1, min(count, scorer.tries))
    lo = g.offset[b]
    for k in range(count):
        scorer.try_u[k] = g.move_u[lo + k]
        scorer.try_v[k] = g.move_v[lo + k]
        scorer.try_score[k] = scorer.scores[k]
        if tries > 1 and not greedy:
            uniform = ((next_random(random, b) >> np.uint64(11)) + 0.5) * _TO_UNIT
            scorer.try_score[k] -= math.log(-math.log(uniform)) / scorer.sharpness
    if tries > 1:
        top = scorer.try_score[_highest(scorer.try_score, count)]
        close = 0
        for k in range(count):
            close += scorer.try_score[k] >= top - MAX_BEHIND
        tries = min(tries, close)
    return tries


@inner_kernel
def make_move(g, b, random, path, head, buffer, scorer, weights, best, unit, greedy):
    """Make one of the N5 moves of a random critical path; False if there is none.

    Without tries it is drawn from the softmax of the scores. With tries, the moves of the highest
    scores are made on trial, each followed by a few moves of the highest score: the look ahead. A
    trial that is a new best is for good at once; else the one with the highest sum of its scores
    before and after. There is one call of each large function, since every call is compiled anew.

    Parameters
    ----------
    path, head, buffer
        Scratch: path of the solution's operations; the others of the batch's.
    weights
        Of the scorer.
    best
        Smallest makespan so far.
    unit
        Brings times into hundreds of training units.
    greedy
        Take the highest score, the first of equals.
    """
    before = after = lowest = g.makespan[b]
    tried = tries = moves = depth = 0
    k = chosen = -1
    highest = -np.inf
    while True:
        count = score_n5(g, b, random, path, head, scorer, weights, best, unit)
        ahead = 0 < depth <= scorer.look_ahead and count > 0 and lowest >= best
        if depth == 0:
            if count == 0:
                return False
            moves = count
            tries = _collect(g, b, random, scorer, count, greedy)
            k = _highest(scorer.try_score, count)
            if tries > 1:
                save(g, b, scorer.saved)
            else:
                if not greedy and (scorer.tries < 2 or g.swaps[b] >= scorer.trial_steps):
                    k = _draw(random, b, scorer.scores, count, scorer.sharpness)
                chosen = k
        elif not ahead:
            describe_trial(
                g, b, before, after, lowest, best, unit, scorer.scores, scorer.trial_codes,
                scorer.trial_x,
            )  # fmt: skip
            first = len(scorer.x) * (1 + scorer.units) + 2 * scorer.units
            total = scorer.try_score[k] + _score(weights, first, scorer.units, scorer.trial_x)
            scorer.try_score[k] = -np.inf
            if total > highest:
                highest = total
                chosen = k
            take_back(g, b, scorer.saved)
            depth = 0
            tried += 1
            k = _highest(scorer.try_score, moves) if tried < tries else chosen
        u = scorer.try_u[k]
        v = scorer.try_v[k]
        if ahead:
            next_move = g.offset[b] + _highest(scorer.scores, count)
            u = g.move_u[next_move]
            v = g.move_v[next_move]
        swap_adjacent(g, b, u, v, buffer)
        depth += 1
        lowest = min(lowest, g.makespan[b])
        if depth == 1:
            if k == chosen or g.makespan[b] < best:
                return True
            after = lowest = g.makespan[b]


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
                moved = make_move(
                    g, b, random, path, head, buffer, scorer, weights[row], g.lowest[b], unit[b],
                    False,
                )  # fmt: skip
                if not moved and one_machine_or_one_job(g, b):
                    break
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
        MoveScorer.of(config, count, g.memory_u.shape[1]),
        unit,
        np.array(marks, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
        np.zeros(max(i.num_machines for i in batch.instances), dtype=np.int32),
        found,
    )
    return found
