"""The method ``tbgat`` with an untrained network: what must hold whatever the weights."""

import time

import numpy as np
import pytest
import torch

import tbgat
from tbgat.errors import UsageError, WeightsError
from tbgat.generate import uniform
from tbgat.instance import Instance
from tbgat.policy.features import move_positions
from tbgat.policy.network import TBGAT
from tbgat.policy.weights import save_weights

ODD = (
    Instance([[(0, 3), (1, 5), (0, 2)], [(1, 4)], [(2, 7), (2, 1), (1, 0)], [(0, 9), (2, 6)]]),
    Instance([[(0, 4)]]),
    Instance([[(0, 0), (1, 0)], [(1, 0), (0, 0)]]),
    Instance([[(0, 2), (0, 3)], [(1, 4), (1, 1)]]),
    Instance([[(0, 400), (1, 2300)], [(1, 24000), (0, 1)], [(0, 5000), (1, 700)]]),
)


@pytest.fixture(scope="module", params=["tiny", "moves"])
def weights(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / f"{request.param}.safetensors"
    network = TBGAT(request.param, generator=torch.Generator().manual_seed(1))
    save_weights(path, network, {"sizes": ["10x10"]})
    return path


def test_solves_and_repeats(weights):
    instance = uniform(10, 10, 0)
    first = tbgat.solve(instance, "tbgat", weights=weights, steps=60, seed=3)
    again = tbgat.solve(instance, "tbgat", weights=weights, steps=60, seed=3)
    other = tbgat.solve(instance, "tbgat", weights=weights, steps=60, seed=4)
    assert first.history[-1].makespan == first.makespan < first.history[0].makespan
    found = [[(h.step, h.makespan) for h in r.history] for r in (first, again, other)]
    assert found[0] == found[1] != found[2]
    assert first.schedule == again.schedule
    assert first.steps == 60
    assert "trained on 10x10" in first.explain()


def test_many_at_once_equal_one_by_one(weights):
    shops = [tbgat.load("ft06"), uniform(8, 5, 1), *ODD, tbgat.load("la01")]
    together = tbgat.solve_many(shops, "tbgat", weights=weights, steps=40, seed=7, threads=2)
    for number, (shop, result) in enumerate(zip(shops, together, strict=True)):
        result.schedule.check(shop)
        alone = tbgat.solve(shop, "tbgat", weights=weights, steps=40, seed=7 + number)
        assert (alone.makespan, alone.steps) == (result.makespan, result.steps), number


@pytest.mark.parametrize("shop", ODD, ids=range(len(ODD)))
def test_odd_shops(weights, shop):
    result = tbgat.solve(shop, "tbgat", weights=weights, steps=50, seed=0)
    proved = tbgat.solve(shop, "cpsat", seconds=20, threads=1, seed=0)
    assert result.makespan >= proved.makespan
    if result.status == "optimal":
        assert result.makespan == proved.makespan


def test_several_trajectories_and_greedy(weights):
    shop = uniform(10, 10, 5)
    one = tbgat.solve(shop, "tbgat", weights=weights, steps=50, seed=0)
    four = tbgat.solve(shop, "tbgat", weights=weights, steps=50, seed=0, trajectories=4)
    assert four.makespan <= one.makespan
    assert four.steps == 50
    best = tbgat.solve(shop, "tbgat", weights=weights, steps=50, seed=0, greedy=True)
    same = tbgat.solve(shop, "tbgat", weights=weights, steps=50, seed=0, greedy=True)
    assert best.makespan == same.makespan


def test_limits(weights):
    shop = uniform(10, 10, 5)
    begun = time.perf_counter()
    result = tbgat.solve(shop, "tbgat", weights=weights, seconds=0.5, seed=0, threads=1)
    assert time.perf_counter() - begun < 5
    assert 0.5 <= result.seconds < 3
    assert result.stopped == "seconds"
    target = result.history[0].makespan - 1
    reached = tbgat.solve(shop, "tbgat", weights=weights, target=target, seconds=20, seed=0)
    assert reached.makespan <= target
    assert reached.stopped == "target"
    assert tbgat.solve(shop, "tbgat", weights=weights, steps=0, seed=0).steps == 0
    patient = tbgat.solve(shop, "tbgat", weights=weights, patience=5, seconds=20, seed=0)
    assert patient.steps - patient.history[-1].step >= 5


def test_callbacks_see_and_stop(weights):
    seen = []

    def listen(snapshot):
        seen.append(snapshot.progress.step)
        snapshot.schedule().check(snapshot.instance)
        return len(seen) >= 3

    result = tbgat.solve(
        uniform(6, 6, 0), "tbgat", weights=weights, steps=10**6, seed=0, callbacks=[listen]
    )
    assert result.status == "optimal" or result.stopped == "callback"
    assert seen == sorted(seen)


def test_warm_start(weights):
    shop = tbgat.load("ft06")
    good = tbgat.solve(shop, "tabu", steps=3000, seed=0)
    kept = tbgat.solve(shop, "tbgat", weights=weights, steps=5, seed=0, initial=good.schedule)
    assert kept.makespan <= good.makespan


def test_a_policy_of_ones_own():
    def least_makespan(batch, best):
        at, _ = move_positions(batch)
        return -batch.arrays.move_makespan[at].astype(float)

    shop = tbgat.load("la01")
    result = tbgat.solve(shop, "tbgat", policy=least_makespan, greedy=True, steps=50, seed=0)
    assert result.makespan < result.history[0].makespan


@pytest.mark.parametrize("size_and_seed", [(4, 2, 6), (4, 3, 24), (6, 3, 0)])
def test_a_way_out_of_circles(weights, size_and_seed):
    """Of these shops N5 moves alone never find the optimum, however many."""
    shop = uniform(*size_and_seed)
    best = tbgat.solve(shop, "cpsat", seconds=60)
    assert best.status == "optimal"
    for seed in range(3):
        plain = tbgat.solve(shop, "tbgat", weights=weights, escape=0, steps=2000, seed=seed)
        assert plain.makespan > best.makespan
        led_out = tbgat.solve(shop, "tbgat", weights=weights, steps=2000, seed=seed)
        assert led_out.makespan == best.makespan


def test_a_walk_without_circles_does_not_know_of_the_way_out(weights):
    shop = tbgat.load("ft10")
    with_it, without = (
        tbgat.solve(shop, "tbgat", weights=weights, escape=escape, steps=200, seed=3)
        for escape in (10, 0)
    )
    assert [(i.step, i.makespan) for i in with_it.history] == [
        (i.step, i.makespan) for i in without.history
    ]


def test_a_way_out_in_general_shops(weights):
    """Recirculation and zero durations, where the swap that leads out may not be legal."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        shop = Instance(
            [
                [(int(rng.integers(2)), int(rng.integers(3))) for _ in range(rng.integers(1, 5))]
                for _ in range(3)
            ]
        )
        result = tbgat.solve(shop, "tbgat", weights=weights, steps=200, seed=seed)
        result.schedule.check(shop)


def test_messages(weights, tmp_path):
    shop = tbgat.load("ft06")
    with pytest.raises(WeightsError, match=r"no weights named 'nothing'.*tbgat train"):
        tbgat.solve(shop, "tbgat", weights="nothing", steps=1)
    with pytest.raises(UsageError, match="trajectories must be 1 or more"):
        tbgat.solve(shop, "tbgat", weights=weights, trajectories=0, steps=1)
    with pytest.raises(UsageError, match="escape must be 0 or more, got -1"):
        tbgat.solve(shop, "tbgat", weights=weights, escape=-1, steps=1)
    with pytest.raises(UsageError, match="device 'toaster' cannot be used"):
        tbgat.solve(shop, "tbgat", weights=weights, device="toaster", steps=1)
    for size in ("6x6", "30x20"):
        save_weights(tmp_path / f"{size}.safetensors", TBGAT("tiny"), {"sizes": [size]})
    pair = tbgat.solve_many([shop, uniform(20, 20, 0)], "tbgat", weights=tmp_path, steps=2, seed=0)
    assert "trained on 6x6" in pair[0].explain()
    assert "trained on 30x20" in pair[1].explain()


def test_numbers_of_moves_are_counted_over_the_batch():
    """The scores of one state may not leak into its neighbour's choice."""
    calls = []

    def constant(batch, best):
        calls.append(len(best))
        return np.zeros(len(move_positions(batch)[0]))

    tbgat.solve_many(
        [uniform(5, 5, s) for s in range(3)], "tbgat", policy=constant, steps=4, seed=1
    )
    assert calls == [3] * 4
