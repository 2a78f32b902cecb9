"""Good and different solutions, shared by several searches."""

# mypy: disable-error-code="no-untyped-call"
# The compiled functions carry no annotations.

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from tbgat.search.kernels.arrays import Table
from tbgat.search.kernels.relink import distance

__all__ = ["Member", "Pool"]


@dataclass(frozen=True)
class Member:
    """A solution as a linear order of all operations; nobody writes to its arrays."""

    makespan: int
    order: Table
    rank: Table
    finder: str

    @classmethod
    def of(cls, makespan: int, order: Table, finder: str) -> Member:
        """Copy an order, so that whoever offers it may go on using its array."""
        kept = np.array(order, dtype=np.int64)
        rank = np.empty_like(kept)
        rank[kept] = np.arange(len(kept))
        return cls(int(makespan), kept, rank, finder)


class Pool:
    """A bounded population, safe to use from any thread.

    Members are immutable and enter and leave whole, under one lock: an exchange can be late but
    neither torn nor lost. Beside the population the best solution ever offered is kept.

    Parameters
    ----------
    shop
        Table of the instance, for distances.
    largest
        Most members there will ever be.
    """

    def __init__(self, shop: Table, largest: int = 30) -> None:
        self._shop = shop
        self._largest = largest
        self._lock = threading.Lock()
        self._members: list[Member] = []
        self._best: Member | None = None
        self._starts = 0
        n = shop.shape[1] - 1
        # Closer than this, two solutions count as one. Without it a population is soon thirty
        # copies of its best member, a few swaps apart, and relinking leads nowhere.
        self._apart = max(1, n // 10)

    @property
    def best(self) -> Member | None:
        """Best solution ever offered."""
        with self._lock:
            return self._best

    @property
    def members(self) -> tuple[Member, ...]:
        """The population, best first."""
        with self._lock:
            return tuple(self._members)

    def offer_best(self, member: Member) -> bool:
        """Note a solution for the record only; say whether it is the best so far."""
        with self._lock:
            return self._note(member)

    def offer(self, member: Member) -> bool:
        """Take a solution into the population if it is good or different enough."""
        with self._lock:
            self._note(member)
            close = [m for m in self._members if self._distance(m, member) < self._apart]
            if close:
                if member.makespan >= min(m.makespan for m in close):
                    return False
                self._members = [m for m in self._members if not any(m is c for c in close)]
            elif len(self._members) >= self._capacity():
                if member.makespan > self._members[-1].makespan:
                    return False
                self._members.pop()
            self._members.append(member)
            self._members.sort(key=lambda m: m.makespan)
            return True

    def parents(self, rng: np.random.Generator) -> tuple[Member, Member] | None:
        """Draw two members to relink, or ``None`` when a fresh start is wanted instead."""
        with self._lock:
            self._starts += 1
            if len(self._members) < self._capacity():
                return None
            first, second = rng.choice(len(self._members), 2, replace=False)
            return self._members[first], self._members[second]

    def _capacity(self) -> int:
        """How many members there should be: it grows with the searches started.

        So a short run is a few searches and their descendants, a long one a large population, and
        neither needs to know how long it will last.
        """
        return min(self._largest, 3 + self._starts // 3)

    def _note(self, member: Member) -> bool:
        better = self._best is None or member.makespan < self._best.makespan
        if better:
            self._best = member
        return better

    def _distance(self, one: Member, other: Member) -> int:
        return int(distance(self._shop, one.rank, other.rank))
