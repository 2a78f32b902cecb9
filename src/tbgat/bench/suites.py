"""What is measured: the benchmark suites by name, their groups, and any folder of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tbgat import library
from tbgat.errors import UsageError
from tbgat.formats import read_all
from tbgat.instance import Instance
from tbgat.library.sets import load_set

__all__ = [
    "PAPER_GROUPS",
    "SUITES",
    "SYNTHETIC_GROUPS",
    "Case",
    "load_suite",
    "load_suites",
    "pools",
]

# Suite and the letters its instances have in the library; None: a generated set.
SUITES: dict[str, str | None] = {
    "taillard": "ta",
    "abz": "abz",
    "ft": "ft",
    "la": "la",
    "swv": "swv",
    "orb": "orb",
    "yn": "yn",
    "dmu": "dmu",
    "synthetic": None,
}

# The 26 columns of the paper's Tables 2 and 3, upper deck then lower deck.
PAPER_GROUPS: tuple[tuple[str, ...], tuple[str, ...]] = (
    (
        *("ta15x15", "ta20x15", "ta20x20", "ta30x15", "ta30x20", "ta50x15", "ta50x20", "ta100x20"),
        *("abz10x10", "abz20x15", "ft6x6", "ft10x10", "ft20x5"),
    ),
    (
        *("la10x5", "la15x5", "la20x5", "la10x10", "la15x10", "la20x10", "la30x10", "la15x15"),
        *("swv20x10", "swv20x15", "swv50x10", "orb10x10", "yn20x20"),
    ),
)
SYNTHETIC_GROUPS = (
    *("synthetic10x10", "synthetic15x10", "synthetic15x15"),
    *("synthetic20x10", "synthetic20x15"),
)


@cache
def pools() -> Mapping[str, frozenset[str]]:
    """Instances by wider columns than a size: whole suites, and both halves of dmu.

    In the second half of dmu every job visits the first half of the machines first: far harder.
    """
    names = {
        family: [entry.name for entry in library.select(family=family)]
        for family in SUITES.values()
        if family is not None
    }
    taillard, dmu = names.pop("ta"), names.pop("dmu")
    wide = {"ta01-80": taillard, **names, "dmu01-40": dmu[:40], "dmu41-80": dmu[40:]}
    return {name: frozenset(members) for name, members in wide.items()}


@dataclass(frozen=True)
class Case:
    """One instance to be measured.

    Attributes
    ----------
    group
        Letters and size, such as ``ta15x15``: a column of a table.
    """

    suite: str
    group: str
    instance: Instance


def load_suites(words: Sequence[str], groups: Iterable[str] = ()) -> list[Case]:
    """Load suites, instances and folders, of them only the given sizes, groups or pools."""
    if not words:
        raise UsageError(f"no suite given; there are {', '.join(SUITES)}, or a folder of files")
    loaded = [case for word in words for case in load_suite(word)]
    # One that was named beside its suite is run once.
    cases = list({(c.suite, c.instance.name, c.instance.digest): c for c in loaded}.values())
    wanted = list(groups)
    for group in wanted:
        if not any(_in_group(case, group) for case in cases):
            wide = [name for name in pools() if any(_in_group(case, name) for case in cases)]
            have = ", ".join((*dict.fromkeys(case.group for case in cases), *wide))
            raise UsageError(f"there is no group {group!r} in {', '.join(words)}; it has {have}")
    return [c for c in cases if not wanted or any(_in_group(c, group) for group in wanted)]


def _in_group(case: Case, group: str) -> bool:
    named = case.suite in SUITES and case.instance.name in pools().get(group, ())
    return named or group in (case.group, case.instance.shape)


def load_suite(word: str) -> list[Case]:
    """Load one suite by name, one instance of the library, or the files of a folder."""
    if word == "synthetic":
        return [
            Case(word, f"{word}{instance.shape}", instance)
            for group in load_set(word).values()
            for instance in group.instances
        ]
    if word in SUITES:
        return [_library_case(entry) for entry in library.select(family=SUITES[word])]
    folder = Path(word)
    if folder.is_dir():
        return _load_folder(folder)
    if word in library.families():
        return [_library_case(entry) for entry in library.select(family=word)]
    try:
        return [_library_case(library.bounds(word))]
    except UsageError:
        raise UsageError(
            f"{word!r} is neither a suite ({', '.join(SUITES)}) nor an instance of the library "
            "nor a folder of files"
        ) from None


def _library_case(entry: library.Entry) -> Case:
    suite = next(name for name, family in SUITES.items() if family == entry.family)
    return Case(suite, f"{entry.family}{entry.shape}", library.load(entry.name))


def _load_folder(folder: Path) -> list[Case]:
    paths = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    if not paths:
        raise UsageError(f"there are no files in {folder}")
    suite = folder.resolve().name
    return [
        Case(suite, f"{suite}-{instance.shape}", instance)
        for path in paths
        for instance in read_all(path)
    ]
