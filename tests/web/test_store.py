"""The file of jobs: every change is one step, from a state it may come from."""

import threading

import pytest

from tbgat.errors import UsageError
from tbgat.web.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "jobs.sqlite")
    yield opened
    opened.close()


def test_a_job_from_queue_to_result(store):
    store.add("a", {"method": "tabu"}, {"name": "ft06"})
    assert store.get("a").state == "queued"
    assert store.start("a")
    assert not store.start("a")
    assert store.finish("a", "done", result={"makespan": 55}, frames=[{"makespan": 55}])
    assert not store.finish("a", "failed", error="late")
    record = store.get("a")
    assert (record.state, record.result, record.error) == ("done", {"makespan": 55}, None)
    assert store.frames("a") == [{"makespan": 55}]


def test_what_had_not_ended_is_interrupted_and_the_rest_stays(store, tmp_path):
    for name in "abc":
        store.add(name, {"method": "tabu"}, {})
    store.start("a")
    store.start("b")
    store.finish("b", "done", result={"makespan": 1})
    store.close()
    again = Store(tmp_path / "jobs.sqlite")
    assert again.interrupt_unfinished() == 2
    assert [record.state for record in again.latest(9)] == ["interrupted", "done", "interrupted"]
    assert "stopped before" in again.get("a").error
    assert again.get("b").result == {"makespan": 1}
    again.close()


def test_the_oldest_finished_jobs_go_first(store):
    for number in range(6):
        store.add(str(number), {}, {})
        if number != 1:
            store.finish(str(number), "done")
    store.trim(2)
    assert [record.id for record in store.latest(9)] == ["5", "4", "1"]


def test_a_running_job_cannot_be_forgotten_and_takes_its_traces_along(store):
    store.add("a", {}, {})
    assert not store.delete("a")
    store.finish("a", "done")
    store.add_trace("a", "tabu", {"swaps": [[1, 2]]})
    assert store.trace("a", "tabu") == {"swaps": [[1, 2]]}
    assert store.delete("a")
    assert store.trace("a", "tabu") is None
    store.add_trace("a", "tabu", {})
    assert store.trace("a", "tabu") is None


def test_many_threads_start_a_job_once(store):
    store.add("a", {}, {})
    wins = []
    threads = [threading.Thread(target=lambda: wins.append(store.start("a"))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(wins) == 1


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes " * 100)
    with pytest.raises(UsageError, match=r"cannot use .*notes\.txt as database"):
        Store(path)
