"""A random critical path, its blocks, and the N5 moves with their exact makespans, compiled.

``g`` is the :class:`~tbgat.graph.arrays.Arrays` of a batch; a solution owns the operations
``lo .. hi - 1``.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described once, in Arrays.

from tbgat.graph.compiled import inner_kernel, random_below

__all__ = [
    "critical_path",
    "goes_in_circles",
    "makespan_after_swap",
    "n5_moves",
    "n5_pairs",
    "one_machine_or_one_job",
    "path_between",
    "steps_since_made",
    "swap_estimate",
]

_NO_PATH = -(1 << 60)

# So many swaps of at most so many pairs are a circle.
CIRCLE_SWAPS, CIRCLE_PAIRS = 20, 4


@inner_kernel
def critical_path(g, b, random, path):
    """Walk back from the sink, choosing uniformly among tight predecessors.

    Writes the operations from last to first into ``path`` and returns their number.
    """
    makespan = g.makespan[b]
    x = -1
    ties = 0
    for j in range(g.job_start[b], g.job_start[b + 1]):
        last = g.last_of_job[j]
        if g.est[last] + g.duration[last] == makespan:
            ties += 1
            if ties == 1 or random_below(random, b, ties) == 0:
                x = last
    length = 0
    while x >= 0:
        path[length] = x
        length += 1
        by_job = g.job_pred[x]
        by_machine = g.machine_pred[x]
        if by_job >= 0:
            job_tight = g.est[by_job] + g.duration[by_job] == g.est[x]
        else:
            job_tight = g.est[x] == 0  # the source itself
        machine_tight = by_machine >= 0 and g.est[by_machine] + g.duration[by_machine] == g.est[x]
        if job_tight and machine_tight:
            x = by_job if random_below(random, b, 2) == 0 else by_machine
        elif machine_tight:
            x = by_machine
        else:
            x = by_job
    return length


@inner_kernel
def swap_estimate(g, u, v):
    """Length of the longest path through u or v once the machine runs v before u."""
    p_u = g.duration[u]
    p_v = g.duration[v]
    head_v = 0
    x = g.job_pred[v]
    if x >= 0:
        head_v = g.est[x] + g.duration[x]
    x = g.machine_pred[u]
    if x >= 0:
        head_v = max(head_v, g.est[x] + g.duration[x])
    head_u = head_v + p_v
    x = g.job_pred[u]
    if x >= 0:
        head_u = max(head_u, g.est[x] + g.duration[x])
    tail_u = 0
    x = g.job_succ[u]
    if x >= 0:
        tail_u = g.tail[x] + g.duration[x]
    x = g.machine_succ[v]
    if x >= 0:
        tail_u = max(tail_u, g.tail[x] + g.duration[x])
    tail_v = tail_u + p_u
    x = g.job_succ[v]
    if x >= 0:
        tail_v = max(tail_v, g.tail[x] + g.duration[x])
    return max(head_v + p_v + tail_v, head_u + p_u + tail_u)


@inner_kernel
def _longest_avoiding(g, b, hi, u, v, head):
    """Length of the longest path that touches neither u nor v; ``head`` is scratch space."""
    first = g.position[u]
    for i in range(first + 1, hi):
        x = g.order[i]
        if x == v:
            continue
        longest = _NO_PATH
        y = g.job_pred[x]
        if y < 0:
            longest = 0
        elif y != u and y != v:
            longest = (g.est[y] if g.position[y] < first else head[y]) + g.duration[y]
        y = g.machine_pred[x]
        if y >= 0 and y != u and y != v:
            here = (g.est[y] if g.position[y] < first else head[y]) + g.duration[y]
            longest = max(longest, here)
        head[x] = longest
    result = 0
    for j in range(g.job_start[b], g.job_start[b + 1]):
        x = g.last_of_job[j]
        if x != u and x != v:
            start = g.est[x] if g.position[x] < first else head[x]
            result = max(result, start + g.duration[x])
    return result


@inner_kernel
def makespan_after_swap(g, b, hi, u, v, head):
    """Exact makespan once adjacent u, v are swapped.

    Paths that avoid both are untouched and no longer than the makespan now, so an estimate at or
    above it is exact; only a promising one needs to look at those paths.
    """
    estimate = swap_estimate(g, u, v)
    if estimate >= g.makespan[b]:
        return estimate
    return max(estimate, _longest_avoiding(g, b, hi, u, v, head))


@inner_kernel
def path_between(g, u, v):
    """Whether a path leads from u to v besides their own arc: then a swap makes a cycle.

    All of it would start and end at EST(v), so only zero durations allow it.
    """
    after = g.job_succ[u]
    before = g.job_pred[v]
    if after < 0 or before < 0:
        return False
    now = g.est[u] + g.duration[u]
    if g.est[after] > g.est[before] or (g.est[v] == now and g.est[before] < now):
        return False
    first = g.position[u]
    last = g.position[v]
    g.mark[u] = 1
    for i in range(first + 1, last):
        x = g.order[i]
        y = g.job_pred[x]
        z = g.machine_pred[x]
        g.mark[x] = 1 if (y >= 0 and g.mark[y]) or (z >= 0 and g.mark[z]) else 0
    found = g.mark[before] == 1
    for i in range(first, last):
        g.mark[g.order[i]] = 0
    return found


@inner_kernel
def steps_since_made(g, b, u, v):
    """How many swaps ago the arc u -> v was made; 0 if not within memory."""
    size = g.memory_u.shape[1]
    made = g.swaps[b]
    slot = made % size
    for back in range(1, min(made, size) + 1):
        slot = slot - 1 if slot > 0 else size - 1
        if g.memory_u[b, slot] == u and g.memory_v[b, slot] == v:
            return back
    return 0


@inner_kernel
def _add_pair(g, lo, u, v, count):
    """Append the swap of u and v unless it is not allowed; return the new number of moves."""
    if g.job[u] == g.job[v] or path_between(g, u, v):
        return count
    g.move_u[lo + count] = u
    g.move_v[lo + count] = v
    return count + 1


@inner_kernel
def n5_pairs(g, b, random, path):
    """List the N5 moves of one random critical path without judging them; return their number.

    Also records the path, first to last, in ``g.path``.
    """
    lo = g.offset[b]
    length = critical_path(g, b, random, path)
    g.path_length[b] = length
    for i in range(length):
        g.path[lo + i] = path[length - 1 - i]
    count = 0
    blocks = 0
    start = 0
    while start < length:
        end = start + 1
        machine = g.machine[g.path[lo + start]]
        while end < length and g.machine[g.path[lo + end]] == machine:
            end += 1
        first_block = start == 0
        last_block = end == length
        if end - start >= 2:
            front = lo + start
            back = lo + end - 2
            if not first_block:
                count = _add_pair(g, lo, g.path[front], g.path[front + 1], count)
            if not last_block and (first_block or back != front):
                count = _add_pair(g, lo, g.path[back], g.path[back + 1], count)
        blocks += 1
        start = end
    g.move_count[b] = count
    g.block_count[b] = blocks
    return count


@inner_kernel
def n5_moves(g, b, random, path, head):
    """List the N5 moves of one random critical path with exact makespan and age of each."""
    lo = g.offset[b]
    count = n5_pairs(g, b, random, path)
    for k in range(lo, lo + count):
        u = g.move_u[k]
        v = g.move_v[k]
        g.move_makespan[k] = makespan_after_swap(g, b, g.offset[b + 1], u, v, head)
        g.move_age[k] = steps_since_made(g, b, u, v)
    return count


@inner_kernel
def one_machine_or_one_job(g, b):
    """Whether the recorded path stays on one machine or in one job: then no schedule is shorter.

    One machine works without a pause for the whole makespan, or one job needs all of it.
    """
    lo = g.offset[b]
    same_machine = True
    same_job = True
    for i in range(1, g.path_length[b]):
        same_machine &= g.machine[g.path[lo + i]] == g.machine[g.path[lo]]
        same_job &= g.job[g.path[lo + i]] == g.job[g.path[lo]]
    return same_machine or same_job


@inner_kernel
def goes_in_circles(g, b):
    """Whether the latest swaps were of a few pairs only, whichever way round.

    Never, if the memory is too short to tell.
    """
    memory = g.memory_u.shape[1]
    last = g.swaps[b] - 1
    if memory < CIRCLE_SWAPS or last + 1 < CIRCLE_SWAPS:
        return False
    pairs = 0
    for i in range(CIRCLE_SWAPS):
        at = (last - i) % memory
        u = g.memory_u[b, at]
        v = g.memory_v[b, at]
        new = True
        for j in range(i):
            other = (last - j) % memory
            x = g.memory_u[b, other]
            y = g.memory_v[b, other]
            if (u == x and v == y) or (u == y and v == x):
                new = False
                break
        pairs += new
        if pairs > CIRCLE_PAIRS:
            return False
    return True
