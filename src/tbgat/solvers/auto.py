"""Method ``auto``: the best schedule for the seconds there are, with a bound.

Tabu search with path relinking runs on every thread. Where the shop is small enough for a proof to
be in reach and OR-Tools is installed, CP-SAT takes over one thread (a quarter of many) as soon as
the search has found something good, and both exchange what they find. In larger shops it gets one
thread now and then, to raise the lower bound. Tiny shops go to CP-SAT alone. With a limit in steps
the local search runs alone, so that the result can be repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from tbgat.search.kernels.arrays import shop_of
from tbgat.search.local_search import local_search
from tbgat.search.pool import Pool
from tbgat.search.relinking import RelinkingWalk, Settings
from tbgat.search.task import Outcome, Task
from tbgat.solvers import cpsat, tspr
from tbgat.solvers.partner import NAME, Partner
from tbgat.solvers.relay import Relay, Stretch

__all__ = ["Plan", "plan", "prepare", "solve", "stretches"]

TINY_OPERATIONS = 50
#: Up to here CP-SAT is worth a thread: 15 x 15 and 20 x 10 are in, 20 x 15 is not.
PROOF_OPERATIONS = 250
#: What the local search has to itself at first: seconds, or with one thread a share of the time.
ALONE_SECONDS = 0.5
ALONE_SHARE = 0.5
#: In larger shops CP-SAT works on the bound from here on, and again when twice and four times ...
#: the time has gone, each time for this share of it.
BOUND_SECONDS = 2.0
BOUND_SHARE = 0.25
#: Pairs of operations of one machine up to which CP-SAT's model fits: 100 x 20 has 100,000.
BOUND_PAIRS = 150_000


@dataclass(frozen=True)
class Plan:
    """What will run: threads of local search, and those of them that CP-SAT takes over.

    ``alone`` is the time in seconds after which it does so, ``bounding`` says that it is for a
    while only, for the bound.
    """

    walks: int
    workers: int = 0
    alone: float = math.inf
    bounding: bool = False


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
    if repeatable or not find_spec("ortools"):
        return Plan(task.threads)
    if int(task.instance.durations.sum()) > cpsat.MAX_HORIZON:
        return Plan(task.threads)
    if operations > PROOF_OPERATIONS:
        loads = np.bincount(task.instance.machines)
        if int((loads * (loads - 1) // 2).sum()) > BOUND_PAIRS:
            return Plan(task.threads)
        return Plan(task.threads, 1, BOUND_SECONDS, bounding=True)
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
    partner = Partner(task, pool, chosen.workers, bounding=chosen.bounding)
    relay = Relay(task, pool, walks, partner)
    try:
        for stretch in stretches(chosen):
            relay.run(stretch)
            if relay.over:
                break
        outcome = relay.outcome
    except KeyboardInterrupt:
        partner.close()
        outcome = relay.interrupted()
    return replace(outcome, story=_story(task, chosen, pool, walks, outcome, partner))


def stretches(chosen: Plan) -> Iterator[Stretch]:
    """Say who has the threads until when."""
    yield Stretch(chosen.alone)
    if not chosen.bounding:
        yield Stretch(math.inf, chosen.workers)
        return
    begin = chosen.alone
    while True:
        yield Stretch((1 + BOUND_SHARE) * begin, chosen.workers)
        begin *= 2
        yield Stretch(begin)


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
    if partner is not None and partner.rounds:
        ran += f" CP-SAT on {chosen.workers} from {chosen.alone:.1f} s, {partner.rounds} round(s)"
        ran += ", for the bound." if chosen.bounding else "."
    known = [pool.best, *(walk.incumbent for walk in walks)]
    finders = (m.finder for m in known if m and m.makespan == outcome.schedule.makespan)
    finder = next(finders, "") if len(outcome.history) > 1 else "the start"
    gain = outcome.history[-1]
    found = f"Best schedule, {outcome.schedule.makespan}, by {finder}"
    bound = max(task.lower_bound, outcome.lower_bound)
    source = NAME if outcome.lower_bound > task.lower_bound else "single machines and jobs"
    lines = (ran, f"{found} after {gain.seconds:.2f} s.")
    return (*lines, f"Lower bound {bound} by {source}.")
