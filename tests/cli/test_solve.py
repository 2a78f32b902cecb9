"""``tbgat solve`` as a user meets it."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

import tbgat
from tbgat.cli import main
from tbgat.cli.live import describe
from tbgat.schedule_files import read_schedule
from tbgat.search.callbacks import Snapshot
from tbgat.search.stop import Progress

KEYS = [
    *("instance", "jobs", "machines", "method", "makespan", "lower_bound", "best_known"),
    *("gap", "status", "steps", "seconds", "seed", "starts"),
]


def start(*arguments, **options):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "tbgat", "solve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def test_json_has_the_documented_keys_and_nothing_else(capsys):
    call = ["solve", "ft06", "la01", "--method", "tabu", "--steps", "50", "--seed", "1", "--json"]
    assert main(call) == 0
    lines = capsys.readouterr().out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [list(one) for one in told] == [KEYS, KEYS]
    for one, name in zip(told, ("ft06", "la01"), strict=True):
        instance = tbgat.load(name)
        flat = [start for row in one["starts"] for start in row]
        schedule = tbgat.Schedule.from_starts(instance, flat)
        schedule.check(instance)
        assert schedule.makespan == one["makespan"]
        assert one["best_known"] == tbgat.library.bounds(name).upper_bound
        assert (one["instance"], one["seed"], one["method"]) == (name, 1, "tabu")
    main(call)
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["starts"] for one in again] == [one["starts"] for one in told]


def test_table_files_and_warm_start(capsys, tmp_path):
    out = tmp_path / "deep" / "folder"
    call = ["--method", "tabu", "--steps", "200", "--seed", "1", "--out", str(out), "--gantt"]
    assert main(["solve", "ft06", "ft10", *call]) == 0
    shown = capsys.readouterr().out
    assert "instance  size" in shown
    assert "best known" in shown
    for name in ("ft06", "ft10"):
        assert (out / f"{name}.html").stat().st_size > 1000
        assert (out / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    instance = tbgat.load("ft10")
    first = read_schedule(out / "ft10.schedule.json", instance)
    first.check(instance)
    warm = ["--initial", str(out / "ft10.schedule.json"), "--method", "dispatch", "--json"]
    assert main(["solve", "ft10", *warm]) == 0
    assert json.loads(capsys.readouterr().out)["makespan"] == first.makespan


def test_goes_on_after_a_bad_file_and_reports_it_at_the_end(capsys, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("2 2\n0 1 1 two\n0 1 1 2\n")
    good = tmp_path / "good.txt"
    good.write_text("2 2\n0 1 1 2\n1 1 0 2\n")
    call = ["solve", str(bad), "nonsense", str(good), "--method", "dispatch"]
    assert main(call) == 1
    told = capsys.readouterr()
    assert "good: makespan" in told.out
    assert "bad.txt" in told.err
    assert "line 2" in told.err
    assert "nonsense" in told.err
    assert "2 of 3 instances were not solved" in told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "nonsense"),
        (["ft06", "ft10", "--method", "magic"], "there is no method 'magic'"),
        (["ft06", "--option", "colour=red"], "has no option 'colour'"),
        (["ft06", "--option", "colour"], "NAME=VALUE"),
        (
            ["ft06", "--method", "tbgat", "--option", "escape=maybe"],
            "option 'escape' of method tbgat must be a whole number, got 'maybe'",
        ),
        (["ft06", "--method", "tbgat", "--option", "greedy=maybe"], "must be true or false"),
        (["ft06", "--method", "tabu", "--option", "tenure=[3]"], "must be two whole numbers"),
        (["ft06", "--method", "dispatch", "--option", "rule=3"], "must be a name, got 3"),
        (["ft06", "--seconds", "-1"], "seconds must be 0 or more"),
        (["ft06", "--seconds", "nan"], "seconds must be 0 or more"),
        (["ft06", "--threads", "0"], "threads must be 1 or more"),
        (["ft06", "--seed", "-3"], "seed must be 0 or more"),
        (["ft06", "ft10", "--initial", "x.json"], "--initial goes with one instance"),
        (["ft06", "--initial", "x.json"], "x.json"),
        (["ft06", "--out", "/dev/null/deep"], "cannot be made"),
    ],
)
def test_a_senseless_call_is_one_sentence_and_code_2(capsys, arguments, message):
    assert main(["solve", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert len(told.err.splitlines()) == 1


def test_ctrl_c_keeps_the_best():
    tbgat.solve(tbgat.load("ta01"), "tabu", steps=1)  # so that the process need not compile
    process = start("ta01", "ta02", "--method", "tabu", "--json", stderr=subprocess.PIPE)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    told = json.loads(out)
    assert told["instance"] == "ta01"
    assert told["makespan"] < 1500
    assert told["steps"] > 0
    assert "ta02: not solved, interrupted before" in err
    assert process.returncode == 1


def test_live_line_on_a_terminal():
    master, slave = pty.openpty()
    process = start("ft10", "--method", "tabu", "--seconds", "1", stderr=slave)
    os.close(slave)
    process.communicate(timeout=60)
    seen = b""
    while True:
        try:
            seen += os.read(master, 65536)
        except OSError:
            break
        if not seen.endswith(b"\x1b[K"):
            continue
        break
    os.close(master)
    assert b"ft10: best" in seen
    assert b"gap" in seen
    assert seen.endswith(b"\r\x1b[K")


def test_live_line_says_what_matters():
    shop = tbgat.load("ft10")
    progress = Progress(step=5000, seconds=2.0, best=1000, lower_bound=800)
    line = describe(Snapshot(shop, "tabu", progress, (), lambda: None))
    assert line == "ft10: best 1000  gap 25.00%  bound 800  5,000 steps  2,500/s  2.0 s"
