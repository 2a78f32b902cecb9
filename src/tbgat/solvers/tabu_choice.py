"""How the method ``tabu`` chooses among the N5 moves of a critical path."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

import math

from tbgat.graph.compiled import inner_kernel, random_below
from tbgat.graph.critical import n5_pairs, swap_estimate
from tbgat.graph.swap import swap_adjacent
from tbgat.solvers.n5 import BEST, STEP
from tbgat.solvers.tabu_rounds import FAR, KICKS, OPENING, SHORT, TENURE, UNIT

__all__ = ["choose_and_move"]

# Moves that are tried, and by how many mean durations they may rank behind the first.
TRIES = 3
MAX_BEHIND = 1
# Scores count in tenths of a time unit: slack and habit weigh a tenth of the makespan.
TENTHS = 10
# In mean durations: more slack than this is no better, worse continuations are no worse.
MAX_SLACK = 3
MAX_LOSS = 2


@inner_kernel
def choose_and_move(g, t, count):
    """Make the most promising of ``count`` moves; when all are tabu, one at random.

    In the opening the best few are made on trial, which shows their exact makespans and where
    each would lead next. In a long run, more moves in the same time are worth more than that.
    The first moves of a new round are random.
    """
    chosen = -1
    tries = 1
    opening = t.state[STEP] < t.setting[OPENING]
    if t.state[KICKS] == 0:
        chosen = _rank(g, t, count, opening)
        if chosen >= 0 and opening and _has_rival(t, count, chosen):
            tries = TRIES
    if chosen < 0:
        chosen = random_below(t.random, 0, count)
    _try_and_move(g, t, count, chosen, tries)


@inner_kernel
def _rank(g, t, count, opening):
    """Score every move into ``t.head``, tabu ones as far off; return the best, or -1.

    The estimate is the longest path through the two operations after the swap. Where that is no
    shorter than the makespan of now, it is the makespan after the move. Where it is shorter, other
    paths may decide; measured, it then ranks the moves better than the exact makespan, in which
    all moves on one of several critical paths are equal. In the opening, room and habit count too.
    """
    lowest = FAR
    chosen = -1
    ties = 0
    # With all the room there can be, a move must not rank behind the moves that may be tried.
    spare = (MAX_BEHIND * TENTHS + 2 * MAX_SLACK) * t.setting[UNIT] if opening else 0
    for k in range(count):
        u = g.move_u[k]
        v = g.move_v[k]
        value = swap_estimate(g, u, v)
        g.move_makespan[k] = value
        score = FAR
        if TENTHS * value <= lowest + spare and _is_allowed(g, t, u, v, value):
            score = TENTHS * value
            if opening:
                score -= _preference(g, t, u, v)
        t.head[k] = score
        if score < lowest:
            lowest = score
            ties = 0
        if score == lowest and score < FAR:
            ties += 1
            if ties == 1 or random_below(t.random, 0, ties) == 0:
                chosen = k
    return chosen


@inner_kernel
def _is_allowed(g, t, u, v, value):
    """Whether a move promises a new best, or undoes no recent swap. Downhill fewer are recent."""
    if value < t.state[BEST]:
        return True
    tenure = t.setting[SHORT] if value < g.makespan[0] else t.state[TENURE]
    size = g.memory_u.shape[1]
    slot = g.swaps[0] % size
    for _ in range(min(g.swaps[0], tenure)):
        slot = slot - 1 if slot > 0 else size - 1
        if g.memory_u[0, slot] == u and g.memory_v[0, slot] == v:
            return False
    return True


@inner_kernel
def _preference(g, t, u, v):
    """Return the room that a swap has, less the habit of making it.

    Room is how long v has waited for the machine and how long u's job would wait after it, both
    capped: the more, the less the swap pushes around. Habit grows with the number of swaps that
    both operations took part in.
    """
    unit = t.setting[UNIT]
    ready = 0
    x = g.job_pred[v]
    if x >= 0:
        ready = g.est[x] + g.duration[x]
    rest = 0
    x = g.job_succ[u]
    if x >= 0:
        rest = g.tail[x] + g.duration[x]
    room = min(g.est[v] - ready, MAX_SLACK * unit) + min(g.tail[u] - rest, MAX_SLACK * unit)
    return room - int(unit * math.log1p(min(t.moved[u], t.moved[v])))


@inner_kernel
def _has_rival(t, count, chosen):
    """Whether a second move is close enough behind the first to be worth a trial."""
    limit = t.head[chosen] + MAX_BEHIND * TENTHS * t.setting[UNIT]
    close = 0
    for k in range(count):
        close += t.head[k] <= limit
    return close > 1


@inner_kernel
def _try_and_move(g, t, count, first, tries):
    """Make the best moves on trial, and for good the one with the best sum of score and future.

    A trial that is a new best is for good at once, and so is the only one. There is one call of
    each large function, since every call is compiled anew.
    """
    alone = tries == 1
    limit = t.head[first] + MAX_BEHIND * TENTHS * t.setting[UNIT]
    for k in range(count):
        t.try_u[k] = g.move_u[k]
        t.try_v[k] = g.move_v[k]
    lowest = FAR
    chosen = -1
    standing = -1
    k = first
    while k != standing:
        if standing >= 0:
            # The ring of swaps has two places more than the longest tenure needs.
            swap_adjacent(g, 0, t.try_v[standing], t.try_u[standing], t.buffer)
            g.swaps[0] -= 2
        swap_adjacent(g, 0, t.try_u[k], t.try_v[k], t.buffer)
        standing = k
        if alone or k == chosen or g.makespan[0] < t.state[BEST]:
            break
        total = t.head[k] + TENTHS * _next_estimate(g, t)
        t.head[k] = FAR
        if total < lowest:
            lowest = total
            chosen = k
        tries -= 1
        k = _first_below(t, count, limit) if tries > 0 else -1
        if k < 0:
            k = chosen


@inner_kernel
def _first_below(t, count, limit):
    """Return the move of smallest score not above the limit, or -1."""
    chosen = -1
    for k in range(count):
        if t.head[k] <= limit:
            limit = t.head[k] - 1
            chosen = k
    return chosen


@inner_kernel
def _next_estimate(g, t):
    """Return the smallest estimate among the moves that would be allowed after the one on trial."""
    lowest = g.makespan[0] + MAX_LOSS * t.setting[UNIT]
    count = n5_pairs(g, 0, t.random, t.path)
    for k in range(count):
        u = g.move_u[k]
        v = g.move_v[k]
        value = swap_estimate(g, u, v)
        if value < lowest and _is_allowed(g, t, u, v, value):
            lowest = value
    return lowest
