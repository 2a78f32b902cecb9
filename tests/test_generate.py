"""Random instances: what they promise, and Taillard's to the last digit."""

import numpy as np
import pytest

from tbgat import generate, library
from tbgat.errors import UsageError
from tbgat.generate.taillard import taillard


@pytest.mark.parametrize("number", range(1, 81))
def test_taillard_benchmark_is_the_library(number):
    assert generate.taillard_benchmark(number) == library.load(f"ta{number:02}")


def test_taillard_refuses_what_his_generator_cannot_take():
    with pytest.raises(UsageError, match="1 to 80"):
        generate.taillard_benchmark(81)
    with pytest.raises(UsageError, match="Taillard seed"):
        taillard(3, 3, 0, 1)


def test_uniform():
    instance = generate.uniform(60, 50, seed=1)
    assert instance.is_classic
    assert (instance.durations.min(), instance.durations.max()) == (1, 99)
    assert instance == generate.uniform(60, 50, seed=1)
    assert instance == generate.uniform(60, 50, seed=np.random.default_rng(1))
    assert instance != generate.uniform(60, 50, seed=2)
    # Each machine stands first in about 60/50 of the jobs, not always the same.
    assert len(set(instance.machines[::50].tolist())) > 20


def test_uniform_range():
    instance = generate.uniform(20, 20, seed=0, low=0, high=2, name="small")
    assert set(instance.durations.tolist()) == {0, 1, 2}
    assert instance.name == "small"


def test_uniform_batch_differs_within_and_repeats_with_its_seed():
    batch = generate.uniform_batch(5, 4, 3, np.random.default_rng(3))
    assert len({instance.digest for instance in batch}) == 5
    assert all(instance.is_classic and instance.shape == "4x3" for instance in batch)
    assert batch == generate.uniform_batch(5, 4, 3, np.random.default_rng(3))


def test_flow_shop_like_passes_the_groups_in_order():
    instance = generate.flow_shop_like(30, 10, seed=4)
    routes = instance.machines.reshape(30, 10)
    assert instance.is_classic
    assert (routes[:, :5] < 5).all()
    assert len({tuple(route) for route in routes.tolist()}) > 20
    flow = generate.flow_shop_like(5, 4, seed=4, stages=4)
    assert (flow.machines.reshape(5, 4) == np.arange(4)).all()


def test_general_is_ragged_and_recirculates():
    instance = generate.general(40, 4, seed=5)
    lengths = np.diff(instance.job_offsets)
    assert len(set(lengths.tolist())) > 3
    assert any(len({m for m, _ in job}) < len(job) for job in instance.jobs)
    assert (instance.durations == 0).any()
    once = generate.general(40, 4, seed=5, recirculate=False)
    assert all(len({m for m, _ in job}) == len(job) for job in once.jobs)
    assert instance == generate.general(40, 4, seed=5)
    fixed = generate.general(6, 4, seed=5, steps=(7, 7))
    assert set(np.diff(fixed.job_offsets).tolist()) == {7}


@pytest.mark.parametrize(
    "call",
    [
        lambda: generate.uniform(0, 3),
        lambda: generate.uniform(3, 3, low=5, high=4),
        lambda: generate.uniform(3, 3, low=-1),
        lambda: generate.flow_shop_like(3, 3, stages=4),
        lambda: generate.general(3, 3, steps=(2, 4), recirculate=False),
    ],
)
def test_impossible_wishes(call):
    with pytest.raises(UsageError):
        call()
