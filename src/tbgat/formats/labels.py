"""Names in text formats that have no place for them: comment lines that people can read too.

# instance plant 4
# job names: ["red", "blue"]
# machine names: ["saw", "drill", "oven"]
# machines: 3
# ragged
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tbgat.errors import FormatError
from tbgat.formats.tokens import excerpt
from tbgat.instance import Instance

__all__ = ["Labels", "comment_lines", "read_name", "split_comments", "written_name"]

_LONGEST_COUNT = 9
_COMMENT = re.compile(rb"^[ \t]*#(.*)$", re.MULTILINE)


@dataclass
class Labels:
    """What the comments of a text say.

    Attributes
    ----------
    ragged
        Whether the number of operations of a job may differ from the number of machines. Without
        this word a short line is a mistake in the file.
    """

    name: str = ""
    job_names: list[str] | None = None
    machine_names: list[str] | None = None
    num_machines: int | None = None
    ragged: bool = False

    def arguments(self) -> dict[str, Any]:
        """Arguments of :class:`Instance`."""
        return {
            "name": self.name,
            "job_names": self.job_names,
            "machine_names": self.machine_names,
        }


def split_comments(data: bytes) -> tuple[bytes, Labels]:
    """Blank out comment lines, so that lines keep their numbers, and read what they say."""
    labels = Labels()
    if b"#" not in data:
        return data, labels
    for match in _COMMENT.finditer(data):
        line = data.count(b"\n", 0, match.start()) + 1
        _understand(match[1].decode("utf-8", "replace").strip(), line, labels)
    return _COMMENT.sub(b"", data), labels


def _understand(comment: str, line: int, labels: Labels) -> None:
    key, _, value = comment.partition(":")
    if comment.startswith("instance "):
        labels.name = read_name(comment.removeprefix("instance ").strip())
    elif comment == "ragged":
        labels.ragged = True
    elif key == "job names":
        labels.job_names = _read_names(value, line)
    elif key == "machine names":
        labels.machine_names = _read_names(value, line)
    elif key == "machines" and value.strip().isdecimal():
        labels.num_machines = _read_count(value.strip(), line)


def _read_count(text: str, line: int) -> int:
    if len(text) > _LONGEST_COUNT:
        raise FormatError(f"line {line}: {excerpt(text)} is too large")
    return int(text)


def _read_names(text: str, line: int) -> list[str]:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"line {line}: {excerpt(text.strip())} is not a list of names in quotes")
    return names


def comment_lines(instance: Instance, *, with_name: bool = True) -> list[str]:
    """Write comments that hold what the bare numbers do not."""
    lines = []
    if instance.name and with_name:
        lines.append(f"# instance {written_name(instance.name)}")
    if instance.job_names:
        lines.append(f"# job names: {_written_names(instance.job_names)}")
    if instance.machine_names:
        lines.append(f"# machine names: {_written_names(instance.machine_names)}")
    return lines


def _written_names(names: Iterable[str]) -> str:
    # Plain ASCII: JSON's \u escapes carry any name through any editor.
    return json.dumps(list(names))


def written_name(name: str) -> str:
    """Write a name as it is, or quoted if that would not be read back."""
    return name if name and not name.startswith('"') else json.dumps(name)


def read_name(text: str) -> str:
    """Undo :func:`written_name`."""
    if text.startswith('"'):
        try:
            name = json.loads(text)
        except ValueError:
            return text
        return name if isinstance(name, str) else text
    return text
