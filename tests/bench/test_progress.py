from __future__ import annotations

import os

import pytest

from tbgat.bench.plan import MethodSpec, plan
from tbgat.bench.progress import Progress
from tbgat.bench.suites import load_suites


def test_time_left_is_known_for_seconds_and_learned_for_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = load_suites(["ft"])
    jobs = plan(cases, [MethodSpec("cpsat")], seconds=[100.0])
    Progress(jobs, done=0).show(jobs[0])
    assert "0/3 runs, 5 min left, cpsat ft06 seed 0" in capsys.readouterr().err
    jobs = plan(cases, [MethodSpec("dispatch"), MethodSpec("cpsat")], steps=[1000])
    monkeypatch.setattr("tbgat.bench.progress.LINE_SECONDS", 0.0)
    bar = Progress(jobs, done=4)
    bar.show(jobs[0])
    assert "4/10 runs, unknown time left" in capsys.readouterr().err
    bar.advance(jobs[0], seconds=3.6)
    bar.show(jobs[1])
    # 0.1 s for each of ft06's 36 operations: 436 are left of ft10, ft20 and all with cpsat.
    assert "5/10 runs, 44 s left, dispatch ft10 seed 0" in capsys.readouterr().err
    bar.close()
    assert "5 of 10 runs recorded" in capsys.readouterr().err


def test_quiet_is_silent_and_a_busy_machine_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (3.2, 0.0, 0.0), raising=False)
    jobs = plan(load_suites(["ft"]), [MethodSpec("dispatch")], steps=[10])
    quiet = Progress(jobs, done=2, quiet=True)
    quiet.show(jobs[0])
    quiet.warn_if_busy()
    quiet.close()
    assert capsys.readouterr().err == ""
    bar = Progress(jobs, done=0)
    bar.warn_if_busy()
    assert "busy (load 3.2)" in capsys.readouterr().err
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.0, 0.0), raising=False)
    bar.warn_if_busy()
    assert capsys.readouterr().err == ""
