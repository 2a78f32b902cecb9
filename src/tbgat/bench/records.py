"""One line per run, appended so that neither a kill nor a full disk can leave half of one.

A run is known by its key: what was asked, and of what. Gaps are not stored: references improve, and
a gap is computed from the makespan when a report is made.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tbgat.bench.locks import take_lock
from tbgat.errors import FormatError, UsageError
from tbgat.search.result import Improvement

__all__ = ["Record", "Store", "read_cards", "read_records", "thin"]

RECORDS, CARDS = "records.jsonl", "cards.jsonl"


@dataclass(frozen=True)
class Record:
    """One run of one method on one instance.

    Attributes
    ----------
    method, options
        Name in the registry and what was passed to it.
    weights
        Name and checksum of the network weights it used; empty for methods without any.
    max_steps, max_seconds
        The budget: one of them is given.
    makespan, lower_bound, status, steps, seconds
        As in :class:`tbgat.Result`. In a batch every run has the seconds of the whole batch.
    cpu_seconds
        Processor time of all threads, of the whole batch.
    batch
        Instances solved together, 1 where the time is that of a single run.
    history
        Step, second and makespan of improvements, thinned (:func:`thin`) in the budget's unit.
    commit, card, finished
        Code, machine (see :func:`read_cards`) and time.
    """

    suite: str
    group: str
    instance: str
    digest: str
    method: str
    options: Mapping[str, Any]
    weights: Mapping[str, str]
    max_steps: int | None
    max_seconds: float | None
    threads: int
    seed: int
    makespan: int = 0
    lower_bound: int = 0
    status: str = ""
    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    batch: int = 1
    history: Sequence[Improvement] = field(default=())
    commit: str = ""
    card: str = ""
    finished: str = ""

    @property
    def key(self) -> str:
        """What was asked, and of what: two runs with one key are one run."""
        asked = [
            *(self.suite, self.instance, self.digest, self.method, sorted(self.options.items())),
            *(sorted(self.weights.items()), self.max_steps, self.max_seconds),
            *(self.threads, self.seed),
        ]
        return json.dumps(asked)

    @property
    def label(self) -> str:
        """Method with its options, as on the command line: ``dispatch:rule=spt``."""
        return ":".join([self.method, *(f"{k}={v}" for k, v in sorted(self.options.items()))])

    def makespan_at(self, *, steps: int | None = None, seconds: float | None = None) -> int:
        """Best makespan after so many steps or seconds of this run."""
        best = self.history[0].makespan if self.history else self.makespan
        for gain in self.history:
            if (steps is None or gain.step <= steps) and (
                seconds is None or gain.seconds <= seconds
            ):
                best = gain.makespan
        return best

    def to_json(self) -> str:
        """One line of text."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["history"] = [[g.step, round(g.seconds, 4), g.makespan] for g in self.history]
        given = {name: value for name, value in fields.items() if value not in (None, {}, ())}
        return json.dumps(given, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Inverse of :meth:`to_json`."""
        fields: dict[str, Any] = {"options": {}, "weights": {}}
        fields |= {"max_steps": None, "max_seconds": None}
        fields |= json.loads(text)
        fields["history"] = tuple(Improvement(*gain) for gain in fields.get("history", ()))
        return cls(**fields)


def thin(
    history: Sequence[Improvement], unit: Literal["step", "seconds"]
) -> tuple[Improvement, ...]:
    """Keep the first and last improvement and those that are the best at some point of a grid.

    The grid has 1, 2, 3, 5, 7 times every power of ten (so 500, 1000, 2000 and 5000 steps, and 1, 5
    and 20 seconds, are on it); there a thinned curve and the full one agree exactly.
    """
    values = [getattr(gain, unit) for gain in history]
    kept = {0, len(history) - 1} if history else set()
    at = 0
    for point in _grid(values[-1] if values else 0):
        while at + 1 < len(values) and values[at + 1] <= point:
            at += 1
        if values and values[at] <= point:
            kept.add(at)
    return tuple(history[i] for i in sorted(kept))


def _grid(end: float) -> Iterator[float]:
    power = -2
    while 10.0**power <= end:
        for factor in (1, 2, 3, 5, 7):
            yield factor * 10**power if power >= 0 else factor / 10**-power
        power += 1


class Store:
    """A folder of records that one process at a time writes to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        lock = take_lock(folder / ".lock")
        if lock is None:
            raise UsageError(f"another run is writing to {folder}")
        self._lock = lock
        for name in (RECORDS, CARDS):
            _drop_torn_line(folder / name)
        self.keys = {record.key for record in _read_file(folder / RECORDS)}

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def append(self, records: Iterable[Record]) -> int:
        """Add the records that are not there yet with one write; say how many."""
        new = {r.key: r for r in records if r.key not in self.keys}
        if new:
            _append(self.folder / RECORDS, [record.to_json() for record in new.values()])
            self.keys |= set(new)
        return len(new)

    def drop(self, keys: Iterable[str]) -> int:
        """Remove records, so that they are measured again; say how many."""
        gone = self.keys & set(keys)
        if gone:
            kept = [r.to_json() for r in _read_file(self.folder / RECORDS) if r.key not in gone]
            path = self.folder / RECORDS
            beside = path.with_suffix(".new")
            beside.unlink(missing_ok=True)
            _append(beside, kept)
            beside.replace(path)
            self.keys -= gone
        return len(gone)

    def add_card(self, card: Mapping[str, Any]) -> str:
        """Keep the description of a machine once; return the name records have for it."""
        text = json.dumps(card, sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        if name not in read_cards(self.folder):
            _append(self.folder / CARDS, [json.dumps({"card": name, **card})])
        return name


def _append(path: Path, lines: Sequence[str]) -> None:
    # One write to a file opened for appending: after a kill it is there, or (part of) it is not.
    data = "".join(line + "\n" for line in lines).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _drop_torn_line(path: Path) -> None:
    """Cut off a last line without its end: the machine stopped in the middle of a write."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _read_file(path: Path) -> Iterator[Record]:
    if not path.exists():
        return
    # A last line without its end is a write under way, or torn: not a record.
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    for number, line in enumerate(lines, 1):
        try:
            yield Record.from_json(line)
        except (ValueError, TypeError) as error:
            raise FormatError(f"{path}, line {number} is not a record: {error}") from None


def read_records(*folders: Path) -> list[Record]:
    """Read all records in and below folders, each key once."""
    found: dict[str, Record] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}")
        for path in sorted(folder.rglob(RECORDS)):
            for record in _read_file(path):
                found.setdefault(record.key, record)
    return list(found.values())


def read_cards(*folders: Path) -> dict[str, dict[str, Any]]:
    """Read the machines that records below folders were measured on, by the name records use."""
    cards: dict[str, dict[str, Any]] = {}
    for folder in folders:
        for path in sorted(folder.rglob(CARDS)):
            for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
                card = json.loads(line)
                cards.setdefault(card.pop("card"), card)
    return cards
