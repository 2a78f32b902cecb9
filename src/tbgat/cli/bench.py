"""``tbgat bench``: run methods on suites, record every run; a rerun does only what is missing."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tbgat.bench.plan import parse_method, plan
from tbgat.bench.run import measure
from tbgat.bench.suites import SUITES, load_suites
from tbgat.errors import UsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "suites",
        nargs="+",
        metavar="SUITE",
        help=f"{', '.join(SUITES)}, an instance such as ta01, or a folder of files",
    )
    parser.add_argument(
        "--group", default="", help="only these: 15x15, or ta15x15,abz10x10, or dmu41-80"
    )
    parser.add_argument(
        "--methods",
        default="tabu",
        help="methods with their options: tabu,dispatch:rule=spt (default: tabu)",
    )
    parser.add_argument("--steps", default="", help="budgets in steps, such as 500,1000,2000,5000")
    parser.add_argument("--seconds", default="", help="budgets in seconds, such as 1,5,20,60")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each, with seeds 0, 1, ...")
    parser.add_argument(
        "--threads",
        type=int,
        help="threads of a run (default: 1 for steps, all available cores for seconds)",
    )
    parser.add_argument(
        "--single",
        action="store_true",
        help="one instance at a time even where a method takes batches: for the time of one",
    )
    parser.add_argument("--fresh", action="store_true", help="forget these runs and do them again")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of records")


def run(args: argparse.Namespace) -> int:
    """Run what is missing."""
    if args.seeds < 1 or (args.threads is not None and args.threads < 1):
        raise UsageError("--seeds and --threads must be 1 or more")
    cases = load_suites(args.suites, _words(args.group))
    jobs = plan(
        cases,
        [parse_method(word) for word in _words(args.methods)],
        steps=[int(number) for number in _numbers(args.steps, "--steps")],
        seconds=_numbers(args.seconds, "--seconds"),
        seeds=args.seeds,
        step_threads=args.threads or 1,
        second_threads=args.threads or _cores(),
        single=args.single,
    )
    measure(jobs, args.out, fresh=args.fresh, quiet=args.quiet)
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(word) for word in _words(text)]
    except ValueError:
        raise UsageError(f"{option} takes numbers such as 1,5,20, got {text!r}") from None


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
