"""A table as data, and the three ways it is written: Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "BATCHED",
    "IMPOSSIBLE",
    "PARTIAL",
    "READ_OUT",
    "UNSETTLED",
    "Cell",
    "Column",
    "Row",
    "Table",
    "clock",
    "csv_text",
    "latex",
    "markdown",
]

Kind = Literal["published", "measured"]

# Signs at figures; the note that explains one begins with it.
BATCHED, PARTIAL, READ_OUT, UNSETTLED = "†", "*", "¶", "§"
# A published figure that no schedule can have.
IMPOSSIBLE = "‡"
MARKS = BATCHED + PARTIAL + READ_OUT + UNSETTLED + IMPOSSIBLE

CSV_HEADER = (
    *("table", "column", "method", "kind", "value", "spread", "seconds"),
    *("value_to_paper_reference", "instances", "seeds", "source"),
)


@dataclass(frozen=True)
class Column:
    """A column: what is looked up in the rows, and two lines of heading."""

    key: str
    family: str
    size: str


@dataclass(frozen=True)
class Cell:
    """A figure.

    Attributes
    ----------
    paper
        The same against the paper's references, where those differ.
    mark
        A sign that a note under the table explains.
    """

    value: float
    decimals: int = 1
    spread: float | None = None
    seconds: float | None = None
    paper: float | None = None
    instances: int | None = None
    seeds: int | None = None
    mark: str = ""

    @property
    def number(self) -> str:
        """The value, rounded as in the table."""
        return f"{self.value:.{self.decimals}f}"


@dataclass(frozen=True)
class Row:
    """A method, published or measured; the best of the rows that compete is set in bold."""

    method: str
    kind: Kind
    cells: dict[str, Cell]
    competes: bool = True
    source: str = ""


@dataclass(frozen=True)
class Table:
    """A table: decks of columns that share the rows' methods."""

    name: str
    title: str
    decks: tuple[tuple[Column, ...], ...]
    rows: tuple[Row, ...]
    unit: str = "gap in %"
    notes: tuple[str, ...] = field(default=())

    def only_measured_columns(self) -> Table | None:
        """Drop columns without a measured figure and rows without any left; None if none is."""
        measured = {key for row in self.rows if row.kind == "measured" for key in row.cells}
        decks = tuple(tuple(c for c in deck if c.key in measured) for deck in self.decks)
        if not measured or not any(decks):
            return None
        rows = tuple(row for row in self.rows if measured & set(row.cells))
        marks = "".join(row.cells[key].mark for row in rows for key in measured & set(row.cells))
        notes = tuple(note for note in self.notes if note[0] not in MARKS or note[0] in marks)
        return Table(self.name, self.title, tuple(filter(None, decks)), rows, self.unit, notes)

    def best(self, key: str) -> float | None:
        """Smallest value of a column among the rows that compete, as rounded."""
        values = [
            float(row.cells[key].number)
            for row in self.rows
            if row.competes and key in row.cells and row.cells[key].mark != IMPOSSIBLE
        ]
        return min(values, default=None)


def clock(seconds: float) -> str:
    """Write a time as the paper does: 12.6s, 2.1m, 1.0h; and what takes less: 48ms, 2.1ms."""
    if seconds < 0.95:
        return f"{1000 * seconds:.{0 if seconds >= 0.0095 else 1}f}ms"
    if seconds < 99.95:
        return f"{seconds:.1f}s"
    return f"{seconds / 60:.1f}m" if seconds < 1800 else f"{seconds / 3600:.1f}h"


def markdown(table: Table) -> str:
    """Write for reading; a time stands behind its figure."""
    lines = [f"### {table.title}", "", f"{table.unit}; time per instance in brackets.", ""]
    for deck in table.decks:
        heads = [f"{column.family} {column.size}".strip() for column in deck]
        lines += [
            _line(["method", "", *heads]),
            _line(["---", "---", *["---:"] * len(deck)]),
        ]
        for row in table.rows:
            if any(column.key in row.cells for column in deck):
                cells = [_markdown_cell(table, row, column.key) for column in deck]
                lines.append(_line([row.method, row.kind, *cells]))
        lines.append("")
    lines += [f"- {note}" for note in table.notes]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(table: Table, row: Row, key: str) -> str:
    cell = row.cells.get(key)
    if cell is None:
        return ""
    text = cell.number
    if row.competes and float(text) == table.best(key):
        text = f"**{text}**"
    if cell.spread is not None:
        text += f"±{cell.spread:.{max(cell.decimals, 1)}f}"
    if cell.paper is not None:
        text += f" [{cell.paper:.{cell.decimals}f}]"
    if cell.seconds is not None:
        text += f" ({clock(cell.seconds)})"
    return text + cell.mark


def latex(table: Table) -> str:
    """Write with booktabs; figure and time are columns of their own, as in the paper."""
    lines = ["% needs \\usepackage{booktabs}", "\\begin{table*}", "\\centering"]
    lines.append(f"\\caption{{{_tex(table.title)} ({_tex(table.unit)}, time per instance)}}")
    for deck in table.decks:
        lines.append(f"\\begin{{tabular}}{{@{{}}l|{'|'.join(['rr'] * len(deck))}@{{}}}}")
        lines.append("\\toprule")
        heads = [
            f"\\multicolumn{{2}}{{c}}{{{_tex(column.family)} {_tex_size(column.size)}}}"
            for column in deck
        ]
        lines.append(" & ".join(["Method", *heads]) + " \\\\ \\midrule")
        for row in table.rows:
            if any(column.key in row.cells for column in deck):
                name = _tex(row.method) + (" (published)" if row.kind == "published" else "")
                cells = [_latex_cell(table, row, column.key) for column in deck]
                lines.append(" & ".join([name, *cells]) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}", ""]
    lines += [f"% {note}" for note in table.notes]
    return "\n".join([*lines, f"\\label{{tab:{table.name}}}", "\\end{table*}"]) + "\n"


def _latex_cell(table: Table, row: Row, key: str) -> str:
    cell = row.cells.get(key)
    if cell is None:
        return " & "
    text = cell.number
    if row.competes and float(text) == table.best(key):
        text = f"\\textbf{{{text}}}"
    if cell.spread is not None:
        text += f"$\\pm${cell.spread:.{max(cell.decimals, 1)}f}"
    if cell.paper is not None:
        text += f" [{cell.paper:.{cell.decimals}f}]"
    return f"{text} & {clock(cell.seconds) if cell.seconds is not None else ''}"


def _tex(text: str) -> str:
    return re.sub(r"([%&_#])", r"\\\1", text)


def _tex_size(text: str) -> str:
    return re.sub(r"(\d+)x(\d+)", r"$\1\\times\2$", text)


def csv_text(tables: Iterable[Table]) -> str:
    """Write every figure of some tables on a line of its own."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for table in tables:
        for row in table.rows:
            for column in (column for deck in table.decks for column in deck):
                cell = row.cells.get(column.key)
                if cell is not None:
                    numbers = [
                        "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")
                        for value in (cell.value, cell.spread, cell.seconds, cell.paper)
                    ]
                    counts = ["" if n is None else str(n) for n in (cell.instances, cell.seeds)]
                    start = [table.name, column.key, row.method, row.kind]
                    writer.writerow([*start, *numbers, *counts, row.source])
    return buffer.getvalue()
