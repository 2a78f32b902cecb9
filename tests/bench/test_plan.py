from __future__ import annotations

import pytest

from tbgat.bench import plan as planning
from tbgat.bench.plan import MethodSpec, parse_method, plan
from tbgat.bench.suites import PAPER_GROUPS, SYNTHETIC_GROUPS, Case, load_suite, load_suites
from tbgat.errors import UsageError


def test_suites_hold_the_paper_columns_and_all_of_the_library() -> None:
    words = ["taillard", "abz", "ft", "la", "swv", "orb", "yn"]
    cases = load_suites(words)
    assert [case.group for case in load_suite("abz")] == ["abz10x10"] * 2 + ["abz20x15"] * 3
    assert {case.group for case in cases} == {g for deck in PAPER_GROUPS for g in deck}
    assert len(cases) == 80 + 5 + 3 + 40 + 20 + 10 + 4
    assert len(load_suite("dmu")) == 80
    synthetic = load_suite("synthetic")
    assert len(synthetic) == 500
    assert {case.group for case in synthetic} == set(SYNTHETIC_GROUPS)


def test_groups_select_by_size_or_name() -> None:
    assert {c.group for c in load_suites(["la", "ft"], ["10x10"])} == {"la10x10", "ft10x10"}
    assert {c.group for c in load_suites(["la", "ft"], ["ft10x10"])} == {"ft10x10"}
    hard = load_suites(["dmu", "yn"], ["dmu41-80"])
    assert [c.instance.name for c in hard] == [f"dmu{n}" for n in range(41, 81)]
    assert len(load_suites(["dmu"], ["dmu01-40", "20x15"])) == 45
    with pytest.raises(UsageError, match="no group '9x9' in ft; it has ft6x6"):
        load_suites(["ft"], ["9x9"])
    with pytest.raises(UsageError, match="neither a suite"):
        load_suites(["nowhere"])


def test_instances_are_named_alone_or_beside_their_suite() -> None:
    (case,) = load_suites(["TA41"])
    assert (case.suite, case.group, case.instance.name) == ("taillard", "ta30x20", "ta41")
    named = [c.instance.name for c in load_suites(["ft10", "ft", "ft10"])]
    assert named == ["ft10", "ft06", "ft20"]


def test_methods_are_read_with_their_options() -> None:
    assert parse_method("dispatch:rule=spt") == MethodSpec("dispatch", {"rule": "spt"})
    with pytest.raises(UsageError, match="no method 'magic'"):
        parse_method("magic")
    with pytest.raises(UsageError, match="no option 'colour'"):
        parse_method("dispatch:colour=red")
    with pytest.raises(UsageError, match="should be option=value"):
        parse_method("dispatch:spt")


def test_a_stepwise_method_runs_its_longest_budget_alone() -> None:
    cases = load_suite("ft")
    methods = [MethodSpec("dispatch"), MethodSpec("cpsat"), MethodSpec("pyjobshop")]
    jobs = plan(cases, methods, steps=[500, 5000, 1000], seconds=[5, 1], seeds=2)
    asked = [(j.method.name, j.budget.steps) for j in jobs if j.budget.steps and j.seed == 0]
    assert asked == [("dispatch", 5000)] * 3 + [
        (name, steps)
        for name in ("cpsat", "pyjobshop")
        for steps in (500, 1000, 5000)
        for _ in cases
    ]
    timed = [
        (j.budget.seconds, j.cases[0].instance.name, j.method.name)
        for j in jobs
        if j.budget.seconds and j.seed == 1
    ]
    names = [case.instance.name for case in cases]
    assert timed == [(5, n, m.name) for n in names for m in methods]
    divides = {
        threads: {
            j.budget.seconds
            for j in plan(cases, [MethodSpec("auto")], seconds=[1, 5], second_threads=threads)
        }
        for threads in (1, 2)
    }
    assert divides == {1: {1, 5}, 2: {5}}
    with pytest.raises(UsageError, match="give a budget"):
        plan(cases, methods)


def test_batches_do_not_depend_on_what_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from tbgat.solvers import dispatch

    monkeypatch.setattr(dispatch, "solve_many", lambda tasks: [], raising=False)
    monkeypatch.setattr(planning, "BATCH", 4)

    def batches(cases: list[Case]) -> set[tuple[str, ...]]:
        jobs = plan(cases, [MethodSpec("dispatch")], steps=[5])
        return {tuple(case.instance.name for case in job.cases) for job in jobs}

    everything = batches(load_suites(["taillard", "la"]))
    assert batches(load_suites(["taillard"], ["15x15"])) == {
        ("ta01", "ta02", "ta03", "ta04"),
        ("ta05", "ta06", "ta07", "ta08"),
        ("ta09", "ta10"),
    }
    assert batches(load_suites(["la", "taillard"], ["15x15"])) <= everything
    single = plan(load_suite("la"), [MethodSpec("dispatch")], steps=[5], single=True)
    assert {len(job.cases) for job in single} == {1}
