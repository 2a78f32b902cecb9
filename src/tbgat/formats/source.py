"""Bytes in and text out, with errors that a person can act on."""

from __future__ import annotations

import sys
from pathlib import Path

from tbgat.errors import FormatError, UsageError

__all__ = ["read_bytes", "write_text"]


def read_bytes(path: str | Path) -> bytes:
    """Read a file, or standard input if the path is ``-``."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: this is a folder, not a file") from None
    except PermissionError:
        raise FormatError(f"{path}: no permission to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"{path}: it cannot be read ({reason})") from None


def write_text(path: str | Path, text: str) -> None:
    """Write a file, or standard output if the path is ``-``."""
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path}: it cannot be written ({error.strerror})") from None
