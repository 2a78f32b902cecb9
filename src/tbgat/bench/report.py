"""The report of a measurement: all tables and comparisons as text, written into a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tbgat.bench.compare import against_paper, duels
from tbgat.bench.paper import (
    MARK_NOTES,
    STEPS,
    column,
    equal_seconds,
    measured_row,
    paper_tables,
    step_series,
)
from tbgat.bench.published import published_sources
from tbgat.bench.records import Record
from tbgat.bench.scoreboard import CLASSIC, in_order, scoreboard, summary, timed_columns
from tbgat.bench.scores import Scores
from tbgat.bench.suites import SYNTHETIC_GROUPS
from tbgat.bench.tables import Table, csv_text, latex, markdown

__all__ = ["build_tables", "make_report", "write_report"]


def build_tables(scores: Scores) -> list[Table]:
    """Build all tables that have a measured figure, with the columns that have one."""
    known = (*CLASSIC, *SYNTHETIC_GROUPS)
    stepped = dict.fromkeys(r.group for r in scores.records if r.max_steps)
    budgets = {r.max_steps for r in scores.records if r.max_steps}
    unusual = sorted(budgets.difference(STEPS))
    tables = [
        *paper_tables(scores),
        _plain_table(
            scores,
            "groups",
            "Further groups, equal steps",
            [g for g in stepped if g not in known],
            STEPS,
        ),
        _plain_table(scores, "steps", "Other numbers of steps", in_order(stepped), unusual),
        equal_seconds(scores, timed_columns(scores)),
    ]
    return [table for table in (t.only_measured_columns() for t in tables) if table is not None]


def _plain_table(
    scores: Scores, name: str, title: str, groups: Sequence[str], steps: Sequence[int]
) -> Table:
    """Build a table without published rows."""
    rows = [measured_row(scores, series, groups) for series in step_series(scores, steps)]
    return Table(
        name,
        title,
        (tuple(column(group) for group in groups),),
        tuple(row for row in rows if row.cells),
        notes=MARK_NOTES,
    )


def make_report(records: Sequence[Record], cards: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the whole report in Markdown."""
    scores = Scores(records)
    tables = build_tables(scores)
    parts = ["# What was measured", "", *_provenance(records, cards), ""]
    parts += ["## Tables", "", *(markdown(table) for table in tables)]
    parts += ["## Instance by instance", "", *_comparisons(scores)]
    used = {row.source for table in tables for row in table.rows if row.source}
    parts += ["## Sources of the published rows", ""]
    for name, source in published_sources().items():
        if name in used:
            hardware = source.hardware or "not stated"
            parts.append(f"- `{name}`: {source.citation}; hardware: {hardware}; {source.status}")
    return "\n".join(parts) + "\n"


def write_report(
    records: Sequence[Record], cards: Mapping[str, Mapping[str, Any]], folder: Path
) -> list[Path]:
    """Write all texts into a folder.

    ``report.md`` has everything, ``tables.csv`` and ``tables.tex`` the tables; ``summary.md`` is
    one small table and ``scoreboard.md`` who beats whom.
    """
    scores = Scores(records)
    tables = build_tables(scores)
    texts = {
        "report.md": make_report(records, cards),
        "tables.csv": csv_text(tables),
        "tables.tex": "\n".join(latex(table) for table in tables),
        "scoreboard.md": scoreboard(scores),
        "summary.md": markdown(short) if (short := summary(scores).only_measured_columns()) else "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / name: text for name, text in texts.items() if text}
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return list(written)


def _provenance(records: Sequence[Record], cards: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [f"{len(records)} runs. Every figure marked measured is computed from them."]
    by_card: dict[str, list[Record]] = {}
    for record in records:
        by_card.setdefault(record.card, []).append(record)
    for name, some in by_card.items():
        card = cards.get(name, {})
        commits = ", ".join(sorted({record.commit for record in some}))
        days = sorted({record.finished[:10] for record in some})
        versions = ", ".join(f"{k} {v}" for k, v in dict(card.get("versions", {})).items())
        lines.append(
            f"- {len(some)} runs on {card.get('cpu', 'an unknown processor')}, "
            f"{card.get('cores', '?')} cores, {card.get('memory_gb', '?')} GB, Python "
            f"{card.get('python', '?')}, {versions}; {days[0]} to {days[-1]}; commits {commits}"
        )
    stepped = [record for record in records if record.max_steps]
    if stepped:
        share = sum(r.cpu_seconds for r in stepped) / sum(r.seconds * r.threads for r in stepped)
        lines.append(f"- runs of equal steps had a processor {min(share, 1):.0%} of their time")
    timed = [record for record in records if record.max_seconds is not None]
    for label in dict.fromkeys(record.label for record in timed):
        # Dispatching takes no time worth a share.
        some = [r for r in timed if r.label == label and r.seconds > 0.5]
        if some:
            share = sum(r.cpu_seconds for r in some) / sum(r.seconds * r.threads for r in some)
            late = sum(r.seconds > 1.1 * (r.max_seconds or 0) + 0.1 for r in some)
            lines.append(
                f"- {label}: its threads had a processor {share:.0%} of their time"
                + (
                    f"; {late} of {len(some)} runs took over 10% longer than allowed"
                    if late
                    else ""
                )
            )
    beaten = sorted(Scores(records).beaten)
    if beaten:
        names = ", ".join(beaten[:5]) + (", ..." if len(beaten) > 5 else "")
        lines.append(
            f"- on {len(beaten)} instances ({names}) a run is better than the stored reference; "
            "there the gap is to that run"
        )
    return lines


def _comparisons(scores: Scores) -> list[str]:
    lines = []
    sets: list[tuple[str, Callable[[Record], bool], bool]] = [
        ("classic benchmarks, equal steps", lambda r: r.group in CLASSIC, False),
        ("synthetic instances, equal steps", lambda r: r.suite == "synthetic", False),
        ("equal seconds", lambda r: True, True),
    ]
    for title, kept, timed in sets:
        found = duels(scores, kept, STEPS, timed=timed)
        if found:
            lines += [
                f"### {title}",
                "",
                "| first | second | wins | ties | losses | mean difference of the gap | p |",
                "|---|---|---:|---:|---:|---:|---:|",
            ]
            lines += [
                f"| {d.first.name} | {d.second.name} | {d.wins} | {d.ties} | {d.losses} "
                f"| {d.difference:+.2f} | {d.p_value:.2g} |"
                for d in found
            ]
            lines.append("")
    columns = against_paper(scores, STEPS, CLASSIC)
    columns += against_paper(scores, STEPS, SYNTHETIC_GROUPS)
    if columns:
        lines += [
            "### measured against the paper's published columns, equal steps",
            "",
            "| measured | published | smaller in columns | equal | larger | mean difference |",
            "|---|---|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {c.first.name} | {c.second} | {c.wins} | {c.ties} | {c.losses} "
            f"| {c.difference:+.2f} |"
            for c in columns
        ]
        lines.append("")
    return lines
