"""Candidate ``free``: a part of a good solution is freed for CP-SAT, a model says which part.

A part is a window in time: operations that start one after another in a member of the pool. What
starts before it and what starts after it keeps its place on every machine, so that nothing is left
of the rest but a head and a tail for each operation of the window, and CP-SAT looks for an order of
the window that makes the whole schedule shorter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat.search.kernels.arrays import (
    AFTER,
    AHEAD,
    BEFORE,
    DONE,
    DURATION,
    JOB_AFTER,
    JOB_BEFORE,
    MACHINE,
    Table,
    load_order,
)
from tbgat.search.pool import Member
from tbgat.search.relinking import RelinkingWalk

__all__ = ["Free", "FreeAtRandom"]

WINDOW = 80
SOLVER_SECONDS = 0.1
TRIED = 30
Float = npt.NDArray[np.float64]


class FreeAtRandom(RelinkingWalk):
    """Half of the children are a parent after CP-SAT has shortened it in a window, if it can."""

    model: Float | None = None

    def __init__(self, *given: Any) -> None:
        self.seen: list[Float] = []
        self.calls = 0
        super().__init__(*given)

    def _relink(self, parent: Member, other: Member) -> int:
        n = len(parent.order)
        if n <= WINDOW or self._rng.random() < 0.5:
            return super()._relink(parent, other)
        makespan = int(load_order(self._shop, self._state, parent.order))
        starts = (self._state[DONE] - self._shop[DURATION])[:n]
        by_start = np.lexsort((parent.rank, starts))
        firsts = self._rng.integers(0, n - WINDOW + 1, TRIED)
        windows = [by_start[first : first + WINDOW] for first in firsts]
        chosen, x = 0, self._describe(windows, firsts, makespan, other)
        if self.model is not None:
            chosen = int((x @ self.model).argmax())
        self.calls += 1
        found = self._solve(windows[chosen], makespan)
        gain = 0
        if found is not None:
            first = int(firsts[chosen])
            window, order = windows[chosen], by_start.copy()
            order[first : first + WINDOW] = window[np.lexsort((starts[window], found))]
            shorter = int(load_order(self._shop, self._state, order))
            gain = makespan - shorter
        self.seen.append(np.append(x[chosen], 100.0 * gain / makespan))
        if gain <= 0:
            return super()._relink(parent, other)
        self._origin = "a window freed for CP-SAT"
        self._order[:] = order
        return shorter

    def _describe(self, windows: list[Table], firsts: Table, makespan: int, other: Member) -> Float:
        """Tell for every window where it is, how much of it is critical, and what is in dispute."""
        shop, state = self._shop, self._state
        n = shop.shape[1] - 1
        slack = (makespan - state[DONE] - state[AHEAD] + shop[DURATION])[:n]
        critical = slack == 0
        follower = state[AFTER, :n]
        # A pair of machine neighbours that the other parent has the other way round.
        disputed = (follower < n) & (other.rank > np.append(other.rank, 0)[follower])
        rows = []
        for first, window in zip(firsts, windows, strict=True):
            middle = (first + WINDOW / 2) / n
            share = critical[window].mean()
            loose = (slack[window] / makespan).mean()
            dispute = disputed[window].mean()
            rows.append([1.0, middle, middle**2, share, share**2, loose, dispute, share * dispute])
        return np.array(rows)

    def _solve(self, window: Table, makespan: int) -> Table | None:
        """Starts of the window's operations in a schedule shorter than ``makespan``, or nothing."""
        from ortools.sat.python import cp_model

        shop, state, limit = self._shop, self._state, makespan - 1
        inside = set(window.tolist())
        model = cp_model.CpModel()
        starts: dict[int, Any] = {}
        on_machine: dict[int, list[Any]] = {}
        tails = {}
        for x in window.tolist():
            before = {int(shop[JOB_BEFORE, x]), self._outside(x, BEFORE, inside)} - inside
            after = {int(shop[JOB_AFTER, x]), self._outside(x, AFTER, inside)} - inside
            head = max(int(state[DONE, y]) for y in before)
            length = int(shop[DURATION, x])
            tails[x] = length + max(int(state[AHEAD, y]) for y in after)
            if head + tails[x] > limit:
                return None
            starts[x] = model.new_int_var(head, limit - tails[x], "")
            on_machine.setdefault(int(shop[MACHINE, x]), []).append(
                model.new_fixed_size_interval_var(starts[x], length, "")
            )
        longest = model.new_int_var(0, limit, "")
        for x, start in starts.items():
            y = int(shop[JOB_AFTER, x])
            if y in inside:
                model.add(starts[y] >= start + int(shop[DURATION, x]))
            model.add(longest >= start + tails[x])
        for intervals in on_machine.values():
            model.add_no_overlap(intervals)
        model.minimize(longest)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = SOLVER_SECONDS
        solver.parameters.random_seed = int(self._rng.integers(2**31))
        solver.parameters.use_strong_propagation_in_disjunctive = True
        solver.parameters.catch_sigint_signal = False
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return np.array([solver.value(starts[x]) for x in window.tolist()])

    def _outside(self, x: int, link: int, inside: set[int]) -> int:
        """Follow the machine from an operation out of the window."""
        while x in inside:
            x = int(self._state[link, x])
        return x


class Free(FreeAtRandom):
    """The same, where a linear model fitted to earlier windows chooses the most promising."""
