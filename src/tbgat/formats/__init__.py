"""Reading and writing instances. What a file is shows from its content, never from its name.

======== ==================================================================================
standard ``jobs machines``, then a line per job of 0-based ``machine duration`` pairs (JSPLIB)
orlib    many standard texts between lines of plus signs (OR-Library)
taillard a matrix of times, then one of machines, counted from 1
json     our schema, ``instance.schema.json``; job_shop_lib's dict is read as well
csv      a line per operation: job, step, machine, duration
======== ==================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tbgat.errors import FormatError, InstanceError, UsageError
from tbgat.formats.csv_text import parse_csv, write_csv
from tbgat.formats.interchange import (
    from_job_shop_lib,
    from_pyjobshop,
    to_job_shop_lib,
    to_pyjobshop,
)
from tbgat.formats.json_text import parse_json, write_json
from tbgat.formats.labels import split_comments
from tbgat.formats.source import read_bytes, tidy_text, write_text
from tbgat.formats.standard import (
    from_tokens,
    is_or_library,
    parse_or_library,
    parse_standard,
    write_or_library,
    write_standard,
)
from tbgat.formats.taillard import (
    has_words,
    looks_plain,
    parse_taillard,
    plain_from_tokens,
    write_taillard,
)
from tbgat.formats.tokens import Tokens, excerpt, only_numbers
from tbgat.instance import Instance

__all__ = [
    "FORMATS",
    "detect",
    "from_job_shop_lib",
    "from_pyjobshop",
    "parse",
    "parse_all",
    "read",
    "read_all",
    "to_job_shop_lib",
    "to_pyjobshop",
    "to_text",
    "write",
    "write_all",
]

_WRITERS: dict[str, Callable[[Instance], str]] = {
    "standard": write_standard,
    "orlib": lambda instance: write_or_library([instance]),
    "taillard": write_taillard,
    "json": write_json,
    "csv": write_csv,
}
FORMATS = tuple(_WRITERS)
_BY_SUFFIX = {".json": "json", ".csv": "csv"}


def read(path: str | Path, format: str | None = None) -> Instance:
    """Read the instance of a file.

    Parameters
    ----------
    path
        The file; ``-`` is standard input. Its name without suffix becomes the instance's name if
        the file does not say one.
    format
        One of :data:`FORMATS`; by default what the content looks like.
    """
    instances = read_all(path, format)
    if len(instances) != 1:
        some = ", ".join(instance.name for instance in instances[:3])
        raise FormatError(
            f"{path}: there are {len(instances)} instances in it ({some}, ...), expected one"
        )
    return instances[0]


def read_all(path: str | Path, format: str | None = None) -> list[Instance]:
    """Read all instances of a file."""
    data = read_bytes(path)
    try:
        instances = parse_all(data, format)
    except InstanceError as error:
        raise FormatError(f"{path}: {error}") from None
    stem = "" if str(path) == "-" else Path(path).stem
    if len(instances) == 1:
        names = [stem]
    else:
        names = [f"{stem}-{k}" for k in range(1, len(instances) + 1)]
    return [
        instance if instance.name else instance.renamed(name)
        for instance, name in zip(instances, names, strict=True)
    ]


def parse(text: str | bytes, format: str | None = None) -> Instance:
    """Read the instance in a text."""
    instances = parse_all(text, format)
    if len(instances) != 1:
        raise FormatError(f"there are {len(instances)} instances in the text, expected one")
    return instances[0]


def parse_all(text: str | bytes, format: str | None = None) -> list[Instance]:
    """Read all instances in a text."""
    data = tidy_text(text)
    found = detect(data) if format is None else format
    if found == "orlib":
        instances = parse_or_library(data)
    elif found == "taillard":
        instances = parse_taillard(data)
    elif found == "json":
        instances = parse_json(data)
    elif found == "csv":
        instances = [parse_csv(data)]
    elif found == "standard" and format is None:
        # One pass over the numbers tells the two layouts apart.
        plain, labels = split_comments(data)
        tokens = Tokens(plain)
        build = plain_from_tokens if looks_plain(tokens) else from_tokens
        instances = [build(tokens, labels)]
    elif found == "standard":
        instances = [parse_standard(data)]
    else:
        raise UsageError(f"there is no format {found!r}, there are {', '.join(FORMATS)}")
    if not instances:
        raise FormatError("there is no instance in it")
    return instances


def detect(data: bytes) -> str:
    """Say which format a text has; numbers alone are ``standard``, even if two matrices."""
    if only_numbers(data):
        return "standard"
    if data.lstrip()[:1] in (b"{", b"["):
        return "json"
    if is_or_library(data):
        return "orlib"
    if has_words(data):
        return "taillard"
    first = re.search(rb"^[ \t]*([^#\s].*)$", data, re.MULTILINE)
    line = first[1].strip() if first else b""
    if re.search(rb"[^\W\d]", line):
        if not re.search(rb"[,;\t]", line):
            number = data.count(b"\n", 0, first.start() if first else 0) + 1
            raise FormatError(
                f"line {number}: {excerpt(line)} is neither numbers nor the header of a table"
            )
        return "csv"
    return "standard"


def to_text(instance: Instance, format: str = "standard") -> str:
    """Write an instance as a text of one of :data:`FORMATS`."""
    if format not in _WRITERS:
        raise UsageError(f"there is no format {format!r}, there are {', '.join(FORMATS)}")
    return _WRITERS[format](instance)


def write(instance: Instance, path: str | Path, format: str | None = None) -> None:
    """Write an instance to a file.

    Without ``format``, ``.json`` and ``.csv`` mean those formats and any other name the standard
    text; ``-`` is standard output.
    """
    chosen = format or _BY_SUFFIX.get(Path(path).suffix.lower(), "standard")
    write_text(path, to_text(instance, chosen))


def write_all(instances: Iterable[Instance], path: str | Path) -> None:
    """Write any number of instances to one file, as the OR-Library does."""
    write_text(path, write_or_library(instances))
