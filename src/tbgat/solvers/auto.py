"""Method ``auto``: the best schedule for the seconds there are, with a bound.

Tabu search with path relinking runs on every thread. Where the shop is small enough for a proof to
be in reach and OR-Tools is installed, CP-SAT takes over one thread (a quarter of many) as soon as
the search has found something good, and both exchange what they find. Tiny shops go to CP-SAT
alone. With a limit in steps the local search runs alone, so that the result can be repeated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from tbgat.schedule import Schedule
from tbgat.search.callbacks import Callback, Snapshot
from tbgat.search.kernels.arrays import shop_of
from tbgat.search.local_search import Walk, local_search
from tbgat.search.pool import Pool
from tbgat.search.relinking import RelinkingWalk, Settings, schedule_of
from tbgat.search.result import Improvement
from tbgat.search.stop import MaxSeconds
from tbgat.search.task import Outcome, Task
from tbgat.solvers import cpsat, tspr
from tbgat.solvers.partner import NAME, Partner, Proved

__all__ = ["Plan", "plan", "prepare", "solve"]

TINY_OPERATIONS = 50
#: Up to here CP-SAT is worth a thread: 15 x 15 and 20 x 10 are in, 20 x 15 is not.
PROOF_OPERATIONS = 250
#: What the local search has to itself at first: seconds, or with one thread a share of the time.
ALONE_SECONDS = 0.5
ALONE_SHARE = 0.5


@dataclass(frozen=True)
class Plan:
    """What will run: threads of local search at first and later, and CP-SAT's.

    ``alone`` is the time in seconds after which CP-SAT starts.
    """

    walks: int
    workers: int = 0
    alone: float = math.inf


def prepare() -> None:
    """Compile the search, and import OR-Tools if it is there."""
    tspr.prepare()
    if find_spec("ortools"):
        cpsat.prepare()


def plan(task: Task) -> Plan:
    """Decide from size, limits, threads and what is installed; no walks means CP-SAT alone."""
    progress = task.progress(0, task.start.makespan)
    repeatable = math.isfinite(task.stop.steps_left(progress))
    operations = task.instance.num_operations
    if repeatable or operations > PROOF_OPERATIONS or not find_spec("ortools"):
        return Plan(task.threads)
    if int(task.instance.durations.sum()) > cpsat.MAX_HORIZON:
        return Plan(task.threads)
    if operations <= TINY_OPERATIONS:
        return Plan(0, task.threads, 0.0)
    alone = ALONE_SECONDS
    if task.threads == 1:
        seconds = task.stop.seconds_left(progress)
        alone = ALONE_SHARE * seconds if math.isfinite(seconds) else 20 * ALONE_SECONDS
    return Plan(task.threads, max(1, task.threads // 4), alone)


def solve(task: Task) -> Outcome:
    """Run what :func:`plan` says."""
    chosen = plan(task)
    if chosen.walks == 0:
        return cpsat.solve(task)
    pool = Pool(shop_of(task.instance))
    walks = tspr.make_walks(task, pool, Settings())
    if chosen.workers == 0:
        outcome = local_search(task, walks)
        return replace(outcome, story=_story(task, chosen, pool, walks, outcome, None))
    early = local_search(replace(task, stop=task.stop | MaxSeconds(chosen.alone)), walks)
    progress = task.progress(early.steps, early.schedule.makespan)
    if early.stopped != "seconds" or task.stop(progress):
        return replace(early, story=_story(task, chosen, pool, walks, early, None))
    try:
        return _with_partner(task, chosen, pool, walks, early)
    except KeyboardInterrupt:
        # It came between two loops that would have handled it.
        best = walks[0].schedule()
        gain = Improvement(early.steps, task.seconds(), best.makespan)
        better = best.makespan < early.schedule.makespan
        history = (*early.history, gain) if better else early.history
        return replace(early, schedule=best, history=history, stopped="interrupt")


def _with_partner(
    task: Task, chosen: Plan, pool: Pool, walks: Sequence[RelinkingWalk], early: Outcome
) -> Outcome:
    """Go on with CP-SAT in the place of some walks."""
    left: Sequence[Walk] = walks[: len(walks) - chosen.workers]
    for walk in walks:
        walk.count_anew()

    def shifted(gain: Improvement) -> Improvement:
        return replace(gain, step=early.steps + (gain.step if left else 0))

    def passed_on(callback: Callback) -> Callback:
        def call(snapshot: Snapshot) -> Any:
            progress = snapshot.progress
            progress = replace(progress, step=progress.step + early.steps)
            # The first entry is what was there before.
            news = tuple(shifted(gain) for gain in snapshot.improvements if gain.seconds > 0)
            return callback(replace(snapshot, progress=progress, improvements=news))

        return call

    with Partner(task, pool, chosen.workers) as partner:
        late_task = replace(
            task,
            start=early.schedule,
            stop=task.stop | Proved(partner),
            callbacks=tuple(passed_on(callback) for callback in task.callbacks),
        )
        late = local_search(late_task, left or [Spectator(task, pool)])
    makespan = late.schedule.makespan
    proved = partner.bound >= makespan
    outcome = replace(
        late,
        steps=early.steps + (late.steps if left else 0),
        history=(*early.history, *(shifted(gain) for gain in late.history[1:])),
        lower_bound=min(partner.bound, makespan),
        proof="proved by CP-SAT" if proved and makespan > task.lower_bound else "",
        stopped="optimal" if proved else late.stopped,
    )
    return replace(outcome, story=_story(task, chosen, pool, walks, outcome, partner))


class Spectator:
    """A walk that makes no moves: it waits for what others put into the pool."""

    def __init__(self, task: Task, pool: Pool) -> None:
        self._task = task
        self._pool = pool
        self._step = 0
        self._told = self.best

    @property
    def best(self) -> int:
        """Smallest makespan in the pool."""
        best = self._pool.best
        assert best is not None
        return best.makespan

    @property
    def proof(self) -> str:
        """Nothing of its own."""
        return ""

    def advance(self, max_steps: int, target: int) -> int:
        """Let a moment pass, as one step."""
        time.sleep(0.01)
        self._step += 1
        return 1

    def improvements(self) -> list[tuple[int, int]]:
        """Return the best of the pool if it is new."""
        best = self.best
        if best >= self._told:
            return []
        self._told = best
        return [(self._step, best)]

    def schedule(self) -> Schedule:
        """Return the best schedule in the pool."""
        best = self._pool.best
        assert best is not None
        return schedule_of(self._task.instance, shop_of(self._task.instance), best.order)


def _story(
    task: Task,
    chosen: Plan,
    pool: Pool,
    walks: Sequence[RelinkingWalk],
    outcome: Outcome,
    partner: Partner | None,
) -> tuple[str, ...]:
    """Three lines: what ran, what found the best, what is proven."""
    ran = tspr.describe(task.instance, walks)
    if partner is not None:
        ran += f" CP-SAT on {chosen.workers} from {chosen.alone:.1f} s, {partner.rounds} round(s)."
    best = pool.best
    finder = best.finder if best is not None and best.makespan == outcome.schedule.makespan else ""
    gain = outcome.history[-1]
    found = f"Best schedule, {outcome.schedule.makespan}, by {finder or 'the start'}"
    bound = max(task.lower_bound, outcome.lower_bound)
    source = NAME if outcome.lower_bound > task.lower_bound else "single machines and jobs"
    lines = (ran, f"{found} after {gain.seconds:.2f} s.")
    return (*lines, f"Lower bound {bound} by {source}.")
