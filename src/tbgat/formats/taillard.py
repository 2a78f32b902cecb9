"""Taillard's text: a matrix of times, then one of machines, counted from 1.

His own files carry words (``Nb of jobs``, ``Times``, ``Machines``) and several instances; the plain
variant is ``jobs machines`` and the two matrices.
"""

from __future__ import annotations

import re

import numpy as np

from tbgat.errors import FormatError
from tbgat.formats.labels import Labels, comment_lines, split_comments
from tbgat.formats.standard import read_size
from tbgat.formats.tokens import Tokens
from tbgat.instance import Instance, IntArray

__all__ = ["has_words", "looks_plain", "parse_taillard", "plain_from_tokens", "write_taillard"]

_TIMES = re.compile(rb"^[ \t]*times\b", re.MULTILINE | re.IGNORECASE)
_WORDS = re.compile(rb"^[ \t]*([^\W\d].*)$", re.MULTILINE)


def has_words(data: bytes) -> bool:
    """Whether a text has a line ``Times``."""
    return bool(_TIMES.search(data))


def looks_plain(tokens: Tokens) -> bool:
    """Whether numbers have the layout of two matrices rather than of pairs."""
    if len(tokens.values) < 2 or tokens.row_offsets[1] != 2:
        return False
    jobs, machines = tokens.values[:2].tolist()
    counts = np.diff(tokens.row_offsets)[1:]
    return len(counts) == 2 * jobs and bool((counts == machines).all())


def plain_from_tokens(tokens: Tokens, labels: Labels) -> Instance:
    """Read one instance without words."""
    jobs, machines = read_size(tokens)
    rows = tokens.num_rows - 1
    if rows != 2 * jobs:
        raise FormatError(
            f"line {tokens.row_line(0)} promises {jobs} jobs, so {2 * jobs} lines of times and "
            f"machines must follow, not {rows}"
        )
    middle = int(tokens.row_offsets[1 + jobs])
    return _assemble(jobs, machines, tokens, (2, middle), tokens, (middle, None), labels)


def parse_taillard(data: bytes) -> list[Instance]:
    """Read all instances of a file with or without words."""
    plain, labels = split_comments(data)
    if not has_words(plain):
        return [plain_from_tokens(Tokens(plain), labels)]
    sections = _sections(plain)
    found = []
    for index, (word, line, times) in enumerate(sections):
        if not word.lower().startswith(b"times"):
            continue
        if index == 0 or not len(sections[index - 1][2].values):
            raise FormatError(f"line {line}: the numbers of jobs and machines must stand before it")
        size = sections[index - 1][2]
        if len(size.values) < 2:
            raise FormatError(f"line {size.row_line(0)}: expected the numbers of jobs and machines")
        follows = sections[index + 1] if index + 1 < len(sections) else (b"", line, size)
        if not follows[0].lower().startswith(b"machines"):
            raise FormatError(f"line {line}: no section 'Machines' follows these times")
        jobs, machines = size.values[:2].tolist()
        found.append(_assemble(jobs, machines, times, (0, None), follows[2], (0, None), labels))
    return found


def _sections(data: bytes) -> list[tuple[bytes, int, Tokens]]:
    """Cut a text at its lines of words: the word, its line, the numbers after it."""
    heads = [(0, 0, b"")] + [
        (match.start(), match.end(), match[1].strip()) for match in _WORDS.finditer(data)
    ]
    ends = [start for start, _, _ in heads[1:]] + [len(data)]
    sections = []
    for (start, after, word), end in zip(heads, ends, strict=True):
        line = data.count(b"\n", 0, start) + 1
        sections.append((word, line, Tokens(data[after:end], line)))
    return sections


def _assemble(
    jobs: int,
    machines: int,
    times: Tokens,
    times_span: tuple[int, int | None],
    routes: Tokens,
    routes_span: tuple[int, int | None],
    labels: Labels,
) -> Instance:
    durations, time_offsets = _matrix("times", jobs, machines, times, times_span, labels)
    numbered, route_offsets = _matrix("machines", jobs, machines, routes, routes_span, labels)
    unequal = np.flatnonzero(time_offsets != route_offsets)
    if len(unequal):
        raise FormatError(f"job {unequal[0] - 1} has more times than machines, or fewer")
    outside = np.flatnonzero((numbered < 1) | (numbered > machines))
    if len(outside):
        at = int(outside[0])
        raise FormatError(
            f"line {routes.line(routes_span[0] + at)}: machine {numbered[at]} is out of range, "
            f"machines are numbered 1 to {machines}"
        )
    return Instance.from_flat(
        durations, numbered - 1, time_offsets, num_machines=machines, **labels.arguments()
    )


def _matrix(
    what: str,
    jobs: int,
    machines: int,
    tokens: Tokens,
    span: tuple[int, int | None],
    labels: Labels,
) -> tuple[IntArray, IntArray]:
    """Cut the rows of one matrix out of the numbers; return its numbers and row offsets."""
    start, stop = span[0], len(tokens.values) if span[1] is None else span[1]
    edges = tokens.row_offsets
    edges = edges[(edges >= start) & (edges <= stop)] if len(tokens.values) else edges[:1]
    if len(edges) - 1 != jobs:
        raise FormatError(
            f"{jobs} jobs are promised, but there are {len(edges) - 1} lines of {what}"
        )
    counts = np.diff(edges)
    wrong = np.flatnonzero(counts != machines)
    if len(wrong) and not labels.ragged:
        row = int(wrong[0])
        raise FormatError(
            f"line {tokens.line(int(edges[row]))}: {counts[row]} {what} where {machines} were "
            "expected; if jobs may differ in length, say so with a line '# ragged'"
        )
    return tokens.values[start:stop], edges - start


def write_taillard(instance: Instance) -> str:
    """Write one instance with the words."""
    lines = comment_lines(instance)
    if (np.diff(instance.job_offsets) != instance.num_machines).any():
        lines.append("# ragged")
    lines += ["Nb of jobs, Nb of machines", f"{instance.num_jobs} {instance.num_machines}"]
    lines += ["Times", *(" ".join(str(p) for _, p in job) for job in instance.jobs)]
    lines += ["Machines", *(" ".join(str(m + 1) for m, _ in job) for job in instance.jobs)]
    return "\n".join(lines) + "\n"
