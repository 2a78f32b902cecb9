"""Schedules in files: JSON (``schedule.schema.json``) and CSV, out and in again.

    {"format": "tbgat-schedule", "version": 1, "instance": "plant 4", "makespan": 8,
     "operations": [{"job": "red", "step": 0, "machine": "saw", "start": 0, "end": 5}, ...]}

Jobs and machines are named if the instance names them, otherwise numbered from 0; steps are counted
from 0. Machine and end may be left out. What ``tbgat solve --json`` prints is read as well. Reading
does not judge: a schedule from elsewhere may be wrong, and :meth:`Schedule.check` says how.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tbgat.errors import FormatError, ScheduleError, UsageError
from tbgat.formats.csv_text import COLUMNS, Row, table
from tbgat.formats.json_text import load_json
from tbgat.formats.source import read_bytes, tidy_text, write_text
from tbgat.formats.tokens import excerpt
from tbgat.instance import MAX_TOTAL_DURATION, Instance
from tbgat.schedule import Schedule

__all__ = [
    "parse_schedule",
    "read_schedule",
    "schedule_to_csv",
    "schedule_to_dict",
    "schedule_to_json",
    "write_schedule",
]

_FORMAT, _VERSION = "tbgat-schedule", 1
_COLUMNS = {
    "job": COLUMNS["job"],
    "step": COLUMNS["step"],
    "machine": COLUMNS["machine"],
    "start": ("start", "begin", "start time"),
    "end": ("end", "finish", "end time"),
}
_REQUIRED = {"job", "step", "start"}


def schedule_to_dict(schedule: Schedule, instance: Instance) -> dict[str, Any]:
    """Describe a legal schedule by our schema, operations in order of time; checks first."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "instance": instance.name,
        "digest": instance.digest,
        "makespan": schedule.makespan,
        "operations": [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(schedule, instance)],
    }


def _rows(schedule: Schedule, instance: Instance) -> list[tuple[Any, ...]]:
    starts = schedule.starts(instance)
    ends = starts + instance.durations
    jobs: Sequence[Any] = instance.job_names or range(instance.num_jobs)
    machines: Sequence[Any] = instance.machine_names or range(instance.num_machines)
    return [
        (
            jobs[instance.job_of[op]],
            int(instance.step_of[op]),
            machines[instance.machines[op]],
            int(starts[op]),
            int(ends[op]),
        )
        for op in np.lexsort((instance.machines, ends, starts))
    ]


def schedule_to_json(schedule: Schedule, instance: Instance) -> str:
    """Write JSON, an operation per line; checks first."""
    content = schedule_to_dict(schedule, instance)
    operations = content.pop("operations")
    head = json.dumps(content, indent=1)[:-2]
    rows = ",\n  ".join(json.dumps(operation) for operation in operations)
    return f'{head},\n "operations": [\n  {rows}\n ]\n}}\n'


def schedule_to_csv(schedule: Schedule, instance: Instance) -> str:
    """Write CSV, an operation per line; checks first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_rows(schedule, instance))
    return stream.getvalue()


def write_schedule(
    schedule: Schedule, instance: Instance, path: str | Path, format: str | None = None
) -> None:
    """Write a legal schedule to a file: ``json`` or ``csv``, by default what its suffix says."""
    chosen = format or ("csv" if Path(path).suffix.lower() == ".csv" else "json")
    if chosen not in ("json", "csv"):
        raise UsageError(f"schedules are written as json or csv, not {chosen!r}")
    make = schedule_to_csv if chosen == "csv" else schedule_to_json
    write_text(path, make(schedule, instance))


def read_schedule(path: str | Path, instance: Instance) -> Schedule:
    """Read a schedule of an instance; JSON or CSV shows from the content, ``-`` is stdin."""
    data = read_bytes(path)
    try:
        return parse_schedule(data, instance)
    except (FormatError, ScheduleError) as error:
        raise type(error)(f"{path}: {error}") from None


def parse_schedule(text: str | bytes, instance: Instance) -> Schedule:
    """Read a schedule of an instance from a text."""
    data = tidy_text(text)
    if data.lstrip()[:1] in (b"{", b"["):
        return _from_json(load_json(data), instance)
    return _from_rows(table(data, 0, _COLUMNS, _REQUIRED), instance)


def _from_json(content: Any, instance: Instance) -> Schedule:
    if not isinstance(content, Mapping) or not {"operations", "starts"} & set(content):
        raise FormatError("there is neither a key 'operations' nor a key 'starts'")
    digest = content.get("digest", instance.digest)
    if digest != instance.digest:
        raise ScheduleError(
            f"this is a schedule of another instance ({content.get('instance') or digest})"
        )
    if "operations" in content:
        schedule = _from_operations(content["operations"], instance)
    else:
        schedule = _from_starts(content["starts"], instance)
    claimed = content.get("makespan", schedule.makespan)
    if claimed != schedule.makespan and not schedule.violations(instance, limit=1):
        raise ScheduleError(f"the makespan is said to be {claimed} but it is {schedule.makespan}")
    return schedule


def _from_operations(operations: Any, instance: Instance) -> Schedule:
    if not isinstance(operations, list):
        raise FormatError("'operations' must be a list")
    jobs = {name: j for j, name in enumerate(instance.job_names or ())}
    machines = {name: m for m, name in enumerate(instance.machine_names or ())}
    entries = []
    for k, entry in enumerate(operations):
        where = f"operations[{k}]"
        if not isinstance(entry, Mapping) or not set(entry) >= _REQUIRED:
            raise FormatError(f"{where}: expected an object with job, step and start")
        values = {key: entry.get(key) for key in _COLUMNS}
        for key, known in (("job", jobs), ("machine", machines)):
            label = values[key]
            if isinstance(label, str):
                if label not in known:
                    raise ScheduleError(f"{where}: there is no {key} {excerpt(label)}")
                values[key] = known[label]
        for key, value in values.items():
            if value is None and key not in _REQUIRED:
                continue
            if not isinstance(value, int | float) or abs(value) > MAX_TOTAL_DURATION:
                raise FormatError(f"{where}: {key} {excerpt(repr(value))} is no usable number")
        entries.append(values)
    return _assemble(entries, instance)


def _from_starts(starts: Any, instance: Instance) -> Schedule:
    if not isinstance(starts, list) or not all(isinstance(row, list) for row in starts):
        raise FormatError("'starts' must be a list of start times for every job")
    operations = [
        {"job": j, "step": k, "start": start}
        for j, row in enumerate(starts)
        for k, start in enumerate(row)
    ]
    return _from_operations(operations, instance)


def _from_rows(rows: Sequence[Row], instance: Instance) -> Schedule:
    jobs = {instance.job_label(j): j for j in range(instance.num_jobs)}
    machines = {instance.machine_label(m): m for m in range(instance.num_machines)}
    entries = []
    for row in rows:
        values: dict[str, Any] = {}
        for key, known in (("job", jobs), ("machine", machines)):
            cell = row.cells.get(key) or None
            if cell is not None and cell not in known:
                raise ScheduleError(f"line {row.line}: there is no {key} {excerpt(cell)}")
            values[key] = None if cell is None else known[cell]
        for key in ("step", "start", "end"):
            values[key] = _signed_number(row, key)
        entries.append(values)
    return _assemble(entries, instance)


def _signed_number(row: Row, key: str) -> int | float | None:
    """Number in a cell, wrong ones included: it is for the check to say what is wrong."""
    cell = row.cells.get(key) or None
    if cell is None:
        return None
    if re.fullmatch(r"-?\d{1,15}", cell, re.ASCII):
        return int(cell)
    if re.fullmatch(r"-?\d{0,15}[.,]\d{1,15}", cell, re.ASCII):
        return float(cell.replace(",", "."))
    raise FormatError(f"line {row.line}: {key} {excerpt(cell)} is not a number")


def _assemble(entries: list[dict[str, Any]], instance: Instance) -> Schedule:
    """Fill in machines and ends that were left out, and stack the columns."""
    lengths = np.diff(instance.job_offsets)
    for entry in entries:
        job, step = entry["job"], entry["step"]
        real = (
            type(job) is type(step) is int
            and 0 <= job < instance.num_jobs
            and 0 <= step < lengths[job]
        )
        op = int(instance.job_offsets[job]) + step if real else None
        if entry.get("machine") is None:
            entry["machine"] = 0 if op is None else int(instance.machines[op])
        if entry.get("end") is None:
            entry["end"] = entry["start"] + (0 if op is None else int(instance.durations[op]))
    columns = {key: [entry[key] for entry in entries] for key in _COLUMNS}
    return Schedule(**{key: _column(values) for key, values in columns.items()})


def _column(values: list[Any]) -> Any:
    if any(isinstance(value, bool) for value in values):
        return np.array(values, dtype=object)
    return np.array(values) if values else np.zeros(0, dtype=np.int64)
