"""``tbgat convert``: from any format to any other."""

from __future__ import annotations

import argparse

from tbgat import formats
from tbgat.cli.common import INSTANCE_HELP, find_instance, is_file_argument
from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add source, target and formats."""
    parser.add_argument("source", metavar="INSTANCE", help=INSTANCE_HELP)
    parser.add_argument("target", metavar="FILE", help="where to, - for standard output")
    parser.add_argument("--to", choices=formats.FORMATS, help="format; by default by the suffix")
    parser.add_argument("--from", choices=formats.FORMATS, dest="read_as", help="skip detection")
    parser.add_argument("--pick", metavar="NAME", help="one instance of a file that holds many")


def run(args: argparse.Namespace) -> int:
    """Read, then write."""
    instances = _find_all(args.source, args.read_as)
    if args.pick is not None:
        named = [instance for instance in instances if instance.name == args.pick]
        if not named:
            raise UsageError(f"{args.source}: there is no instance {args.pick!r} in it")
        instances = named
    if args.to == "orlib":
        formats.write_all(instances, args.target)
    elif len(instances) == 1:
        formats.write(instances[0], args.target, args.to)
    else:
        raise UsageError(
            f"{args.source}: there are {len(instances)} instances in it; choose one with --pick, "
            "or write them all with --to orlib"
        )
    return 0


def _find_all(source: str, read_as: str | None) -> list[Instance]:
    if is_file_argument(source):
        return formats.read_all(source, read_as)
    return [find_instance(source, read_as)]
