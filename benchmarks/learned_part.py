"""Does a learned part help `auto` per second? Its local search with and without each candidate.

    python benchmarks/learned_part.py

writes ``results/learned_part.json`` and, as a table, ``results/learned_part.md``. The search is
that of ``tspr`` on two threads, on generated shops that nothing was trained on. A candidate decides
something that the search draws at random, rarely enough that its price does not matter or can be
earned back:

- ``opening``: every fresh solution is improved by the move scorer `tbgat-plus` before tabu search
  takes over.
- ``kick``: half of the children are not points between two parents but one parent after some moves
  drawn by the move scorer: learned noise instead of relinking.
- ``network kick``: the same with fewer moves, drawn by the graph network `paper`.
- ``pairs``: of many pairs of parents and places between them, the one from which a linear model
  expects the best descendant. The model is fitted to searches on other generated shops first.

The gap is that to the best makespan any run of this benchmark found for the shop.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.bounds import lower_bound
from tbgat.dispatching import dispatch
from tbgat.graph import GraphBatch
from tbgat.instance import Instance
from tbgat.policy.network import TBGAT
from tbgat.policy.weights import load_weights
from tbgat.schedule import Schedule
from tbgat.search.kernels.arrays import load_order, shop_of
from tbgat.search.kernels.relink import distance
from tbgat.search.local_search import local_search
from tbgat.search.pool import Member, Pool
from tbgat.search.relinking import RelinkingWalk, Settings, order_of, schedule_of
from tbgat.search.stop import MaxSeconds, MaxSteps
from tbgat.search.task import Task
from tbgat.solvers import learned, tspr
from tbgat.training.reinforce import Episode

SIZES = ((15, 15), (20, 20), (30, 20), (50, 20))
THREADS = 2
OPENING_STEPS, KICK_STEPS, NETWORK_STEPS = 500, 100, 20
PAIRS_TRIED = 30
Float = npt.NDArray[np.float64]


class Opening(RelinkingWalk):
    """Fresh solutions go through the learned scorer first."""

    scorer: TBGAT

    def _next_start(self) -> int:
        before = self.fresh
        makespan = super()._next_start()
        if self.fresh == before:
            return makespan
        start = schedule_of(self._instance, self._shop, self._order)
        seed = int(self._rng.integers(2**31))
        task = Task(self._instance, "tbgat", MaxSteps(OPENING_STEPS), seed, start)
        self._order[:] = order_of(self._instance, learned.solve(task, self.scorer).schedule)
        return int(load_order(self._shop, self._state, self._order))


class Kick(RelinkingWalk):
    """Half of the children are one parent after moves that a policy drew."""

    scorer: TBGAT
    moves = KICK_STEPS

    def _relink(self, parent: Member, other: Member) -> int:
        if self._rng.random() < 0.5:
            return super()._relink(parent, other)
        start = schedule_of(self._instance, self._shop, parent.order)
        episode = Episode([self._instance], self._rng, products="lowrank")
        episode.batch = GraphBatch.from_schedules([self._instance], [start])
        episode.best = episode.batch.arrays.makespan.copy()
        episode.search(self.scorer, self.moves)
        self._origin = "kick"
        self._order[:] = order_of(self._instance, episode.batch.schedule(0))
        return int(load_order(self._shop, self._state, self._order))


class NetworkKick(Kick):
    """The same with the graph network, whose moves cost a thousand times as much."""

    moves = NETWORK_STEPS


class Pairs(RelinkingWalk):
    """Parents, and the place between them, by a linear model of what comes of it."""

    model: Float | None = None

    def __init__(self, *given: Any) -> None:
        self.seen: list[Float] = []
        self._trial: Float | None = None
        super().__init__(*given)

    def _relink(self, parent: Member, other: Member) -> int:
        members = self._pool.members
        tried = [(parent, other)]
        if self.model is not None:
            places = [self._rng.choice(len(members), 2, replace=False) for _ in range(PAIRS_TRIED)]
            tried += [(members[i], members[j]) for i, j in places]
        nearest = self._settings.nearest
        shares = self._rng.uniform(nearest, 1 - nearest, len(tried))
        best = members[0].makespan
        x = np.array(
            [self._describe(*pair, s, best) for pair, s in zip(tried, shares, strict=True)]
        )
        chosen = 0 if self.model is None else int((x @ self.model).argmin())
        self._trial = np.append(x[chosen], best)
        return self._go_between(*tried[chosen], float(shares[chosen]))

    def _describe(self, parent: Member, other: Member, share: float, best: int) -> list[float]:
        """Percent above the best of either, how far apart they are, where the child begins."""
        a, b = (100.0 * (m.makespan / best - 1.0) for m in (parent, other))
        apart = distance(self._shop, parent.rank, other.rank) / len(parent.order)
        clear = min(share, 1.0 - share)
        return [1.0, a, b, a * b, apart, apart * apart, clear, apart * clear]

    def _give(self) -> None:
        """Note what came of the last trial, as percent above the best there was before it."""
        if self._trial is not None:
            *x, best = self._trial
            self.seen.append(np.array([*x, 100.0 * (self._member().makespan / best - 1.0)]))
            self._trial = None
        super()._give()


def search(kind: type[RelinkingWalk], shop: Instance, seed: int, seconds: float) -> Any:
    """Search as ``tspr`` does, with this kind of walk; return schedule and walks."""
    table = shop_of(shop)
    pool, start = Pool(table), dispatch(shop)
    task = Task(
        shop, "tspr", MaxSeconds(seconds), seed, start,
        lower_bound=lower_bound(shop), threads=THREADS, started=time.perf_counter(),
    )  # fmt: skip
    walks = [
        kind(shop, table, pool, task.rng(n), None if n else order_of(shop, start), Settings())
        for n in range(THREADS)
    ]
    schedule: Schedule = local_search(task, walks).schedule
    schedule.check(shop)
    return schedule, walks


def fit_pairs(seconds: float) -> dict[str, Any]:
    """Fit the model of :class:`Pairs` to searches with random parents."""
    rows = []
    for size in SIZES[:3]:
        for number in range(4):
            shop = generate.uniform(*size, seed=[7, *size, number])
            _, walks = search(Pairs, shop, number, seconds)
            rows += [row for walk in walks for row in walk.seen]
    data = np.array(rows)
    x, y = data[:, :-1], data[:, -1]
    scale = np.maximum(x.std(axis=0), 1e-9)
    ridge = np.linalg.solve((x / scale).T @ (x / scale) + np.eye(x.shape[1]), (x / scale).T @ y)
    Pairs.model = ridge / scale
    explained = 1.0 - (y - x @ Pairs.model).var() / y.var()
    return {
        "children": len(y),
        "explained": round(float(explained), 3),
        "weights": [round(float(w), 4) for w in Pairs.model],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--shops", type=int, default=3, help="per size")
    parser.add_argument("--out", type=Path, default=Path("results/learned_part.json"))
    given = parser.parse_args()
    tspr.prepare()
    Opening.scorer = Kick.scorer = load_weights("tbgat-plus", size=(20, 20)).network
    NetworkKick.scorer = load_weights("paper", size=(20, 15)).network
    kinds: dict[str, type[RelinkingWalk]] = {
        "none": RelinkingWalk,
        "opening": Opening,
        "kick": Kick,
        "network kick": NetworkKick,
        "pairs": Pairs,
    }
    warm = generate.uniform(10, 10, seed=0)
    for kind in kinds.values():
        search(kind, warm, 0, 1.0)
    pairs = fit_pairs(4 * given.seconds)
    runs = []
    for size in SIZES:
        for number in range(given.shops):
            shop = generate.uniform(*size, seed=[8, *size, number])
            for seed in range(given.seeds):
                for name, kind in kinds.items():
                    schedule, walks = search(kind, shop, seed, given.seconds)
                    runs.append(
                        {
                            "size": f"{size[0]}x{size[1]}",
                            "shop": number,
                            "seed": seed,
                            "learned": name,
                            "makespan": schedule.makespan,
                            "searches": sum(walk.fresh + walk.relinked for walk in walks),
                        }
                    )
            print(f"{size[0]}x{size[1]} {number}", flush=True)
    result = {
        "card": environment_card(range(given.seeds), threads=THREADS),
        "seconds": given.seconds,
        "gaps": {name: gaps(runs, name) for name in kinds},
        "pairs": pairs,
        "runs": runs,
    }
    given.out.write_text(json.dumps(result, indent=1) + "\n")
    text = table(result)
    given.out.with_suffix(".md").write_text(text)
    print(text)


def table(result: dict[str, Any]) -> str:
    """The gaps in Markdown, a row per candidate."""
    sizes = list(dict.fromkeys(run["size"] for run in result["runs"]))
    lines = [
        "| learned part | " + " | ".join(sizes) + " | all | searches |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for name, found in result["gaps"].items():
        made = [run["searches"] for run in result["runs"] if run["learned"] == name]
        low, high = min(found["by seed"]), max(found["by seed"])
        cells = [f"{found[size]:.2f}" for size in sizes]
        cells += [f"{found['all']:.2f} ({low:.2f}-{high:.2f})", f"{np.mean(made):.0f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    shops = len({(run["size"], run["shop"]) for run in result["runs"]})
    seeds = len({run["seed"] for run in result["runs"]})
    head = f"Gap in percent after {result['seconds']:g} s, {shops} shops, {seeds} seed(s)"
    return f"{head} (in brackets the range over seeds).\n\n" + "\n".join(lines) + "\n"


def gaps(runs: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Mean gap in percent per size, over all, and over all per seed."""
    best: dict[tuple[str, int], int] = {}
    for run in runs:
        key = run["size"], run["shop"]
        best[key] = min(run["makespan"], best.get(key, run["makespan"]))

    def mean(wanted: Callable[[dict[str, Any]], bool]) -> float:
        found = [
            100.0 * (run["makespan"] / best[run["size"], run["shop"]] - 1.0)
            for run in runs
            if run["learned"] == name and wanted(run)
        ]
        return round(float(np.mean(found)), 3)

    sizes = list(dict.fromkeys(run["size"] for run in runs))
    seeds = sorted({run["seed"] for run in runs})
    return {
        **{size: mean(lambda run, size=size: run["size"] == size) for size in sizes},
        "all": mean(lambda run: True),
        "by seed": [mean(lambda run, seed=seed: run["seed"] == seed) for seed in seeds],
    }


if __name__ == "__main__":
    main()
