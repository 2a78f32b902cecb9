"""Tabu search and path relinking as one resumable walk (TS/PR: Peng, Lü and Cheng 2015)."""

# mypy: disable-error-code="no-untyped-call"
# The compiled functions carry no annotations.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.kernels import tabu
from tbgat.search.kernels.arrays import DONE, DURATION, LOCAL, ORDER, Table, blank_state, load_order
from tbgat.search.kernels.construct import build_order
from tbgat.search.kernels.relink import distance, walk_towards
from tbgat.search.pool import Member, Pool

__all__ = ["RelinkingWalk", "Settings", "order_of", "schedule_of", "usual_cutoff"]

LOG_ROWS = 256


@dataclass(frozen=True)
class Settings:
    """What can be tuned.

    Attributes
    ----------
    cutoff
        Moves without gain after which a tabu search gives up; by default by size, see
        :func:`usual_cutoff`.
    tenure
        Shortest time a reversed pair is tabu, as a multiple of ``10 + jobs / machines``; the
        longest is twice that.
    noise
        Random error, in percent, of the rule that makes fresh starts.
    nearest
        Share of the way between two parents that a child keeps clear of either.
    """

    cutoff: int | None = None
    tenure: float = 0.7
    noise: int = 100
    nearest: float = 0.3


class RelinkingWalk:
    """One thread's part of the search.

    Take a fresh start or two parents and a point between them, improve it by tabu search, give the
    result to the pool, and again.

    Parameters
    ----------
    shop
        Table of the instance.
    pool
        Shared with the other threads.
    start
        Linear order to begin with; without one it begins afresh.

    Attributes
    ----------
    incumbent
        Best solution this walk knows of. What others put into the pool it learns when it next
        advances, so that its schedule always goes with the makespans it has told.
    fresh, relinked
        Tabu searches begun from new solutions and from between two parents.
    """

    def __init__(
        self,
        instance: Instance,
        shop: Table,
        pool: Pool,
        rng: np.random.Generator,
        start: Table | None,
        settings: Settings,
    ) -> None:
        n = instance.num_operations
        self._instance = instance
        self._shop = shop
        self._pool = pool
        self._rng = rng
        self._settings = settings
        self._cutoff = settings.cutoff or usual_cutoff(n)
        self._tenure = max(
            1, round(settings.tenure * (10 + instance.num_jobs / instance.num_machines))
        )
        self._state = blank_state(shop)
        self._arcs = np.zeros((n, shop[LOCAL, n]), dtype=np.int64)
        self._counters = np.zeros(tabu.COUNTERS, dtype=np.int64)
        self._log = np.zeros((LOG_ROWS, 2), dtype=np.int64)
        self._random = rng.integers(1, 2**62, size=1)
        self._order = np.zeros(n, dtype=np.int64)
        self._origin = "tabu search"
        self._found: list[tuple[int, int]] = []
        self._earlier = 0
        self.fresh = 0
        self.relinked = 0
        self._waiting = start
        self._counters[tabu.RECORD] = np.iinfo(np.int64).max
        # The first start is not a step.
        self._counters[tabu.STEP] = -1
        self._begin()

    @property
    def best(self) -> int:
        """Smallest makespan so far."""
        return int(self._counters[tabu.RECORD])

    @property
    def moves(self) -> int:
        """Steps made since it was made."""
        return int(self._counters[tabu.STEP])

    @property
    def proof(self) -> str:
        """Nothing: a local search proves optimality only by meeting a bound."""
        return ""

    def advance(self, max_steps: int, target: int) -> int:
        """Make at most ``max_steps`` moves, fewer only once ``target`` is met."""
        self._take_over()
        counters = self._counters
        first = int(counters[tabu.STEP])
        while (left := first + max_steps - int(counters[tabu.STEP])) > 0:
            ended = self._walk(left, target)
            self._drain_log()
            if ended == tabu.GOAL:
                break
            if ended != tabu.PAUSED:
                self._give()
                self._begin()
        return int(counters[tabu.STEP]) - first

    def improvements(self) -> list[tuple[int, int]]:
        """Return step and makespan of every new best since the last call, oldest first."""
        found, self._found = self._found, []
        return [(step - self._earlier, makespan) for step, makespan in found]

    def count_anew(self) -> None:
        """Report steps from 0 again, for another search loop."""
        self._drain_log()
        self._found = []
        self._earlier = self.moves

    def schedule(self) -> Schedule:
        """Return the best schedule so far."""
        # Ctrl-C may have come between a compiled chunk and the reading of its log.
        self._drain_log()
        return schedule_of(self._instance, self._shop, self.incumbent.order)

    def _walk(self, moves: int, goal: int) -> int:
        return int(
            tabu.walk(
                self._shop,
                self._state,
                self._arcs,
                self._counters,
                self._log,
                self._order,
                self._random,
                moves,
                self._cutoff,
                goal,
                self._tenure,
            )
        )

    def _begin(self) -> None:
        """Begin the next tabu search."""
        makespan = self._next_start()
        counters = self._counters
        # A start counts as a step, so that a shop without moves comes to an end as well.
        counters[tabu.STEP] += 1
        counters[tabu.GAIN] = counters[tabu.STEP]
        counters[tabu.BEST] = counters[tabu.PRESENT] = makespan
        # Nothing is tabu for a new start.
        self._arcs[:] = 0
        if makespan < counters[tabu.RECORD]:
            self._record(int(counters[tabu.STEP]), int(makespan))

    def _next_start(self) -> int:
        """Load what is waiting, a fresh solution, or one between two parents."""
        if self._waiting is None and (parents := self._pool.parents(self._rng)) is not None:
            self.relinked += 1
            self._origin = "path relinking"
            return self._relink(*parents)
        self.fresh += 1
        self._origin = "tabu search"
        if self._waiting is not None:
            self._order[:] = self._waiting
            self._waiting = None
        else:
            build_order(self._shop, self._state, self._order, self._settings.noise, self._random)
        return int(load_order(self._shop, self._state, self._order))

    def _relink(self, parent: Member, other: Member) -> int:
        nearest = self._settings.nearest
        return self._go_between(parent, other, self._rng.uniform(nearest, 1 - nearest))

    def _go_between(self, parent: Member, other: Member, share: float) -> int:
        """Load what is reached from the parent after this share of the way to the other."""
        load_order(self._shop, self._state, parent.order)
        apart = distance(self._shop, parent.rank, other.rank)
        walk_towards(self._shop, self._state, other.rank, int(share * apart), self._random)
        self._order[:] = self._state[ORDER, :-1]
        return int(load_order(self._shop, self._state, self._order))

    def _drain_log(self) -> None:
        counters = self._counters
        if counters[tabu.LOGGED]:
            self._share()
            entries = self._log[: counters[tabu.LOGGED]].tolist()
            self._found += [(step, makespan) for step, makespan in entries]
            counters[tabu.LOGGED] = 0

    def _record(self, step: int, makespan: int) -> None:
        self._share()
        self._counters[tabu.RECORD] = makespan
        self._found.append((step, makespan))

    def _share(self) -> None:
        self.incumbent = self._member()
        self._pool.offer_best(self.incumbent)

    def _give(self) -> None:
        self._pool.offer(self._member())

    def _member(self) -> Member:
        return Member.of(int(self._counters[tabu.BEST]), self._order, self._origin)

    def _take_over(self) -> None:
        """Note what others found since."""
        best = self._pool.best
        if best is not None and best.makespan < self.best:
            self.incumbent = best
            self._counters[tabu.RECORD] = best.makespan
            self._found.append((int(self._counters[tabu.STEP]), best.makespan))


def usual_cutoff(operations: int) -> int:
    """12500 moves up to 300 operations (Peng, Lü and Cheng 2015), then growing.

    A large shop keeps improving for longer, and in the same time fewer searches fit in.
    """
    return int(12_500 * max(1.0, operations / 300) ** 2.5)


def order_of(instance: Instance, schedule: Schedule) -> Table:
    """Read a linear order off a schedule: by start; what takes no time first; then by job."""
    starts = schedule.starts(instance)
    return np.lexsort((np.arange(len(starts)), starts + instance.durations, starts))


def schedule_of(instance: Instance, shop: Table, order: Table) -> Schedule:
    """Start everything as early as a linear order allows."""
    state = blank_state(shop)
    load_order(shop, state, order)
    return Schedule.from_starts(instance, (state[DONE] - shop[DURATION])[:-1])
