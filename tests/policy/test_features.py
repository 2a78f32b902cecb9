import numpy as np
import pytest

from tbgat.errors import UsageError
from tbgat.generate import uniform
from tbgat.instance import Instance
from tbgat.policy.features import MOVE_FEATURES, Observation, observe
from tests.policy.states import mixed_instances, random_move, walk

ALL = tuple(MOVE_FEATURES)


def same(a: Observation, b: Observation) -> None:
    for name, array in a.to_arrays().items():
        np.testing.assert_array_equal(array, b.to_arrays()[name], err_msg=name)
        assert array.dtype == b.to_arrays()[name].dtype


def test_features_of_a_hand_made_schedule():
    # One machine order is forced: job 0 runs first on both machines.
    instance = Instance([[(0, 30), (1, 50)], [(0, 20), (1, 99)]])
    batch, (seen,) = walk([instance], steps=0, names=ALL)
    g = batch.arrays
    assert g.makespan[0] == seen.makespans[0] * 1000
    np.testing.assert_allclose(seen.features[:, 0] * 99, instance.durations, rtol=1e-6)
    np.testing.assert_allclose(seen.features[:, 1] * 1000, g.est, rtol=1e-6)
    np.testing.assert_allclose(seen.features[:, 2] * 1000, batch.lst, rtol=1e-6)
    np.testing.assert_allclose(seen.features[:, 3] * g.sink_level[0], g.level, rtol=1e-6)
    np.testing.assert_allclose(seen.features[:, 4] * g.sink_level[0], g.back_level, rtol=1e-6)
    assert seen.starts_job.tolist() == [True, False, True, False]


def test_another_unit_is_scaled_for_the_features_only():
    small = Instance([[(0, 30), (1, 50)], [(1, 99), (0, 20)], [(0, 7), (1, 9)]])
    large = Instance([[(m, 240 * p) for m, p in [(0, 30), (1, 50)]], [(1, 240 * 99), (0, 4800)],
                      [(0, 1680), (1, 2160)]])  # fmt: skip
    batch, seen = walk([small, large], steps=4, names=ALL)
    first, second = seen[0].select([0]), seen[0].select([1])
    np.testing.assert_allclose(first.features, second.features, rtol=1e-6)
    np.testing.assert_allclose(first.makespans, second.makespans, rtol=1e-6)
    assert batch.arrays.makespan[1] >= 240 * 99
    shorter = Instance([[(0, 1), (1, 2)], [(1, 3), (0, 1)]])
    assert walk([shorter], 0)[1][0].features[0, 0] == np.float32(1 / 99)


def test_move_features():
    batch, seen = walk(mixed_instances(), steps=8, names=ALL)
    last, g = seen[-1], batch.arrays
    column = dict(zip(ALL, last.move_features.T, strict=True))
    state = np.repeat(np.arange(len(last)), last.num_moves)
    at = np.concatenate([np.arange(o, o + c) for o, c in zip(g.offset, g.move_count, strict=False)])
    assert set(np.unique(column["recent"])) <= {0.0, 1.0}
    np.testing.assert_array_equal(column["recent"] > 0, column["age"] > 0)
    np.testing.assert_array_equal(column["recent"] > 0, g.move_age[at] > 0)
    classic = state < 4
    change = (g.move_makespan[at] - g.makespan[state])[classic] / 100
    np.testing.assert_allclose(column["makespan_change"][classic], change, rtol=1e-6)
    assert (column["makespan_to_best"] >= column["makespan_change"] - 1e-6).all()
    assert (column["slack_before"] >= 0).all()
    assert (column["slack_after"] >= 0).all()


def test_recent_marks_the_move_that_undoes_the_last():
    batch, _ = walk([uniform(10, 10, seed) for seed in range(4)], steps=2)
    g = batch.arrays
    random = np.arange(4, dtype=np.uint64)
    seen_undo = 0
    for _ in range(30):
        batch.levels()
        batch.neighbourhood(random)
        at = g.offset[:-1]
        u, v = g.move_u[at].copy(), g.move_v[at].copy()
        batch.swap(u, v)
        batch.levels()
        batch.neighbourhood(random)
        now = observe(batch, ("recent", "age"))
        for b in range(4):
            rows = slice(now.move_offsets[b], now.move_offsets[b + 1])
            undo = (now.move_u[rows] == v[b]) & (now.move_v[rows] == u[b])
            seen_undo += int(undo.sum())
            assert (now.move_features[rows][undo] == 1.0).all()
    assert seen_undo > 0


def test_round_trip_join_and_select(tmp_path):
    _, seen = walk(mixed_instances(), steps=3, names=ALL)
    np.savez(tmp_path / "seen.npz", **seen[1].to_arrays())
    with np.load(tmp_path / "seen.npz") as stored:
        same(Observation.from_arrays(stored), seen[1])
    joined = Observation.concatenate(seen)
    states = len(seen[0])
    same(joined.select(np.arange(states, 2 * states)), seen[1])
    same(Observation.concatenate([seen[2].select([b]) for b in range(states)]), seen[2])


def test_an_observation_is_a_copy():
    batch, seen = walk(mixed_instances()[:3], steps=1)
    before = {k: v.copy() for k, v in seen[-1].to_arrays().items()}
    batch.swap(*random_move(batch, np.random.default_rng(0)))
    batch.levels()
    for name, array in seen[-1].to_arrays().items():
        np.testing.assert_array_equal(array, before[name])


def test_errors():
    batch, seen = walk(mixed_instances()[:2], steps=0)
    with pytest.raises(UsageError, match="unknown move feature 'luck'"):
        observe(batch, ("luck",))
    with pytest.raises(UsageError, match="different move features"):
        Observation.concatenate([seen[0], observe(batch, ())])
    with pytest.raises(UsageError, match="no observation"):
        Observation.concatenate([])
