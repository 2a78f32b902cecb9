"""Figures others have published, each with its source; never mixed with what was measured here.

``tools/build_published.py`` makes the data files.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = [
    "PAPER_REFERENCES",
    "PublishedGap",
    "PublishedMakespan",
    "Source",
    "published_gaps",
    "published_makespans",
    "published_sources",
]

# Reference makespans of the paper that are known to differ from ours. 665 for abz8 is in the
# authors' published reference file, and is below the optimum, 667.
PAPER_REFERENCES = {"abz8": 665}


@dataclass(frozen=True)
class Source:
    """Where published figures were read.

    Attributes
    ----------
    status
        ``read``, ``read+recomputed`` from published makespans, or ``secondary``: quoted by others.
    reference
        What the gaps are to: ``current`` bounds, or the best known of the source's time.
    """

    name: str
    citation: str
    hardware: str
    status: str
    reference: str


@dataclass(frozen=True)
class PublishedGap:
    """Mean gap, in percent, of a method on a group, and its seconds per instance."""

    method: str
    group: str
    source: str
    gap: float
    seconds: float | None


@dataclass(frozen=True)
class PublishedMakespan:
    """Makespan (a mean where the source has means) of a method on an instance, and its seconds."""

    method: str
    instance: str
    source: str
    makespan: float
    seconds: float | None


@cache
def published_sources() -> dict[str, Source]:
    """All sources by name."""
    return {
        row["source"]: Source(
            row["source"], row["citation"], row["hardware"], row["status"], row["reference"]
        )
        for row in _rows("published_sources")
    }


@cache
def published_gaps() -> tuple[PublishedGap, ...]:
    """All published gaps."""
    return tuple(
        PublishedGap(
            row["method"], row["group"], row["source"], float(row["gap"]), _number(row["seconds"])
        )
        for row in _rows("published_gaps")
    )


@cache
def published_makespans() -> tuple[PublishedMakespan, ...]:
    """All published makespans: those of the paper's Tables 6 and 7."""
    return tuple(
        PublishedMakespan(
            row["method"],
            row["instance"],
            row["source"],
            float(row["makespan"]),
            _number(row["seconds"]),
        )
        for row in _rows("published_makespans")
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("tbgat.bench") / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _number(text: str) -> float | None:
    return float(text) if text else None
