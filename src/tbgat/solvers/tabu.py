"""Method ``tabu``: tabu search over N5.

Every step draws one critical path at random, ranks its N5 moves by estimate, and makes the best one
that does not undo a recent swap, or that promises to beat the best schedule so far (aspiration).
In the opening, slack and frequency count as well, and the best few moves are made on trial before
one is made for good: that shows their exact makespans and how well each can be followed. Heads,
tails and makespan are exact after every move, so every incumbent is. How long a swap may not be
undone changes at random, and is less for a move downhill. When the walk runs in a cycle, or has
found nothing better for long, it goes back to one of its elite solutions, makes some random moves
and starts a new round from there. The frame is that of Nowicki and Smutnicki, A fast taboo search
algorithm for the job shop problem, Management Science 42 (1996).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

from typing import Any

from tbgat.errors import UsageError
from tbgat.graph.compiled import lean_kernel, random_below
from tbgat.graph.critical import n5_pairs, one_machine_or_one_job
from tbgat.instance import Instance
from tbgat.search.local_search import local_search
from tbgat.search.task import Outcome, Task
from tbgat.solvers.n5 import BEST, DONE, PROVED, STEP, must_pause, record, shake, walks
from tbgat.solvers.tabu_choice import choose_and_move
from tbgat.solvers.tabu_rounds import (
    ELITE_COUNT,
    FIRST_STATE,
    HIGH,
    LOW,
    TENURE,
    new_round,
    note_solution,
    note_swap,
    round_is_over,
)
from tbgat.solvers.warm_up import warm_up

__all__ = ["prepare", "solve", "tabu_steps", "tenure_range", "walk_options"]

TENURE_STEPS = 10
DEFAULT_PATIENCE = 5000
# Measured on generated shops: at equal steps the opening is 0.6 % better than the plain rule; in
# seconds its trials cost more moves than they are worth, so it ends.
OPENING_STEPS = 5000


def prepare() -> None:
    """Load the compiled loop, or compile it."""
    warm_up(solve, tabu_steps)


def solve(
    task: Task,
    tenure: tuple[int, int] | None = None,
    round_steps: int = DEFAULT_PATIENCE,
    opening: int = OPENING_STEPS,
) -> Outcome:
    """Search with a walk per thread, all with different random numbers.

    Parameters
    ----------
    tenure
        Fewest and most steps for which a swap may not be undone. A move that promises a shorter
        makespan than that of now may do so after half the fewest.
    round_steps
        Steps without a better schedule in this round after which a new round starts.
    opening
        Steps at the start that make moves on trial; 0 for the plain rule throughout.
    """
    low, high = tenure_range(task.instance) if tenure is None else tenure
    if not 0 <= low <= high:
        raise UsageError(f"tenure must be two numbers, the smaller first, got {low} and {high}")
    if round_steps < 1:
        raise UsageError(f"round_steps must be 1 or more, got {round_steps}")
    if opening < 0:
        raise UsageError(f"opening must be 0 or more steps, got {opening}")
    options = walk_options(task.instance, (low, high), round_steps, opening)
    story = f"{task.threads} tabu walk(s) over N5, tenure {low} to {high}."
    return local_search(task, walks(task, tabu_steps, **options), [story])


def tenure_range(instance: Instance) -> tuple[int, int]:
    """Scale the tenure with jobs per machine, as Zhang et al. (2008) do."""
    length = 10 + instance.num_jobs / instance.num_machines
    return int(1.1 * length), int(1.8 * length) + 1


def walk_options(
    instance: Instance,
    tenure: tuple[int, int],
    round_steps: int = DEFAULT_PATIENCE,
    opening_steps: int = OPENING_STEPS,
) -> dict[str, Any]:
    """What a walk that :func:`tabu_steps` moves has to remember."""
    low, high = tenure
    unit = max(1, round(float(instance.durations.mean())))
    return {
        "setting": (low // 2, low, high, round_steps, unit, opening_steps),
        "state": FIRST_STATE,
        "kept": ELITE_COUNT,
        "memory": high + 2,
    }


@lean_kernel
def tabu_steps(g, t, max_steps, target):
    """Make up to ``max_steps`` moves; return how many and why no more."""
    state = t.state
    for made in range(max_steps):
        if must_pause(t, target):
            return made, DONE
        if round_is_over(t):
            new_round(g, t)
        if state[STEP] % TENURE_STEPS == 0:
            span = t.setting[HIGH] - t.setting[LOW] + 1
            state[TENURE] = t.setting[LOW] + random_below(t.random, 0, span)
        count = n5_pairs(g, 0, t.random, t.path)
        if count > 0:
            choose_and_move(g, t, count)
        elif one_machine_or_one_job(g, 0) or not shake(g, t):
            return made, PROVED
        state[STEP] += 1
        note_swap(g, t)
        note_solution(g, t)
        if g.makespan[0] < state[BEST]:
            record(g, t)
    return max_steps, DONE
