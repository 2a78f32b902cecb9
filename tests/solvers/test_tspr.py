"""Method ``tspr``: honest, repeatable, on time, and safe with several threads."""

import signal
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tbgat
from tbgat import Instance
from tbgat.search.kernels.arrays import shop_of
from tbgat.search.kernels.relink import distance
from tbgat.search.pool import Member, Pool
from tbgat.search.relinking import RelinkingWalk, order_of, schedule_of
from tbgat.solvers import tspr
from tests.strategies import shops


def uniform(jobs, machines, seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(machines) for _ in range(jobs)])
    return Instance.from_arrays(rng.integers(1, 100, (jobs, machines)), orders)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    tspr.prepare()


@settings(max_examples=40)
@given(shops, st.integers(0, 99))
def test_any_shop_is_solved_and_small_ones_to_optimality(jobs, seed):
    instance = Instance(jobs)
    result = tbgat.solve(instance, "tspr", steps=3000, seed=seed, cutoff=50)
    if instance.num_operations <= 8:
        assert result.makespan == tbgat.solve(instance, "cpsat", seconds=20, threads=1).makespan


@given(shops, st.integers(0, 99))
def test_schedule_and_linear_order_say_the_same(jobs, seed):
    instance = Instance(jobs)
    schedule = tbgat.solve(instance, "dispatch", rule="random", seed=seed).schedule
    again = schedule_of(instance, shop_of(instance), order_of(instance, schedule))
    again.check(instance)
    assert again.makespan <= schedule.makespan


def test_finds_the_optimum_of_ft10_and_says_when():
    result = tbgat.solve(tbgat.load("ft10"), "tspr", steps=2_000_000, seed=3, target=930)
    assert result.makespan == 930
    assert [h.makespan for h in result.history] == sorted(
        {h.makespan for h in result.history}, reverse=True
    )
    assert result.history[-1].makespan == 930


def test_one_thread_repeats_itself_whatever_the_clock_says():
    instance = uniform(12, 8, 5)
    runs = [tbgat.solve(instance, "tspr", steps=120_000, seed=7, threads=1) for _ in range(2)]
    first, second = ([(h.step, h.makespan) for h in run.history] for run in runs)
    assert first == second
    assert runs[0].schedule == runs[1].schedule
    assert runs[0].steps == runs[1].steps == 120_000


@pytest.mark.parametrize("threads", [1, 3])
def test_time_limit_is_kept_and_no_thread_stays(threads):
    tspr.prepare()
    before = threading.active_count()
    begun = time.perf_counter()
    result = tbgat.solve(uniform(100, 20, 1), "tspr", seconds=1, threads=threads, seed=0)
    # Two busy cores can stall a thread; alone it ends within hundredths of a second.
    assert time.perf_counter() - begun < 2.0
    assert result.seconds >= 1 or result.status == "optimal"
    assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself differ there")
def test_interrupt_returns_the_best_so_far():
    before = threading.active_count()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    result = tbgat.solve(uniform(20, 20, 2), "tspr", seconds=30, threads=2, seed=0)
    timer.join()
    assert result.stopped == "interrupt"
    assert result.seconds < 10
    assert threading.active_count() == before


@pytest.mark.parametrize("place", ["_walk", "_share"])
def test_interrupted_within_a_chunk_history_and_schedule_agree(monkeypatch, place):
    """Ctrl-C on one thread: it may come before the log of a compiled chunk is read, or after."""
    shop = uniform(15, 15, 2)
    original = getattr(RelinkingWalk, place)

    def interrupt(walk, *given):
        result = original(walk, *given)
        if walk.moves > 1000 and walk.best < walk.known:
            monkeypatch.undo()
            raise KeyboardInterrupt
        walk.known = walk.best
        return result

    monkeypatch.setattr(RelinkingWalk, "known", 10**9, raising=False)
    monkeypatch.setattr(RelinkingWalk, place, interrupt)
    result = tbgat.solve(shop, "tspr", seconds=20, threads=1, seed=0)
    assert result.stopped == "interrupt"
    assert result.makespan == result.history[-1].makespan


def test_exchange_between_threads_is_never_torn_or_lost():
    """Many writers offer orders whose content tells whether they are whole."""
    instance = uniform(6, 5, 1)
    n = instance.num_operations
    pool = Pool(shop_of(instance), largest=8)
    smallest = []

    def offer(number):
        rng = np.random.default_rng(number)
        order = np.zeros(n, dtype=np.int64)
        lowest = 10**9
        for _ in range(400):
            shift = int(rng.integers(n))
            order[:] = np.roll(np.arange(n), shift)
            makespan = 1000 + shift + 100 * int(rng.integers(50))
            pool.offer(Member.of(makespan, order, "test"))
            lowest = min(lowest, makespan)
            order[:] = -1
            for member in (*pool.members, pool.best, *(pool.parents(rng) or ())):
                assert member.order[0] == (n - member.makespan % 100) % n
                assert sorted(member.order) == list(range(n))
                assert (member.rank[member.order] == np.arange(n)).all()
        smallest.append(lowest)

    threads = [threading.Thread(target=offer, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(smallest) == 6
    assert pool.best.makespan == min(smallest)
    members = [m.makespan for m in pool.members]
    assert members == sorted(members)
    assert 0 < len(members) <= 8


def test_a_population_is_no_crowd_of_copies():
    instance = uniform(6, 5, 1)
    n = instance.num_operations
    shop = shop_of(instance)
    pool = Pool(shop)
    rng = np.random.default_rng(1)
    for _ in range(300):
        pool.parents(rng)  # lets the population grow
        order = np.arange(n)
        for k in rng.integers(0, n - 1, int(rng.integers(1, 400))).tolist():
            order[[k, k + 1]] = order[[k + 1, k]]
        pool.offer(Member.of(int(rng.integers(100, 200)), order, "test"))
    members = pool.members
    assert len(members) > 5
    pairs = [(a, b) for k, a in enumerate(members) for b in members[:k]]
    assert min(distance(shop, a.rank, b.rank) for a, b in pairs) >= n // 10
    best, offered = members[0], pool.offer(Member.of(199, members[0].order, "test"))
    assert not offered
    assert pool.offer(Member.of(99, best.order, "test"))
    assert all(member is not best for member in pool.members)
    assert pool.members[0].makespan == 99


def test_many_short_runs_with_many_threads_report_what_they_hold():
    instance = uniform(8, 6, 3)
    for seed in range(30):
        result = tbgat.solve(instance, "tspr", seconds=0.03, threads=4, seed=seed, cutoff=100)
        assert result.makespan == result.history[-1].makespan == result.schedule.makespan
