"""How good the plain N5 tabu search is, beside the figures a first prototype reached.

    python benchmarks/tabu_quality.py steps      equal steps: 500, 1000, 2000, 5000
    python benchmarks/tabu_quality.py seconds    five seconds per instance on two threads, ta01-80

Both append one line per run to ``results/tabu/<kind>.jsonl``, skip runs that are there already, and
write the means per group to ``results/tabu/<kind>.json``. The second needs a quiet machine. Gaps
are percent above the best known makespan of Taillard's instances, and above the shipped references
of the synthetic ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tbgat
from tbgat import library
from tbgat.bench.card import environment_card
from tbgat.library.sets import load_set
from tbgat.search.result import Result

MARKS = (500, 1000, 2000, 5000)
SEEDS = (0, 1, 2)
SECONDS = 5.0
THREADS = 2
SYNTHETIC = ((10, 10), (15, 15), (20, 15))
PROTOTYPE_STEPS = {
    "ta01-10": (6.0, 4.7, 3.6, None),
    "ta11-20": (7.7, 6.4, 5.7, None),
    "ta41-50": (13.5, 11.7, 9.7, None),
}
PROTOTYPE_SECONDS = {
    f"ta{first:02}-{first + 9}": gap
    for first, gap in zip(
        range(1, 81, 10), (1.35, 2.29, 2.38, 1.80, 3.39, 0.03, 0.38, 0.01), strict=True
    )
}

Case = tuple[str, tbgat.Instance, int]


def taillard(first: int) -> Iterator[Case]:
    group = f"ta{first:02}-{first + 9}"
    for number in range(first, first + 10):
        name = f"ta{number:02}"
        yield group, library.load(name), library.bounds(name).upper_bound


def synthetic(size: tuple[int, int]) -> Iterator[Case]:
    found = load_set("synthetic")[size]
    for instance, makespan in zip(found.instances, found.makespans.tolist(), strict=True):
        yield f"synthetic {size[0]}x{size[1]}", instance, makespan


def best_after(result: Result, steps: int) -> int:
    """Best makespan after a number of steps: a longer run begins exactly like a shorter one."""
    return min(gain.makespan for gain in result.history if gain.step <= steps)


def run_steps(instance: tbgat.Instance, seed: int) -> list[int]:
    result = tbgat.solve(instance, "tabu", steps=max(MARKS), seed=seed, threads=1)
    return [best_after(result, mark) for mark in MARKS]


def run_seconds(instance: tbgat.Instance, seed: int) -> list[int]:
    result = tbgat.solve(instance, "tabu", seconds=SECONDS, seed=seed, threads=THREADS)
    return [result.makespan]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=("steps", "seconds"))
    parser.add_argument("--out", type=Path, default=Path("results/tabu"))
    parser.add_argument("--seeds", type=int, help="how many (default: 3 for steps, 1 for seconds)")
    args = parser.parse_args()
    by_steps = args.kind == "steps"
    if by_steps:
        cases = [case for first in (1, 11, 21, 41) for case in taillard(first)]
        cases += [case for size in SYNTHETIC for case in synthetic(size)]
        seeds = range(args.seeds or len(SEEDS))
    else:
        cases = [case for first in range(1, 81, 10) for case in taillard(first)]
        seeds = range(args.seeds or 1)
    args.out.mkdir(parents=True, exist_ok=True)
    log = args.out / f"{args.kind}.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    done = {(row["digest"], row["seed"]): row["makespans"] for row in map(json.loads, lines)}
    gaps: dict[str, dict[int, list[list[float]]]] = {}
    for group, instance, reference in cases:
        for seed in seeds:
            key = (instance.digest, seed)
            if key not in done:
                done[key] = (run_steps if by_steps else run_seconds)(instance, seed)
                row = {"instance": instance.name, "digest": instance.digest, "seed": seed}
                row["makespans"] = done[key]
                with log.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            values = [100 * (makespan / reference - 1) for makespan in done[key]]
            gaps.setdefault(group, {}).setdefault(seed, []).append(values)
    means = {
        group: np.mean([np.mean(values, axis=0) for values in by_seed.values()], axis=0)
        for group, by_seed in gaps.items()
    }
    spreads = {
        group: np.std([np.mean(values, axis=0) for values in by_seed.values()], axis=0)
        for group, by_seed in gaps.items()
    }
    prototype = PROTOTYPE_STEPS if by_steps else PROTOTYPE_SECONDS
    report = {
        "card": environment_card(list(seeds), command=f"benchmarks/tabu_quality.py {args.kind}"),
        "columns": [f"{mark} steps" for mark in MARKS] if by_steps else [f"{SECONDS:g} s"],
        "mean_gap_percent": {group: mean.round(2).tolist() for group, mean in means.items()},
        "spread_over_seeds": {group: std.round(2).tolist() for group, std in spreads.items()},
        "runs_below_their_reference": {
            group: sum(value[-1] < 0 for values in by_seed.values() for value in values)
            for group, by_seed in gaps.items()
        },
        "first_prototype": prototype,
    }
    (args.out / f"{args.kind}.json").write_text(json.dumps(report, indent=1) + "\n")
    for group, mean in means.items():
        print(f"{group:16} {mean.round(2)}  prototype {prototype.get(group, '')}")


if __name__ == "__main__":
    main()
