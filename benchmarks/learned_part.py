"""Does a learned part help `auto` per second? Its local search with and without each candidate.

    python benchmarks/learned_part.py

writes ``results/learned_part.json`` and, as a table, ``results/learned_part.md``. The search is
that of ``tspr`` on two threads, on generated shops that nothing was trained on. A candidate decides
something that the search draws at random, or adds to what it looks at, rarely enough that its price
can be earned back:

- ``opening``: every fresh solution is improved by the move scorer `tbgat-plus` before tabu search
  takes over.
- ``kick``: half of the children are not points between two parents but one parent after some moves
  drawn by the move scorer: learned noise instead of relinking.
- ``network kick``: the same with fewer moves, drawn by the graph network `paper`.
- ``pairs``: of many pairs of parents and places between them, the one from which a linear model
  expects the best descendant.
- ``free at random``: half of the children are a parent with a window in time freed for CP-SAT, if
  that shortens it; the window is drawn. ``free``: it is the one a linear model expects most of.
- ``arcs``: every 20,000 moves the graph network `tbgat-graph` embeds the present solution. A model
  that reads the embeddings tells which pairs are likely the other way round in the best solution,
  and the search adds that to its estimate of every move that reverses them.
- ``pool arcs``: the same without the network, from heads, tails and the pool alone.

The models are fitted to searches on other generated shops first, and so is the weight of prices.
The gap is that to the best makespan any run of this benchmark found for the shop.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from learned_arcs import Arcs, PoolArcs, fit_logistic, ranking
from learned_walks import Kick, NetworkKick, Opening, Pairs
from learned_windows import Free, FreeAtRandom

from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.bounds import lower_bound
from tbgat.dispatching import dispatch
from tbgat.instance import Instance
from tbgat.policy.weights import load_weights
from tbgat.search import local_search as loop
from tbgat.search.kernels.arrays import shop_of
from tbgat.search.pool import Pool
from tbgat.search.relinking import RelinkingWalk, Settings, order_of
from tbgat.search.stop import MaxSeconds
from tbgat.search.task import Outcome, Task
from tbgat.solvers import cpsat, tspr

KINDS = {"uniform": generate.uniform, "two stages": generate.flow_shop_like}
SHOPS = (
    ("uniform", 15, 15),
    ("uniform", 20, 20),
    ("uniform", 30, 20),
    ("two stages", 20, 20),
    ("two stages", 30, 20),
    ("two stages", 50, 20),
)
THREADS = 2
PRACTICE, REPORTED = 7, 8
#: Shops of each kind that models are fitted to.
PRACTISED = 2
STRENGTHS = "0.25,1,4"
WALKS: dict[str, type[RelinkingWalk]] = {
    "none": RelinkingWalk,
    "opening": Opening,
    "kick": Kick,
    "network kick": NetworkKick,
    "pairs": Pairs,
    "free at random": FreeAtRandom,
    "free": Free,
    "arcs": Arcs,
    "pool arcs": PoolArcs,
}


def shops(use: int, each: int, sizes: Sequence[str]) -> list[tuple[str, int, Instance]]:
    """Generate the shops for one use: name of their kind, number and instance."""
    made = []
    for kind, jobs, machines in SHOPS:
        for number in range(each if f"{jobs}x{machines} {kind}" in sizes else 0):
            seed = [use, list(KINDS).index(kind), jobs, machines, number]
            made.append(
                (f"{jobs}x{machines} {kind}", number, KINDS[kind](jobs, machines, seed=seed))
            )
    return made


def search(
    kind: type[RelinkingWalk], shop: Instance, seed: int, seconds: float
) -> tuple[Outcome, Any, Pool]:
    """Search as ``tspr`` does, with this kind of walk; return what came out, walks and pool."""
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
    outcome = loop.local_search(task, walks)
    outcome.schedule.check(shop)
    return outcome, walks, pool


def fit_linear(kind: Any, seconds: float, sizes: Sequence[str]) -> dict[str, Any]:
    """Fit the model of a kind of walk, by least squares, to what it noted without one."""
    rows = []
    for _, number, shop in shops(PRACTICE, PRACTISED, sizes):
        _, walks, _ = search(kind, shop, number, seconds)
        rows += [row for walk in walks for row in walk.seen]
    data = np.array(rows)
    x, y = data[:, :-1], data[:, -1]
    scale = np.maximum(x.std(axis=0), 1e-9)
    ridge = np.linalg.solve((x / scale).T @ (x / scale) + np.eye(x.shape[1]), (x / scale).T @ y)
    model = ridge / scale
    return {
        "noted": len(y),
        "mean": round(float(y.mean()), 4),
        "not 0": round(float((y != 0).mean()), 3),
        "explained": round(float(1.0 - (y - x @ model).var() / y.var()), 3),
        "weights": [round(float(w), 4) for w in model],
    }


def fit_arcs(
    kinds: Sequence[type[Arcs]], strengths: Sequence[float], seconds: float, sizes: Sequence[str]
) -> dict[str, Any]:
    """Fit the models of ``arcs``: every second shop tells how well they rank, all fit in the end.

    Then choose the weight of each in the search.
    """
    parts: list[tuple[Any, Any]] = []
    for _, number, shop in shops(PRACTICE, PRACTISED, sizes):
        _, walks, pool = search(Arcs, shop, number, seconds)
        best = pool.best
        assert best is not None
        notes = [note for walk in walks for note in walk.noted]
        x = np.concatenate([described for _, _, described in notes])
        y = np.concatenate([best.rank[v] < best.rank[u] for u, v, _ in notes])
        parts.append((x, y.astype(np.float64)))
    (x, y), (x_new, y_new) = joined(parts[::2]), joined(parts[1::2])
    x_all, y_all = joined(parts)
    models: dict[str, Any] = {"pairs": len(y_all), "turned": round(float(y_all.mean()), 3)}
    for kind in kinds:
        columns = kind.figures if kind is PoolArcs else x.shape[1]
        trial = fit_logistic(x[:, :columns], y)
        kind.model = fit_logistic(x_all[:, :columns], y_all)
        found = {}
        for strength in strengths:
            kind.strength = strength
            makespans = [
                search(kind, shop, number, seconds / 3)[0].schedule.makespan / lower_bound(shop)
                for _, number, shop in shops(PRACTICE, PRACTISED, sizes)
            ]
            found[strength] = round(float(np.mean(makespans)), 5)
        kind.strength = min(found, key=lambda strength: found[strength])
        models["pool" if kind is PoolArcs else "network"] = {
            "AUC on other shops": round(ranking(x_new[:, :columns] @ trial, y_new), 3),
            "makespan to bound by strength": found,
            "strength": kind.strength,
            "price of renewing them, in moves": prices(kind, sizes),
        }
    return models


def joined(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Descriptions and answers of several shops as one array each."""
    x, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    return x, y


def prices(kind: type[Arcs], sizes: Sequence[str]) -> dict[str, int]:
    """What renewing the prices costs, in moves, by size."""
    found = {}
    for size, number, shop in shops(PRACTICE, 1, sizes):
        _, walks, _ = search(kind, shop, number, 1.0)
        renewing = sum(walk.refreshing for walk in walks)
        move = (THREADS * 1.0 - renewing) / sum(walk.moves for walk in walks)
        found[size] = round(renewing / sum(walk.refreshes for walk in walks) / move)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", default="3,10", help="when to look, with commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shops", type=int, default=2, help="per kind and size")
    known_sizes = [f"{jobs}x{machines} {kind}" for kind, jobs, machines in SHOPS]
    parser.add_argument("--sizes", default=",".join(known_sizes), help="shops, with commas")
    parser.add_argument(
        "--reported", type=int, default=REPORTED, help="another number, other shops"
    )
    parser.add_argument("--walks", default=",".join(WALKS), help="candidates, with commas")
    parser.add_argument("--strengths", default=STRENGTHS, help="weights of prices to choose from")
    parser.add_argument("--out", type=Path, default=Path("results/learned_part.json"))
    given = parser.parse_args()
    names, sizes = given.walks.split(","), given.sizes.split(",")
    for asked, known in ((names, list(WALKS)), (sizes, known_sizes)):
        if unknown := [name for name in asked if name not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
    # An hour later would be too late to find out that it cannot be written.
    if not given.out.parent.is_dir():
        parser.error(f"there is no folder {given.out.parent}")
    times = sorted(float(part) for part in given.seconds.split(","))
    seconds = times[-1]
    torch.set_num_threads(1)
    # Walks wait for each other after every chunk: long ones leave room for what takes its time.
    loop.CHUNK_SECONDS = 0.5
    tspr.prepare()
    cpsat.prepare()
    Opening.scorer = Kick.scorer = load_weights("tbgat-plus", size=(20, 20)).network
    NetworkKick.scorer = load_weights("paper", size=(20, 15)).network
    Arcs.network = load_weights("tbgat-graph", size=(20, 20)).network
    warm = generate.uniform(10, 10, seed=0)
    for name in names:
        search(WALKS[name], warm, 0, 1.0)
    models: dict[str, Any] = {}
    if "pairs" in names:
        models["pairs"] = fit_linear(Pairs, seconds, sizes)
        Pairs.model = np.array(models["pairs"]["weights"])
    if "free" in names:
        models["free"] = fit_linear(FreeAtRandom, seconds, sizes)
        Free.model = np.array(models["free"]["weights"])
    strengths = [float(part) for part in given.strengths.split(",")]
    priced = [kind for kind in (Arcs, PoolArcs) if kind in {WALKS[name] for name in names}]
    if priced:
        models["arcs"] = fit_arcs(priced, strengths, seconds, sizes)
    print(json.dumps(models, indent=1), flush=True)
    runs = []
    for size, number, shop in shops(given.reported, given.shops, sizes):
        for seed in range(given.seeds):
            for name in names:
                outcome, walks, _ = search(WALKS[name], shop, seed, seconds)
                runs.append(
                    {
                        "size": size,
                        "shop": number,
                        "seed": seed,
                        "learned": name,
                        "makespans": [
                            min(g.makespan for g in outcome.history if g.seconds <= t)
                            for t in (*times[:-1], float("inf"))
                        ],
                        "searches": sum(walk.fresh + walk.relinked for walk in walks),
                    }
                )
        print(size, number, flush=True)
    result = {
        "card": environment_card(range(given.seeds), threads=THREADS),
        "seconds": times,
        "gaps": gaps(runs, len(times)),
        "models": models,
        "runs": runs,
    }
    given.out.write_text(json.dumps(result, indent=1) + "\n")
    text = table(result)
    given.out.with_suffix(".md").write_text(text)
    print(text)


def gaps(runs: list[dict[str, Any]], times: int) -> dict[str, dict[str, Any]]:
    """Mean gap in percent per candidate: by size, over all, by seed, and to the first candidate.

    Every figure is a list, one entry for each time.
    """
    best: dict[tuple[str, int], int] = {}
    for run in runs:
        key = run["size"], run["shop"]
        best[key] = min(run["makespans"][-1], best.get(key, run["makespans"][-1]))
    names = list(dict.fromkeys(run["learned"] for run in runs))
    keys = list(best)
    seeds = 1 + max(run["seed"] for run in runs)
    grid = np.zeros((len(names), times, len(keys), seeds))
    for run in runs:
        key = run["size"], run["shop"]
        gap = 100.0 * (np.array(run["makespans"]) / best[key] - 1.0)
        grid[names.index(run["learned"]), :, keys.index(key), run["seed"]] = gap

    def figures(values: Any) -> Any:
        return np.round(values, 3).tolist()

    found = {}
    for name, gap in zip(names, grid, strict=True):
        by_shop = (gap - grid[0]).mean(axis=2)
        found[name] = {
            "by size": {
                size: figures(gap[:, [key[0] == size for key in keys]].mean(axis=(1, 2)))
                for size in dict.fromkeys(size for size, _ in keys)
            },
            "all": figures(gap.mean(axis=(1, 2))),
            "by seed": figures(gap.mean(axis=1)),
            "to the first": figures(by_shop.mean(axis=1)),
            "error": figures(by_shop.std(axis=1, ddof=1) / len(keys) ** 0.5),
        }
    return found


def table(result: dict[str, Any]) -> str:
    """The gaps in Markdown, a row per candidate."""
    runs, times = result["runs"], [f"{seconds:g} s" for seconds in result["seconds"]]
    sizes = list(dict.fromkeys(run["size"] for run in runs))
    head = [*sizes, *(f"{what}, {at}" for at in times for what in ("all", "to none")), "searches"]
    lines = ["| learned part | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    for name, found in result["gaps"].items():
        cells = [f"{found['by size'][size][-1]:.2f}" for size in sizes]
        for at in range(len(times)):
            seeds = found["by seed"][at]
            cells.append(f"{found['all'][at]:.2f} ({min(seeds):.2f}-{max(seeds):.2f})")
            cells.append(f"{found['to the first'][at]:+.2f} ±{found['error'][at]:.2f}")
        made = [run["searches"] for run in runs if run["learned"] == name]
        lines.append(f"| {name} | " + " | ".join([*cells, f"{np.mean(made):.0f}"]) + " |")
    shops = len({(run["size"], run["shop"]) for run in runs})
    seeds = len({run["seed"] for run in runs})
    about = (
        f"Gap in percent, {shops} shops, {seeds} seed(s) (in brackets the range over seeds), by "
        f"size after {times[-1]}; the difference to none with its standard error over the shops."
    )
    return f"{about}\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
