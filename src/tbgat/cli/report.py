"""``tbgat report``: tables, comparisons and pictures from the records of ``tbgat bench``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tbgat.bench.records import read_cards, read_records
from tbgat.bench.report import build_tables, write_report
from tbgat.bench.scores import Scores
from tbgat.bench.tables import markdown
from tbgat.errors import MissingExtraError, UsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="folders of records, searched below"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where to write the report (default: DIR)"
    )
    parser.add_argument("--no-plots", action="store_true", help="text only")
    parser.add_argument(
        "--training", type=Path, metavar="DIR", help="folder of training logs, for Figures 6a, 6b"
    )


def run(args: argparse.Namespace) -> int:
    """Print the tables and write the report."""
    records = read_records(*args.folders)
    if not records:
        raise UsageError(f"there are no records in {', '.join(map(str, args.folders))}")
    scores = Scores(records)
    out = args.out or args.folders[0]
    written = write_report(records, read_cards(*args.folders), out)
    if not args.no_plots:
        written += _figures(scores, out, args)
    for table in build_tables(scores):
        print(markdown(table))
    print("\n".join(f"wrote {path}" for path in written))
    return 0


def _figures(scores: Scores, out: Path, args: argparse.Namespace) -> list[Path]:
    try:
        from tbgat.plot.evidence import write_figures
    except MissingExtraError as error:
        sys.stderr.write(f"tbgat: no pictures: {error}\n")
        return []
    return write_figures(scores, out, training=args.training)
