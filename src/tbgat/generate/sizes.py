"""Sizes of shops as people write them."""

from __future__ import annotations

from tbgat.errors import UsageError

__all__ = ["Sizes", "parse_sizes"]

Sizes = tuple[tuple[int, int], ...]


def parse_sizes(text: str) -> Sizes:
    """Read ``10x10,15x10``."""
    sizes = []
    for word in text.split(","):
        jobs, _, machines = word.strip().lower().partition("x")
        if not (jobs.isdecimal() and machines.isdecimal() and int(jobs) and int(machines)):
            raise UsageError(f"a size looks like 15x10, got {word.strip()!r}")
        sizes.append((int(jobs), int(machines)))
    return tuple(sizes)
