"""Theorem 2 shown: time per step against jobs and against machines (the paper's Figures 6c, 6d).

    python benchmarks/step_scaling.py           # writes results/step_scaling.json and .png

One solution, one thread, processor time, so that others on the machine do not count. The fitted
exponent is the slope of log time over log size.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from network_speed import our_step, timed

from tbgat.bench.card import environment_card
from tbgat.policy.network import PRESETS, TBGAT

SIZES = (10, 20, 40, 60, 80, 100)
FIXED_MACHINES, FIXED_JOBS = 20, 20
RESULTS = Path(__file__).resolve().parent.parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="paper", choices=PRESETS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = TBGAT(options.preset).requires_grad_(False)
    series = {
        "jobs": [(jobs, measure(network, jobs, FIXED_MACHINES, options)) for jobs in SIZES],
        "machines": [(m, measure(network, FIXED_JOBS, m, options)) for m in SIZES],
    }
    fitted = {name: exponent(points) for name, points in series.items()}
    for name, points in series.items():
        print(
            name,
            " ".join(f"{size}:{1e3 * t:.2f}" for size, t in points),
            f"ms; exponent {fitted[name]:.3f}",
        )
    card = environment_card([0], command="python benchmarks/step_scaling.py")
    record = {
        "card": card,
        "preset": options.preset,
        "fixed": {"machines": FIXED_MACHINES, "jobs": FIXED_JOBS},
        "seconds_per_step": {name: dict(points) for name, points in series.items()},
        "exponent": fitted,
    }
    (options.out / "step_scaling.json").write_text(json.dumps(record, indent=1))
    plot(series, fitted, options.out / "step_scaling.png")


def measure(network: TBGAT, jobs: int, machines: int, options: argparse.Namespace) -> float:
    """Least processor time per step over the rounds.

    A random start is far from optimal, so that no search ends while it is measured: where jobs far
    outnumber machines, FDD/MWKR is soon optimal, and a step without a move costs nothing.
    """
    step, states = our_step(network, jobs, machines, 1, 1, rule="random")
    for _ in range(3):
        step()
    least = min(timed(step, options.seconds)[1] for _ in range(options.rounds))
    if states.proved.any():
        raise SystemExit(f"{jobs}x{machines} was solved while it was measured: fewer rounds")
    return least


def exponent(points: list[tuple[int, float]]) -> float:
    sizes, seconds = np.array(points).T
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def plot(series: dict[str, list[tuple[int, float]]], fitted: dict[str, float], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    fixed = {"jobs": f"{FIXED_MACHINES} machines", "machines": f"{FIXED_JOBS} jobs"}
    for axis, (name, points) in zip(axes, series.items(), strict=True):
        sizes, seconds = np.array(points).T
        axis.plot(sizes, 1e3 * seconds, "o-", color="#1f6feb")
        axis.set(xlabel=name, ylabel="ms per step", ylim=(0, None), xlim=(0, None))
        axis.set_title(f"{fixed[name]}, fitted exponent {fitted[name]:.2f}", fontsize=10)
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
