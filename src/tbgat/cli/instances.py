"""``tbgat instances``: list, show and export the classic instances."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tbgat import bounds, formats, library
from tbgat.cli.common import format_table
from tbgat.errors import UsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add filters, and the two further actions."""
    parser.add_argument("--family", help=f"one of {', '.join(library.families())}")
    parser.add_argument("--jobs", type=int, metavar="N", help="only with this many jobs")
    parser.add_argument("--machines", type=int, metavar="N", help="only with this many machines")
    parser.add_argument("--open", action="store_true", help="only where no optimum is known")
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="one instance, its bounds and their sources")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--json", action="store_true", help="print JSON")
    export = actions.add_parser("export", help="write instances to files")
    export.add_argument("names", nargs="+", metavar="NAME", help="names, or 'all'")
    export.add_argument("--to", choices=formats.FORMATS, default="standard", help="format")
    export.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where to")


def run(args: argparse.Namespace) -> int:
    """List, show or export."""
    if args.action == "show":
        return _show(args.name, args.json)
    if args.action == "export":
        return _export(args.names, args.to, args.out)
    entries = list(
        library.select(
            family=args.family, jobs=args.jobs, machines=args.machines, open_only=args.open
        )
    )
    if args.json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1))
        return 0
    rows = [
        (
            entry.name,
            entry.shape,
            entry.lower_bound,
            entry.upper_bound,
            "optimal" if entry.optimal else f"gap {entry.upper_bound / entry.lower_bound - 1:.2%}",
            entry.upper_bound_source,
        )
        for entry in entries
    ]
    if rows:
        header = ("name", "size", "lower bound", "upper bound", "state", "upper bound by")
        print(format_table(header, rows))
    proved = sum(entry.optimal for entry in entries)
    print(f"{len(entries)} instances, {proved} with a known optimum")
    return 0


def describe(name: str) -> dict[str, Any]:
    """All that is known about a library instance, ready for JSON."""
    entry, instance = library.bounds(name), library.load(name)
    return asdict(entry) | {
        "lower_bound_source": entry.lower_bound_source,
        "upper_bound_source": entry.upper_bound_source,
        "optimal": entry.optimal,
        "reference": library.REFERENCES[entry.family],
        "operations": instance.num_operations,
        "durations": [int(instance.durations.min()), int(instance.durations.max())],
        "job_bound": bounds.job_bound(instance),
        "machine_bound": bounds.machine_bound(instance),
        "preemptive_bound": bounds.preemptive_bound(instance),
    }


def _show(name: str, as_json: bool) -> int:
    facts = describe(name)
    if as_json:
        print(json.dumps(facts, indent=1))
        return 0
    shortest, longest = facts["durations"]
    print(f"{facts['name']}: {facts['jobs']} jobs, {facts['machines']} machines")
    print(f"  from           {facts['reference']}")
    print(f"  durations      {shortest} to {longest}")
    print(f"  upper bound    {facts['upper_bound']} ({facts['upper_bound_source']})")
    print(f"  lower bound    {facts['lower_bound']} ({facts['lower_bound_source']})")
    print(f"  state          {'optimum known' if facts['optimal'] else 'open'}")
    print(f"  bounds read in {facts['source'].partition(';')[0]}")
    print(
        f"  easy bounds    job {facts['job_bound']}, machine {facts['machine_bound']}, "
        f"preemptive {facts['preemptive_bound']}"
    )
    return 0


def _export(names: list[str], format: str, folder: Path) -> int:
    chosen = library.names() if names == ["all"] else [library.bounds(n).name for n in names]
    suffix = {"json": ".json", "csv": ".csv"}.get(format, ".txt")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: no folder can be made here ({error.strerror})") from None
    for name in chosen:
        formats.write(library.load(name), folder / f"{name}{suffix}", format)
    print(f"wrote {len(chosen)} file{'s' if len(chosen) > 1 else ''} to {folder}")
    return 0
