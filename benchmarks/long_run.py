"""No growth of memory over 20,000 steps of the neural search, and 40,000 operations at once.

python benchmarks/long_run.py               # writes results/long_run.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from network_speed import our_step

from tbgat.bench.card import environment_card
from tbgat.policy.network import TBGAT

OUT = Path(__file__).resolve().parent.parent / "results" / "long_run.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--preset", default="tiny", help="of the long run")
    parser.add_argument("--large-steps", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    step, states = our_step(TBGAT(options.preset).requires_grad_(False), 10, 10, 2, 1)
    resident = []
    for number in range(options.steps + 1):
        if number % (options.steps // 10) == 0:
            resident.append(resident_mb())
            print(f"step {number}: {resident[-1]:.1f} MB", flush=True)
        step()
    # The first tenth loads code and grows buffers to their final size.
    growth = resident[-1] - resident[1]
    print(f"growth from step {options.steps // 10} on: {growth:.1f} MB")

    before = resident_mb()
    step, states = our_step(TBGAT("paper").requires_grad_(False), 1000, 40, 1, 1)
    step()
    started = time.process_time()
    for _ in range(options.large_steps):
        step()
    seconds = (time.process_time() - started) / options.large_steps
    states.best_schedule(0).check(states.batch.instances[0])
    print(f"1000x40, paper: {seconds:.2f} s of processor time per step, {resident_mb():.0f} MB")
    record = {
        "card": environment_card([0], command="python benchmarks/long_run.py"),
        "steps": options.steps,
        "preset": options.preset,
        "resident_mb": resident,
        "growth_mb": growth,
        "large": {
            "size": "1000x40",
            "preset": "paper",
            "cpu_seconds_per_step": seconds,
            "resident_mb": resident_mb(),
            "resident_mb_before": before,
        },
    }
    options.out.write_text(json.dumps(record, indent=1))


def resident_mb() -> float:
    """Memory of this process now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    main()
