"""The command line: one module per command, imported only when its command runs.

A command module has two functions: ``add_arguments(parser)`` and ``run(args) -> int`` (the exit
code). Bad input raises :class:`~tbgat.errors.TbgatError`: one sentence on stderr, exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tbgat import __version__
from tbgat.errors import TbgatError

__all__ = ["COMMANDS", "main"]

# Command, and what ``tbgat --help`` says of it. The module is ``tbgat.cli.<command>``.
COMMANDS: dict[str, str] = {
    "solve": "find short schedules and say what is proven about them",
    "train": "train a policy, or draw learning curves",
    "bench": "run methods on benchmark suites and record every run",
    "report": "tables, comparisons and pictures from recorded runs",
    "instances": "list, show and export the 242 classic instances",
    "check": "check a schedule from anywhere",
    "convert": "turn an instance file into another format",
    "generate": "make a random instance",
    "plot": "draw schedules, graphs, searches and learning",
    "ui": "open a page to solve, watch and step through searches",
}


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one sentence."""

    def error(self, message: str) -> None:  # type: ignore[override]  # argparse says NoReturn; so is this
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _Parser(
        prog="tbgat",
        description="Job shop scheduling: the best schedule for the seconds you have.",
    )
    parser.add_argument("--version", action="version", version=f"tbgat {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text)
        if name == chosen:
            import_module(f"tbgat.cli.{name}").add_arguments(sub)
    args = parser.parse_args(arguments)
    try:
        return int(import_module(f"tbgat.cli.{args.command}").run(args))
    except TbgatError as error:
        sys.stderr.write(f"tbgat: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("tbgat: interrupted\n")
        return 130
    except BrokenPipeError:
        # The reader of our output left: silence Python's own complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
