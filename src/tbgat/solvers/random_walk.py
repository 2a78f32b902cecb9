"""Method ``random``: uniformly random N5 moves; the yardstick for everything that chooses."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# The compiled function: its arrays are described in Arrays and Memory.

from tbgat.graph.compiled import lean_kernel, random_below
from tbgat.graph.critical import n5_pairs, one_machine_or_one_job
from tbgat.graph.swap import swap_adjacent
from tbgat.search.local_search import local_search
from tbgat.search.task import Outcome, Task
from tbgat.solvers.n5 import BEST, DONE, PROVED, STEP, must_pause, record, shake, walks
from tbgat.solvers.warm_up import warm_up

__all__ = ["prepare", "random_steps", "solve"]


def prepare() -> None:
    """Load the compiled loop, or compile it."""
    warm_up(solve, random_steps)


def solve(task: Task) -> Outcome:
    """Walk at random; every thread its own walk."""
    story = f"{task.threads} random walk(s) over N5."
    return local_search(task, walks(task, random_steps), [story])


@lean_kernel
def random_steps(g, t, max_steps, target):
    """Make up to ``max_steps`` random moves; return how many and why no more."""
    for made in range(max_steps):
        if must_pause(t, target):
            return made, DONE
        count = n5_pairs(g, 0, t.random, t.path)
        if count > 0:
            k = random_below(t.random, 0, count)
            swap_adjacent(g, 0, g.move_u[k], g.move_v[k], t.buffer)
        elif one_machine_or_one_job(g, 0) or not shake(g, t):
            return made, PROVED
        t.state[STEP] += 1
        if g.makespan[0] < t.state[BEST]:
            record(g, t)
    return max_steps, DONE
