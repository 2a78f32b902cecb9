"""Records made up for tests."""

from __future__ import annotations

from typing import Any

from tbgat import library
from tbgat.bench.records import Record
from tbgat.search.result import Improvement


def make_record(
    name: str = "ft06", makespans: dict[int, int] | None = None, seed: int = 0, **changes: Any
) -> Record:
    """A 5000-step run of tabu that reached makespans at steps, a millisecond a step."""
    entry = library.bounds(name)
    curve = {0: 70, 3: 60} if makespans is None else makespans
    history = tuple(Improvement(step, step / 1000, value) for step, value in curve.items())
    fields: dict[str, Any] = {
        "suite": entry.family,
        "group": f"{entry.family}{entry.shape}",
        "instance": name,
        "digest": entry.digest,
        "method": "tabu",
        "options": {},
        "weights": {},
        "max_steps": 5000,
        "max_seconds": None,
        "threads": 1,
        "seed": seed,
        "makespan": history[-1].makespan,
        "steps": 5000,
        "seconds": 5.0,
        "history": history,
    }
    return Record(**(fields | changes))
