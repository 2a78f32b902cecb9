"""``tbgat check``: judge a schedule from anywhere."""

from __future__ import annotations

import argparse
import json

from tbgat import library
from tbgat.bounds import lower_bound
from tbgat.cli.common import INSTANCE_HELP, find_instance
from tbgat.schedule_files import read_schedule

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the instance and the schedule."""
    parser.description = (
        "Check a schedule. Exit code 0: legal; 1: it breaks a rule; 2: a file cannot be read."
    )
    parser.add_argument("instance", metavar="INSTANCE", help=INSTANCE_HELP)
    parser.add_argument("schedule", metavar="SCHEDULE", help="JSON or CSV with job, step, start")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the verdict."""
    instance = find_instance(args.instance)
    schedule = read_schedule(args.schedule, instance)
    violations = schedule.violations(instance)
    name = library.identify(instance)
    best_known = library.bounds(name).upper_bound if name else None
    bound = library.bounds(name).lower_bound if name else lower_bound(instance)
    makespan = None if violations else schedule.makespan
    if args.json:
        report = {
            "instance": instance.name,
            "legal": not violations,
            "violations": violations,
            "makespan": makespan,
            "lower_bound": bound,
            "best_known": best_known,
        }
        print(json.dumps(report, indent=1))
    elif makespan is None:
        print(f"{args.schedule}: not a legal schedule of {args.instance}")
        for violation in violations:
            print(f"  {violation}")
    else:
        busy = schedule.utilisation(instance)
        print(f"{args.schedule}: legal, makespan {makespan}")
        print(f"  lower bound {bound}, gap {(makespan - bound) / max(bound, 1):.2%}")
        if best_known is not None:
            print(f"  best known {best_known} ({name})")
        print(f"  machines busy {busy.mean():.0%} of the time, {busy.max():.0%} at most")
        print(f"  critical operations {len(schedule.critical_operations(instance))}")
    return 1 if violations else 0
