"""The standard text: ``jobs machines``, then a line per job of 0-based ``machine duration`` pairs.

Also the OR-Library file, in which many such texts stand between lines of plus signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from tbgat.errors import FormatError
from tbgat.formats.labels import Labels, comment_lines, read_name, split_comments, written_name
from tbgat.formats.tokens import Tokens
from tbgat.instance import Instance, IntArray

__all__ = [
    "is_or_library",
    "parse_or_library",
    "parse_standard",
    "write_or_library",
    "write_standard",
]

_PLUSES = re.compile(rb"^[ \t]*\+{3,}.*$", re.MULTILINE)
_TITLE = re.compile(rb"^[ \t]*instance[ \t]+(\S.*?)[ \t]*\r?\n(?=\s*\+{3,})", re.MULTILINE)
_NUMBERS_LINE = re.compile(rb"^[ \t]*\d[\d \t]*\r?$", re.MULTILINE)


def parse_standard(data: bytes, first_line: int = 1) -> Instance:
    """Read one instance."""
    plain, labels = split_comments(data)
    return from_tokens(Tokens(plain, first_line), labels)


def from_tokens(tokens: Tokens, labels: Labels) -> Instance:
    """Read one instance out of its numbers."""
    jobs, machines = read_size(tokens)
    if tokens.num_rows - 1 != jobs:
        raise FormatError(
            f"line {tokens.row_line(0)} promises {jobs} jobs, but there are {tokens.num_rows - 1}"
        )
    counts = np.diff(tokens.row_offsets)[1:]
    _check_counts(counts, 2 * machines, tokens, labels)
    pairs = tokens.values[2:].reshape(-1, 2)
    offsets = np.concatenate(([0], np.cumsum(counts // 2)))
    outside = np.flatnonzero(pairs[:, 0] >= machines)
    if len(outside):
        at = int(outside[0])
        raise FormatError(
            f"line {tokens.line(2 + 2 * at)}: machine {pairs[at, 0]} is out of range, "
            f"machines are numbered 0 to {machines - 1}"
        )
    return Instance.from_flat(
        pairs[:, 1], pairs[:, 0], offsets, num_machines=machines, **labels.arguments()
    )


def read_size(tokens: Tokens) -> tuple[int, int]:
    """Read the numbers of jobs and machines off the first row."""
    if not len(tokens.values):
        raise FormatError("there are no numbers in it")
    found = int(tokens.row_offsets[1])
    if found != 2:
        raise FormatError(
            f"line {tokens.row_line(0)}: expected two numbers, jobs and machines, got {found}"
        )
    jobs, machines = tokens.values[:2].tolist()
    if jobs < 1 or machines < 1:
        raise FormatError(
            f"line {tokens.row_line(0)}: {jobs} jobs and {machines} machines are no job shop"
        )
    return jobs, machines


def _check_counts(counts: IntArray, expected: int, tokens: Tokens, labels: Labels) -> None:
    odd = np.flatnonzero(counts % 2)
    if len(odd):
        row = int(odd[0])
        raise FormatError(
            f"line {tokens.row_line(row + 1)}: {counts[row]} numbers are not pairs of machine and "
            "duration"
        )
    other = np.flatnonzero(counts != expected)
    if len(other) and not labels.ragged:
        row = int(other[0])
        raise FormatError(
            f"line {tokens.row_line(row + 1)}: {counts[row] // 2} operations where {expected // 2} "
            "were expected; if jobs may differ in length, say so with a line '# ragged'"
        )


def write_standard(instance: Instance, *, with_name: bool = True) -> str:
    """Write one instance."""
    lines = comment_lines(instance, with_name=with_name)
    if (np.diff(instance.job_offsets) != instance.num_machines).any():
        lines.append("# ragged")
    lines.append(f"{instance.num_jobs} {instance.num_machines}")
    lines += [" ".join(f"{machine} {p}" for machine, p in job) for job in instance.jobs]
    return "\n".join(lines) + "\n"


def is_or_library(data: bytes) -> bool:
    """Whether a text has a title over plus signs as in the OR-Library."""
    return bool(_TITLE.search(data))


def parse_or_library(data: bytes) -> list[Instance]:
    """Read all instances of an OR-Library file."""
    titles = list(_TITLE.finditer(data))
    if not titles:
        raise FormatError("there is no line 'instance NAME' in it")
    ends = [title.start() for title in titles[1:]] + [len(data)]
    return [_parse_block(data, title, end) for title, end in zip(titles, ends, strict=True)]


def _parse_block(data: bytes, title: re.Match[bytes], end: int) -> Instance:
    name = read_name(title[1].decode("utf-8", "replace"))
    line = data.count(b"\n", 0, title.end()) + 1
    body, labels = split_comments(_PLUSES.sub(b"", data[title.end() : end]))
    # Lines of description may stand between the title and the numbers.
    numbers = _NUMBERS_LINE.search(body)
    if not numbers:
        raise FormatError(f"line {line}: instance {name!r} has no numbers")
    first_line = line + body.count(b"\n", 0, numbers.start())
    labels.name = name
    return from_tokens(Tokens(body[numbers.start() :], first_line), labels)


def write_or_library(instances: Iterable[Instance]) -> str:
    """Write any number of instances."""
    pluses = " " + "+" * 29
    parts = []
    for instance in instances:
        title = f" instance {written_name(instance.name)}"
        about = f" size {instance.shape}"
        parts += [pluses, "", title, "", pluses, about, write_standard(instance, with_name=False)]
    return "\n".join([*parts, pluses]) + "\n"
