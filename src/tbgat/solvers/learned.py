"""The compiled walk of weights without a graph: what ``tbgat`` runs for them.

Like the walk of ``tabu``, with the learned scorer in the place of its rules: a step draws a
critical path, scores its N5 moves, draws one from the softmax of the scores and makes it. Where
that goes round in circles, swaps of neighbours on the critical path lead out.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: their arrays are described in Arrays and Memory.

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np

from tbgat.graph.arrays import Arrays
from tbgat.graph.compiled import lean_kernel
from tbgat.graph.critical import goes_in_circles, n5_pairs, one_machine_or_one_job
from tbgat.graph.state import DEFAULT_MEMORY
from tbgat.policy.features import MOVE_UNIT, training_scale
from tbgat.policy.move_walk import MoveScorer, flat_weights, make_move
from tbgat.policy.network import TBGAT
from tbgat.search.local_search import local_search
from tbgat.search.task import Outcome, Task
from tbgat.solvers.n5 import (
    BEST,
    DONE,
    OWN,
    PROVED,
    STEP,
    Memory,
    N5Walk,
    must_pause,
    record,
    shake,
    swap_on_path,
)

__all__ = ["learned_steps", "solve", "solve_many"]


# Place in ``Memory.state``: swaps still to make that lead out of a circle.
LEAVING = OWN
# Place in ``Memory.setting``: how many such swaps to make.
ESCAPE = 0


@lean_kernel
def learned_steps(g, t, scorer, weights, unit, greedy, max_steps, target):
    """Make up to ``max_steps`` moves; return how many and why no more."""
    for made in range(max_steps):
        if must_pause(t, target):
            return made, DONE
        if t.state[LEAVING] == 0 and t.setting[ESCAPE] > 0 and goes_in_circles(g, 0):
            t.state[LEAVING] = t.setting[ESCAPE]
        if t.state[LEAVING] > 0 and n5_pairs(g, 0, t.random, t.path) > 0:
            t.state[LEAVING] -= 1
            moved = swap_on_path(g, t)
        else:
            moved = make_move(
                g, 0, t.random, t.path, t.head, t.buffer, scorer, weights, t.state[BEST], unit,
                greedy,
            )  # fmt: skip
        if not moved and (one_machine_or_one_job(g, 0) or not shake(g, t)):
            return made, PROVED
        t.state[STEP] += 1
        if g.makespan[0] < t.state[BEST]:
            record(g, t)
    return max_steps, DONE


def solve(
    task: Task,
    network: TBGAT,
    *,
    greedy: bool = False,
    trajectories: int = 1,
    escape: int = 0,
) -> Outcome:
    """Search with a walk per thread, or per trajectory if there are more of those."""
    count = max(task.threads, trajectories)
    team = [
        N5Walk(
            task,
            number,
            _steps(task, network, greedy),
            setting=(escape,),
            state=(0,),
            memory=DEFAULT_MEMORY,
        )
        for number in range(count)
    ]
    return local_search(task, team, threads=task.threads)


def _steps(task: Task, network: TBGAT, greedy: bool) -> Callable[..., tuple[int, int]]:
    """The compiled loop with the weights and scratch space of one walk."""
    instance = task.instance
    scorer = MoveScorer.of(network.config, instance.num_operations)
    weights = flat_weights(network)
    whole = np.array([0, instance.num_operations], dtype=np.int64)
    unit = float(training_scale(instance.durations, whole)[0]) / MOVE_UNIT

    def steps(g: Arrays, t: Memory, max_steps: int, target: int) -> tuple[int, int]:
        made, why = learned_steps(g, t, scorer, weights, unit, greedy, max_steps, target)
        return made, why

    return steps


def solve_many(tasks: Sequence[Task], network: TBGAT, **options: Any) -> list[Outcome]:
    """Solve tasks side by side, each on one thread with a clock of its own; see :func:`solve`."""

    def one(task: Task) -> Outcome:
        alone = replace(task, threads=1, started=time.perf_counter())
        found = solve(alone, network, **options)
        return replace(found, seconds=alone.seconds())

    with ThreadPoolExecutor(max(task.threads for task in tasks)) as pool:
        running = [pool.submit(one, task) for task in tasks]
        try:
            wait(running)
        except KeyboardInterrupt:
            for task in tasks:
                task.cancelled.set()
        return [future.result() for future in running]
