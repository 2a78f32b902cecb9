from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tbgat import library
from tbgat.bench.records import Record, Store
from tbgat.bench.scoreboard import scoreboard, summary
from tbgat.bench.scores import Scores
from tbgat.bench.tables import Cell, Column, Row, Table, latex, markdown
from tbgat.cli import main
from tests.bench.making import make_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with records of both kinds of comparison."""
    records = []
    for method in ("tabu", "random"):
        for seed in (0, 1):
            for name in ("abz7", "abz8", "abz9", "ft06", "ta41", "ta52"):
                records.append(make_record(name, {0: 3000, 700: 2900 + seed}, seed, method=method))
                records.append(
                    make_record(
                        name,
                        {0: 3000},
                        seed,
                        method=method,
                        max_steps=None,
                        max_seconds=1.0,
                        threads=2,
                        cpu_seconds=9.0,
                    )
                )
    with Store(tmp_path / "records") as store:
        store.append(records)
        store.add_card({"cpu": "some processor", "cores": 2})
    return tmp_path / "records"


def test_report_writes_every_kind_of_file_and_prints_the_tables(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["report", str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    names = {"report.md", "tables.csv", "tables.tex", "summary.md", "scoreboard.md"}
    names |= {"gap-steps.png", "gap-seconds.png"}
    assert {path.name for path in out.iterdir()} == names
    text = (out / "report.md").read_text()
    assert "| TBGAT-500 | published | **11.8** (12.8s) | **0.0** (7.4s) |" in _columns(text)
    assert "below the proven lower bound 2756" in text
    assert "had a processor 90% of their time" in text
    assert "Table 2" in printed
    board = (out / "scoreboard.md").read_text()
    assert "| `tabu` | `random` | 0 / 6 / 0, +0.00 ° |" in board
    with (out / "tables.csv").open() as file:
        rows = list(csv.DictReader(file))
    abz = next(
        r
        for r in rows
        if (r["table"], r["column"], r["method"]) == ("table2", "abz20x15", "tabu-500")
    )
    assert (abz["kind"], abz["instances"], abz["seeds"], abz["spread"]) == (
        "measured",
        "3",
        "2",
        "0",
    )
    assert float(abz["value_to_paper_reference"]) > float(abz["value"])
    later = next(r for r in rows if (r["table"], r["method"]) == ("table3", "tabu-1000"))
    assert float(later["spread"]) > 0
    assert {r["table"] for r in rows} == {f"table{n}" for n in (2, 3, 5, 6, 7)} | {"seconds"}
    assert "\\begin{tabular}" in (out / "tables.tex").read_text()


def _columns(text: str) -> str:
    """The published row of Table 2 without the columns of other groups."""
    row = next(line for line in text.splitlines() if line.startswith("| TBGAT-500 | published"))
    cells = row.split(" | ")
    return " | ".join([*cells[:2], cells[-2], cells[-1]])


def test_auto_is_set_against_whoever_comes_closest() -> None:
    def timed(method: str, name: str, seed: int, makespan: int) -> Record:
        limits = {"max_steps": None, "max_seconds": 5.0, "threads": 2}
        return make_record(name, {0: makespan, 5000: makespan}, seed, method=method, **limits)

    records = [timed("auto", "abz5", seed, 1234) for seed in (0, 1)]
    records += [timed("tabu", "abz5", seed, 1234 + 617 * seed) for seed in (0, 1)]
    records += [timed("auto", "abz6", 0, 945), timed("tabu", "abz6", 0, 943)]
    records += [timed("auto", "ft06", 0, 66), timed("cpsat", "ft06", 0, 55)]
    # A seed and an instance that auto lacks do not count.
    records += [timed("cpsat", "abz5", seed, 1851) for seed in (1, 2)]
    records += [timed("cpsat", "abz7", 0, 656)]
    # On orb01 auto is at the optimum, so it needs no opponent; on la01 it does.
    records += [timed("auto", "orb01", 0, 1059), timed("auto", "la01", 0, 700)]
    board = scoreboard(Scores(records))
    # 25 points below on abz5 (half of 50), 0.21 above on abz6; cpsat has less of both.
    assert "| abz | -12.39 ±12.61 `tabu` x1 * | -12.39 ±12.61 `tabu` x1 * |" in board
    assert "| ft | +20.00 ±0.00 `cpsat` x1 * | +20.00 ±0.00 `cpsat` x1 * |" in board
    assert "| orb | ≤ +0.00 nobody x1 * | ≤ +0.00 nobody x1 * |" in board
    assert board.count("| la |") == 1  # among what was run, not among the comparisons
    assert "- More than 0.1 points above another: ft at 1 s, ft at 5 s." in board
    assert "- Within two standard errors of that: abz at 1 s, abz at 5 s." in board


def test_a_column_is_complete_once_nobody_can_be_better() -> None:
    names = {e.name: e for e in library.select(family="orb")}
    limits = {"max_steps": None, "max_seconds": 5.0, "threads": 2}
    records = [
        make_record(name, {0: entry.upper_bound + (name == "orb03")}, seed, method="auto", **limits)
        for name, entry in names.items()
        for seed in range(3)
    ]
    other = make_record("orb01", {0: 1100}, method="tabu", **limits)
    board = scoreboard(Scores([*records, other]))
    # 3.87 % in one of thirty runs of tabu's; one unit of 1005 in three of auto's.
    assert "| orb | ≤ -0.12 `tabu` x3 | ≤ -0.12 `tabu` x3 |" in board


def test_seeds_of_an_opponent_that_is_far_away_are_not_missed() -> None:
    names = {e.name: e for e in library.select(family="yn")}
    limits = {"max_steps": None, "max_seconds": 5.0, "threads": 2}

    def runs(method: str, percent: float, seeds: int) -> list[Record]:
        return [
            make_record(
                name, {0: round(e.upper_bound * (1 + percent / 100))}, s, method=method, **limits
            )
            for name, e in names.items()
            for s in range(seeds)
        ]

    ours = runs("auto", 0.5, 3)
    # At the lower bounds of yn two more seeds could turn it: conceding is not enough.
    board = scoreboard(Scores([*ours, *runs("tabu", 1, 1)]))
    assert re.search(r"\| yn \| -[01]\.\d\d ±0\.\d\d `tabu` x1 \|", board)
    assert "| yn | 5 s x3 | 5 s x1 |" in board
    one_missing = [r for r in runs("tabu", 1, 1) if r.instance != "yn1"]
    board = scoreboard(Scores([*ours, *one_missing]))
    assert re.search(r"\| yn \| -[01]\.\d\d ±0\.\d\d `tabu` x1 \* \|", board)
    assert "| yn | 5 s x3 | 5 s* |" in board
    close = runs("tabu", 0.5, 1)[:2] + runs("tabu", 1.5, 1)[2:]
    assert re.search(r"-0\.\d\d ±0\.\d\d `tabu` x1 \* \|", scoreboard(Scores([*ours, *close])))


def test_seeds_are_counted_from_the_longest_time_to_the_shortest() -> None:
    def runs(seconds: float, seeds: int) -> list[Record]:
        limits = {"max_steps": None, "max_seconds": seconds, "threads": 2, "method": "tabu"}
        names = ("ft06", "ft10", "ft20")
        return [make_record(name, {0: 2000}, s, **limits) for name in names for s in range(seeds)]

    assert "| ft | 60 s x1, 5 s x3 |" in scoreboard(Scores([*runs(60, 1), *runs(5, 3)]))
    assert "| ft | 60 s x3 |" in scoreboard(Scores([*runs(60, 3), *runs(5, 1)]))
    assert "| ft | 60 s*, 5 s x1 |" in scoreboard(Scores([*runs(60, 1)[:2], *runs(5, 1)]))


def test_the_summary_marks_what_is_not_whole() -> None:
    limits = {"max_steps": None, "max_seconds": 1.0, "threads": 2}
    names = [entry.name for entry in library.select(family="ta")]
    records = [make_record(name, {0: 9000}, method="auto", **limits) for name in names]
    records += [make_record(name, {0: 9000}, method="tabu", **limits) for name in names[1:]]
    table = summary(Scores(records))
    whole, part = (row for row in table.rows if row.kind == "measured")
    assert "mean" in whole.cells
    assert "mean" not in part.cells
    assert [part.cells[key].mark for key in ("ta15x15", "ta20x15")] == ["*", ""]
    assert "- * not all instances" in markdown(table)


def test_no_records_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "there are no records in" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_own_instances_and_unusual_budgets_have_tables_too(tmp_path: Path) -> None:
    own = [
        make_record("ft06", {0: 100, 40: value}, digest="own", group="shop-6x6", method=method)
        for method, value in (("tabu", 80), ("random", 90))
    ]
    short = make_record("ft10", {0: 1023}, max_steps=300, steps=300, method="cpsat")
    with Store(tmp_path) as store:
        store.append([*own, short])
    assert main(["report", str(tmp_path)]) == 0
    with (tmp_path / "tables.csv").open() as file:
        rows = {
            (r["table"], r["column"], r["method"]): r["value"]
            for r in csv.DictReader(file)
            if r["kind"] == "measured"
        }
    assert rows == {
        ("groups", "shop-6x6", f"{method}-{n}"): value
        for method, value in (("tabu", "0"), ("random", "12.5"))
        for n in (500, 1000, 2000, 5000)
    } | {
        ("steps", "ft10x10", "cpsat-300"): "10",
        ("steps", "shop-6x6", "tabu-300"): "0",
        ("steps", "shop-6x6", "random-300"): "12.5",
    }
    assert (tmp_path / "gap-steps.png").exists()


def test_figure_6_from_logs(folder: Path, tmp_path: Path) -> None:
    training = tmp_path / "training" / "four-heads"
    training.mkdir(parents=True)
    (training / "log.jsonl").write_text(
        '{"instances": 64, "validation_gap": 0.2}\n{"instances": 128, "validation_gap": 0.1}\n'
    )
    assert main(["report", str(folder), "--training", str(training.parent)]) == 0
    assert (folder / "figure6ab.png").stat().st_size > 1000


def test_the_best_competing_figure_is_bold_in_both_texts() -> None:
    columns = (Column("a", "ABZ", "10x10"), Column("b", "FT", ""))
    rows = (
        Row("CP", "published", {"a": Cell(0.0), "b": Cell(0.0)}, competes=False),
        Row("one_1", "published", {"a": Cell(1.04, seconds=200), "b": Cell(2.0)}),
        Row("two", "measured", {"a": Cell(0.96, spread=0.3, seconds=0.01)}),
    )
    table = Table("t", "Title", (columns,), rows, notes=("a note",))
    assert markdown(table).splitlines()[6:] == [
        "| CP | published | 0.0 | 0.0 |",
        "| one_1 | published | **1.0** (3.3m) | **2.0** |",
        "| two | measured | **1.0**±0.3 (10ms) |  |",
        "",
        "- a note",
    ]
    text = latex(table)
    assert "one\\_1 (published) & \\textbf{1.0} & 3.3m & \\textbf{2.0} &  \\\\" in text
    assert "\\multicolumn{2}{c}{ABZ $10\\times10$}" in text
    only = table.only_measured_columns()
    assert only is not None
    assert [column.key for deck in only.decks for column in deck] == ["a"]
