"""``tbgat ui``: a page to solve and watch, on this computer."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tbgat.web.limits import Limits

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add address, database, token and limits."""
    limits = Limits()
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen (default: %(default)s)"
    )
    parser.add_argument("--port", type=int, default=8008, help="0 for any (default: %(default)s)")
    parser.add_argument("--database", type=Path, metavar="FILE", help="SQLite file with the jobs")
    parser.add_argument(
        "--token",
        default=os.environ.get("TBGAT_TOKEN"),
        help="demanded of every request (or TBGAT_TOKEN); made up when --host is not this computer",
    )
    parser.add_argument(
        "--weights",
        metavar="SET",
        help="network shown beside the moves: a set, folder or file (default: as method tbgat)",
    )
    for name, text in (
        ("queue", "jobs that may wait"),
        ("workers", "jobs that run at a time"),
        ("threads", "threads a job may use"),
        ("kept", "finished jobs to keep"),
        ("operations", "operations of the largest instance"),
        ("upload_bytes", "bytes of the largest request"),
    ):
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            default=getattr(limits, name),
            metavar="N",
            help=f"{text} (default: %(default)s)",
        )
    parser.add_argument(
        "--max-seconds",
        type=float,
        default=limits.seconds,
        metavar="S",
        help="longest search (default: %(default)g)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from tbgat.web.server import serve

    limits = Limits(
        queue=args.queue,
        workers=args.workers,
        threads=args.threads,
        kept=args.kept,
        operations=args.operations,
        upload_bytes=args.upload_bytes,
        seconds=args.max_seconds,
    )
    serve(
        host=args.host,
        port=args.port,
        database=args.database,
        token=args.token,
        limits=limits,
        weights=args.weights,
    )
    return 0
