"""What turns of CP-SAT gain for the bound of large shops in `auto`, and what they cost its search.

    python benchmarks/bounds.py

writes ``results/bounds.json`` and, as a table, ``results/bounds.md``: on generated shops `auto`,
and `tspr`, which is its search without the turns, one after the other with the same seconds, two
threads and seed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import tbgat
from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.instance import Instance
from tbgat.search.callbacks import Snapshot

SIZES = ((20, 15), (20, 20), (30, 20), (50, 20))
KINDS = {"uniform": generate.uniform, "two stages": generate.flow_shop_like}
THREADS = 2
SHOW = (1.0, 3.0, 6.0, 20.0)


class Bounds:
    """A callback that notes when the bound rises."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int]] = []

    def __call__(self, snapshot: Snapshot) -> None:
        progress = snapshot.progress
        if not self.seen or progress.lower_bound > self.seen[-1][1]:
            self.seen.append((round(progress.seconds, 2), progress.lower_bound))


def measure(shop: Instance, seconds: float, seed: int) -> dict[str, Any]:
    """Solve a shop both ways."""
    bounds = Bounds()
    limits: dict[str, Any] = {"seconds": seconds, "threads": THREADS, "seed": seed}
    turns = tbgat.solve(shop, "auto", callbacks=[bounds], **limits)
    plain = tbgat.solve(shop, "tspr", **limits)
    bounds.seen.append((seconds, turns.lower_bound))
    return {"auto": turns.makespan, "tspr": plain.makespan, "bounds": bounds.seen}


def table(runs: list[dict[str, Any]], seconds: float) -> str:
    """Distance of the makespan from the bound as it was at some times, a row per kind of shop."""
    times = [at for at in SHOW if at <= seconds]
    lines = [
        "| shops | " + " | ".join(f"{at:g} s" for at in times) + " | makespan, to that without |",
        "|---|" + "---:|" * (len(times) + 1),
    ]
    kinds = list(dict.fromkeys((run["size"], run["kind"]) for run in runs))
    for size, kind in kinds:
        mine = [run for run in runs if (run["size"], run["kind"]) == (size, kind)]
        lines.append(f"| {size} {kind} | " + " | ".join(_cells(mine, times)) + " |")
    lines.append("| all | " + " | ".join(_cells(runs, times)) + " |")
    head = (
        f"Makespan after {seconds:g} s above the lower bound that `auto` had after so many "
        "seconds, in percent; last, its makespan against that of its search without CP-SAT. "
        f"{len(runs)} shops, {THREADS} threads, one seed."
    )
    return f"{head}\n\n" + "\n".join(lines) + "\n"


def _cells(runs: list[dict[str, Any]], times: list[float]) -> list[str]:
    cells = []
    for at in times:
        gaps = [
            100 * (run["auto"] / max(bound for when, bound in run["bounds"] if when <= at) - 1)
            for run in runs
        ]
        cells.append(f"{np.mean(gaps):.1f}")
    change = [100 * (run["auto"] / run["tspr"] - 1) for run in runs]
    return [*cells, f"{np.mean(change):+.2f} %"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--shops", type=int, default=2, help="per size and kind")
    parser.add_argument("--out", type=Path, default=Path("results/bounds.json"))
    given = parser.parse_args()
    for method in ("auto", "tspr"):
        tbgat.solve(generate.uniform(20, 15, 0), method, seconds=3, threads=THREADS)
    runs = []
    for size in SIZES:
        for kind, make in KINDS.items():
            for number in range(given.shops):
                found = measure(make(*size, [9, *size, number]), given.seconds, number)
                name = f"{size[0]}x{size[1]}"
                runs.append({"size": name, "kind": kind, "shop": number, **found})
                print(runs[-1], flush=True)
    card = environment_card(range(given.shops), threads=THREADS)
    result = {"card": card, "seconds": given.seconds, "runs": runs}
    given.out.write_text(json.dumps(result, indent=1) + "\n")
    text = table(runs, given.seconds)
    given.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
