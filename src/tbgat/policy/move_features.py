"""What the score of a move may look at, by name: one compiled definition of each.

The observation of the network and the compiled walk both read these. Times are in hundreds of
training units (see :func:`tbgat.policy.features.training_scale`). ``g`` is the
:class:`~tbgat.graph.arrays.Arrays` of a batch.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

import math

from tbgat.graph.compiled import inner_kernel, lean_kernel
from tbgat.graph.critical import swap_estimate

__all__ = ["EXACT_FEATURES", "MOVE_FEATURES", "describe_move", "fill_columns", "is_tabu"]

MOVE_FEATURES: dict[str, str] = {
    "recent": "1 if a swap within the memory made the arc that this move would reverse",
    "makespan_change": "makespan after the move relative to the current one",
    "makespan_to_best": "makespan after the move relative to the best so far",
    "age": "how recently that swap was made: 1 for the last step, falling to 0 (not at all)",
    "slack_before": "how much earlier v could start but for its machine",
    "slack_after": "how much longer the tail of u is by its machine than by its job",
    "estimate_change": "longest path through the pair after the move, to the current makespan",
    "estimate_to_best": "longest path through the pair after the move, to the best so far",
    "improves": "1 if that path is shorter than the current makespan",
    "beats_best": "1 if that path is shorter than the best makespan so far",
    "age_decay": "like age, falling slower: exp(-age / 8)",
    "moved_u": "how recently any swap moved u: exp(-steps / 15), 0 if never",
    "moved_v": "how recently any swap moved v",
    "moved_long": "how recently any swap moved both: exp(-steps / 100)",
    "moves_made": "how often the less moved of the two was moved, logarithmic",
    "crowding": "how often the two were moved against the mean of all operations, logarithmic",
    "first": "1 for the first move of the critical path",
    "last": "1 for its last move",
    "stagnation": "steps since the best makespan fell, logarithmic",
    "above_best": "current makespan relative to the best so far",
    "choices": "number of moves, logarithmic",
    "block_front": "1 if no critical operation stands right before u on its machine",
    "block_back": "1 if no critical operation stands right behind v on its machine",
    "duration_u": "duration of u",
    "duration_v": "duration of v",
    "when": "where in the schedule the pair stands: start of v by makespan",
    "seen": "how many remembered steps had that path's length as makespan: a quarter each, up to 1",
    "tabu": "1 if a tabu search would forbid the move: it undoes a recent swap for no new best",
    "room": "slack_before and slack_after, each up to 1.5",
}
"""Inputs of the score of a move. New ones go to the end: their places are their codes."""

EXACT_FEATURES = ("makespan_change", "makespan_to_best")
"""Those that need the exact makespan after the move; all others make do with an estimate."""

# One number per name, in the order of the dictionary.
(
    _RECENT, _MAKESPAN_CHANGE, _MAKESPAN_TO_BEST, _AGE, _SLACK_BEFORE, _SLACK_AFTER,
    _ESTIMATE_CHANGE, _ESTIMATE_TO_BEST, _IMPROVES, _BEATS_BEST, _AGE_DECAY, _MOVED_U, _MOVED_V,
    _MOVED_LONG, _MOVES_MADE, _CROWDING, _FIRST, _LAST, _STAGNATION, _ABOVE_BEST, _CHOICES,
    _BLOCK_FRONT, _BLOCK_BACK, _DURATION_U, _DURATION_V, _WHEN, _SEEN,
    _TABU, _ROOM,
) = range(len(MOVE_FEATURES))  # fmt: skip

AGE_STEPS = 8.0
MOVED_STEPS = 15.0
LONG_STEPS = 100.0
FURTHEST = 2.0
MAX_ROOM = 1.5
# Steps after which the tabu list takes another length.
TENURE_STEPS = 10


@inner_kernel
def _recency(steps, at, scale):
    """How recently the swap number ``at`` was made; 0 for none."""
    return math.exp((at - steps) / scale) if at > 0 else 0.0


@inner_kernel
def _clipped(value):
    return max(-FURTHEST, min(FURTHEST, value))


@inner_kernel
def _count(values, length, wanted):
    """How many of the first values are the wanted one."""
    hits = 0
    for i in range(length):
        if values[i] == wanted:
            hits += 1
    return hits


@inner_kernel
def _room(g, u, v, unit):
    """How long v has waited for its machine, and u's job will wait after it; both capped."""
    y = g.job_pred[v]
    ready = g.est[y] + g.duration[y] if y >= 0 else 0
    y = g.job_succ[u]
    rest = g.tail[y] + g.duration[y] if y >= 0 else 0
    return min(MAX_ROOM, (g.est[v] - ready) * unit) + min(MAX_ROOM, (g.tail[u] - rest) * unit)


@inner_kernel
def is_tabu(g, b, age, estimate, best):
    """Whether a move undoes a swap of ``age`` steps ago (0: none) too soon, and for no new best.

    How soon is too soon grows with jobs per machine (as in Zhang et al. 2008), changes every ten
    steps as if at random, and is less for a move downhill.
    """
    if age == 0 or estimate < best:
        return False
    jobs = g.job_start[b + 1] - g.job_start[b]
    length = 10.0 + jobs * jobs / (g.offset[b + 1] - g.offset[b])
    low = int(1.1 * length)
    if estimate < g.makespan[b]:
        return age <= low // 2
    span = int(1.8 * length) + 2 - low
    # A linear congruence is random enough for this, and every reader of a state can repeat it.
    drawn = ((g.swaps[b] // TENURE_STEPS + 1) * 1103515245 + 12345) >> 16 & 0x7FFF
    return age <= low + drawn % span


@inner_kernel
def describe_move(g, b, k, best, unit, codes, x):
    """Fill ``x`` with the features of the move at place ``k`` of ``g.move_*``.

    One long function: handing all arrays to a small one costs more than the work in it.

    Parameters
    ----------
    best
        Smallest makespan so far.
    unit
        Brings times into hundreds of training units.
    codes
        Which features, see :data:`MOVE_FEATURES`.
    """
    u = g.move_u[k]
    v = g.move_v[k]
    now = g.makespan[b]
    age = g.move_age[k]
    swaps = g.swaps[b]
    estimate = swap_estimate(g, u, v)
    for i in range(len(codes)):
        code = codes[i]
        value = 0.0
        if code == _RECENT:
            value = 1.0 if age > 0 else 0.0
        elif code == _MAKESPAN_CHANGE:
            value = (g.move_makespan[k] - now) * unit
        elif code == _MAKESPAN_TO_BEST:
            value = (g.move_makespan[k] - best) * unit
        elif code == _AGE:
            value = 1.0 / age if age > 0 else 0.0
        elif code == _SLACK_BEFORE:
            y = g.job_pred[v]
            ready = g.est[y] + g.duration[y] if y >= 0 else 0
            value = (g.est[v] - ready) * unit
        elif code == _SLACK_AFTER:
            y = g.job_succ[u]
            rest = g.tail[y] + g.duration[y] if y >= 0 else 0
            value = (g.tail[u] - rest) * unit
        elif code == _ESTIMATE_CHANGE:
            value = _clipped((estimate - now) * unit)
        elif code == _ESTIMATE_TO_BEST:
            value = _clipped((estimate - best) * unit)
        elif code == _IMPROVES:
            value = 1.0 if estimate < now else 0.0
        elif code == _BEATS_BEST:
            value = 1.0 if estimate < best else 0.0
        elif code == _AGE_DECAY:
            value = math.exp(-age / AGE_STEPS) if age > 0 else 0.0
        elif code == _MOVED_U:
            value = _recency(swaps, g.moved_at[u], MOVED_STEPS)
        elif code == _MOVED_V:
            value = _recency(swaps, g.moved_at[v], MOVED_STEPS)
        elif code == _MOVED_LONG:
            value = _recency(swaps, min(g.moved_at[u], g.moved_at[v]), LONG_STEPS)
        elif code == _MOVES_MADE:
            value = 0.3 * math.log1p(min(g.moves_made[u], g.moves_made[v]))
        elif code == _CROWDING:
            # A swap moves two operations.
            mean = 2.0 * swaps / (g.offset[b + 1] - g.offset[b])
            both = 0.5 * (g.moves_made[u] + g.moves_made[v])
            value = _clipped(0.5 * math.log((1.0 + both) / (1.0 + mean)))
        elif code == _FIRST:
            value = 1.0 if k == g.offset[b] else 0.0
        elif code == _LAST:
            value = 1.0 if k == g.offset[b] + g.move_count[b] - 1 else 0.0
        elif code == _STAGNATION:
            value = min(1.5, math.log1p(swaps - g.lowest_at[b]) / 7.0)
        elif code == _ABOVE_BEST:
            value = min(FURTHEST, (now - best) * unit)
        elif code == _CHOICES:
            value = 0.5 * math.log(g.move_count[b])
        elif code == _BLOCK_FRONT:
            y = g.machine_pred[u]
            value = 1.0 if y < 0 or g.est[y] + g.duration[y] + g.tail[y] < now else 0.0
        elif code == _BLOCK_BACK:
            y = g.machine_succ[v]
            value = 1.0 if y < 0 or g.est[y] + g.duration[y] + g.tail[y] < now else 0.0
        elif code == _DURATION_U:
            value = g.duration[u] * unit
        elif code == _DURATION_V:
            value = g.duration[v] * unit
        elif code == _WHEN:
            value = g.est[v] / now if now > 0 else 0.0
        elif code == _SEEN:
            length = min(swaps, g.memory_makespan.shape[1])
            value = min(1.0, 0.25 * _count(g.memory_makespan[b], length, estimate))
        elif code == _TABU:
            value = 1.0 if is_tabu(g, b, age, estimate, best) else 0.0
        elif code == _ROOM:
            value = _room(g, u, v, unit)
        x[i] = value


@lean_kernel
def fill_columns(g, codes, best, unit, columns):
    """Features of all moves of all solutions, row by row; ``best`` and ``unit`` by solution."""
    row = 0
    for b in range(len(g.makespan)):
        for k in range(g.offset[b], g.offset[b] + g.move_count[b]):
            describe_move(g, b, k, best[b], unit[b], codes, columns[row])
            row += 1
