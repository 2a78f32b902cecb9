"""The search loop: limits are kept, nothing depends on timing, interruptions lose nothing."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import tbgat
from tbgat.search.callbacks import Recorder
from tbgat.search.local_search import local_search
from tbgat.search.stop import MaxSteps, Patience, Target, stop_when
from tbgat.search.team import Team
from tbgat.solvers import make_task
from tbgat.solvers.n5 import walks
from tbgat.solvers.tabu import tabu_steps, walk_options


@pytest.fixture(scope="module")
def ta01():
    return tbgat.load("ta01")


def tabu_walks(task):
    return walks(task, tabu_steps, **walk_options(task.instance, (6, 16), 300))


def team_of(shop, threads, seed=3):
    task = make_task(shop, "tabu", steps=1, seed=seed, threads=threads)
    return Team(tabu_walks(task), task.start)


def found_by(team, chunks, goal=-1):
    with team:
        for chunk in chunks:
            team.advance(chunk, goal, time.perf_counter)
            if team.best <= goal:
                break
        gains = [(gain.step, gain.makespan) for gain in team.history]
        return gains, team.schedule(), team.step, team.last_gain


@pytest.mark.parametrize("threads", [1, 3])
def test_how_steps_are_cut_into_chunks_changes_nothing(ta01, threads):
    rng = np.random.default_rng(0)
    pieces = []
    while sum(pieces) < 3000:
        pieces.append(int(min(rng.integers(1, 400), 3000 - sum(pieces))))
    whole = found_by(team_of(ta01, threads), [3000])
    assert found_by(team_of(ta01, threads), pieces) == whole
    assert whole[2] == 3000


@pytest.mark.parametrize("threads", [1, 3])
def test_a_target_ends_at_the_same_step_however_it_is_cut(ta01, threads):
    goal = 1330
    whole = found_by(team_of(ta01, threads), [20_000], goal)
    parts = found_by(team_of(ta01, threads), [37] * 1000, goal)
    assert whole == parts
    gains, schedule, step, _ = whole
    assert gains[-1][1] == schedule.makespan <= goal
    assert gains[-1][0] == step < 20_000


def test_more_walks_are_never_worse(ta01):
    alone = tbgat.solve(ta01, "tabu", steps=2000, seed=1, threads=1)
    four = tbgat.solve(ta01, "tabu", steps=2000, seed=1, threads=4)
    assert four.makespan <= alone.makespan
    assert four.steps == alone.steps == 2000


def test_steps_patience_and_target_name_themselves(ta01):
    assert tbgat.solve(ta01, "tabu", steps=100, seed=1).stopped == "steps"
    aimed = tbgat.solve(ta01, "tabu", steps=10_000, target=1400, seed=1)
    assert aimed.stopped == "target"
    assert aimed.makespan <= 1400
    assert aimed.history[-1].step == aimed.steps
    patient = tbgat.solve(ta01, "tabu", patience=500, seed=1, threads=2)
    assert patient.stopped == "patience"
    assert patient.steps == patient.history[-1].step + 500
    own = tbgat.solve(ta01, "tabu", stop=MaxSteps(50) | Target(0) | Patience(9999), seed=1)
    assert (own.stopped, own.steps) == ("steps", 50)


def test_nothing_is_done_when_nothing_may_be_done(ta01):
    start = make_task(ta01, "tabu", seed=1).start
    for limit in ({"steps": 0}, {"seconds": 0}, {"target": 10**9}, {"patience": 0}):
        result = tbgat.solve(ta01, "tabu", seed=1, **limit)
        assert result.steps == 0
        assert result.schedule == start


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["ft10", "dmu80"])
def test_a_time_limit_is_kept(name, threads):
    shop = tbgat.load(name)
    tbgat.solve(shop, "tabu", steps=1)
    # The machine may be busy with other tests: the best of a few tries is what the loop can do.
    over = []
    for _ in range(4):
        begin = time.perf_counter()
        result = tbgat.solve(shop, "tabu", seconds=0.3, threads=threads)
        over.append(time.perf_counter() - begin - 0.3)
        assert result.stopped == "seconds"
        assert result.seconds >= 0.3
    assert min(over) < 0.2


def test_optimal_ends_at_once():
    result = tbgat.solve(tbgat.load("la01"), "tabu", seconds=60, seed=0, threads=1)
    assert (result.status, result.stopped, result.makespan) == ("optimal", "optimal", 666)
    assert result.seconds < 30


def test_callbacks_see_everything_once_and_can_stop(ta01):
    heard, recorder = [], Recorder()

    def listen(snapshot):
        heard.append(snapshot)
        assert snapshot.schedule().makespan == snapshot.progress.best

    result = tbgat.solve(ta01, "tabu", steps=20_000, seed=1, callbacks=[listen, recorder])
    told = [gain for snapshot in heard for gain in snapshot.improvements]
    assert tuple(told) == result.history
    assert recorder.frames[-1][1] == result.schedule
    assert [gain.makespan for gain, _ in recorder.frames] == [
        schedule.makespan for _, schedule in recorder.frames
    ]
    steps = [gain.step for gain in result.history]
    seconds = [gain.seconds for gain in result.history]
    makespans = [gain.makespan for gain in result.history]
    assert steps == sorted(steps)
    assert seconds == sorted(seconds)
    assert makespans == sorted(makespans, reverse=True)
    assert seconds[-1] <= result.seconds
    ended = tbgat.solve(ta01, "tabu", seconds=60, callbacks=[lambda s: s.progress.step > 500])
    assert ended.stopped == "callback"
    assert ended.seconds < 30


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_gives_the_best_so_far(ta01, threads):
    tbgat.solve(ta01, "tabu", steps=1)
    before = threading.active_count()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = tbgat.solve(ta01, "tabu", seconds=60, seed=1, threads=threads)
    timer.join()
    assert result.stopped == "interrupt"
    assert result.seconds < 30
    assert result.makespan == result.history[-1].makespan
    assert result.makespan < tbgat.solve(ta01, "dispatch", seed=1).makespan
    assert threading.active_count() <= before


def test_ctrl_c_ends_a_whole_batch(ta01):
    shops = [ta01, tbgat.load("ta02"), tbgat.load("ta03"), tbgat.load("ta04")]
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    results = tbgat.solve_many(shops, "tabu", seconds=60, seed=1, threads=2)
    timer.join()
    assert [result.stopped for result in results] == ["interrupt"] * 4
    assert sum(result.seconds for result in results) < 60


def test_no_limit_at_all_runs_until_a_criterion_says_so(ta01):
    task = make_task(ta01, "tabu", stop=stop_when() | MaxSteps(10), seed=0, threads=1)
    assert (
        local_search(
            task, walks(task, tabu_steps, **walk_options(task.instance, (6, 16), 300))
        ).steps
        == 10
    )
