from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbgat.bench.records import RECORDS, Record, Store, read_records, thin
from tbgat.errors import FormatError, UsageError
from tbgat.search.result import Improvement
from tests.bench.making import make_record


def make(seed: int = 0, **changes: object) -> Record:
    return make_record(seed=seed, **changes)


def test_a_record_survives_the_file(tmp_path: Path) -> None:
    records = [make(0), make(1, max_steps=None, max_seconds=2.5, weights={"name": "a", "sha": "b"})]
    with Store(tmp_path) as store:
        assert store.append(records) == 2
    assert read_records(tmp_path) == records


def test_no_run_is_recorded_twice(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.append([make(0), make(0), make(1)]) == 2
        assert store.append([make(1, makespan=5), make(2)]) == 1
    with Store(tmp_path) as store:
        assert store.append([make(2)]) == 0
    found = read_records(tmp_path)
    assert [(r.seed, r.makespan) for r in found] == [(0, 60), (1, 60), (2, 60)]


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"rule": "spt"}},
        {"max_steps": 1000},
        {"max_steps": None, "max_seconds": 500.0},
        {"threads": 2},
        {"weights": {"sha": "c"}},
        {"digest": "0"},
    ],
)
def test_what_was_asked_makes_the_key(change: dict[str, object]) -> None:
    assert make(**change).key != make().key
    assert make(makespan=1, commit="x", finished="y").key == make().key


def test_a_torn_last_line_is_dropped_and_the_next_record_is_whole(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append([make(0), make(1)])
    path = tmp_path / RECORDS
    os.truncate(path, path.stat().st_size - 25)
    assert [r.seed for r in read_records(tmp_path)] == [0]
    with Store(tmp_path) as store:
        assert store.append([make(0), make(1), make(2)]) == 2
    assert [r.seed for r in read_records(tmp_path)] == [0, 1, 2]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / RECORDS).write_text(make().to_json() + "\n{no json}\n")
    with pytest.raises(FormatError, match="line 2 is not a record"):
        read_records(tmp_path)


def test_two_processes_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(UsageError, match="another run is writing"):
        Store(tmp_path)
    Store(tmp_path)


def test_dropped_records_are_gone_and_the_others_stay(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append([make(0), make(1), make(2)])
        assert store.drop([make(1).key, "unknown"]) == 1
        assert store.append([make(1, makespan=50)]) == 1
    assert [(r.seed, r.makespan) for r in read_records(tmp_path)] == [(0, 60), (2, 60), (1, 50)]


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0.001, 3)), min_size=0, max_size=60))
def test_a_thinned_curve_agrees_where_tables_read_it(gaps: list[tuple[int, float]]) -> None:
    step, seconds, history = 0, 0.0, [Improvement(0, 0.0, 1000)]
    for more_steps, more_seconds in gaps:
        step, seconds = step + more_steps, seconds + more_seconds
        history.append(Improvement(step, seconds, history[-1].makespan - 1))
    full = make(history=tuple(history))
    by_steps = make(history=thin(history, "step"))
    for steps in (1, 2, 5, 10, 500, 1000, 2000, 5000, 100000):
        assert by_steps.makespan_at(steps=steps) == full.makespan_at(steps=steps)
    by_seconds = make(history=thin(history, "seconds"))
    for limit in (0.1, 0.5, 1, 5, 20, 1000):
        assert by_seconds.makespan_at(seconds=limit) == full.makespan_at(seconds=limit)
    assert len(by_steps.history) <= 22
    assert thin((), "step") == ()
