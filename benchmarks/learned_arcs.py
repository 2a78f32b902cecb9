"""Candidate ``arcs``: which pairs are likely the other way round in better solutions.

Every few thousand moves a graph network embeds the present solution, and a logistic model reads its
embeddings, and figures of the pool, for all pairs of operations that are near each other on a
machine: how likely does the second go before the first in the best solution known in the end?
The compiled search reads the answers move by move: what a move reverses adds to its estimate.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from tbgat.graph import GraphBatch
from tbgat.policy.features import observe
from tbgat.policy.network import TBGAT
from tbgat.policy.structure import Structure
from tbgat.search.kernels import tabu
from tbgat.search.kernels.arrays import (
    AFTER,
    AHEAD,
    DONE,
    DURATION,
    FOUND,
    LOCAL,
    MACHINE,
    PATH,
    PLACE,
    RANK,
    Table,
)
from tbgat.search.kernels.moves import (
    draw,
    estimate_before,
    estimate_behind,
    may_go_before,
    may_go_behind,
)
from tbgat.search.relinking import RelinkingWalk

__all__ = ["Arcs", "PoolArcs", "fit_logistic", "ranking"]

REFRESH_MOVES = 20_000
#: Pairs with more than this many others between them are left alone: hardly any is reversed.
REACH = 3
#: Pairs noted at a refresh for the fit.
NOTED = 50
Float = npt.NDArray[np.float64]


def _kernel(function: Any) -> Any:
    return numba.njit(nogil=True, boundscheck=False, _nrt=False)(function)


def _rebuilt(function: Any, **changed: Any) -> Any:
    """Compile a function of the search again, with some of the functions it calls replaced."""
    plain = function.py_func
    return _kernel(FunctionType(plain.__code__, {**plain.__globals__, **changed}, plain.__name__))


@_kernel
def _price(shop, state, arcs, i, j, behind):
    """What the pairs that the move reverses add to its estimate: the right half of ``arcs``."""
    right = shop[LOCAL, shop.shape[1] - 1]
    price = 0
    if behind:
        u = state[PATH, i]
        for k in range(i + 1, j + 1):
            price += arcs[u, right + shop[LOCAL, state[PATH, k]]]
    else:
        local = right + shop[LOCAL, state[PATH, j]]
        for k in range(i, j):
            price += arcs[state[PATH, k], local]
    return price


@_kernel
def _weigh(shop, state, arcs, counters, random, i, j, behind):
    """As in :mod:`tbgat.search.kernels.tabu`, but the price of its pairs adds to a move's value."""
    limit = counters[tabu.VALUE]
    if behind:
        if not may_go_behind(shop, state, i, j):
            return
        price = _price(shop, state, arcs, i, j, behind)
        estimate = estimate_behind(state, i, j, limit - price)
    else:
        if not may_go_before(shop, state, i, j):
            return
        price = _price(shop, state, arcs, i, j, behind)
        estimate = estimate_before(state, i, j, limit - price)
    value = estimate + price
    move = (i << 32) | (j << 1) | behind
    state[FOUND, min(counters[tabu.SEEN], shop.shape[1] - 1)] = move
    counters[tabu.SEEN] += 1
    if value > limit:
        return
    forbidden = tabu._is_tabu(shop, state, arcs, i, j, behind, counters[tabu.STEP])
    if estimate >= counters[tabu.BEST] and forbidden:
        return
    if value == limit:
        counters[tabu.TIES] += 1
        if draw(random, counters[tabu.TIES]) != 0:
            return
    else:
        counters[tabu.TIES] = 1
    counters[tabu.VALUE] = value
    counters[tabu.MOVE] = move


class Arcs(RelinkingWalk):
    """The search with prices on pairs of operations, renewed every few thousand moves."""

    network: TBGAT
    model: Float | None = None
    #: Units of time for each unit of log-odds.
    strength = 1.0
    #: Columns of a description that are not embeddings.
    figures = 11

    def __init__(self, *given: Any) -> None:
        self.noted: list[tuple[Table, Table, Float]] = []
        self._since = REFRESH_MOVES
        #: How often prices were renewed and the seconds that took.
        self.refreshes, self.refreshing = 0, 0.0
        super().__init__(*given)

    def _begin(self) -> None:
        super()._begin()
        # Tables are blank for a new start, prices too.
        self._since = REFRESH_MOVES

    def _walk(self, moves: int, goal: int) -> int:
        if self._since >= REFRESH_MOVES:
            began = time.perf_counter()
            self._refresh()
            self.refreshes += 1
            self.refreshing += time.perf_counter() - began
            self._since = 0
        before = self.moves
        ended = _walk(
            self._shop,
            self._state,
            self._arcs,
            self._counters,
            self._log,
            self._order,
            self._random,
            min(moves, REFRESH_MOVES - self._since),
            self._cutoff,
            goal,
            self._tenure,
        )
        self._since += self.moves - before
        return int(ended)

    def _refresh(self) -> None:
        n, width = len(self._order), int(self._shop[LOCAL, -1])
        if self._arcs.shape[1] == width:
            self._arcs = np.zeros((n, 2 * width), dtype=np.int64)
        x, y = self._near()
        if self.model is None:
            chosen = self._rng.choice(len(x), min(NOTED, len(x)), replace=False)
            x, y = x[chosen], y[chosen]
            self.noted.append((x, y, self._describe(x, y)))
            return
        odds = self._describe(x, y) @ self.model
        price = np.rint(-self.strength * np.clip(odds, -8.0, 8.0)).astype(np.int64)
        self._arcs[:, width:] = 0
        self._arcs[x, width + self._shop[LOCAL, y]] = price
        self._arcs[y, width + self._shop[LOCAL, x]] = -price

    def _near(self) -> tuple[Table, Table]:
        """All pairs on a machine with at most ``REACH`` others between them, in their order."""
        n, after = len(self._order), self._state[AFTER]
        first = np.arange(n)
        second, pairs = first, []
        for _ in range(REACH + 1):
            second = after[second]
            pairs.append(np.stack([first, second]))
        x, y = np.concatenate(pairs, axis=1)
        return x[y < n], y[y < n]

    def _describe(self, x: Table, y: Table) -> Float:
        fresh = self._look(x, y)
        nodes = self._embed()
        a, b = nodes[x], nodes[y]
        return np.concatenate([fresh, a, b, a * b], axis=1)

    def _look(self, x: Table, y: Table) -> Float:
        """Figures of a pair from heads, tails and the pool."""
        shop, state = self._shop, self._state
        length = 50.0
        starts = state[DONE] - shop[DURATION]
        slack = state[DONE].max() - state[DONE] - state[AHEAD] + shop[DURATION]
        members = self._pool.members
        turned = np.mean([m.rank[y] < m.rank[x] for m in members], axis=0) if members else 0.0 * x
        best = self._pool.best
        in_best = best.rank[y] < best.rank[x] if best else 0.0 * x
        columns = [
            np.ones(len(x)),
            turned,
            in_best,
            np.full(len(x), 1.0 if members else 0.0),
            slack[x] / length,
            slack[y] / length,
            (starts[y] - state[DONE, x]) / length,
            state[PLACE, y] - state[PLACE, x],
            shop[DURATION, x] / length,
            shop[DURATION, y] / length,
            (slack[x] == 0) & (slack[y] == 0),
        ]
        return np.stack([np.asarray(c, dtype=np.float64) for c in columns], axis=1)

    def _embed(self) -> Float:
        """Forward and backward embeddings of all operations."""
        shop, n = self._shop, len(self._order)
        by_machine = np.lexsort((self._state[RANK, :n], shop[MACHINE, :n]))
        cuts = np.flatnonzero(np.diff(shop[MACHINE, by_machine])) + 1
        batch = GraphBatch([self._instance], [np.split(by_machine, cuts)])
        batch.levels()
        with torch.inference_mode():
            structure = Structure.of(observe(batch))
            *inner, last = self.network.layers
            rows = structure.features
            for layer in inner:
                rows = functional.elu(layer(rows, structure))
            rows = last(rows, structure)[:, :n]
        return np.concatenate([rows[0].numpy(), rows[1].numpy()], axis=1).astype(np.float64)


class PoolArcs(Arcs):
    """The same without the network: a pair is described by heads, tails and the pool alone."""

    def _describe(self, x: Table, y: Table) -> Float:
        return self._look(x, y)


_walk = _rebuilt(tabu.walk, _choose=_rebuilt(tabu._choose, _weigh=_weigh))


def fit_logistic(x: Float, y: Float, ridge: float = 10.0) -> Float:
    """Weights of a logistic model, by Newton's method on standardised columns."""
    middle, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
    middle[0], spread[0] = 0.0, 1.0  # the constant
    z = (x - middle) / spread
    w = np.zeros(x.shape[1])
    for _ in range(12):
        p = 1.0 / (1.0 + np.exp(-np.clip(z @ w, -30.0, 30.0)))
        curve = np.maximum(p * (1.0 - p), 1e-6)
        w += np.linalg.solve(
            (z * curve[:, None]).T @ z + ridge * np.eye(len(w)), z.T @ (y - p) - ridge * w
        )
    w = w / spread
    w[0] -= middle @ w
    return w


def ranking(odds: Float, y: Float) -> float:
    """How often a pair that was turned has higher odds than one that was not (AUC)."""
    ranks = np.empty(len(odds))
    ranks[np.argsort(odds)] = np.arange(len(odds))
    turned = y > 0
    low = turned.sum() * (turned.sum() - 1) / 2
    return float((ranks[turned].sum() - low) / (turned.sum() * (~turned).sum()))
