"""Memory of the method ``tabu``: its rounds, its elite solutions, and how it notices a cycle."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

import numba

from tbgat.graph.compiled import inner_kernel, random_below
from tbgat.solvers.n5 import OWN, STEP, load_order

__all__ = [
    "ELITE_COUNT",
    "FAR",
    "FIRST_STATE",
    "HIGH",
    "KICKS",
    "LOW",
    "OPENING",
    "ORIGIN",
    "PATIENCE",
    "SHORT",
    "TENURE",
    "UNIT",
    "new_round",
    "note_solution",
    "note_swap",
    "round_is_over",
]

FAR = 1 << 62

# Places in ``Memory.state``: the round since the last jump, the tenure of now, elites kept, random
# moves still to make, the elite this round came from, and the detector of cycles.
ROUND_BEST, ROUND_GAIN, TENURE, ELITES, KICKS, ORIGIN = range(OWN, OWN + 6)
SIGNATURE, ANCHOR, ANCHOR_AGE, ANCHOR_SPAN, RETURNS = range(OWN + 6, OWN + 11)
# Places in ``Memory.setting``.
SHORT, LOW, HIGH, PATIENCE, UNIT, OPENING = range(6)

ELITE_COUNT = 5
MIN_KICK = 5
KICK_SPREAD = 10
FIRST_SPAN = 16
MAX_RETURNS = 3

FIRST_STATE = (FAR, 0, 0, 0, 0, -1, 0, 0, 0, FIRST_SPAN, 0)


@inner_kernel
def _hash_of_pair(u, v):
    """Return 64 bits that stand for the pair, whichever comes first."""
    z = numba.uint64(min(u, v)) << numba.uint64(32) | numba.uint64(max(u, v))
    z += numba.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numba.uint64(30))) * numba.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numba.uint64(27))) * numba.uint64(0x94D049BB133111EB)
    return numba.int64(z ^ (z >> numba.uint64(31)))


@inner_kernel
def note_swap(g, t):
    """Count the latest swap.

    A solution is the set of pairs that run in another order than at the start of the round, and a
    swap changes one of them, so that equal solutions have equal signatures.
    """
    slot = (g.swaps[0] - 1) % g.memory_u.shape[1]
    u = g.memory_u[0, slot]
    v = g.memory_v[0, slot]
    t.moved[u] += 1
    t.moved[v] += 1
    t.state[SIGNATURE] ^= _hash_of_pair(u, v)


@inner_kernel
def _is_cycling(t):
    """Whether the walk came back to one solution several times.

    The solution to come back to is the present one after 16, 32, 64, ... more steps (Brent 1980),
    so that a cycle of any length is found within a few times its length.
    """
    state = t.state
    if state[SIGNATURE] == state[ANCHOR]:
        state[RETURNS] += 1
        if state[RETURNS] == MAX_RETURNS:
            return True
    state[ANCHOR_AGE] += 1
    if state[ANCHOR_AGE] >= state[ANCHOR_SPAN]:
        state[ANCHOR] = state[SIGNATURE]
        state[ANCHOR_AGE] = 0
        state[ANCHOR_SPAN] *= 2
        state[RETURNS] = 0
    return False


@inner_kernel
def round_is_over(t):
    """Whether to go back to an elite solution: too long without a gain, or in a cycle."""
    state = t.state
    if state[STEP] - state[ROUND_GAIN] >= t.setting[PATIENCE]:
        return True
    return state[KICKS] == 0 and state[ELITES] > 0 and _is_cycling(t)


@inner_kernel
def new_round(g, t):
    """Go back to an elite solution, to leave it by random moves."""
    state = t.state
    row = random_below(t.random, 0, state[ELITES])
    load_order(g, t, row)
    state[ORIGIN] = row
    state[KICKS] = MIN_KICK + random_below(t.random, 0, KICK_SPREAD)
    state[ROUND_BEST] = FAR
    state[ROUND_GAIN] = state[STEP]
    state[SIGNATURE] = 0
    state[ANCHOR] = 0
    state[ANCHOR_AGE] = 0
    state[ANCHOR_SPAN] = FIRST_SPAN
    state[RETURNS] = 0


@inner_kernel
def note_solution(g, t):
    """Keep the solution of now if it is the best of its round and better than where that began."""
    state = t.state
    if state[KICKS] > 0:
        state[KICKS] -= 1
    elif g.makespan[0] < state[ROUND_BEST]:
        state[ROUND_BEST] = g.makespan[0]
        state[ROUND_GAIN] = state[STEP]
        if state[ORIGIN] < 0 or g.makespan[0] < t.kept_makespan[state[ORIGIN]]:
            _keep(g, t)


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
