"""CSV in long form: one line per operation, columns found by their header.

    job,step,machine,duration
    red,10,saw,5
    red,20,oven,3

Lines may come in any order and steps may be numbered in any way that grows. Jobs and machines are
numbers from 0 or names. Comment lines (see :mod:`tbgat.formats.labels`) may stand above the header.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tbgat.errors import FormatError
from tbgat.formats.labels import Labels, comment_lines, split_comments
from tbgat.formats.tokens import excerpt
from tbgat.instance import Instance

__all__ = ["COLUMNS", "Row", "cell_number", "parse_csv", "table", "write_csv"]

# What a column may be called, in lower case with single blanks.
COLUMNS = {
    "job": ("job", "job id", "job name", "order", "order id", "work order"),
    "step": ("step", "operation", "op", "sequence", "seq", "position"),
    "machine": ("machine", "machine id", "machine name", "resource", "work center", "station"),
    "duration": ("duration", "processing time", "time", "minutes", "length"),
}
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one line under the names we give the columns."""

    line: int
    cells: dict[str, str]


def parse_csv(data: bytes) -> Instance:
    """Read one instance."""
    above, labels = _comments_above(data)
    rows = table(data[len(above) :], above.count(b"\n"), COLUMNS, set(COLUMNS))
    if not rows:
        raise FormatError("there is a header but no operations below it")
    job_names, job_of = _numbered(rows, "job", labels.job_names, None)
    machine_names, machine_of = _numbered(
        rows, "machine", labels.machine_names, labels.num_machines
    )
    count = labels.num_machines or (len(machine_names) if machine_names else None)
    jobs: list[dict[int, tuple[int, int]]] = [{} for _ in range(max(job_of.values()) + 1)]
    for row in rows:
        job, machine = job_of[row.cells["job"]], machine_of[row.cells["machine"]]
        step = cell_number(row, "step")
        if step in jobs[job]:
            raise FormatError(
                f"line {row.line}: job {excerpt(row.cells['job'])} has step {step} twice"
            )
        jobs[job][step] = (machine, cell_number(row, "duration"))
    return Instance(
        [[operations[step] for step in sorted(operations)] for operations in jobs],
        name=labels.name,
        num_machines=count,
        job_names=job_names,
        machine_names=machine_names,
    )


def _comments_above(data: bytes) -> tuple[bytes, Labels]:
    """Comments end where the header starts: below it, ``#12`` may be the name of a job."""
    match = re.match(rb"(?:[ \t]*(?:#.*)?\r?\n)*", data)
    above = match[0] if match else b""
    return above, split_comments(above)[1]


def table(
    data: bytes, lines_before: int, columns: dict[str, tuple[str, ...]], required: set[str]
) -> list[Row]:
    """Read a table with a header; every complaint names the line, and the column if it matters."""
    text = data.decode("utf-8")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    # strict: a quote that never closes is an error, not the rest of the file in one cell.
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows: list[Row] = []
    header: list[str | None] | None = None
    try:
        for cells in reader:
            line = lines_before + reader.line_num
            tidy = [" ".join(cell.split()) for cell in cells]
            if not any(tidy):
                continue
            if header is None:
                header = _understand_header(tidy, line, columns, required)
                continue
            if len(tidy) != len(header):
                raise FormatError(
                    f"line {line}: {len(tidy)} cells where the header has {len(header)}"
                )
            named = {key: cell for key, cell in zip(header, tidy, strict=True) if key}
            empty = next((key for key in required if not named[key]), None)
            if empty:
                raise FormatError(f"line {line}: the cell of column {empty!r} is empty")
            rows.append(Row(line, named))
    except csv.Error as error:
        raise FormatError(f"line {lines_before + reader.line_num}: {error}") from None
    return rows


def _understand_header(
    cells: Sequence[str], line: int, columns: dict[str, tuple[str, ...]], required: set[str]
) -> list[str | None]:
    """Our name of every column, None for those marked with # as not ours."""
    header: list[str | None] = []
    for cell in cells:
        if cell.startswith("#"):
            header.append(None)
            continue
        plain = re.sub(r"[\s_-]+", " ", cell.lower())
        key = next((key for key, known in columns.items() if plain in known), None)
        if key is None:
            raise FormatError(
                f"line {line}: unknown column {excerpt(cell)}, expected {', '.join(columns)}; put "
                "a # before the name of a column that is to be skipped"
            )
        if key in header:
            raise FormatError(f"line {line}: two columns are the {key}")
        header.append(key)
    missing = [key for key in columns if key in required and key not in header]
    if missing:
        raise FormatError(f"line {line}: there is no column for the {missing[0]}")
    return header


def cell_number(row: Row, column: str) -> int:
    """Whole number in a cell; ``5.0`` is one."""
    cell = row.cells[column]
    match = re.fullmatch(r"(\d+)(?:[.,]0+)?", cell, re.ASCII)
    if match and len(match[1]) <= _DIGITS:
        return int(match[1])
    if match:
        reason = "is too large"
    elif re.fullmatch(r"-\d+", cell, re.ASCII):
        reason = "is negative"
    elif re.fullmatch(r"-?\d*[.,]\d+", cell, re.ASCII):
        reason = "is not a whole number; use a finer unit of time"
    else:
        reason = "is not a number"
    raise FormatError(f"line {row.line}: {column} {excerpt(cell)} {reason}")


def _numbered(
    rows: Sequence[Row], column: str, names: list[str] | None, count: int | None
) -> tuple[list[str] | None, dict[str, int]]:
    """Names, or None, and the number of every label in a column."""
    first_line: dict[str, int] = {}
    for row in rows:
        first_line.setdefault(row.cells[column], row.line)
    if names is None and count is None:
        names = _inferred_names(list(first_line))
    if names is None:
        limit = len(first_line) if count is None else count
        canonical = (label for label in first_line if re.fullmatch(r"0|[1-9]\d{0,14}", label))
        known = {label: int(label) for label in canonical if int(label) < limit}
    else:
        known = {" ".join(name.split()): k for k, name in enumerate(names)}
    for label, line in first_line.items():
        if label not in known:
            raise FormatError(
                f"line {line}: {column} {excerpt(label)} is not among those announced above"
            )
    return names, known


def _inferred_names(labels: list[str]) -> list[str] | None:
    """Names in order; None if the labels are just the numbers from 0."""
    if set(labels) == {str(k) for k in range(len(labels))}:
        return None
    if all(re.fullmatch(r"\d{1,15}", label, re.ASCII) for label in labels):
        return sorted(labels, key=lambda label: (int(label), label))
    return labels


def write_csv(instance: Instance) -> str:
    """Write one instance; comments only where the table alone would not be read back the same."""
    job_labels = [instance.job_label(j) for j in instance.job_of.tolist()]
    machine_labels = [instance.machine_label(m) for m in instance.machines.tolist()]
    jobs_clear = _is_clear(job_labels, instance.job_names, instance.num_jobs)
    machines_clear = _is_clear(machine_labels, instance.machine_names, instance.num_machines)
    lines = [
        line
        for line in comment_lines(instance)
        if not (jobs_clear and line.startswith("# job names"))
        and not (machines_clear and line.startswith("# machine names"))
    ]
    if not machines_clear and not instance.machine_names:
        lines.append(f"# machines: {instance.num_machines}")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    steps, durations = instance.step_of.tolist(), instance.durations.tolist()
    writer.writerows(zip(job_labels, steps, machine_labels, durations, strict=True))
    return "".join(line + "\n" for line in lines) + stream.getvalue()


def _is_clear(labels: list[str], names: tuple[str, ...] | None, count: int) -> bool:
    """Whether a reader of the column alone would arrive at these names."""
    seen = list(dict.fromkeys(labels))
    inferred = _inferred_names(seen)
    return len(seen) == count and inferred == (None if names is None else list(names))
