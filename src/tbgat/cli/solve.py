"""``tbgat solve``: the best schedule for the seconds you have."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tbgat.cli.common import INSTANCE_HELP, find_instance, format_table, is_file_argument
from tbgat.errors import MissingExtraError, TbgatError, UsageError

if TYPE_CHECKING:
    from tbgat.instance import Instance
    from tbgat.search.result import Result

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to solve, how, for how long and where to put the result."""
    from tbgat.solvers import DEFAULT_SECONDS, describe_methods

    methods = "; ".join(f"{name}: {text}" for name, text in describe_methods().items())
    parser.description = (
        "Find short schedules. Every schedule is checked; 'optimal' is only said with a reason. "
        "Ctrl-C ends a search and keeps its best. Exit code 0: all solved; 1: some instance could "
        "not be read or solved; 2: the call makes no sense."
    )
    parser.add_argument("instances", nargs="+", metavar="FILE_OR_NAME", help=INSTANCE_HELP)
    parser.add_argument("--method", default="auto", help=f"{methods} (default: auto)")
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"stop after so many seconds per instance (default, without any other limit: "
        f"{DEFAULT_SECONDS:g})",
    )
    parser.add_argument("--target", type=int, help="stop at this makespan")
    parser.add_argument("--patience", type=int, help="stop after so many steps without a gain")
    parser.add_argument("--seed", type=int, help="repeat a run (default: a new one, reported)")
    parser.add_argument(
        "--threads", type=int, help="default: 1 with --steps, all available cores without"
    )
    parser.add_argument(
        "--initial", metavar="SCHEDULE", help="start from this schedule (JSON or CSV)"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the method alone, such as rule=spt for dispatch; may be repeated",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write schedules (JSON) here")
    parser.add_argument(
        "--gantt",
        action="store_true",
        help="write Gantt charts (HTML and PNG) to --out, or to this folder",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per instance")


def run(args: argparse.Namespace) -> int:
    """Solve one after the other and report on all of them."""
    options = dict(_option(text) for text in args.option)
    _check_call(args, options)
    folder = _folder(args)
    results: list[Result] = []
    failures: list[str] = []
    used: set[str] = set()
    for name, found in _find_all(args.instances):
        try:
            if isinstance(found, TbgatError):
                raise found
            if results and results[-1].stopped == "interrupt":
                raise TbgatError(f"{name}: not solved, interrupted before")
            result = _solve(found, args, options)
            results.append(result)
            _report(result, args.json)
            if folder is not None:
                _write(result, folder, args.gantt, used)
        except TbgatError as error:
            if len(args.instances) == 1:
                raise
            failures.append(str(error))
    if not args.json and len(results) > 1:
        _print_table(results)
    for failure in failures:
        sys.stderr.write(f"tbgat: {failure}\n")
    if failures:
        total = len(results) + len(failures)
        sys.stderr.write(f"tbgat: {len(failures)} of {total} instances were not solved\n")
    return 1 if failures else 0


def _check_call(args: argparse.Namespace, options: dict[str, Any]) -> None:
    """Refuse a call that is wrong for every instance, once and before any work."""
    from tbgat.search.stop import stop_when
    from tbgat.solvers.registry import find_method

    find_method(args.method).check_options(options)
    stop_when(steps=args.steps, seconds=args.seconds, target=args.target, patience=args.patience)
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"threads must be 1 or more, got {args.threads}")
    if args.seed is not None and args.seed < 0:
        raise UsageError(f"a seed must be 0 or more, got {args.seed}")
    if args.initial and len(args.instances) > 1:
        raise UsageError("--initial goes with one instance")


def _find_all(arguments: list[str]) -> Iterator[tuple[str, Instance | TbgatError]]:
    """Read instance after instance; what cannot be read comes as its error."""
    from tbgat import formats

    for text in arguments:
        try:
            many = formats.read_all(text) if is_file_argument(text) else [find_instance(text)]
            yield from ((instance.name or text, instance) for instance in many)
        except TbgatError as error:
            yield text, error


def _solve(instance: Instance, args: argparse.Namespace, options: dict[str, Any]) -> Result:
    from tbgat.cli.live import LiveLine
    from tbgat.schedule_files import read_schedule
    from tbgat.solvers import solve

    initial = read_schedule(args.initial, instance) if args.initial else None
    with LiveLine() as live:
        return solve(
            instance,
            args.method,
            steps=args.steps,
            seconds=args.seconds,
            target=args.target,
            patience=args.patience,
            seed=args.seed,
            threads=args.threads,
            initial=initial,
            callbacks=[live],
            **options,
        )


def _report(result: Result, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result.to_dict(best_known=_best_known(result))), flush=True)
        return
    print(result.summary(), flush=True)
    known = _best_known(result)
    if known is not None:
        print(f"  best known {known}, {result.makespan / known - 1:+.2%}")
    for line in result.explain().splitlines():
        print(f"  {line}")
    print(f"  seed {result.seed}")


def _print_table(results: list[Result]) -> None:
    header = ("instance", "size", "makespan", "bound", "best known", "gap", "status")
    rows = [
        (
            result.instance.name,
            result.instance.shape,
            result.makespan,
            result.lower_bound,
            _best_known(result) or "",
            f"{result.gap:.2%}",
            result.status,
            result.steps,
            f"{result.seconds:.2f}",
        )
        for result in results
    ]
    print()
    print(format_table((*header, "steps", "seconds"), rows))


def _best_known(result: Result) -> int | None:
    from tbgat import library

    name = library.identify(result.instance)
    return library.bounds(name).upper_bound if name else None


def _write(result: Result, folder: Path, gantt: bool, used: set[str]) -> None:
    from tbgat.schedule_files import write_schedule

    stem = re.sub(r"[^\w.-]+", "_", result.instance.name or result.instance.shape).strip(".")
    name, copy = stem or "instance", 1
    while name in used:
        copy += 1
        name = f"{stem}-{copy}"
    used.add(name)
    written = [folder / f"{name}.schedule.json"]
    write_schedule(result.schedule, result.instance, written[0])
    if gantt:
        from tbgat.plot import save

        known = _best_known(result)
        written.append(save(result, folder / f"{name}.html", best_known=known))
        try:
            written.append(save(result, folder / f"{name}.png", best_known=known))
        except MissingExtraError as error:
            sys.stderr.write(f"tbgat: no PNG, {error}\n")
    # Not stdout: with --json nothing else may stand there.
    sys.stderr.write("".join(f"  wrote {path}\n" for path in written))


def _folder(args: argparse.Namespace) -> Path | None:
    """Make the folder before the search, not after it."""
    if args.out is None and not args.gantt:
        return None
    folder: Path = args.out or Path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be made ({error.strerror})") from None
    return folder


def _option(text: str) -> tuple[str, Any]:
    from tbgat.solvers.registry import option_value

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"--option takes NAME=VALUE, got {text!r}")
    return name, option_value(value)
