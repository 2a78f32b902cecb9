"""Validate weights against today's references, and put them into the package.

    python tools/ship_weights.py RUN/best.safetensors --as tbgat-plus
    python tools/ship_weights.py --preset plus              an untrained network, only measured

Searches the shipped validation instances of the given sizes with several seeds, writes gaps and
spread to ``results/training/<name>.json`` (``--record`` gives another name) and, with ``--as``, the
weights with a new card into the package.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from tbgat.bench.card import environment_card
from tbgat.generate.sizes import parse_sizes
from tbgat.policy.network import TBGAT
from tbgat.policy.weights import DATA, load_weights, save_weights
from tbgat.training.validate import validate, validation_sets

RESULTS = Path(__file__).resolve().parents[1] / "results" / "training"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", nargs="?", type=Path)
    parser.add_argument("--preset", help="measure an untrained network instead")
    parser.add_argument("--as", dest="name", help="set in the package")
    parser.add_argument("--record", help="name of the file of results, if not that of the set")
    parser.add_argument("--sizes", type=parse_sizes, default=((10, 10),))
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--marks", type=int, nargs="+", default=[500], metavar="STEPS")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    card = {}
    if args.weights:
        loaded = load_weights(args.weights)
        network, card = loaded.network, loaded.card
    else:
        network = TBGAT(args.preset)
    sets = validation_sets(args.sizes, args.instances)
    runs = [
        validate(network, sets, marks=args.marks, seed=seed, threads=args.threads)
        for seed in range(args.seeds)
    ]
    gaps = {size: [run.gaps[size] for run in runs] for size in runs[0].gaps}
    measured = {
        "steps": args.marks,
        "instances_per_size": args.instances,
        "seeds": args.seeds,
        "gap_percent": {size: round(float(np.mean(g)), 3) for size, g in gaps.items()},
        "spread_over_seeds": {size: round(float(np.std(g)), 3) for size, g in gaps.items()},
    }
    name = args.name or (args.weights.stem if args.weights else f"{args.preset}-untrained")
    record = {"weights": name, "validation": measured, "card": card, "machine": environment_card()}
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{args.record or name}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(measured, indent=1))
    if args.name:
        sizes = "+".join(card["sizes"])
        card["validation"] = measured
        save_weights(DATA / args.name / f"{sizes}.safetensors", network, card)


if __name__ == "__main__":
    main()
