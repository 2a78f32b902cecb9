"""Method ``auto`` and CP-SAT beside the search."""

import math
import signal
import sys
import threading
import time
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tbgat
from tbgat import Instance
from tbgat.search.kernels.arrays import shop_of
from tbgat.search.local_search import local_search
from tbgat.search.pool import Member, Pool
from tbgat.search.relinking import Settings, order_of
from tbgat.solvers import auto, make_task, partner, tspr
from tbgat.solvers.relay import Spectator, Stretch
from tests.strategies import shops


def uniform(jobs, machines, seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(machines) for _ in range(jobs)])
    return Instance.from_arrays(rng.integers(1, 100, (jobs, machines)), orders)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    auto.prepare()


def planned(instance, **arguments):
    plan = auto.plan(make_task(instance, "auto", **arguments))
    return replace(plan, alone=round(plan.alone, 1) if plan.alone < math.inf else math.inf)


def test_plan_depends_on_size_limits_threads_and_installation(monkeypatch):
    assert planned(uniform(6, 6, 1), threads=2, seconds=5) == auto.Plan(0, 2, 0.0)
    assert planned(uniform(10, 10, 1), threads=2, seconds=5) == auto.Plan(2, 1, 0.5)
    assert planned(uniform(10, 10, 1), threads=2, seconds=60) == auto.Plan(2, 1, 0.5)
    assert planned(uniform(10, 10, 1), threads=1, seconds=60) == auto.Plan(1, 1, 30.0)
    assert planned(uniform(10, 10, 1), threads=1, target=1) == auto.Plan(1, 1, 10.0)
    assert planned(uniform(10, 10, 1), threads=8, target=1) == auto.Plan(8, 2, 0.5)
    assert planned(uniform(20, 20, 1), threads=2, seconds=5) == auto.Plan(2, 1, 2.0, bounding=True)
    assert planned(uniform(100, 20, 1), threads=8, seconds=5) == auto.Plan(8, 1, 2.0, bounding=True)
    assert planned(uniform(200, 20, 1), threads=2, seconds=5) == auto.Plan(2)
    assert planned(uniform(10, 10, 1), steps=100) == auto.Plan(1, 0, math.inf)
    assert planned(uniform(6, 6, 1), threads=1, patience=100) == auto.Plan(1)
    huge = Instance([[(0, 2**45), (1, 1)], [(1, 1), (0, 1)]])
    assert planned(huge, threads=2, seconds=5) == auto.Plan(2)
    monkeypatch.setattr(auto, "find_spec", lambda _: None)
    assert planned(uniform(6, 6, 1), threads=2, seconds=5) == auto.Plan(2)


def test_who_has_the_threads():
    proving = list(auto.stretches(auto.Plan(2, 1, 0.5)))
    assert proving == [Stretch(0.5), Stretch(math.inf, 1)]
    bounding = auto.stretches(auto.Plan(2, 1, 2.0, bounding=True))
    assert list(islice(bounding, 5)) == [
        Stretch(2.0), Stretch(2.5, 1), Stretch(4.0), Stretch(5.0, 1), Stretch(8.0),
    ]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_turns_of_cpsat_raise_the_bound_of_a_large_shop(threads):
    shop = uniform(20, 20, 7)
    seen = []

    def listen(snapshot):
        seen.append((snapshot.progress.step, snapshot.progress.lower_bound))

    alone = tbgat.solve(shop, "tspr", seconds=0.1, threads=1)
    result = tbgat.solve(shop, seconds=7, threads=threads, seed=0, callbacks=[listen])
    assert alone.lower_bound < result.lower_bound <= result.makespan
    assert seen[-1][1] > alone.lower_bound
    assert seen == sorted(seen)
    assert "CP-SAT on 1 from 2.0 s" in result.explain()
    assert f"Lower bound {result.lower_bound} by CP-SAT." in result.explain()
    seconds = [gain.seconds for gain in result.history]
    assert seconds == sorted(seconds)
    assert 0 <= seconds[0] <= seconds[-1] <= result.seconds < 9


def test_bounds_of_turns_are_never_above_the_optimum():
    """Turns on shops small enough to know the optimum: the bound may meet it, not pass it."""
    for seed in range(6):
        shop = uniform(8, 8, seed)
        best = tbgat.solve(shop, "cpsat", seconds=60)
        assert best.status == "optimal"
        task = make_task(shop, "auto", seconds=30, threads=1, seed=seed)
        pool = Pool(shop_of(shop))
        pool.offer(Member.of(task.start.makespan, order_of(shop, task.start), "start"))
        beside = partner.Partner(task, pool, 1, bounding=True)
        bounds = [beside.bound]
        for _ in range(4):
            with beside:
                time.sleep(0.1)
            bounds.append(beside.bound)
        assert bounds == sorted(bounds)
        assert task.lower_bound <= bounds[-1] <= best.makespan <= pool.best.makespan


def test_the_start_is_told_once(monkeypatch):
    """Also where a stretch finds nothing better than the schedule it begins with."""
    shop = uniform(10, 10, 2)
    best = tbgat.solve(shop, "tspr", steps=300_000, seed=0)
    monkeypatch.setattr(auto, "ALONE_SECONDS", 0.05)
    told = []
    tbgat.solve(
        shop,
        seconds=0.4,
        threads=2,
        initial=best.schedule,
        callbacks=[lambda snapshot: told.extend(snapshot.improvements)],
    )
    makespans = [gain.makespan for gain in told]
    assert makespans[0] == best.makespan
    assert makespans == sorted(set(makespans), reverse=True)


def test_a_partner_can_be_closed_at_any_time():
    shop = uniform(12, 12, 3)
    task = make_task(shop, "auto", seconds=30, threads=1, seed=0)
    pool = Pool(shop_of(shop))
    pool.offer(Member.of(task.start.makespan, order_of(shop, task.start), "start"))
    before = threading.active_count()
    beside = partner.Partner(task, pool, 1)
    beside.close()
    beside.__enter__()
    beside.close()
    beside.close()
    assert threading.active_count() == before


def make_spectators(task, pool):
    pool.offer(Member.of(task.start.makespan, order_of(task.instance, task.start), "start"))
    return [Spectator(task, pool)]


def make_relinking_walks(task, pool):
    return tspr.make_walks(task, pool, Settings())


@pytest.mark.parametrize("make_walks", [make_spectators, make_relinking_walks])
@pytest.mark.parametrize("stop_at_once", [True, False])
def test_what_comes_from_outside_has_its_schedule_and_its_makespan_told_together(
    make_walks, stop_at_once
):
    """A solution enters the pool while the callback runs, as those of CP-SAT do."""
    shop = uniform(15, 15, 1)
    fair, good = (tbgat.solve(shop, "tspr", steps=n, seed=1) for n in (100, 100_000))
    pool = Pool(shop_of(shop))
    heard = []

    def listen(snapshot):
        best = snapshot.progress.best
        begun = best < task.start.makespan
        news = good if begun else fair
        pool.offer(Member.of(news.makespan, order_of(shop, news.schedule), "outside"))
        heard.append((snapshot.schedule().makespan, best))
        return begun and (stop_at_once or best <= good.makespan)

    task = make_task(shop, "auto", seconds=5, threads=1, seed=0, callbacks=[listen])
    outcome = local_search(task, make_walks(task, pool))
    assert [schedule for schedule, _ in heard] == [makespan for _, makespan in heard]
    assert outcome.stopped == "callback"
    assert outcome.schedule.makespan == outcome.history[-1].makespan
    assert (outcome.schedule.makespan > good.makespan) == stop_at_once


def test_what_cpsat_finds_while_it_is_being_ended_is_kept(monkeypatch):
    shop = uniform(12, 12, 5)
    good = tbgat.solve(shop, "tspr", steps=200_000, seed=1)
    news = Member.of(good.makespan, order_of(shop, good.schedule), partner.NAME)
    close = partner.Partner.close

    def find_and_close(beside):
        beside._pool.offer(news)
        close(beside)

    monkeypatch.setattr(partner.Partner, "close", find_and_close)
    monkeypatch.setattr(auto, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(auto, "ALONE_SHARE", 0.0)
    result = tbgat.solve(shop, seconds=0.1, threads=1, seed=0)
    assert result.makespan == result.history[-1].makespan == good.makespan
    assert f"Best schedule, {good.makespan}, by CP-SAT" in result.explain()


def test_a_spectator_keeps_time():
    shop = uniform(10, 10, 1)
    task = make_task(shop, "auto", seconds=2.0, threads=1)
    pool = Pool(shop_of(shop))
    pool.offer(Member.of(task.start.makespan, order_of(shop, task.start), "start"))
    good = tbgat.solve(shop, "tspr", steps=5_000, seed=1)
    task = make_task(shop, "auto", seconds=2.0, threads=1)
    news = Member.of(good.makespan, order_of(shop, good.schedule), "search")
    timer = threading.Timer(0.5, pool.offer, [news])
    timer.start()
    outcome = local_search(task, [Spectator(task, pool)])
    timer.join()
    assert outcome.schedule.makespan == good.makespan
    assert 0.4 < outcome.history[-1].seconds < 2.1
    assert outcome.steps < 100_000


@pytest.mark.parametrize(("name", "threads"), [("la06", 1), ("la16", 2)])
def test_small_shops_end_with_a_proof(name, threads):
    result = tbgat.solve(tbgat.load(name), seconds=100, threads=threads, seed=0)
    assert result.status == "optimal"
    assert result.makespan == {"la06": 926, "la16": 945}[name]
    lines = result.explain().splitlines()
    assert lines[0].startswith("Tabu search on N7 moves")
    assert lines[1].startswith(f"Best schedule, {result.makespan}, by ")
    assert lines[-1].startswith("Optimal: ")


@settings(max_examples=15)
@given(shops, st.integers(0, 99))
def test_nothing_better_than_the_optimum_exists(jobs, seed):
    """The partner proves what CP-SAT's own model says."""
    instance = Instance(jobs)
    optimum = tbgat.solve(instance, "cpsat", seconds=30, threads=1)
    assert optimum.status == "optimal"
    task = make_task(instance, "auto", seconds=30, threads=1, seed=seed)
    pool = Pool(shop_of(instance))
    start = task.start
    pool.offer(Member.of(start.makespan, order_of(instance, start), "start"))
    with partner.Partner(task, pool, 1) as beside:
        end = time.perf_counter() + 30
        while not beside.proves(pool.best.makespan) and time.perf_counter() < end:
            time.sleep(0.005)
    assert pool.best.makespan == beside.bound == optimum.makespan


def test_a_better_solution_from_outside_reaches_cpsat_and_back():
    instance = uniform(10, 10, 300)
    task = make_task(instance, "auto", seconds=60, threads=1, seed=0)
    pool = Pool(shop_of(instance))
    pool.offer(Member.of(task.start.makespan, order_of(instance, task.start), "start"))
    good = tbgat.solve(instance, "tspr", steps=150_000, seed=1)
    with partner.Partner(task, pool, 1) as beside:
        time.sleep(0.2)
        pool.offer(Member.of(good.makespan, order_of(instance, good.schedule), "search"))
        end = time.perf_counter() + 60
        while not beside.proves(pool.best.makespan) and time.perf_counter() < end:
            time.sleep(0.02)
    assert beside.bound == pool.best.makespan <= good.makespan


@pytest.mark.parametrize(("threads", "size"), [(1, 10), (2, 15), (3, 20)])
def test_time_limit_is_kept_and_no_thread_stays(threads, size):
    auto.prepare()
    before = threading.active_count()
    begun = time.perf_counter()
    result = tbgat.solve(uniform(size, size, 1), seconds=1, threads=threads, seed=0)
    # The promise is 0.3 s on a machine of its own.
    assert time.perf_counter() - begun < 2.5
    assert result.history[-1].makespan == result.makespan
    assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself differ there")
@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt_returns_the_best_so_far(threads):
    before = threading.active_count()
    timer = threading.Timer(3.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    result = tbgat.solve(uniform(15, 15, 2), seconds=60 if threads > 1 else 4, threads=threads)
    timer.join()
    assert result.stopped == "interrupt"
    assert result.seconds < 10
    assert threading.active_count() == before


def test_steps_repeat_with_any_number_of_threads():
    instance = uniform(12, 10, 4)
    runs = [tbgat.solve(instance, steps=60_000, threads=3, seed=5) for _ in range(2)]
    assert runs[0].schedule == runs[1].schedule
    assert runs[0].makespan == runs[1].makespan


def test_the_story_names_the_finder_whichever_thread_it_was():
    instance = uniform(12, 10, 4)
    alone, three = (tbgat.solve(instance, steps=20_000, threads=n, seed=5) for n in (1, 3))
    assert three.makespan < alone.makespan
    for result in (alone, three):
        assert f"Best schedule, {result.makespan}, by tabu search after" in result.explain()
    again = tbgat.solve(instance, steps=10, initial=three.schedule, seed=5)
    assert f"Best schedule, {three.makespan}, by the start after 0.00 s" in again.explain()


def test_works_without_or_tools(monkeypatch):
    assert find_spec("ortools")
    monkeypatch.setattr(auto, "find_spec", lambda _: None)
    result = tbgat.solve(uniform(6, 5, 1), seconds=0.3, threads=2, seed=0)
    assert "CP-SAT" not in result.explain()


def test_callbacks_hear_one_story_across_both_parts():
    told, steps = [], []

    def listen(snapshot):
        told.extend(snapshot.improvements)
        steps.append(snapshot.progress.step)
        assert snapshot.schedule().makespan == snapshot.progress.best

    result = tbgat.solve(uniform(12, 12, 6), seconds=2, threads=2, seed=0, callbacks=[listen])
    makespans = [gain.makespan for gain in told]
    assert makespans == sorted(set(makespans), reverse=True)
    assert steps == sorted(steps)
    assert set(told) <= set(result.history)


def test_a_limit_before_cpsat_would_start_is_kept():
    result = tbgat.solve(uniform(12, 12, 6), seconds=0.2, threads=2, seed=0)
    assert "CP-SAT on" not in result.explain()
    assert result.stopped == "seconds"
