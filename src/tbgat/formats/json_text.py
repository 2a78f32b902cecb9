"""JSON: our own schema (``instance.schema.json``), and the dict of job_shop_lib.

    {"format": "tbgat-instance", "version": 1, "name": "plant 4", "num_machines": 2,
     "machine_names": ["saw", "oven"], "job_names": ["red", "blue"],
     "jobs": [[[0, 5], [1, 3]], [[1, 4], [0, 2]]]}

Only ``jobs`` is required: per job, per operation the machine (counted from 0, or its name if names
are given) and the duration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tbgat.errors import FormatError
from tbgat.formats.interchange import from_job_shop_lib
from tbgat.formats.tokens import excerpt
from tbgat.instance import Instance

__all__ = ["instance_from_dict", "instance_to_dict", "load_json", "parse_json", "write_json"]

_FORMAT, _VERSION = "tbgat-instance", 1
_KEYS = {"format", "version", "name", "num_machines", "machine_names", "job_names", "jobs"}


def load_json(data: bytes) -> Any:
    """Parse JSON; what is wrong with it is said in one sentence with its line."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"line {error.lineno}, column {error.colno}: this is not JSON ({error.msg})"
        ) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply") from None
    except ValueError as error:
        # Whole numbers of thousands of digits.
        raise FormatError(f"this is not JSON we can read ({error})") from None


def parse_json(data: bytes) -> list[Instance]:
    """Read an instance, a list of them, or a dict of name to instance."""
    content = load_json(data)
    if isinstance(content, list):
        return [_any_instance(entry, f"entry {k}: ") for k, entry in enumerate(content)]
    if isinstance(content, dict) and content and not {"jobs", "duration_matrix"} & set(content):
        if all(isinstance(entry, dict) for entry in content.values()):
            return [_any_instance(entry, f"{excerpt(k)}: ") for k, entry in content.items()]
        raise FormatError(f"there is no key 'jobs', only {', '.join(map(excerpt, content))}")
    return [_any_instance(content, "")]


def _any_instance(content: Any, place: str) -> Instance:
    if isinstance(content, Mapping) and "duration_matrix" in content:
        return from_job_shop_lib(content)
    return instance_from_dict(content, place)


def instance_from_dict(content: Any, place: str = "") -> Instance:
    """Build an instance from a dict of our schema; ``place`` opens every complaint."""
    if not isinstance(content, Mapping):
        raise FormatError(f"{place}expected an object with the key 'jobs', got {_kind(content)}")
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        raise FormatError(f"{place}unknown key {excerpt(unknown[0])}")
    if content.get("format", _FORMAT) != _FORMAT or content.get("version", _VERSION) != _VERSION:
        raise FormatError(
            f"{place}this is {content.get('format', _FORMAT)!r} version "
            f"{content.get('version', _VERSION)!r}, expected {_FORMAT!r} version {_VERSION}"
        )
    jobs = content.get("jobs")
    if not isinstance(jobs, list):
        raise FormatError(f"{place}'jobs' must be a list of jobs, got {_kind(jobs)}")
    machine_names = _names(content, "machine_names", place)
    numbers = {name: k for k, name in enumerate(machine_names or ())}
    return Instance(
        [_job(job, j, numbers, place) for j, job in enumerate(jobs)],
        name=_text(content.get("name", ""), "name", place),
        num_machines=_count(content, machine_names, place),
        machine_names=machine_names,
        job_names=_names(content, "job_names", place),
    )


def _job(job: Any, j: int, numbers: Mapping[str, int], place: str) -> list[tuple[int, int]]:
    if not isinstance(job, list):
        raise FormatError(f"{place}jobs[{j}] must be a list of operations, got {_kind(job)}")
    operations = []
    for k, pair in enumerate(job):
        where = f"{place}jobs[{j}][{k}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise FormatError(f"{where}: expected [machine, duration], got {excerpt(repr(pair))}")
        machine, duration = pair
        if isinstance(machine, str):
            if machine not in numbers:
                raise FormatError(f"{where}: machine {excerpt(machine)} is not in 'machine_names'")
            machine = numbers[machine]
        for what, value in (("machine", machine), ("duration", duration)):
            if type(value) is not int:
                raise FormatError(f"{where}: {what} {excerpt(repr(value))} is not a whole number")
        operations.append((machine, duration))
    return operations


def _names(content: Mapping[str, Any], key: str, place: str) -> list[str] | None:
    names = content.get(key)
    if names is None:
        return None
    if not isinstance(names, list):
        raise FormatError(f"{place}'{key}' must be a list of texts, got {_kind(names)}")
    return [_text(name, f"{key}[{k}]", place) for k, name in enumerate(names)]


def _text(value: Any, key: str, place: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{place}'{key}' must be a text, got {_kind(value)}")
    return value


def _count(content: Mapping[str, Any], names: list[str] | None, place: str) -> int | None:
    value = content.get("num_machines")
    if value is None:
        return len(names) if names is not None else None
    if type(value) is not int or not 0 < value < 2**31:
        raise FormatError(f"{place}'num_machines' must be a positive whole number, got {value!r}")
    return value


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", type(None): "nothing"}
    return kinds.get(type(value), excerpt(repr(value)))


def instance_to_dict(instance: Instance) -> dict[str, Any]:
    """Describe an instance by our schema."""
    content: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": instance.name,
        "num_machines": instance.num_machines,
    }
    if instance.machine_names:
        content["machine_names"] = list(instance.machine_names)
    if instance.job_names:
        content["job_names"] = list(instance.job_names)
    content["jobs"] = [[list(pair) for pair in job] for job in instance.jobs]
    return content


def write_json(instance: Instance) -> str:
    """Write one instance, a job per line."""
    content = instance_to_dict(instance)
    jobs = content.pop("jobs")
    head = json.dumps(content, indent=1)[:-2]
    rows = ",\n  ".join(json.dumps(job) for job in jobs)
    return f'{head},\n "jobs": [\n  {rows}\n ]\n}}\n'
