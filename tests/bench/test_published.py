from __future__ import annotations

from collections import Counter

from tbgat import library
from tbgat.bench.published import (
    PAPER_REFERENCES,
    published_gaps,
    published_makespans,
    published_sources,
)
from tbgat.bench.suites import PAPER_GROUPS, SYNTHETIC_GROUPS

COLUMNS = {group for deck in PAPER_GROUPS for group in deck}


def test_every_row_of_the_paper_has_all_its_columns() -> None:
    columns = Counter(
        figure.method
        for figure in published_gaps()
        if figure.source.startswith("tbgat") and figure.group in COLUMNS
    )
    full = {f"{name}-{n}": 26 for name in ("TBGAT", "L2S") for n in (500, 1000, 2000, 5000)}
    full |= dict.fromkeys(("CP-SAT 3600 s", "L2D", "RL-GNN", "ScheduleNet"), 26)
    assert columns == full | {"ACL": 8}
    synthetic = Counter(
        figure.method for figure in published_gaps() if figure.group in SYNTHETIC_GROUPS
    )
    assert synthetic["TBGAT-5000"] == synthetic["L2S-500"] == synthetic["L2D"] == 5
    assert synthetic["EAS-Emb"] == 3


def test_known_figures_of_the_paper() -> None:
    gaps = {
        (figure.method, figure.group): (figure.gap, figure.seconds)
        for figure in published_gaps()
        if figure.source.startswith("tbgat")
    }
    assert gaps["TBGAT-500", "ta15x15"] == (8.0, 12.6)
    assert gaps["TBGAT-5000", "ta100x20"] == (1.2, 402)
    assert gaps["TBGAT-5000", "yn20x20"] == (5.7, 138)
    assert gaps["L2S-2000", "swv50x10"] == (19.0, 49.5)
    assert gaps["RL-GNN", "ft20x5"] == (14.8, 1.3)
    assert gaps["CP-SAT 3600 s", "orb10x10"] == (0.0, 4.8)
    assert gaps["TBGAT-1000", "synthetic20x15"] == (7.7, 26.8)
    makespans = {(m.method, m.instance): m.makespan for m in published_makespans()}
    assert makespans["TBGAT-5000", "ta41"] == 2255
    assert makespans["TBGAT-500", "ta72"] == 5452
    assert makespans["DGERD Transformer", "ta01"] == 1711.07


def test_every_figure_has_a_source_with_status() -> None:
    sources = published_sources()
    used = {f.source for f in published_gaps()} | {m.source for m in published_makespans()}
    assert used == set(sources)
    assert all(source.citation and source.status for source in sources.values())
    assert not any("unverified" in source.status for source in sources.values())


def test_paper_references_that_differ_do_differ() -> None:
    for name, reference in PAPER_REFERENCES.items():
        assert reference != library.bounds(name).upper_bound
