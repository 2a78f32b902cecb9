"""Make the generated sets and improve their references.

    python tools/make_sets.py synthetic --seconds 20 --method cpsat
    python tools/make_sets.py validation --sizes 10x10 --seconds 30

The instances come from a fixed seed per set. Each run works on the references that are not proven
yet, keeps whatever is better, and writes after every instance: stop it at any time. ``--from
RECORDS`` takes better makespans out of a benchmark's records instead of searching.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

import tbgat
from tbgat import generate
from tbgat.bounds import lower_bound
from tbgat.dispatching import dispatch
from tbgat.generate.sizes import parse_sizes
from tbgat.library.sets import InstanceSet, pack, unpack

FOLDER = Path(__file__).resolve().parents[1] / "src" / "tbgat" / "library"
SEEDS = {"synthetic": 20240715, "validation": 20260101}
COUNTS = {"synthetic": 100, "validation": 200}
SIZES = ((10, 10), (15, 10), (15, 15), (20, 10), (20, 15))


def fresh(name: str, size: tuple[int, int]) -> InstanceSet:
    rng = np.random.default_rng([SEEDS[name], *size])
    instances = tuple(generate.uniform_batch(COUNTS[name], *size, rng))
    makespans = np.array([dispatch(i).makespan for i in instances])
    bounds = np.array([lower_bound(i) for i in instances])
    return InstanceSet(name, size, instances, makespans, makespans == bounds, SEEDS[name])


def load(name: str) -> dict[tuple[int, int], InstanceSet]:
    path = FOLDER / f"{name}.npz"
    sets = unpack(name, path.read_bytes()) if path.exists() else {}
    for size in SIZES:
        if size not in sets:
            sets[size] = fresh(name, size)
    return sets


def save(name: str, sets: dict[tuple[int, int], InstanceSet]) -> None:
    scratch = FOLDER / f".{name}.npz.new"
    scratch.write_bytes(pack(sets))
    os.replace(scratch, FOLDER / f"{name}.npz")


def improve(group: InstanceSet, index: int, args: argparse.Namespace) -> str:
    result = tbgat.solve(
        group.instances[index],
        args.method,
        seconds=args.seconds,
        threads=args.threads,
        seed=args.seed,
    )
    before = int(group.makespans[index])
    if result.makespan <= before:
        group.makespans[index] = result.makespan
        group.proven[index] |= result.status == "optimal"
    elif result.status == "optimal":
        raise SystemExit(f"{group.name} {group.size} {index}: {before} is below a proven optimum")
    if result.lower_bound >= group.makespans[index]:
        group.proven[index] = True
    return f"{before} -> {group.makespans[index]}{' proven' if group.proven[index] else ''}"


def take_records(sets: dict[tuple[int, int], InstanceSet], path: Path) -> int:
    places = {
        instance.digest: (group, index)
        for group in sets.values()
        for index, instance in enumerate(group.instances)
    }
    better = 0
    for line in path.read_text().splitlines():
        record = json.loads(line)
        group, index = places.get(record.get("digest"), (None, 0))
        if group is not None and record["makespan"] < group.makespans[index]:
            if group.proven[index]:
                raise SystemExit(f"{record} is below a proven optimum")
            group.makespans[index] = record["makespan"]
            better += 1
    return better


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=SEEDS)
    parser.add_argument("--sizes", type=parse_sizes, default=SIZES)
    parser.add_argument("--method", default="cpsat")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--from", dest="records", type=Path)
    args = parser.parse_args()
    sets = load(args.name)
    if args.records:
        print(take_records(sets, args.records), "references improved")
        return save(args.name, sets)
    save(args.name, sets)
    end = time.monotonic() + 60 * args.minutes
    for size in args.sizes:
        group = sets[size]
        for index in np.flatnonzero(~group.proven).tolist():
            if time.monotonic() > end:
                return None
            print(f"{size[0]}x{size[1]} {index}: {improve(group, index, args)}", flush=True)
            save(args.name, sets)
        print(f"{size[0]}x{size[1]}: {group.proven.sum()} of {len(group.proven)} proven")
    return None


if __name__ == "__main__":
    main()
