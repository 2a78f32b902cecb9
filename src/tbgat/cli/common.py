"""What commands share: finding the instance that was meant, and tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["INSTANCE_HELP", "find_instance", "format_table", "is_file_argument"]

INSTANCE_HELP = "a file in any format, - for standard input, or a library name such as ft10"


def find_instance(text: str, format: str | None = None) -> Instance:
    """Read a file, or load a library instance if there is no such file."""
    # Imported here because every command imports this module, even just to show its help.
    from tbgat import formats, library

    if is_file_argument(text):
        return formats.read(text, format)
    try:
        return library.load(text)
    except UsageError as error:
        raise UsageError(f"there is no file {text!r}, and {error}") from None


def is_file_argument(text: str) -> bool:
    """Whether an argument means a file: it exists, or is written like one."""
    # os.path.exists, because Path.exists raises on a name that no file can have.
    written_like_one = bool(Path(text).suffix) or len(Path(text).parts) != 1
    return text == "-" or written_like_one or os.path.exists(text)


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Line up columns: numbers to the right, texts to the left."""
    listed = [list(row) for row in rows]
    shown = [list(header)] + [[str(cell) for cell in row] for row in listed]
    widths = [max(len(row[k]) for row in shown) for k in range(len(header))]
    right = [bool(listed) and isinstance(listed[0][k], int | float) for k in range(len(header))]
    lines = [
        "  ".join(
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in shown
    ]
    return "\n".join(lines)
