from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tbgat.bench.plan import MethodSpec, plan
from tbgat.bench.records import RECORDS, Record, read_cards, read_records
from tbgat.bench.run import measure, run_job
from tbgat.bench.suites import load_suites
from tbgat.cli import main
from tbgat.search.result import Result
from tbgat.solvers import dispatch

COMMAND = ("bench", "ft", "la", "--group", "6x6,10x5,15x5", "--methods", "dispatch,cpsat")
BUDGET = ("--steps", "60", "--seeds", "4", "--quiet")
RUNS = 11 * 2 * 4


def what_was_found(folder: Path) -> list[Record]:
    """Everything but what differs from one time to the next."""
    records = [
        dataclasses.replace(
            record,
            seconds=0.0,
            cpu_seconds=0.0,
            finished="",
            history=tuple(dataclasses.replace(gain, seconds=0.0) for gain in record.history),
        )
        for record in read_records(folder)
    ]
    return sorted(records, key=lambda record: record.key)


def test_a_run_killed_again_and_again_gives_the_records_of_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert main([*COMMAND, *BUDGET, "--out", str(undisturbed)]) == 0
    path = killed / RECORDS
    kills = 0
    for wanted in (9, 40, 71):
        process = subprocess.Popen(
            [sys.executable, "-m", "tbgat", *COMMAND, *BUDGET, "--out", str(killed)]
        )
        while process.poll() is None and _lines(path) < wanted:
            time.sleep(0.002)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        # What a machine that lost its power may leave behind.
        with path.open("a") as file:
            file.write('{"suite":"ft","gro')
    assert kills == 3
    assert _lines(path) < RUNS
    assert main([*COMMAND, *BUDGET, "--out", str(killed)]) == 0
    assert _lines(path) == len({r.key for r in read_records(killed)}) == RUNS
    assert what_was_found(killed) == what_was_found(undisturbed)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_rerun_does_only_what_is_missing_and_fresh_does_it_again(tmp_path: Path) -> None:
    cases = load_suites(["ft"])
    jobs = plan(cases, [MethodSpec("dispatch")], steps=[10], seeds=2)
    assert measure(jobs[:2], tmp_path, quiet=True) == 2
    assert measure(jobs, tmp_path, quiet=True) == 4
    assert measure(jobs, tmp_path, quiet=True) == 0
    before = [r.finished for r in read_records(tmp_path)]
    assert measure(jobs[:3], tmp_path, fresh=True, quiet=True) == 3
    assert len(read_records(tmp_path)) == len(before) == 6
    (card,) = read_cards(tmp_path).values()
    assert card["cores"] >= 1
    assert {record.card for record in read_records(tmp_path)} == set(read_cards(tmp_path))


def test_an_interrupted_run_leaves_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    (job,) = plan(load_suites(["ft"], ["6x6"]), [MethodSpec("dispatch")], steps=[10])
    real = dispatch.solve

    def interrupted(task: object) -> Result:
        return dataclasses.replace(real(task), stopped="interrupt")

    monkeypatch.setattr(dispatch, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_job(job)


def test_a_batch_is_run_whole_and_only_what_is_missing_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved: list[int] = []

    def solve_many(tasks: list[object], **options: object) -> list[object]:
        solved.append(len(tasks))
        return [dispatch.solve(task, **options) for task in tasks]

    monkeypatch.setattr(dispatch, "solve_many", solve_many, raising=False)
    jobs = plan(load_suites(["la"], ["10x5"]), [MethodSpec("dispatch")], steps=[10])
    measure(jobs, tmp_path, quiet=True)
    path = tmp_path / RECORDS
    whole = path.read_text()
    path.write_text("".join(line + "\n" for line in whole.splitlines()[:3]))
    assert measure(jobs, tmp_path, quiet=True) == 2
    assert solved == [5, 5]
    again = read_records(tmp_path)
    assert {record.batch for record in again} == {5}
    assert {record.seed for record in again} == {0}
    assert [record.makespan for record in again] == [
        Record.from_json(line).makespan for line in whole.splitlines()
    ]


def test_any_folder_of_files_is_a_suite(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.txt").write_text("2 2\n0 3 1 2\n1 2 0 4\n")
    out = tmp_path / "out"
    words = ["bench", str(folder), "--methods", "cpsat", "--steps", "5", "--out", str(out)]
    assert main([*words, "--quiet"]) == 0
    (record,) = read_records(out)
    assert (record.suite, record.group, record.status) == ("shop", "shop-2x2", "optimal")
    assert main(["bench", str(tmp_path / "none"), "--steps", "5", "--out", str(out)]) == 2


def test_bad_numbers_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "ft", "--methods", "dispatch", "--out", str(tmp_path)]
    assert main([*words, "--steps", "many"]) == 2
    assert "--steps takes numbers" in capsys.readouterr().err
    assert main([*words, "--steps", "5", "--seeds", "0"]) == 2
    assert main(words) == 2
    assert "give a budget" in capsys.readouterr().err


def test_pyjobshop_solves_ft06() -> None:
    pytest.importorskip("pyjobshop")
    cases = load_suites(["ft"], ["6x6"])
    (job,) = plan(cases, [MethodSpec("pyjobshop")], seconds=[5], second_threads=2)
    (record,) = run_job(job)
    assert (record.makespan, record.status) == (55, "optimal")
