"""First solutions: dispatching rules with left shift.

Every rule runs the same loop. Over the jobs with operations left, take the next operation that
the rule likes best and put it into the earliest gap on its machine that is long enough, moving
nothing. What differs is the key to be minimised:

======== ===========================================================================
fdd/mwkr work of the job up to and including the operation / work left including it
spt, lpt duration of the operation: shortest, longest first
mwkr     most work left in the job, the operation included
lwkr     least work left in the job, the operation included
mopnr    most operations left in the job
fifo     the operation that has been ready longest
random   nothing
======== ===========================================================================

Ties are broken at random with a generator, by job number without one.
"""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

import numpy as np

from tbgat.errors import UsageError
from tbgat.instance import Instance, IntArray
from tbgat.schedule import Schedule

__all__ = ["DEFAULT_RULE", "RULES", "dispatch", "dispatch_starts"]

# In the order of the numbers in ``placement``.
RULES = ("fdd/mwkr", "spt", "lpt", "mwkr", "lwkr", "mopnr", "fifo", "random")
DEFAULT_RULE = "fdd/mwkr"


def dispatch(
    instance: Instance, rule: str = DEFAULT_RULE, rng: np.random.Generator | None = None
) -> Schedule:
    """Build a schedule by a dispatching rule.

    Parameters
    ----------
    rule
        One of :data:`RULES`.
    rng
        Breaks ties; without it the lowest job number wins. The rule ``random`` needs it.
    """
    return Schedule.from_starts(instance, dispatch_starts(instance, rule, rng))


def dispatch_starts(
    instance: Instance, rule: str = DEFAULT_RULE, rng: np.random.Generator | None = None
) -> IntArray:
    """Like :func:`dispatch`, but only the start times in the order of the operations."""
    name = rule.lower()
    if name == "random" and rng is None:
        raise UsageError("the rule 'random' needs a random generator")
    if name not in RULES:
        raise UsageError(f"there is no rule {rule!r}, there are {', '.join(RULES)}")
    # Here and not above: whoever only wants the names of the rules need not wait for Numba.
    from tbgat.dispatching.placement import place

    ties = np.zeros(instance.num_operations) if rng is None else rng.random(instance.num_operations)
    starts: IntArray = place(
        RULES.index(name),
        instance.durations,
        instance.machines,
        instance.job_offsets,
        instance.num_machines,
        ties,
    )
    return starts
