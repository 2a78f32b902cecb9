"""The 242 classic instances with their best known bounds and where those come from.

``tools/build_library.py`` makes the two data files and compares them with outside sources.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = [
    "REFERENCES",
    "Entry",
    "bounds",
    "entries",
    "families",
    "identify",
    "load",
    "names",
    "select",
]

REFERENCES = {
    "abz": "Adams, Balas, Zawack (1988), Management Science 34(3)",
    "dmu": "Demirkol, Mehta, Uzsoy (1998), European Journal of Operational Research 109(1)",
    "ft": "Fisher, Thompson (1963), in Industrial Scheduling, Prentice-Hall",
    "la": "Lawrence (1984), Carnegie-Mellon University",
    "orb": "Applegate, Cook (1991), ORSA Journal on Computing 3(2)",
    "swv": "Storer, Wu, Vaccari (1992), Management Science 38(10)",
    "ta": "Taillard (1993), European Journal of Operational Research 64(2)",
    "yn": "Yamada, Nakano (1992), in Parallel Problem Solving from Nature 2",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A library instance without its numbers.

    Attributes
    ----------
    lower_bound, upper_bound
        Best known bounds on the optimal makespan.
    source
        Where and when both bounds were read, then who proved or found each, with its date.
    digest
        :attr:`tbgat.Instance.digest` of the instance.
    """

    name: str
    jobs: int
    machines: int
    lower_bound: int
    upper_bound: int
    source: str
    digest: str

    @property
    def family(self) -> str:
        """Letters of the name: ``ta`` of ``ta01``."""
        return self.name.rstrip("0123456789")

    @property
    def shape(self) -> str:
        """Size as people write it, such as ``15x10``."""
        return f"{self.jobs}x{self.machines}"

    @property
    def optimal(self) -> bool:
        """Whether the optimal makespan is known: both bounds are equal."""
        return self.lower_bound == self.upper_bound

    @property
    def lower_bound_source(self) -> str:
        """Who proved the lower bound, and when."""
        return self._credit("LB")

    @property
    def upper_bound_source(self) -> str:
        """Who found a schedule of the upper bound, and when."""
        return self._credit("UB")

    def _credit(self, which: str) -> str:
        parts = (part.strip() for part in self.source.split(";"))
        return next(part[3:] for part in parts if part.startswith(which + " "))


@cache
def _catalogue() -> dict[str, Entry]:
    text = (files(__name__) / "bounds.csv").read_text(encoding="utf-8")
    return {
        row["instance"]: Entry(
            row["instance"],
            int(row["jobs"]),
            int(row["machines"]),
            int(row["lower_bound"]),
            int(row["upper_bound"]),
            row["source"],
            row["digest"],
        )
        for row in csv.DictReader(io.StringIO(text))
    }


def entries() -> tuple[Entry, ...]:
    """All instances, family by family."""
    return tuple(_catalogue().values())


def names() -> tuple[str, ...]:
    """Names of all instances, family by family."""
    return tuple(_catalogue())


def families() -> tuple[str, ...]:
    """Families in the order of the library."""
    return tuple(dict.fromkeys(entry.family for entry in entries()))


def bounds(name: str) -> Entry:
    """Bounds, size and sources of an instance; ``TA1`` and ``ta001`` mean ``ta01``."""
    catalogue = _catalogue()
    if name in catalogue:
        return catalogue[name]
    spelled = re.fullmatch(r"([a-z]+)0*(\d+)", name.strip().lower())
    if spelled:
        for width in (1, 2):
            entry = catalogue.get(spelled[1] + spelled[2].zfill(width))
            if entry:
                return entry
    close = difflib.get_close_matches(name.lower(), catalogue, n=3)
    hint = f"did you mean {' or '.join(close)}" if close else "see: tbgat instances"
    raise UsageError(f"there is no library instance {name!r}, {hint}")


def load(name: str) -> Instance:
    """Load a classic instance, such as ``ft10`` or ``ta01``."""
    entry = bounds(name)
    numbers = np.array(_text(entry.name).split(), dtype=np.int64)[2:]
    pairs = numbers.reshape(entry.jobs, entry.machines, 2)
    return Instance.from_arrays(
        pairs[:, :, 1], pairs[:, :, 0], name=entry.name, num_machines=entry.machines
    )


def _text(name: str) -> bytes:
    with (
        (files(__name__) / "instances.zip").open("rb") as stream,
        zipfile.ZipFile(stream) as archive,
    ):
        return archive.read(name)


def identify(instance: Instance) -> str | None:
    """Name of the library instance with the same numbers, whatever it is called; None if none."""
    return _by_digest().get(instance.digest)


@cache
def _by_digest() -> dict[str, str]:
    return {entry.digest: entry.name for entry in entries()}


def select(
    *,
    family: str | None = None,
    jobs: int | None = None,
    machines: int | None = None,
    open_only: bool = False,
) -> Iterator[Entry]:
    """Filter the library; with ``open_only``, instances whose optimum is not known."""
    if family is not None and family not in families():
        raise UsageError(f"there is no family {family!r}, there are {', '.join(families())}")
    for entry in entries():
        if (
            (family is None or entry.family == family)
            and (jobs is None or entry.jobs == jobs)
            and (machines is None or entry.machines == machines)
            and not (open_only and entry.optimal)
        ):
            yield entry
