"""``tbgat generate``: random instances."""

from __future__ import annotations

import argparse

from tbgat import formats, generate
from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["add_arguments", "run"]

_KINDS = ("uniform", "flow-shop", "general", "taillard")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add size, kind, seed and target."""
    parser.add_argument("jobs", type=int, metavar="JOBS")
    parser.add_argument("machines", type=int, metavar="MACHINES")
    parser.add_argument(
        "--kind",
        choices=_KINDS,
        default="uniform",
        help="routings at random, in stages, ragged, or by Taillard's own generator",
    )
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--low", type=int, help="shortest duration")
    parser.add_argument("--high", type=int, help="longest duration, 99 by default")
    parser.add_argument("--stages", type=int, default=2, help="of --kind flow-shop")
    parser.add_argument(
        "--machine-seed", type=int, help="of --kind taillard, which takes --seed for the times"
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument("--to", choices=formats.FORMATS, help="format; by default by the suffix")


def run(args: argparse.Namespace) -> int:
    """Make one instance and write it."""
    formats.write(make(args), args.out, args.to)
    return 0


def make(args: argparse.Namespace) -> Instance:
    """Make the instance that the arguments ask for."""
    name = f"{args.kind}-{args.jobs}x{args.machines}-seed{args.seed}"
    limits = {key: value for key in ("low", "high") if (value := getattr(args, key)) is not None}
    if args.kind == "taillard":
        if limits:
            raise UsageError("Taillard's generator draws from 1..99 and takes no other range")
        if args.machine_seed is None:
            raise UsageError("Taillard's generator needs --machine-seed beside --seed")
        name += f"-{args.machine_seed}"
        return generate.taillard(args.jobs, args.machines, args.seed, args.machine_seed, name=name)
    if args.seed < 0:
        raise UsageError(f"a seed is 0 or more, got {args.seed}")
    if args.kind == "flow-shop":
        return generate.flow_shop_like(
            args.jobs, args.machines, args.seed, stages=args.stages, name=name, **limits
        )
    draw = generate.uniform if args.kind == "uniform" else generate.general
    return draw(args.jobs, args.machines, args.seed, name=name, **limits)
