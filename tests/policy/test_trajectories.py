from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tbgat.dispatching import dispatch
from tbgat.generate import uniform
from tbgat.instance import Instance
from tbgat.policy.trajectories import ANY_SWAP, CRITICAL_SWAP, STAY, Trajectories


def make(instances, seed=0):
    rngs = [np.random.default_rng([seed, i]) for i in range(len(instances))]
    starts = [dispatch(i, rng=rng) for i, rng in zip(instances, rngs, strict=True)]
    return Trajectories(instances, starts, rngs), starts


def test_rewards_add_up_to_the_gain():
    states, starts = make([uniform(6, 6, s) for s in range(4)])
    rng = np.random.default_rng(0)
    total = np.zeros(4, dtype=np.int64)
    for _ in range(40):
        counts = np.diff(states.offsets)
        chosen = states.offsets[:-1] + rng.integers(0, np.maximum(counts, 1))
        reward = states.move(np.where(counts > 0, chosen, STAY))
        assert (reward >= 0).all()
        total += reward
    for b, start in enumerate(starts):
        schedule = states.best_schedule(b)
        schedule.check(states.batch.instances[b])
        assert schedule.makespan == states.best[b] == start.makespan - total[b]


def test_left_alone():
    states, _ = make([uniform(5, 5, 1), uniform(5, 5, 2)])
    before = states.batch.arrays.machine_succ.copy()
    states.move([STAY, STAY])
    np.testing.assert_array_equal(before, states.batch.arrays.machine_succ)


def test_a_trajectory_does_not_depend_on_its_neighbours():
    instances = [uniform(6, 6, s) for s in range(3)]
    states, starts = make(instances)
    rngs = [np.random.default_rng([0, i]) for i in range(3)]
    for i, rng in zip(instances, rngs, strict=True):
        dispatch(i, rng=rng)
    alone = Trajectories(instances[2:], starts[2:], rngs[2:])
    for _ in range(20):
        states.move(np.where(np.diff(states.offsets) > 0, states.offsets[:-1], STAY))
        alone.move(np.where(np.diff(alone.offsets) > 0, alone.offsets[:-1], STAY))
        assert states.batch.arrays.makespan[2] == alone.batch.arrays.makespan[0]


def test_stuck_and_proved():
    single = Instance([[(0, 4), (1, 2)]])
    states, _ = make([single])
    assert states.proved.tolist() == [True]
    assert states.stuck.tolist() == [False]
    # The critical path stays in a job that meets its own machine twice: no N5 move, no proof.
    shop = Instance([[(0, 5), (1, 5), (0, 5)], [(1, 1)]])
    states, _ = make([shop])
    for _ in range(5):
        if states.stuck[0]:
            states.move([ANY_SWAP])
        assert states.best_schedule(0).makespan == 15


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(2, 4), st.integers(20, 40))
def test_circles_are_few_pairs_among_the_latest_swaps(seed, jobs, machines, count):
    states, _ = make([uniform(jobs, machines, seed), uniform(4, 2, 6)], seed)
    rng = np.random.default_rng(seed)
    pairs = [[], []]
    for _ in range(count):
        g = states.batch.arrays
        before = g.machine_succ.copy()
        counts = np.diff(states.offsets)
        chosen = states.offsets[:-1] + rng.integers(0, np.maximum(counts, 1))
        swapped = g.move_u[states.at[chosen[counts > 0]]]
        for b, u in zip(np.flatnonzero(counts), swapped, strict=True):
            pairs[b].append(frozenset([int(u), int(before[u])]))
        states.move(np.where(counts > 0, chosen, STAY))
    expected = [len(made) >= 20 and len(set(made[-20:])) <= 4 for made in pairs]
    assert states.circling.tolist() == expected


def test_no_circles_in_a_short_memory():
    shop = uniform(4, 2, 6)
    states = Trajectories([shop], [dispatch(shop)], [np.random.default_rng(0)], memory=5)
    for _ in range(40):
        states.move([0])
    assert states.circling.tolist() == [False]


@given(st.integers(0, 10_000), st.integers(3, 8), st.integers(2, 4))
def test_a_critical_swap_reverses_neighbours_on_the_critical_path(seed, jobs, machines):
    states, _ = make([uniform(jobs, machines, seed), uniform(3, 3, seed)], seed)
    g = states.batch.arrays
    lo, length = int(g.offset[0]), int(g.path_length[0])
    path = g.path[lo : lo + length].tolist()
    candidates = {(u, v) for u, v in pairwise(path) if g.machine_succ[u] == v}
    before = g.machine_succ.copy()
    states.move([CRITICAL_SWAP, STAY])
    reversed_now = {(u, v) for u, v in candidates if g.machine_succ[v] == u}
    if candidates:
        assert len(reversed_now) == 1
    other = slice(int(g.offset[1]), None)
    np.testing.assert_array_equal(before[other], g.machine_succ[other])
    states.batch.schedule(0).check(states.batch.instances[0])


def test_without_critical_neighbours_any_pair_is_swapped():
    # The long job alone is critical; the others share a machine.
    shop = Instance([[(0, 9), (1, 9)], [(2, 1)], [(2, 1)]])
    states, _ = make([shop])
    before = states.batch.machine_orders(0)[2]
    states.move([CRITICAL_SWAP])
    assert states.batch.machine_orders(0)[2] == before[::-1]
