"""What holds and what does not, computed from the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tbgat.bench.compare import CLEAR, Columns, Duel, against_all, against_paper, duels
from tbgat.bench.paper import (
    PARTIAL_NOTE,
    STEPS,
    measured_row,
    published_row,
    second_series,
    step_series,
)
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores, Series, columns_of, group_sizes
from tbgat.bench.suites import PAPER_GROUPS, SYNTHETIC_GROUPS, pools
from tbgat.bench.tables import PARTIAL, Cell, Column, Row, Table

__all__ = ["CLASSIC", "in_order", "scoreboard", "summary", "timed_columns"]

CLASSIC = tuple(group for deck in PAPER_GROUPS for group in deck)
TAILLARD = PAPER_GROUPS[0][:8]

SIGNIFICANT = 0.05

#: The method people run unless they ask for another, and what counts as a tie with it.
MAIN = "auto"
TIE_POINTS = 0.1

# By the names of a row and a budget.
Cells = dict[tuple[tuple[str, ...], str], str]


def summary(scores: Scores) -> Table:
    """Build one small table: Taillard's groups at few and many steps, and at equal seconds.

    Without ``greedy``, which is worse than ``random`` almost everywhere, and without methods that
    have something turned off.
    """
    rows: list[Row] = []
    for n in (STEPS[0], STEPS[-1]):
        rows += [published_row(f"{name}-{n}", TAILLARD) for name in ("L2S", "TBGAT")]
        found = [s for s in step_series(scores, [n]) if not s.stepless and _in_summary(s.method)]
        rows += [measured_row(scores, series, TAILLARD) for series in found]
    timed = [series for series in second_series(scores) if not series.stepless]
    rows += [measured_row(scores, series, TAILLARD) for series in timed]
    columns = [Column(group, "", group.removeprefix("ta")) for group in TAILLARD]
    partial = any(PARTIAL in cell.mark for row in rows for cell in row.cells.values())
    return Table(
        "summary",
        "Taillard's instances by size",
        ((*columns, Column("mean", "mean", "")),),
        tuple(_with_mean(row) for row in rows if row.cells),
        "mean gap to the best known makespans in %, after 500 and 5000 steps"
        + (" and after equal seconds on the same cores" if timed else ""),
        (PARTIAL_NOTE,) if partial else (),
    )


def _in_summary(label: str) -> bool:
    name, *options = label.split(":")
    return name != "greedy" and not any(option.endswith("=0") for option in options)


def _with_mean(row: Row) -> Row:
    plain = {
        group: Cell(
            cell.value,
            cell.decimals,
            seconds=cell.seconds,
            mark=PARTIAL if PARTIAL in cell.mark else "",
        )
        for group, cell in row.cells.items()
    }
    if len(plain) == len(TAILLARD) and not any(cell.mark for cell in plain.values()):
        mean = sum(cell.value for cell in plain.values()) / len(plain)
        plain["mean"] = Cell(mean, max(cell.decimals for cell in plain.values()))
    return Row(row.method, row.kind, plain, row.competes, row.source)


def timed_columns(scores: Scores) -> list[str]:
    """Name the columns of equal seconds: Taillard by size, other suites whole, dmu in halves."""
    found = {columns_of(r) for r in scores.records if r.max_seconds is not None}
    pooled = {pool for _, *wide in found for pool in wide}
    sizes = {group for group, *wide in found if not wide or "ta01-80" in wide}
    return [*in_order(sizes), *(pool for pool in pools() if pool in pooled)]


def in_order(groups: Iterable[str]) -> list[str]:
    """Order groups as the paper's columns, all others after them."""
    known = (*CLASSIC, *SYNTHETIC_GROUPS)
    return sorted(groups, key=lambda group: known.index(group) if group in known else len(known))


def scoreboard(scores: Scores) -> str:
    """Say who beats whom, in small tables."""
    lines = []
    for title, groups in (("classic benchmarks", CLASSIC), ("synthetic sizes", SYNTHETIC_GROUPS)):
        found = [c for c in against_paper(scores, STEPS, groups) if not c.first.stepless]
        if found:
            lines += _against_paper(f"Equal steps, against the paper's TBGAT on the {title}", found)
        else:
            lines += [f"Equal steps on the {title}: no runs, or no good references yet.", ""]
    for title, kept in (("classic benchmarks", _classic), ("synthetic instances", _synthetic)):
        steps = duels(scores, kept, STEPS, timed=False)
        lines += _duels(f"Equal steps, instance by instance on the {title}", steps)
    timed = duels(scores, lambda _: True, STEPS, timed=True)
    lines += _duels("Equal seconds, instance by instance", timed)
    lines += _closest(scores)
    lines += _coverage(scores)
    if not timed:
        lines.append("No equal-seconds runs yet.")
    return "\n".join(lines).rstrip() + "\n"


def _classic(record: Record) -> bool:
    return record.group in CLASSIC


def _synthetic(record: Record) -> bool:
    return record.suite == "synthetic"


def _against_paper(title: str, found: Sequence[Columns]) -> list[str]:
    cells: Cells = {
        ((f"`{c.first.method}`",), _budget(c.first)): f"{_outcome(c)}, {c.difference:+.1f}"
        for c in found
    }
    lines = _table(title, "columns smaller / equal / larger, points", ["method"], cells)
    # Where a method loses little it matters where; where it loses nearly everywhere it does not.
    where = [
        f"- `{c.first.name}` is above the published figure in {', '.join(c.lost)}."
        for c in found
        if 0 < len(c.lost) <= 8 and c.wins > c.losses
    ]
    return [*lines, *where, ""] if where else lines


def _duels(title: str, found: Sequence[Duel]) -> list[str]:
    cells: Cells = {
        (
            (f"`{d.first.method}`", f"`{d.second.method}`"),
            _budget(d.first),
        ): f"{_outcome(d)}, {d.difference:+.2f}{'' if d.p_value <= SIGNIFICANT else ' °'}"
        for d in found
        if not d.first.stepless and not d.second.stepless
    }
    note = f"instances won / tied / lost, points; ° Wilcoxon p > {SIGNIFICANT:g}"
    return _table(title, note, ["method", "against"], cells) if cells else []


def _closest(scores: Scores) -> list[str]:
    """Set ``auto`` against whoever comes closest to it, column by column."""
    sizes = group_sizes(scores.records)
    cells: Cells = {}
    above, close = [], []
    for column in timed_columns(scores):
        for seconds in scores.budgets():
            series = Series(MAIN, seconds=seconds)
            met, whole = against_all(scores, series, column, TIE_POINTS, sizes[column])
            if not met:
                continue
            best = max(met, key=lambda found: (found.difference, found.met))
            instances = min(d.instances for d in met)
            who = f"`{best.second.method}`" if best.met else "nobody"
            star = "" if whole and instances == sizes[column] else " *"
            points = f"{'≤ ' * best.conceded}{best.difference:+.2f}"
            points += "" if best.conceded else f" ±{best.error:.2f}"
            cells[(column,), _budget(series)] = f"{points} {who} x{best.seeds}{star}"
            place = f"{column} at {_budget(series)}"
            if best.difference > TIE_POINTS:
                above.append(place)
            elif any(d.difference + 2 * d.error > TIE_POINTS for d in met if not d.conceded):
                close.append(place)
    if not cells:
        return []
    note = (
        "points and their standard error over the instances, who that is, seeds; ≤ at most, "
        "whatever the runs that the other lacks: they count as if they had ended at the lower "
        "bound; * runs are missing that could matter: not so if another has all instances "
        f"and is {CLEAR} standard errors away"
    )
    title = f"Equal seconds, `{MAIN}` minus the best of the others"
    where = f"- More than {TIE_POINTS:g} points above another: {', '.join(above) or 'nowhere'}."
    near = f"- Within two standard errors of that: {', '.join(close) or 'nowhere'}."
    return [*_table(title, note, ["column"], cells), where, near, ""]


def _coverage(scores: Scores) -> list[str]:
    """Say how many seeds there are of every method, column by column."""
    methods = [label for label in scores.labels(timed=True) if not Series(label).stepless]
    sizes = group_sizes(scores.records)
    cells: Cells = {
        ((column,), f"`{method}`"): seeds
        for column in timed_columns(scores)
        for method in methods
        if (seeds := _seeds(scores, method, column, sizes[column]))
    }
    title = "Equal seconds, what was run"
    note = "up to how many seconds with how many seeds; * on some of the instances"
    return _table(title, note, ["column"], cells) if cells else []


def _seeds(scores: Scores, method: str, column: str, size: int) -> str:
    """Count seeds from the longest time to the shortest, such as ``60 s x1, 5 s x3``."""
    entries: list[str] = []
    most = 0
    for seconds in reversed(scores.budgets()):
        counts = Counter(
            run.record.instance
            for run in scores.runs(Series(method, seconds=seconds))
            if column in columns_of(run.record)
        )
        seeds = min(counts.values(), default=0) if len(counts) == size else 0
        if seeds > most:
            entries.append(f"{seconds:g} s x{seeds}")
        elif counts and not entries:
            entries.append(f"{seconds:g} s*")
        most = max(seeds, most)
    return ", ".join(entries)


def _outcome(found: Columns | Duel) -> str:
    return f"{found.wins} / {found.ties} / {found.losses}"


def _budget(series: Series) -> str:
    return f"{series.steps} steps" if series.seconds is None else f"{series.seconds:g} s"


def _table(title: str, note: str, heads: Sequence[str], cells: Cells) -> list[str]:
    """Lay out cells by the names of their row and their budget."""
    budgets = list(dict.fromkeys(budget for _, budget in cells))
    rows = list(dict.fromkeys(names for names, _ in cells))
    lines = [f"**{title}** ({note})", "", f"| {' | '.join([*heads, *budgets])} |"]
    lines.append("|" + "---|" * len(heads) + "---:|" * len(budgets))
    for names in rows:
        words = [*names, *(cells.get((names, budget), "") for budget in budgets)]
        lines.append(f"| {' | '.join(words)} |")
    return [*lines, ""]
