"""Bytes in and text out, with errors that a person can act on."""

from __future__ import annotations

import sys
from pathlib import Path

from tbgat.errors import FormatError, UsageError

__all__ = ["read_bytes", "tidy_text", "write_text"]


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


def tidy_text(text: str | bytes) -> bytes:
    """Refuse what is no text, drop a byte order mark, let every line end the same way."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise FormatError("it is empty")
    if b"\0" in data:
        raise FormatError("it is not a text file (there are zero bytes in it)")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {line}: this is not UTF-8 text; save it as UTF-8") from None
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
