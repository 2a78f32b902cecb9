"""Threads that share the work of one compiled call, without a word of Python in between.

A call has stages; a stage has tasks. Whoever is free takes the next task, and a stage begins when
the one before is complete. A helper that comes late finds less to do, one that comes too late finds
the call closed: the caller never waits for a thread that has not yet begun. Between calls a helper
looks out for the next one for about a millisecond, because waking a thread takes longer than a
short stage.

The counters lie in one array of int64, each on a cache line of its own. Line 0: number of the call
that is open, 0 for none. Line 1: helpers inside. Then two per stage: tasks taken, tasks done.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
# Compiled functions carry no annotations, nor do Numba's decorators.

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import extending, types

from tbgat.graph.compiled import inner_kernel

__all__ = [
    "close_call", "counters", "enter_call", "finish_task", "leave_call", "open_call", "take_task",
    "wait_for_call", "wait_for_stage",
]  # fmt: skip

# Numba types its decorators loosely.
_intrinsic: Any = extending.intrinsic

_LINE = 8
# So many looks at a counter take some microseconds; from then on others may use the core.
_LOOKS = 4000
# So many looks take about a millisecond.
_PATIENCE = _LOOKS + 2000

if sys.platform == "win32":

    @inner_kernel
    def _let_others_run():
        """Nothing to call by this name: go on looking."""

else:
    _let_others_run = types.ExternalFunction("sched_yield", types.int32())


def counters(stages: int) -> npt.NDArray[np.int64]:
    """Make the counters of calls with at most so many stages."""
    return np.zeros((2 + 2 * stages) * _LINE, dtype=np.int64)


@_intrinsic
def _add(context, array, index, value):
    """Add to an entry, atomically; return what it was."""

    def generate(context, builder, signature, given):
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [given[1]]), given[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@_intrinsic
def _set(context, array, index, value):
    """Replace an entry, atomically; return what it was."""

    def generate(context, builder, signature, given):
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        return builder.atomic_rmw("xchg", builder.gep(data, [given[1]]), given[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@_intrinsic
def _get(context, array, index):
    """Read an entry as others left it."""

    def generate(context, builder, signature, given):
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        return builder.load_atomic(builder.gep(data, [given[1]]), ordering="seq_cst", align=8)

    return types.int64(array, types.int64), generate


@inner_kernel
def open_call(shared, number):
    """Begin call ``number`` (not 0): nothing is taken, helpers may enter."""
    for i in range(2 * _LINE, len(shared)):
        shared[i] = 0
    _set(shared, 0, number)


@inner_kernel
def close_call(shared):
    """Let nobody enter any more and wait until all helpers have left."""
    _set(shared, 0, 0)
    looks = 0
    while _get(shared, _LINE) != 0:
        looks += 1
        if looks > _LOOKS:
            _let_others_run()


@inner_kernel
def wait_for_call(shared, last):
    """Wait for a call other than ``last``; return its number, or 0 if none comes soon."""
    for looks in range(_PATIENCE):
        number = _get(shared, 0)
        if number != 0 and number != last:
            return number
        if looks > _LOOKS:
            _let_others_run()
    return 0


@inner_kernel
def enter_call(shared, number):
    """Whether call ``number`` is still open; it cannot close before :func:`leave_call`."""
    _add(shared, _LINE, 1)
    return _get(shared, 0) == number


@inner_kernel
def leave_call(shared):
    """Undo :func:`enter_call`, whatever it said."""
    _add(shared, _LINE, -1)


@inner_kernel
def take_task(shared, stage):
    """Take the next task of a stage; its number may lie beyond the last."""
    return _add(shared, 2 * (1 + stage) * _LINE, 1)


@inner_kernel
def finish_task(shared, stage):
    """Count a task as done, and take the next."""
    _add(shared, (2 * (1 + stage) + 1) * _LINE, 1)
    return take_task(shared, stage)


@inner_kernel
def wait_for_stage(shared, stage, tasks):
    """Wait until all tasks of a stage are done."""
    looks = 0
    while _get(shared, (2 * (1 + stage) + 1) * _LINE) < tasks:
        looks += 1
        if looks > _LOOKS:
            _let_others_run()
