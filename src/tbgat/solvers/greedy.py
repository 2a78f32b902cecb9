"""Method ``greedy``: best improvement over N5, and a random solution where none improves.

A restart counts as one step.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

from tbgat.graph.compiled import inner_kernel, lean_kernel, random_below
from tbgat.graph.critical import n5_moves, one_machine_or_one_job
from tbgat.graph.swap import swap_adjacent
from tbgat.search.local_search import local_search
from tbgat.search.task import Outcome, Task
from tbgat.solvers.n5 import BEST, DONE, PROVED, STEP, load_order, must_pause, record, walks
from tbgat.solvers.warm_up import warm_up

__all__ = ["greedy_steps", "prepare", "solve"]

_FAR = 1 << 62


def prepare() -> None:
    """Load the compiled loop, or compile it."""
    warm_up(solve, greedy_steps)


def solve(task: Task) -> Outcome:
    """Descend and restart; every thread its own walk."""
    story = f"{task.threads} descent(s) over N5 with random restarts."
    return local_search(task, walks(task, greedy_steps), [story])


@inner_kernel
def _best_move(g, t, count):
    """Pick a move of smallest makespan, at random among equals; -1 if none improves."""
    chosen = -1
    lowest = g.makespan[0]
    ties = 1
    for k in range(count):
        value = g.move_makespan[k]
        if value < lowest:
            lowest = value
            chosen = k
            ties = 1
        elif value == lowest and chosen >= 0:
            ties += 1
            if random_below(t.random, 0, ties) == 0:
                chosen = k
    return chosen


@inner_kernel
def _restart(g, t):
    """Start again from a random schedule without delay: always some operation that starts first."""
    n = g.offset[1]
    first = g.job_start[0]
    jobs = g.job_start[1] - first
    # Per job: ``path`` has its next operation and ``head`` the time it is ready.
    for j in range(jobs):
        t.path[j] = 0 if j == 0 else g.last_of_job[first + j - 1] + 1
        t.head[j] = 0
    for m in range(len(t.free_from)):
        t.free_from[m] = 0
    for i in range(n):
        earliest = _FAR
        chosen = -1
        ties = 0
        for j in range(jobs):
            x = t.path[j]
            if x > g.last_of_job[first + j]:
                continue
            start = max(t.head[j], t.free_from[g.machine[x]])
            if start < earliest:
                earliest = start
                ties = 0
            if start == earliest:
                ties += 1
                if ties == 1 or random_below(t.random, 0, ties) == 0:
                    chosen = j
        x = t.path[chosen]
        t.kept_order[0, i] = x
        t.path[chosen] = x + 1
        t.head[chosen] = earliest + g.duration[x]
        t.free_from[g.machine[x]] = t.head[chosen]
    load_order(g, t, 0)


@lean_kernel
def greedy_steps(g, t, max_steps, target):
    """Make up to ``max_steps`` moves or restarts; return how many and why no more."""
    for made in range(max_steps):
        if must_pause(t, target):
            return made, DONE
        count = n5_moves(g, 0, t.random, t.path, t.head)
        if count == 0 and one_machine_or_one_job(g, 0):
            return made, PROVED
        k = _best_move(g, t, count)
        if k >= 0:
            swap_adjacent(g, 0, g.move_u[k], g.move_v[k], t.buffer)
        else:
            _restart(g, t)
        t.state[STEP] += 1
        if g.makespan[0] < t.state[BEST]:
            record(g, t)
    return max_steps, DONE
