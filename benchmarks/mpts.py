"""MPTS against Kahn's algorithm, compiled, and networkx: levels of whole batches of solutions.

    python benchmarks/mpts.py

writes ``results/mpts.json``, ``results/mpts.md`` and ``results/mpts.png``: microseconds per graph
for batches of 1 to 512 random solutions of 10x10 shops (or ``--size``). All three compute the level
of every node, source and sink included where the method has them, and their results are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import torch

from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.dispatching import dispatch
from tbgat.graph import GraphBatch, topological_levels
from tbgat.graph.mpts import arcs_of

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SEED = 0


def best_time(function: Callable[[], object], budget: float) -> float:
    """Shortest of several runs: what the machine can do when nothing disturbs it."""
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - begin < budget and len(times) < 200):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def random_batch(size: tuple[int, int], count: int) -> GraphBatch:
    rng = np.random.default_rng(SEED)
    shops = [generate.uniform(*size, seed=SEED + k) for k in range(count)]
    return GraphBatch.from_schedules(shops, [dispatch(s, "random", rng) for s in shops])


def by_networkx(graphs: list[nx.DiGraph]) -> list[dict[int, int]]:
    found = []
    for graph in graphs:
        level = {}
        for depth, nodes in enumerate(nx.topological_generations(graph)):
            for node in nodes:
                level[node] = depth
        found.append(level)
    return found


def measure(batch: GraphBatch, devices: list[str], budget: float) -> dict[str, float]:
    g, count = batch.arrays, len(batch)
    n = len(g.duration)
    arcs = arcs_of(batch)
    nodes = n + 2 * count

    def kahn() -> None:
        batch.evaluate()
        batch.levels()

    seconds = {"Kahn, compiled": best_time(kahn, budget)}
    for device in devices:
        there = arcs.to(device)

        def messages(there: torch.Tensor = there) -> torch.Tensor:
            return topological_levels(there, nodes).cpu()

        assert messages()[:n].tolist() == g.level.tolist()
        seconds[f"MPTS, {device}"] = best_time(messages, budget)
    owner = np.concatenate([np.repeat(np.arange(count), np.diff(g.offset)), np.arange(count)])
    owner = np.concatenate([owner, np.arange(count)])
    graphs: list[nx.DiGraph] = [nx.DiGraph() for _ in range(count)]
    for u, v in arcs.T.tolist():
        graphs[owner[u]].add_edge(u, v)
    merged = {node: level for one in by_networkx(graphs) for node, level in one.items()}
    assert [merged[x] for x in range(n)] == g.level.tolist()
    seconds["networkx"] = best_time(lambda: by_networkx(graphs), budget)
    return {name: 1e6 * value / count for name, value in seconds.items()}


def table(rows: dict[int, dict[str, float]], size: str) -> str:
    names = list(next(iter(rows.values())))
    lines = [
        f"Microseconds per graph ({size}), levels of all nodes.",
        "",
        "| batch | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for batch, row in rows.items():
        lines.append(f"| {batch} | " + " | ".join(f"{row[name]:.1f}" for name in names) + " |")
    lines += ["", "Kahn's column also computes the order, EST, tails and backward levels."]
    return "\n".join(lines) + "\n"


def draw(rows: dict[int, dict[str, float]], size: str, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for name in next(iter(rows.values())):
        ax.loglog(list(rows), [row[name] for row in rows.values()], marker="o", label=name)
    ax.set_xlabel("graphs in the batch")
    ax.set_ylabel("microseconds per graph")
    ax.set_title(f"Topological levels of {size} solutions")
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", default="10x10")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per measurement")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    jobs, machines = map(int, args.size.split("x"))
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    rows = {}
    for count in BATCHES:
        rows[count] = measure(random_batch((jobs, machines), count), devices, args.budget)
        print(count, {name: round(value, 1) for name, value in rows[count].items()}, flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    card = environment_card(
        [SEED],
        command="python benchmarks/mpts.py",
        threads=args.threads,
        load_at_end=os.getloadavg()[0],
    )
    report = {"card": card, "size": args.size, "microseconds_per_graph": rows}
    (args.out / "mpts.json").write_text(json.dumps(report, indent=1) + "\n")
    (args.out / "mpts.md").write_text(table(rows, args.size))
    draw(rows, args.size, args.out / "mpts.png")


if __name__ == "__main__":
    main()
