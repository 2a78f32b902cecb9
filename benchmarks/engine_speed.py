"""Speed of the engine: batched N5 steps, tabu steps, growth with size, memory, start-up.

    python benchmarks/engine_speed.py

writes ``results/engine_speed.json``. Times are wall-clock, the best of several repetitions; the
seconds of processor time beside them tell whether the machine was busy with something else. Only a
quiet machine gives figures worth keeping.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tbgat
from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.dispatching import dispatch
from tbgat.graph import GraphBatch, random_states

SEED = 0
SIZES = ((10, 10), (15, 15), (30, 20), (100, 20), (200, 20), (1000, 40))
REPEATS = 5


def timed(function: Callable[[], object], repeats: int = REPEATS) -> dict[str, float]:
    wall, processor = [], []
    for _ in range(repeats):
        begin, cpu = time.perf_counter(), time.process_time()
        function()
        wall.append(time.perf_counter() - begin)
        processor.append(time.process_time() - cpu)
    return {"wall": min(wall), "processor": min(processor)}


def batch_step(count: int = 64, threads: int = 2, steps: int = 200) -> dict[str, Any]:
    """One random critical path, all N5 moves with exact makespans, one swap; per solution."""
    shops = [generate.uniform(10, 10, seed=SEED + k) for k in range(count)]
    rng = np.random.default_rng(SEED)
    graph = GraphBatch.from_schedules(shops, [dispatch(s, rng=rng) for s in shops], threads=threads)
    random = random_states(count, rng)
    draws = rng.random((steps, count))

    def walk() -> None:
        for draw in draws:
            graph.neighbourhood(random)
            g = graph.arrays
            at = g.offset[:-1] + (draw * g.move_count).astype(np.int64)
            some = g.move_count > 0
            graph.swap(np.where(some, g.move_u[at], -1), np.where(some, g.move_v[at], -1))

    walk()
    seconds = timed(walk)
    return {
        "batch": count,
        "threads": threads,
        "microseconds_per_solution": {
            kind: 1e6 * value / steps / count for kind, value in seconds.items()
        },
        "required": 15,
    }


def tabu_rate(name: str = "ta01", steps: int = 100_000) -> dict[str, Any]:
    shop = tbgat.load(name)

    def run() -> None:
        tbgat.solve(shop, "tabu", steps=steps, seed=SEED, threads=1)

    run()
    seconds = timed(run)
    return {
        "instance": name,
        "steps_per_second": {kind: steps / value for kind, value in seconds.items()},
        "required": 60_000,
    }


def growth() -> dict[str, Any]:
    """Time per tabu step against operations; the exponent is fitted on logarithms."""
    rows = []
    for jobs, machines in SIZES:
        shop = generate.uniform(jobs, machines, seed=SEED)
        steps = max(200, 4_000_000 // shop.num_operations)
        start = dispatch(shop)
        begin = tbgat.solve(shop, "tabu", steps=steps, seed=SEED, threads=1, initial=start)
        # The time of the steps alone: a run of no steps costs the rest.
        full = timed(
            lambda s=shop, k=steps, i=start: tbgat.solve(
                s, "tabu", steps=k, seed=SEED, threads=1, initial=i
            ),
            3,
        )
        none = timed(
            lambda s=shop, i=start: tbgat.solve(
                s, "tabu", steps=0, seed=SEED, threads=1, initial=i
            ),
            3,
        )
        per_step = {kind: 1e6 * (full[kind] - none[kind]) / begin.steps for kind in full}
        rows.append({"size": f"{jobs}x{machines}", "operations": shop.num_operations} | per_step)
        print(rows[-1], flush=True)
    operations = np.log([row["operations"] for row in rows])
    exponents = {
        kind: float(np.polyfit(operations, np.log([row[kind] for row in rows]), 1)[0])
        for kind in ("wall", "processor")
    }
    return {"microseconds_per_step": rows, "exponent": exponents, "required": 1.1}


def memory() -> dict[str, Any]:
    """Peak memory of a fresh process that searches a 1000x40 shop."""
    code = (
        "import resource, tbgat\n"
        "shop = tbgat.generate.uniform(1000, 40, seed=0)\n"
        "result = tbgat.solve(shop, 'tabu', steps=200, seed=0, threads=1)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {"size": "1000x40", "peak_megabytes": int(done.stdout) / 1024, "required": 1024}


def start_up() -> dict[str, Any]:
    """The first call ever, with an empty cache of compiled code, and the calls after it."""
    command = [sys.executable, "-m", "tbgat", "solve", "ft10", "--method", "tabu"]
    seconds: dict[str, Any] = {"required": {"first": 20, "cached": 2.5}}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TBGAT_CACHE": folder}
        for kind in ("first", "cached", "cached", "cached"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            done = subprocess.run(
                [*command, "--seconds", "1"],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            wall = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if kind not in seconds or wall < seconds[kind]["wall"]:
                seconds[kind] = {
                    "wall": wall,
                    "processor": cpu,
                    "says_it_compiles": "compiling" in done.stderr,
                }
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/engine_speed.json"))
    args = parser.parse_args()
    report: dict[str, Any] = {
        "card": environment_card([SEED], command="python benchmarks/engine_speed.py"),
        "load_at_start": os.getloadavg()[0],
    }
    for name, part in {
        "batched_n5_step": batch_step,
        "tabu": tabu_rate,
        "growth": growth,
        "memory": memory,
        "start_up": start_up,
    }.items():
        report[name] = part()
        print(name, json.dumps(report[name]), flush=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
