"""Every dispatching rule and every lower bound on all 242 instances.

    python benchmarks/first_solutions.py

writes ``results/first_solutions.json``: per instance the makespan of each rule (ties to the lowest
job; ``random`` with the seed) and for ``fdd/mwkr`` also the mean over seeds that break ties, the
three bounds, and mean gaps per family and for ta01-10. Gaps of rules are to the best known upper
bound; distances of bounds are to the best known lower bound.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tbgat import bounds, library
from tbgat.bench.card import environment_card
from tbgat.dispatching import RULES, dispatch

SEEDS = range(20)
BOUNDS = {
    "job": bounds.job_bound,
    "machine": bounds.machine_bound,
    "preemptive": bounds.preemptive_bound,
}


def measure(entry: library.Entry) -> dict[str, Any]:
    instance = library.load(entry.name)
    makespans = {}
    for rule in RULES:
        schedule = dispatch(instance, rule, np.random.default_rng(0) if rule == "random" else None)
        schedule.check(instance)
        makespans[rule] = schedule.makespan
    tried = [dispatch(instance, rng=np.random.default_rng(seed)).makespan for seed in SEEDS]
    return {
        "lower_bound": entry.lower_bound,
        "upper_bound": entry.upper_bound,
        "optimal": entry.optimal,
        "makespans": makespans,
        "fdd_mwkr_mean_over_seeds": float(np.mean(tried)),
        "bounds": {name: bound(instance) for name, bound in BOUNDS.items()},
    }


def summarise(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    listed = list(rows)
    gaps = {
        rule: float(np.mean([row["makespans"][rule] / row["upper_bound"] - 1 for row in listed]))
        for rule in RULES
    }
    short = {
        name: float(np.mean([1 - row["bounds"][name] / row["lower_bound"] for row in listed]))
        for name in BOUNDS
    }
    met = sum(row["bounds"]["preemptive"] == row["upper_bound"] for row in listed)
    return {
        "instances": len(listed),
        "mean_gap": gaps,
        "mean_shortfall_of_bound": short,
        "preemptive_bound_is_the_optimum": met,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/first_solutions.json"))
    args = parser.parse_args()
    rows = {entry.name: measure(entry) for entry in library.entries()}
    groups = {
        family: summarise(rows[entry.name] for entry in library.select(family=family))
        for family in library.families()
    }
    groups["ta01-10"] = summarise(rows[f"ta{number:02}"] for number in range(1, 11))
    groups["all"] = summarise(rows.values())
    exceeded = [
        name for name, row in rows.items() if max(row["bounds"].values()) > row["upper_bound"]
    ]
    card = environment_card(SEEDS, command="python benchmarks/first_solutions.py")
    report = {
        "card": card,
        "bounds_above_a_best_known_makespan": exceeded,
        "groups": groups,
        "instances": rows,
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(groups["ta01-10"], indent=1))


if __name__ == "__main__":
    main()
