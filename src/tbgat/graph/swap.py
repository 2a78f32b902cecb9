"""The one move, and the compiled loops over a range of solutions of a batch.

``g`` is the :class:`~tbgat.graph.arrays.Arrays` of a batch. Every loop returns -1, or the number
of the solution at which it had to stop.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

import numpy as np

from tbgat.graph.arrays import UNKNOWN
from tbgat.graph.compiled import inner_kernel, kernel, lean_kernel
from tbgat.graph.critical import goes_in_circles, n5_moves, one_machine_or_one_job
from tbgat.graph.evaluate import fill_heads, fill_levels, fill_tails, sort_topologically

__all__ = [
    "circling_range",
    "evaluate_range",
    "follow_order",
    "levels_range",
    "moves_range",
    "proved_range",
    "restart",
    "set_makespan",
    "swap_adjacent",
    "swap_range",
]


@inner_kernel
def swap_adjacent(g, b, u, v, buffer):
    """Let the machine run v before u, where v follows u now; keep order, heads and tails exact.

    Returns False, with nothing changed, if that would make a cycle.
    """
    first = g.position[u]
    last = g.position[v]
    # Whatever depends on u between u and v must move behind v.
    g.mark[u] = 1
    for i in range(first + 1, last):
        x = g.order[i]
        y = g.job_pred[x]
        z = g.machine_pred[x]
        if (y >= 0 and g.mark[y]) or (z >= 0 and g.mark[z]):
            g.mark[x] = 1
    before = g.job_pred[v]
    legal = before < 0 or g.mark[before] == 0
    moved = 0
    at = first
    for i in range(first, last):
        x = g.order[i]
        if legal:
            if g.mark[x]:
                buffer[moved] = x
                moved += 1
            else:
                g.order[at] = x
                g.position[x] = at
                at += 1
        g.mark[x] = 0
    if not legal:
        return False
    g.order[at] = v
    g.position[v] = at
    for k in range(moved):
        at += 1
        g.order[at] = buffer[k]
        g.position[buffer[k]] = at

    above = g.machine_pred[u]
    below = g.machine_succ[v]
    g.machine_pred[v] = above
    g.machine_succ[v] = u
    g.machine_pred[u] = v
    g.machine_succ[u] = below
    if above >= 0:
        g.machine_succ[above] = v
    if below >= 0:
        g.machine_pred[below] = u

    slot = g.swaps[b] % g.memory_u.shape[1]
    g.memory_u[b, slot] = v
    g.memory_v[b, slot] = u
    g.memory_makespan[b, slot] = g.makespan[b]
    g.swaps[b] += 1
    g.moved_at[u] = g.swaps[b]
    g.moved_at[v] = g.swaps[b]
    g.moves_made[u] += 1
    g.moves_made[v] += 1
    # The outer neighbours got another predecessor or successor, whether or not u or v changed.
    _update_heads(g, g.position[v], g.position[below if below >= 0 else u])
    _update_tails(g, g.position[u], g.position[above if above >= 0 else v])
    set_makespan(g, b)
    return True


@inner_kernel
def _update_heads(g, first, last):
    """Recompute EST along the order from ``first`` to at least ``last``.

    Goes on only as far as something that changed is followed by something.
    """
    i = first
    while i <= last:
        x = g.order[i]
        i += 1
        start = 0
        y = g.job_pred[x]
        if y >= 0:
            start = g.est[y] + g.duration[y]
        y = g.machine_pred[x]
        if y >= 0:
            start = max(start, g.est[y] + g.duration[y])
        if start != g.est[x]:
            g.est[x] = start
            y = g.job_succ[x]
            if y >= 0:
                last = max(last, g.position[y])
            y = g.machine_succ[x]
            if y >= 0:
                last = max(last, g.position[y])


@inner_kernel
def _update_tails(g, last, first):
    """Recompute tails against the order from ``last`` down to at least ``first``."""
    i = last
    while i >= first:
        x = g.order[i]
        i -= 1
        rest = 0
        y = g.job_succ[x]
        if y >= 0:
            rest = g.tail[y] + g.duration[y]
        y = g.machine_succ[x]
        if y >= 0:
            rest = max(rest, g.tail[y] + g.duration[y])
        if rest != g.tail[x]:
            g.tail[x] = rest
            y = g.job_pred[x]
            if y >= 0:
                first = min(first, g.position[y])
            y = g.machine_pred[x]
            if y >= 0:
                first = min(first, g.position[y])


@inner_kernel
def set_makespan(g, b):
    """Read the makespan off the last operations of the jobs; note it if it is the lowest."""
    longest = 0
    for j in range(g.job_start[b], g.job_start[b + 1]):
        x = g.last_of_job[j]
        longest = max(longest, g.est[x] + g.duration[x])
    g.makespan[b] = longest
    if longest < g.lowest[b]:
        g.lowest[b] = longest
        g.lowest_at[b] = g.swaps[b]


@inner_kernel
def follow_order(g, b, order, last_on):
    """Let the machines run as a linear order of all operations says; fill heads and tails.

    Parameters
    ----------
    order
        Of the whole batch.
    last_on
        Scratch, one place per machine.
    """
    lo = g.offset[b]
    hi = g.offset[b + 1]
    for m in range(len(last_on)):
        last_on[m] = -1
    for i in range(lo, hi):
        x = order[i]
        g.order[i] = x
        g.position[x] = i
        m = g.machine[x]
        y = last_on[m]
        g.machine_pred[x] = y
        g.machine_succ[x] = -1
        if y >= 0:
            g.machine_succ[y] = x
        last_on[m] = x
    fill_heads(lo, hi, g.order, g.duration, g.job_pred, g.machine_pred, g.est)
    fill_tails(lo, hi, g.order, g.duration, g.job_succ, g.machine_succ, g.tail)


@inner_kernel
def restart(g, b, order, last_on):
    """Take over a linear order (see :func:`follow_order`) and forget every swap made before."""
    follow_order(g, b, order, last_on)
    for x in range(g.offset[b], g.offset[b + 1]):
        g.moved_at[x] = 0
        g.moves_made[x] = 0
    g.swaps[b] = 0
    g.lowest[b] = UNKNOWN
    set_makespan(g, b)


@lean_kernel
def evaluate_range(g, begin, end):
    """Order, heads, tails and makespan from scratch; stops at a cycle."""
    for b in range(begin, end):
        lo = g.offset[b]
        hi = g.offset[b + 1]
        reached = sort_topologically(
            lo, hi, g.job_pred, g.job_succ, g.machine_pred, g.machine_succ, g.order, g.position
        )
        if reached < hi - lo:
            return b
        fill_heads(lo, hi, g.order, g.duration, g.job_pred, g.machine_pred, g.est)
        fill_tails(lo, hi, g.order, g.duration, g.job_succ, g.machine_succ, g.tail)
        set_makespan(g, b)
    return -1


@lean_kernel
def levels_range(g, begin, end):
    """Both topological sorts."""
    for b in range(begin, end):
        g.sink_level[b] = fill_levels(
            g.offset[b],
            g.offset[b + 1],
            g.order,
            g.job_pred,
            g.job_succ,
            g.machine_pred,
            g.machine_succ,
            g.level,
            g.back_level,
        )
    return -1


@kernel
def moves_range(g, begin, end, random):
    """One random critical path per solution and its N5 moves."""
    size = 0
    for b in range(begin, end):
        size = max(size, g.offset[b + 1] - g.offset[b])
    path = np.empty(size, np.int32)
    # Indexed by operation of the batch; only this thread's solutions are touched.
    head = g.est.copy()
    for b in range(begin, end):
        n5_moves(g, b, random, path, head)
    return -1


@kernel
def swap_range(g, begin, end, u, v):
    """One swap per solution, none where ``u`` is -1; stops at a cycle."""
    size = 0
    for b in range(begin, end):
        size = max(size, g.offset[b + 1] - g.offset[b])
    buffer = np.empty(size, np.int32)
    for b in range(begin, end):
        if u[b] >= 0 and not swap_adjacent(g, b, u[b], v[b], buffer):
            return b
    return -1


@lean_kernel
def proved_range(g, begin, end, proved):
    """Whether the drawn critical paths prove their solutions optimal."""
    for b in range(begin, end):
        proved[b] = one_machine_or_one_job(g, b)
    return -1


@lean_kernel
def circling_range(g, begin, end, found):
    """Whether solutions were moved round in circles."""
    for b in range(begin, end):
        found[b] = goes_in_circles(g, b)
    return -1
