from __future__ import annotations

from dataclasses import replace

import pytest

from tbgat.bench.compare import against_paper, duel
from tbgat.bench.curves import second_curves, shared_groups, step_curves
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores, Series
from tests.bench.making import make_record


def ft(**changes: object) -> list[Record]:
    return [
        make_record("ft06", {0: 66, 400: 60, 900: 55}, **changes),
        make_record("ft10", {0: 1209, 499: 1023, 501: 1000, 5000: 930}, **changes),
    ]


def test_a_long_run_is_read_at_fewer_steps() -> None:
    scores = Scores(ft())
    found = {
        steps: scores.score(Series("tabu", steps), "ft10x10") for steps in (500, 1000, 2000, 5000)
    }
    assert {steps: score and score.gap for steps, score in found.items()} == {
        500: pytest.approx(10.0),
        1000: pytest.approx(100 * 70 / 930),
        2000: pytest.approx(100 * 70 / 930),
        5000: 0.0,
    }
    assert found[500].seconds == pytest.approx(0.5)
    assert found[5000].seconds == 5.0
    assert found[500].complete
    assert found[500].spread is None


def test_a_method_that_knows_its_budget_is_never_read_at_fewer_steps() -> None:
    scores = Scores(ft(method="cpsat"))
    assert scores.score(Series("cpsat", 500), "ft10x10") is None
    assert scores.score(Series("cpsat", 5000), "ft10x10").gap == 0.0


def test_a_run_of_just_these_steps_and_alone_is_preferred() -> None:
    exact = make_record("ft06", {0: 59}, max_steps=500, steps=500, seconds=1.0)
    batched = make_record("ft06", {0: 57}, max_steps=500, seconds=9.0, batch=3, threads=2)
    scores = Scores([batched, *ft(), exact])
    score = scores.score(Series("tabu", 500), "ft6x6")
    assert score.gap == pytest.approx(100 * 4 / 55)
    assert (score.seconds, score.batched) == (1.0, False)
    score = Scores([batched]).score(Series("tabu", 500), "ft6x6")
    assert (score.seconds, score.batched) == (3.0, True)


def test_a_longer_time_is_read_where_the_method_allows_it() -> None:
    def timed(method: str, seconds: float, makespans: dict[int, int]) -> Record:
        return make_record(
            "ft06", makespans, method=method, max_steps=None, max_seconds=seconds, seconds=seconds
        )

    curve = {0: 66, 900: 60, 4000: 55}
    names = ("tspr", "auto")
    scores = Scores([*(timed(name, 5.0, curve) for name in names), timed("auto", 1.0, {0: 61})])
    assert scores.budgets() == [1.0, 5.0]
    read = scores.score(Series("tspr", seconds=1.0), "ft6x6")
    assert (read.gap, read.seconds, read.read_out) == (pytest.approx(100 / 11), 1.0, True)
    exact = scores.score(Series("auto", seconds=1.0), "ft6x6")
    assert (exact.gap, exact.read_out) == (pytest.approx(100 * 6 / 55), False)
    late = Scores([timed("cpsat", 5.0, {2000: 66, 4000: 55})])
    assert late.score(Series("cpsat", seconds=1.0), "ft6x6") is None
    assert late.score(Series("cpsat", seconds=5.0), "ft6x6").gap == 0


def test_spread_is_over_seeds_and_missing_runs_are_seen() -> None:
    group = [make_record("abz5", {0: 1234}, seed) for seed in (0, 1)]
    group += [make_record("abz6", {0: 943}, 0), make_record("abz6", {0: 1037}, 1)]
    score = Scores(group).score(Series("tabu", 500), "abz10x10")
    step = 100 * 94 / 943
    assert score.gap == pytest.approx(step / 4)
    assert score.spread == pytest.approx(step / 2 / 2**0.5)
    assert (score.instances, score.seeds, score.complete) == (2, 2, True)
    part = Scores(group[:3]).score(Series("tabu", 500), "abz10x10")
    assert (part.instances, part.seeds, part.complete) == (2, 1, False)
    assert not Scores(group[:2]).score(Series("tabu", 500), "abz10x10").complete


def test_a_pool_is_a_suite_or_a_half_of_one_whatever_the_sizes() -> None:
    records = [make_record("ft06", {0: 66}), make_record("ft20", {0: 1165})]
    records += [make_record(name, {0: 10**5}) for name in ("dmu40", "dmu41")]
    scores = Scores(records)
    ft = scores.score(Series("tabu", 500), "ft")
    assert (ft.gap, ft.instances, ft.complete) == (pytest.approx(10.0), 2, False)
    halves = [scores.score(Series("tabu", 500), f"dmu{half}") for half in ("01-40", "41-80")]
    assert [half.instances for half in halves] == [1, 1]
    assert scores.score(Series("tabu", 500), "ta01-80") is None
    own = make_record("ft06", {0: 66}, suite="mine", group="mine-6x6")
    assert Scores([own]).score(Series("tabu", 500), "ft") is None


def test_the_paper_reference_of_abz8_changes_its_group_alone() -> None:
    scores = Scores([make_record("abz8", {0: 700}), make_record("ft06", {0: 60})])
    abz = scores.score(Series("tabu", 500), "abz20x15")
    assert abz.gap == pytest.approx(100 * 33 / 667)
    assert abz.paper_gap == pytest.approx(100 * 35 / 665)
    assert scores.score(Series("tabu", 500), "ft6x6").paper_gap == pytest.approx(100 / 11)


def test_a_run_better_than_the_stored_reference_becomes_the_reference() -> None:
    scores = Scores([make_record("ft06", {0: 50}), make_record("ft06", {0: 55}, method="random")])
    assert scores.score(Series("tabu", 500), "ft6x6").gap == 0
    score = scores.score(Series("random", 500), "ft6x6")
    assert score.gap == pytest.approx(10.0)
    assert not score.settled
    assert scores.beaten == {"ft06"}
    assert against_paper(scores, [500], ["ft6x6"]) == []
    assert Scores(ft()).beaten == set()


def test_an_unknown_instance_is_measured_against_the_best_of_the_records() -> None:
    own = [
        make_record("ft06", {0: makespan}, digest="own", method=method)
        for method, makespan in (("tabu", 100), ("random", 110))
    ]
    scores = Scores(own)
    assert scores.score(Series("random", 500), "ft6x6").gap == pytest.approx(10.0)
    assert scores.score(Series("tabu", 500), "ft6x6").settled


def test_a_duel_pairs_instances_and_seeds() -> None:
    names = ["la01", "la02", "la03", "la04", "la05", "la06", "la07"]
    records = []
    for seed in (0, 1):
        for place, name in enumerate(names):
            records.append(make_record(name, {0: 1000}, seed))
            makespan = 1000 if place == 0 else 1000 + 10 * place + seed
            records.append(make_record(name, {0: makespan}, seed, method="random"))
    records.append(make_record("ft06", {0: 55}))
    found = duel(Scores(records), Series("tabu", 500), Series("random", 500))
    assert (found.wins, found.ties, found.losses) == (6, 1, 0)
    assert found.difference < 0
    assert found.p_value == pytest.approx(2 / 2**6)
    assert duel(Scores(records), Series("tabu", 500), Series("greedy", 500)) is None


def test_columns_against_the_paper() -> None:
    scores = Scores([make_record("ft06", {0: 56}), make_record("ft10", {0: 935})])
    (found,) = against_paper(scores, [500], ["ft6x6", "ft10x10", "ft20x5"])
    assert (found.wins, found.ties, found.losses) == (1, 0, 1)
    assert found.lost == ("ft6x6",)
    assert found.difference == pytest.approx(((1.8 - 0.0) + (0.5 - 5.2)) / 2)


def test_curves_compare_the_same_instances() -> None:
    records = [*ft(), *ft(method="random")[:1]]
    curves = step_curves(Scores(records), ["ft6x6", "ft10x10"])
    assert curves["tabu"] == curves["random"]
    across, heights = curves["tabu"]
    assert across[-1] == 5000
    assert heights[across.index(500)] == pytest.approx(100 / 11)
    assert heights[-1] == 0
    timed = [
        make_record("ft06", {0: makespan}, max_steps=None, max_seconds=seconds)
        for seconds, makespan in ((1.0, 66), (5.0, 55))
    ]
    ((across, heights),) = second_curves(Scores(timed), ["ft6x6"]).values()
    assert across[-1] == 5
    assert heights[across.index(1)] == pytest.approx(20.0)
    assert heights[-1] == 0
    assert step_curves(Scores(timed), ["ft6x6"]) == {}


def test_one_longer_run_does_not_narrow_the_curves() -> None:
    def timed(method: str, name: str, curve: dict[int, int], seconds: float = 5.0) -> Record:
        return make_record(name, curve, method=method, max_steps=None, max_seconds=seconds)

    records = [timed("tabu", "ft06", {0: 66}), timed("tabu", "ft10", {0: 930})]
    records += [timed("tabu", "ft06", {0: 66}, 60.0)]
    # This one told only of its end.
    records += [timed("pyjobshop", name, {5000: 1023}) for name in ("ft06", "ft10")]
    records += [replace(record, seed=1) for record in records if record.instance == "ft10"]
    curves = second_curves(Scores(records), ["ft6x6", "ft10x10"])
    across, heights = curves["tabu"]
    assert (across[0], across[-1]) == (0.1, 5)
    assert heights[-1] == pytest.approx(10.0)
    assert curves["pyjobshop"][0] == [5]


def test_short_runs_of_more_seeds_do_not_end_the_curves() -> None:
    def timed(name: str, seconds: float, seed: int) -> Record:
        record = make_record(name, {0: 1023, 30: 930}, max_steps=None, max_seconds=seconds)
        return replace(record, seed=seed)

    records = [timed(name, 60.0, 0) for name in ("ft10", "ft06")]
    records += [timed("ft10", 5.0, seed) for seed in (0, 1, 2)]
    assert second_curves(Scores(records), ["ft6x6", "ft10x10"])["tabu"][0][-1] == 60


def test_shared_groups_are_those_all_methods_have_wholly() -> None:
    names = ["ft6x6", "ft10x10", "ft20x5"]
    records = [*ft(), *ft(method="random")[:1]]
    assert shared_groups(Scores(ft()), names) == ["ft6x6", "ft10x10"]
    assert shared_groups(Scores(records), names) == ["ft6x6"]
    assert shared_groups(Scores([]), names) == []
