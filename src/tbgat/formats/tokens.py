"""Whole numbers out of text, all at once, each with its line."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from tbgat.errors import FormatError
from tbgat.instance import IntArray

__all__ = ["Tokens", "excerpt", "only_numbers"]

# Largest count of digits that always fits into int64.
_MAX_DIGITS = 18


class Tokens:
    """The numbers of a text made of digits and blanks.

    A file of a million operations is read in about the time that numpy takes for its numbers, so
    everything here works on whole arrays of bytes.

    Parameters
    ----------
    data
        Text as bytes. Anything that is no number is refused, with its line.
    first_line
        Number of the line at which ``data`` starts.

    Attributes
    ----------
    values
        All numbers in order.
    """

    values: IntArray

    def __init__(self, data: bytes, first_line: int = 1) -> None:
        raw = np.frombuffer(data, dtype=np.uint8)
        blank = raw <= ord(" ")
        edges = np.flatnonzero(np.diff(blank, prepend=True, append=True))
        self._data, self._raw, self._first_line = data, raw, first_line
        self._starts, self._stops = edges[::2], edges[1::2]
        if not only_numbers(data):
            self._refuse_words(blank)
        self.values = self._parse()

    def _refuse_words(self, blank: npt.NDArray[np.bool_]) -> None:
        # Bytes below "0" wrap around to large numbers.
        odd = ~blank & (self._raw - np.uint8(ord("0")) > 9)
        if odd.any():
            index = int(np.searchsorted(self._starts, int(odd.argmax()), side="right")) - 1
            raise FormatError(f"line {self.line(index)}: {self._complaint(index)}")

    def _complaint(self, index: int) -> str:
        word = self._data[self._starts[index] : self._stops[index]]
        quoted = self._quote(index)
        if word[:1] == b"-" and word[1:].isdigit():
            return f"{quoted} is negative; machines and durations are 0 or more"
        if word.replace(b".", b"", 1).replace(b",", b"", 1).lstrip(b"-").isdigit():
            return f"{quoted} is not a whole number; use a finer unit of time"
        return f"{quoted} is not a number"

    def _quote(self, index: int) -> str:
        return excerpt(self._data[self._starts[index] : self._stops[index]])

    def _parse(self) -> IntArray:
        lengths = self._stops - self._starts
        longest = int(lengths.max(initial=0))
        if longest > _MAX_DIGITS:
            index = int(lengths.argmax())
            raise FormatError(f"line {self.line(index)}: {self._quote(index)} is too large")
        digits = self._raw - np.uint8(ord("0"))
        values = digits[self._stops - 1].astype(np.int64)
        for place in range(1, longest):
            longer = np.flatnonzero(lengths > place)
            values[longer] += 10**place * digits[self._stops[longer] - 1 - place].astype(np.int64)
        return values

    @cached_property
    def _newlines(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self._raw == ord("\n"))

    def line(self, index: int) -> int:
        """Line of a number, counted from 1."""
        before = int(np.searchsorted(self._newlines, self._starts[index]))
        return before + self._first_line

    @cached_property
    def row_offsets(self) -> IntArray:
        """Index of the first number of every line that holds any, and the total count."""
        before = np.searchsorted(self._starts, self._newlines)
        return np.unique(np.concatenate(([0], before, [len(self._starts)])).astype(np.int64))

    @property
    def num_rows(self) -> int:
        """Number of lines that hold numbers."""
        return len(self.row_offsets) - 1 if len(self.values) else 0

    def row_line(self, row: int) -> int:
        """Line of a row, counted from 1."""
        return self.line(int(self.row_offsets[row]))


def only_numbers(data: bytes) -> bool:
    """Whether a text is made of digits and blanks, by far the fastest thing to ask of it."""
    return not data.translate(None, b"0123456789 \t\r\n")


def excerpt(text: str | bytes, length: int = 30) -> str:
    """Quote the beginning of a text for an error message, on one line and printable."""
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return repr(shown if len(shown) <= length else shown[:length] + "...")
