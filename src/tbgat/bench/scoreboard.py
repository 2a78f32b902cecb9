"""What holds and what does not, in sentences computed from the records."""

from __future__ import annotations

from collections.abc import Sequence

from tbgat.bench.compare import Duel, against_paper, duels
from tbgat.bench.paper import STEPS, measured_row, published_row, second_series, step_series
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores
from tbgat.bench.suites import PAPER_GROUPS, SYNTHETIC_GROUPS
from tbgat.bench.tables import Cell, Column, Row, Table

__all__ = ["CLASSIC", "scoreboard", "summary"]

CLASSIC = tuple(group for deck in PAPER_GROUPS for group in deck)
TAILLARD = PAPER_GROUPS[0][:8]


def summary(scores: Scores) -> Table:
    """Build one small table: Taillard's groups at few and many steps, and at equal seconds."""
    rows: list[Row] = []
    for n in (STEPS[0], STEPS[-1]):
        rows += [published_row(f"{name}-{n}", TAILLARD) for name in ("L2S", "TBGAT")]
        found = [series for series in step_series(scores, [n]) if not series.stepless]
        rows += [measured_row(scores, series, TAILLARD) for series in found]
    timed = [series for series in second_series(scores) if not series.stepless]
    rows += [measured_row(scores, series, TAILLARD) for series in timed]
    columns = [Column(group, "", group.removeprefix("ta")) for group in TAILLARD]
    return Table(
        "summary",
        "Taillard's instances by size",
        ((*columns, Column("mean", "mean", "")),),
        tuple(_with_mean(row) for row in rows if row.cells),
        "mean gap to the best known makespans in %, after 500 and 5000 steps"
        + (" and after equal seconds on the same cores" if timed else ""),
    )


def _with_mean(row: Row) -> Row:
    plain = {g: Cell(c.value, c.decimals, seconds=c.seconds) for g, c in row.cells.items()}
    if len(plain) == len(TAILLARD):
        mean = sum(cell.value for cell in plain.values()) / len(plain)
        plain["mean"] = Cell(mean, max(cell.decimals for cell in plain.values()))
    return Row(row.method, row.kind, plain, row.competes, row.source)


def scoreboard(scores: Scores) -> str:
    """Say against whom, in Markdown."""
    lines = []
    for title, groups in (("classic benchmarks", CLASSIC), ("synthetic sizes", SYNTHETIC_GROUPS)):
        found = [c for c in against_paper(scores, STEPS, groups) if c.first != "dispatch"]
        if found:
            lines += [f"**Equal steps, against the paper's figures on the {title}**", ""]
        for c in found:
            where = f" ({', '.join(c.lost)})" if 0 < len(c.lost) <= 8 else ""
            lines.append(
                f"- `{c.first}` against {c.second}: smaller mean gap in {c.wins} of "
                f"{c.wins + c.ties + c.losses} columns, equal in {c.ties}, larger in "
                f"{c.losses}{where}; on average {c.difference:+.1f} percentage points"
            )
        missing = f"Equal steps on the {title}: no runs, or no good references yet.\n"
        lines.append("" if found else missing)
    for title, kept in (("classic benchmarks", _classic), ("synthetic", _synthetic)):
        steps = [d for d in duels(scores, kept, STEPS, timed=False) if "dispatch" not in d.second]
        lines += _sentences(f"Equal steps, instance by instance ({title})", steps)
    timed = duels(scores, lambda _: True, STEPS, timed=True)
    lines += _sentences(
        "Equal seconds, instance by instance", [d for d in timed if "dispatch" not in d.first]
    )
    if not timed:
        lines.append("No equal-seconds runs yet.")
    return "\n".join(lines).rstrip() + "\n"


def _classic(record: Record) -> bool:
    return record.group in CLASSIC


def _synthetic(record: Record) -> bool:
    return record.suite == "synthetic"


def _sentences(title: str, found: Sequence[Duel]) -> list[str]:
    if not found:
        return []
    lines = [f"**{title}**", ""]
    for d in found:
        verdict = "better" if d.difference < 0 else "worse"
        if d.p_value > 0.05:
            verdict = "not clearly different"
        lines.append(
            f"- `{d.first}` against `{d.second}`: {verdict} ({d.wins} wins, {d.ties} ties, "
            f"{d.losses} losses, {d.difference:+.2f} percentage points, p = {d.p_value:.2g})"
        )
    return [*lines, ""]
