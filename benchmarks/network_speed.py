"""A full search step of ours against the bare forward pass of the same network in PyG.

    python benchmarks/network_speed.py          # writes results/network_speed.json

Ours: evaluation, N5, features, network, sampling, swap. The opponent: the identical network from
PyTorch Geometric's GATConv (``tbgat.policy.pyg_reference``), given its tensors for free. Ours runs
with exact products and with those of the method ``tbgat``, by coordinates. Rounds of both sides
alternate in one process. On a machine that others use, wall times on two threads flatter us:
OpenMP's barriers wait for a core that is busy elsewhere. The processor time on one thread does not.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from tbgat.bench.card import environment_card
from tbgat.dispatching import dispatch
from tbgat.generate import uniform
from tbgat.policy.features import observe
from tbgat.policy.moves import choose_moves
from tbgat.policy.network import PRESETS, TBGAT
from tbgat.policy.protocol import NetworkPolicy
from tbgat.policy.pyg_reference import PygNetwork, PygState
from tbgat.policy.trajectories import Trajectories

CASES = ((10, 10, 64, 6.0), (10, 10, 1, 4.0), (100, 20, 1, 4.0))
WARM_UP = 10
OUT = Path(__file__).resolve().parent.parent / "results" / "network_speed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="paper", choices=PRESETS)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="of our steps in a round")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    network = TBGAT(options.preset).requires_grad_(False)
    rows = []
    for threads, products in itertools.product((2, 1), ("float32", "lowrank")):
        for jobs, machines, batch, wanted in CASES:
            row = compare(network, jobs, machines, batch, threads, products, options)
            row["wanted"] = wanted if options.preset == "paper" else None
            rows.append(row)
            size = f"{jobs}x{machines} x {batch}, {threads} thread(s), {products}"
            print(
                f"{size:35} step {row['step_ms']:9.3f} ms, PyG forward {row['pyg_ms']:9.3f} ms: "
                f"{row['ratio']:6.2f} times; processor time {row['cpu_ratio']:6.2f} times",
                flush=True,
            )
    card = environment_card([0], command="python benchmarks/network_speed.py", load=os.getloadavg())
    options.out.write_text(
        json.dumps({"card": card, "preset": options.preset, "rows": rows}, indent=1)
    )


def compare(
    network: TBGAT,
    jobs: int,
    machines: int,
    batch: int,
    threads: int,
    products: str,
    options: argparse.Namespace,
) -> dict[str, object]:
    """Measure rounds of both in turn."""
    torch.set_num_threads(threads)
    step, states = our_step(network, jobs, machines, batch, threads, products=products)
    for _ in range(WARM_UP):
        step()
    seen = observe(states.batch, network.config.move_features, states.best)
    opponent, given = PygNetwork(network).eval(), PygState.of(seen)

    def forward() -> None:
        with torch.inference_mode():
            opponent(given)

    forward()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(timed(step, options.seconds))
        theirs.append(timed(forward, options.seconds))
    mine = [statistics.median(column) for column in zip(*ours, strict=True)]
    its = [statistics.median(column) for column in zip(*theirs, strict=True)]
    return {
        "jobs": jobs,
        "machines": machines,
        "batch": batch,
        "threads": threads,
        "products": products,
        "step_ms": 1e3 * mine[0],
        "pyg_ms": 1e3 * its[0],
        "ratio": its[0] / mine[0],
        "step_cpu_ms": 1e3 * mine[1],
        "pyg_cpu_ms": 1e3 * its[1],
        "cpu_ratio": its[1] / mine[1],
    }


def our_step(
    network: TBGAT,
    jobs: int,
    machines: int,
    batch: int,
    threads: int,
    rule: str = "fdd/mwkr",
    products: str = "float32",
) -> tuple[Callable[[], None], Trajectories]:
    """One full step of a search from the schedules of a rule, and the search itself."""
    rng = np.random.default_rng(0)
    instances = [uniform(jobs, machines, rng) for _ in range(batch)]
    starts = [dispatch(instance, rule, rng) for instance in instances]
    states = Trajectories(instances, starts, rng.spawn(batch), threads=threads)
    policy = NetworkPolicy(network, threads, products)

    def step() -> None:
        scores = policy(states.batch, states.best)
        states.move(choose_moves(scores, states.offsets, rng))

    return step, states


def timed(function: Callable[[], None], seconds: float) -> tuple[float, float]:
    """Wall and processor time per call, over about so many seconds."""
    wall, cpu, calls = time.perf_counter(), time.process_time(), 0
    while calls < 2 or time.perf_counter() - wall < seconds:
        function()
        calls += 1
    return (time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls


if __name__ == "__main__":
    main()
