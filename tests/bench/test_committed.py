"""The records in ``results/`` can be made again, and the tables there are made from them."""

from __future__ import annotations

import csv
import importlib.util
import json
import statistics
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

from tbgat import library
from tbgat.bench.plan import STEPWISE, Budget, Job, MethodSpec
from tbgat.bench.records import Record
from tbgat.bench.run import run_job
from tbgat.bench.suites import PAPER_GROUPS, Case

ROOT = Path(__file__).resolve().parents[2]
CLASSIC = ROOT / "results/steps/classic/records.jsonl"
TABLES = ROOT / "results/report/tables.csv"
COLUMNS = [group for deck in PAPER_GROUPS for group in deck]


def raw_records() -> list[dict]:
    return [
        json.loads(line)
        for path in sorted((ROOT / "results/steps").rglob("records.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def label(record: dict) -> str:
    options = sorted(record.get("options", {}).items())
    return ":".join([record["method"], *(f"{key}={value}" for key, value in options)])


def table_from_records(steps: int) -> dict[tuple[str, str], float]:
    """Mean gap by method and group at some steps, without any code of the package's report."""
    gaps: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in raw_records():
        if record["group"] in COLUMNS and record["method"] in STEPWISE:
            best_known = library.bounds(record["instance"]).upper_bound
            reached = min(makespan for step, _, makespan in record["history"] if step <= steps)
            name = record["instance"]
            gaps[label(record), record["group"]][name].append(100 * (reached / best_known - 1))
    return {
        key: statistics.fmean(statistics.fmean(values) for values in by_name.values())
        for key, by_name in gaps.items()
    }


@pytest.mark.parametrize(("table", "steps"), [("table2", 500), ("table3", 2000), ("table3", 5000)])
def test_tables_2_and_3_follow_from_the_records(table: str, steps: int) -> None:
    expected = {
        (method if method == "dispatch" else f"{method}-{steps}", group): gap
        for (method, group), gap in table_from_records(steps).items()
        if method != "dispatch" or table == "table2"
    }
    with TABLES.open(encoding="utf-8") as file:
        shown = {
            (row["method"], row["column"]): float(row["value"])
            for row in csv.DictReader(file)
            if row["table"] == table
            and row["kind"] == "measured"
            and (
                row["method"].endswith(f"-{steps}")
                or (table, row["method"]) == ("table2", "dispatch")
            )
        }
    assert shown.keys() == expected.keys()
    for method in ("tabu", "random", "greedy"):
        assert {group for name, group in shown if name == f"{method}-{steps}"} == set(COLUMNS)
    for key, gap in expected.items():
        assert shown[key] == pytest.approx(gap, abs=1e-4), key


def test_committed_records_are_complete_and_none_is_there_twice() -> None:
    counts: dict[tuple, int] = defaultdict(int)
    for record in raw_records():
        counts[
            record["instance"],
            label(record),
            str(record.get("weights")),
            record["max_steps"],
            record["seed"],
        ] += 1
    assert set(counts.values()) == {1}


@pytest.mark.parametrize(
    ("name", "method", "seed"),
    [("ta01", "tabu", 0), ("la21", "tabu", 2), ("ta71", "tabu", 1), ("ft10", "random", 0),
     ("swv06", "random", 1), ("abz7", "greedy", 2), ("yn1", "dispatch", 0)],
)  # fmt: skip
def test_a_committed_run_comes_out_the_same_again(name: str, method: str, seed: int) -> None:
    lines = CLASSIC.read_text(encoding="utf-8").splitlines()
    committed = next(
        record
        for record in map(Record.from_json, lines)
        if (record.instance, record.method, record.seed) == (name, method, seed)
    )
    case = Case(committed.suite, committed.group, library.load(name))
    job = Job((case,), MethodSpec(method), Budget(committed.max_steps), 1, seed)
    (again,) = run_job(job)
    assert again.key == committed.key
    assert again.makespan == committed.makespan, "the method changed: renew with bench --fresh"
    assert [(g.step, g.makespan) for g in again.history] == [
        (g.step, g.makespan) for g in committed.history
    ]


def fill_blocks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fill_blocks", ROOT / "tools/fill_blocks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["docs/evidence.md", "docs/auto.md", "README.md"])
def test_tables_in_pages_are_the_generated_ones(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert fill_blocks().filled(text) == text, "run: make evidence-report"
