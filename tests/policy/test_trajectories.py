import numpy as np

from tbgat.dispatching import dispatch
from tbgat.generate import uniform
from tbgat.instance import Instance
from tbgat.policy.trajectories import Trajectories


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
        reward = states.move(np.where(counts > 0, chosen, -1))
        assert (reward >= 0).all()
        total += reward
    for b, start in enumerate(starts):
        schedule = states.best_schedule(b)
        schedule.check(states.batch.instances[b])
        assert schedule.makespan == states.best[b] == start.makespan - total[b]


def test_left_alone():
    states, _ = make([uniform(5, 5, 1), uniform(5, 5, 2)])
    before = states.batch.arrays.machine_succ.copy()
    states.move([-1, -1])
    np.testing.assert_array_equal(before, states.batch.arrays.machine_succ)


def test_a_trajectory_does_not_depend_on_its_neighbours():
    instances = [uniform(6, 6, s) for s in range(3)]
    states, starts = make(instances)
    rngs = [np.random.default_rng([0, i]) for i in range(3)]
    for i, rng in zip(instances, rngs, strict=True):
        dispatch(i, rng=rng)
    alone = Trajectories(instances[2:], starts[2:], rngs[2:])
    for _ in range(20):
        states.move(np.where(np.diff(states.offsets) > 0, states.offsets[:-1], -1))
        alone.move(np.where(np.diff(alone.offsets) > 0, alone.offsets[:-1], -1))
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
            states.move([-2])
        assert states.best_schedule(0).makespan == 15
