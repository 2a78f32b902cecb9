"""Method ``tabu``: tabu search over N5.

Every step draws one critical path at random, estimates each of its N5 moves, and makes the best one
that does not undo a recent swap, or that promises to beat the best schedule so far (aspiration).
Heads, tails and makespan are exact after every move, so every incumbent is. How long a swap may not
be undone changes at random, and is less for a move downhill. After a long time without a better
schedule the walk goes back to one of its elite solutions, makes some random moves and starts a new
round from there; this also ends any cycle. The frame is that of Nowicki and Smutnicki, A fast taboo
search algorithm for the job shop problem, Management Science 42 (1996).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

from tbgat.errors import UsageError
from tbgat.graph.compiled import inner_kernel, lean_kernel, random_below
from tbgat.graph.critical import n5_pairs, one_machine_or_one_job, swap_estimate
from tbgat.graph.swap import swap_adjacent
from tbgat.search.local_search import local_search
from tbgat.search.task import Outcome, Task
from tbgat.solvers.n5 import (
    BEST,
    DONE,
    OWN,
    PROVED,
    STEP,
    load_order,
    must_pause,
    record,
    shake,
    walks,
)
from tbgat.solvers.warm_up import warm_up

__all__ = ["prepare", "solve", "tabu_steps", "tenure_range"]

# Places in ``Memory.state``: the round since the last jump, the tenure of now, elites kept, random
# moves still to make, and the elite this round came from.
ROUND_BEST, ROUND_GAIN, TENURE, ELITES, KICKS, ORIGIN = range(OWN, OWN + 6)
# Places in ``Memory.setting``.
SHORT, LOW, HIGH, PATIENCE = range(4)

TENURE_STEPS = 10
ELITE_COUNT = 5
MIN_KICK = 5
KICK_SPREAD = 10
DEFAULT_PATIENCE = 5000

_FAR = 1 << 62


def prepare() -> None:
    """Load the compiled loop, or compile it."""
    warm_up(solve, tabu_steps)


def solve(
    task: Task, tenure: tuple[int, int] | None = None, round_steps: int = DEFAULT_PATIENCE
) -> Outcome:
    """Search with a walk per thread, all with different random numbers.

    Parameters
    ----------
    tenure
        Fewest and most steps for which a swap may not be undone. A move that promises a shorter
        makespan than that of now may do so after half the fewest.
    round_steps
        Steps without a better schedule in this round after which a new round starts.
    """
    low, high = tenure_range(task) if tenure is None else tenure
    if not 0 <= low <= high:
        raise UsageError(f"tenure must be two numbers, the smaller first, got {low} and {high}")
    if round_steps < 1:
        raise UsageError(f"round_steps must be 1 or more, got {round_steps}")
    team = walks(
        task,
        tabu_steps,
        setting=(low // 2, low, high, round_steps),
        state=(_FAR, 0, low, 0, 0, -1),
        kept=ELITE_COUNT,
        memory=max(high, 1),
    )
    story = f"{task.threads} tabu walk(s) over N5, tenure {low} to {high}."
    return local_search(task, team, [story])


def tenure_range(task: Task) -> tuple[int, int]:
    """Scale the tenure with jobs per machine, as Zhang et al. (2008) do."""
    length = 10 + task.instance.num_jobs / task.instance.num_machines
    return int(1.1 * length), int(1.8 * length) + 1


@inner_kernel
def _is_tabu(g, u, v, tenure):
    """Whether one of the latest ``tenure`` swaps made the arc u -> v."""
    size = g.memory_u.shape[1]
    slot = g.swaps[0] % size
    for _ in range(min(g.swaps[0], tenure)):
        slot = slot - 1 if slot > 0 else size - 1
        if g.memory_u[0, slot] == u and g.memory_v[0, slot] == v:
            return True
    return False


@inner_kernel
def _choose(g, t, count):
    """Pick a move of smallest estimate among those that are not tabu or promise a new best.

    The estimate is the longest path through the two operations after the swap. Where that is no
    shorter than the makespan of now, it is the makespan after the move. Where it is shorter, other
    paths may decide; measured, it then ranks the moves better than the exact makespan, in which
    all moves on one of several critical paths are equal. When all moves are tabu, one is drawn.
    """
    lowest = _FAR
    chosen = -1
    ties = 0
    for k in range(count):
        value = swap_estimate(g, g.move_u[k], g.move_v[k])
        g.move_makespan[k] = value
        if value > lowest:
            continue
        if value >= t.state[BEST]:
            downhill = value < g.makespan[0]
            tenure = t.setting[SHORT] if downhill else t.state[TENURE]
            if _is_tabu(g, g.move_u[k], g.move_v[k], tenure):
                continue
        if value < lowest:
            lowest = value
            ties = 0
        ties += 1
        if ties == 1 or random_below(t.random, 0, ties) == 0:
            chosen = k
    return chosen if chosen >= 0 else random_below(t.random, 0, count)


@inner_kernel
def _keep(g, t):
    """Put the solution among the elites, in place of the worst when they are full."""
    row = t.state[ELITES]
    if row < len(t.kept_makespan):
        t.state[ELITES] += 1
    else:
        row = 0
        for k in range(1, len(t.kept_makespan)):
            if t.kept_makespan[k] > t.kept_makespan[row]:
                row = k
    t.kept_makespan[row] = g.makespan[0]
    for i in range(g.offset[1]):
        t.kept_order[row, i] = g.order[i]


@inner_kernel
def _new_round(g, t):
    """Go back to an elite solution, to leave it by random moves."""
    row = random_below(t.random, 0, t.state[ELITES])
    load_order(g, t, row)
    t.state[ORIGIN] = row
    t.state[KICKS] = MIN_KICK + random_below(t.random, 0, KICK_SPREAD)
    t.state[ROUND_BEST] = _FAR
    t.state[ROUND_GAIN] = t.state[STEP]


@lean_kernel
def tabu_steps(g, t, max_steps, target):
    """Make up to ``max_steps`` moves; return how many and why no more."""
    state = t.state
    for made in range(max_steps):
        if must_pause(t, target):
            return made, DONE
        if state[STEP] - state[ROUND_GAIN] >= t.setting[PATIENCE]:
            _new_round(g, t)
        if state[STEP] % TENURE_STEPS == 0:
            span = t.setting[HIGH] - t.setting[LOW] + 1
            state[TENURE] = t.setting[LOW] + random_below(t.random, 0, span)
        count = n5_pairs(g, 0, t.random, t.path)
        if count > 0:
            if state[KICKS] > 0:
                k = random_below(t.random, 0, count)
            else:
                k = _choose(g, t, count)
            swap_adjacent(g, 0, g.move_u[k], g.move_v[k], t.buffer)
        elif one_machine_or_one_job(g, 0) or not shake(g, t):
            return made, PROVED
        state[STEP] += 1
        if state[KICKS] > 0:
            state[KICKS] -= 1
        elif g.makespan[0] < state[ROUND_BEST]:
            state[ROUND_BEST] = g.makespan[0]
            state[ROUND_GAIN] = state[STEP]
            if state[ORIGIN] < 0 or g.makespan[0] < t.kept_makespan[state[ORIGIN]]:
                _keep(g, t)
        if g.makespan[0] < state[BEST]:
            record(g, t)
    return max_steps, DONE
