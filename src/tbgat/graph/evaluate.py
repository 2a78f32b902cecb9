"""Earliest starts, tails, levels and makespan of one solution, compiled.

Every function works on the flat arrays of :class:`~tbgat.graph.state.GraphBatch`, restricted to the
operations ``lo .. hi - 1`` of one solution, and follows that solution's topological ``order``.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in GraphBatch.

from tbgat.graph.compiled import inner_kernel

__all__ = ["fill_heads", "fill_levels", "fill_tails", "sort_topologically"]


@inner_kernel
def sort_topologically(lo, hi, job_pred, job_succ, machine_pred, machine_succ, order, position):
    """Fill ``order`` and ``position`` by Kahn's algorithm; return how many operations it reached.

    Fewer than ``hi - lo`` mean that the machine orders contradict each other.
    """
    # ``position`` holds the negative count of open predecessors until an operation is placed.
    end = lo
    for x in range(lo, hi):
        waits = (job_pred[x] >= 0) + (machine_pred[x] >= 0)
        position[x] = -waits
        if waits == 0:
            order[end] = x
            end += 1
    done = lo
    while done < end:
        x = order[done]
        position[x] = done
        done += 1
        for y in (job_succ[x], machine_succ[x]):
            if y >= 0:
                position[y] += 1
                if position[y] == 0:
                    order[end] = y
                    end += 1
    return done - lo


@inner_kernel
def fill_heads(first, hi, order, duration, job_pred, machine_pred, est):
    """Set EST along ``order[first:hi]``: the largest EST + duration of the predecessors (Eq. 1)."""
    for i in range(first, hi):
        x = order[i]
        start = 0
        y = job_pred[x]
        if y >= 0:
            start = est[y] + duration[y]
        y = machine_pred[x]
        if y >= 0:
            start = max(start, est[y] + duration[y])
        est[x] = start


@inner_kernel
def fill_tails(lo, last, order, duration, job_succ, machine_succ, tail):
    """Set the longest path from the end of x to the sink, along ``order[lo:last]`` backwards.

    LST(x) = makespan - tail(x) - duration(x): Eq. 2 of the paper, corrected.
    """
    for i in range(last - 1, lo - 1, -1):
        x = order[i]
        rest = 0
        y = job_succ[x]
        if y >= 0:
            rest = tail[y] + duration[y]
        y = machine_succ[x]
        if y >= 0:
            rest = max(rest, tail[y] + duration[y])
        tail[x] = rest


@inner_kernel
def fill_levels(lo, hi, order, job_pred, job_succ, machine_pred, machine_succ, level, back_level):
    """Set both topological sorts in arcs of the longest path; return the level of the sink.

    Source and sink are not stored: the source has level 0 and the returned backward level, the
    sink the returned level and backward level 0. Every operation has at least 1 in both.
    """
    deepest = 0
    for i in range(lo, hi):
        x = order[i]
        depth = 0
        y = job_pred[x]
        if y >= 0:
            depth = level[y]
        y = machine_pred[x]
        if y >= 0:
            depth = max(depth, level[y])
        level[x] = depth + 1
        deepest = max(deepest, depth + 1)
    for i in range(hi - 1, lo - 1, -1):
        x = order[i]
        depth = 0
        y = job_succ[x]
        if y >= 0:
            depth = back_level[y]
        y = machine_succ[x]
        if y >= 0:
            depth = max(depth, back_level[y])
        back_level[x] = depth + 1
    return deepest + 1
