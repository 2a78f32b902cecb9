"""The evolution strategy: the direction of its steps, and that its runs repeat."""

import dataclasses

import numpy as np
import pytest
import torch

from tbgat.errors import UsageError
from tbgat.policy.network import TBGAT
from tbgat.training.config import TrainingConfig
from tbgat.training.evolution import centred_ranks, estimate_gradient
from tbgat.training.run import TrainingRun, train
from tests.training.test_run import assert_same_run

SMALL = TrainingConfig(
    learner="evolution",
    preset="moves",
    units=2,
    sizes=((8, 6), (7, 7)),
    mixed=True,
    batch=4,
    instances=24,
    marks=(10, 30),
    pairs=3,
    lr=0.1,
    validate_every=2,
    validation=4,
)


def test_ranks_are_centred_and_equals_share_them():
    np.testing.assert_allclose(centred_ranks([3.0, 1.0, 2.0]), [0.5, -0.5, 0.0])
    np.testing.assert_allclose(centred_ranks([7, 7, 7]), [0.0, 0.0, 0.0])
    table = np.random.default_rng(0).integers(0, 4, (9, 5))
    np.testing.assert_allclose(centred_ranks(table).sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(centred_ranks(table)[:, 2], centred_ranks(table[:, 2]))


def test_the_gradient_points_uphill():
    slope = np.array([3.0, -1.0, 0.0, 0.5])
    gradient, costs = estimate_gradient(
        np.ones(4),
        lambda w: (w @ slope)[:, None] + np.array([0.0, 5.0]),
        pairs=400,
        sigma=0.1,
        rng=np.random.default_rng(1),
    )
    assert costs.shape == (800, 2)
    cosine = gradient @ slope / np.linalg.norm(gradient) / np.linalg.norm(slope)
    assert cosine > 0.98


def test_it_descends_through_noise():
    rng, at = np.random.default_rng(2), np.full(6, 2.0)
    for _ in range(150):
        gradient, _ = estimate_gradient(
            at,
            lambda w: (w**2).sum(axis=1, keepdims=True) + rng.normal(0, 0.5, (len(w), 8)),
            pairs=8,
            sigma=0.2,
            rng=rng,
        )
        at = at - 0.05 * gradient
    assert np.abs(at).max() < 0.6


@pytest.mark.parametrize("preset", ["moves", "trials"])
def test_a_resumed_run_ends_like_one_that_never_stopped(tmp_path, preset):
    config = dataclasses.replace(SMALL, preset=preset)
    heard = []
    train(TrainingRun.start(tmp_path / "whole", config), listen=heard.append)
    assert [record["batch"] for record in heard] == [1, 2, 3, 4, 5, 6]
    part = TrainingRun.start(tmp_path / "part", config)
    for _ in range(2):
        part.advance()
    again = TrainingRun.resume(tmp_path / "part")
    assert again.config == config
    train(again, listen=heard.append)
    assert_same_run(tmp_path / "whole", tmp_path / "part")


def test_threads_do_not_change_the_weights(tmp_path):
    runs = [TrainingRun.start(tmp_path / str(threads), SMALL) for threads in (1, 2)]
    for threads, run in enumerate(runs, 1):
        run.advance(threads=threads)
    first, second = (run.policy.state_dict() for run in runs)
    untrained = TBGAT(runs[0].policy.config).state_dict()
    for name in first:
        assert torch.equal(first[name], second[name])
        assert not torch.equal(first[name], untrained[name])


def test_what_it_cannot_train(tmp_path):
    with pytest.raises(UsageError, match="without a graph"):
        TrainingRun.start(tmp_path / "a", TrainingConfig(learner="evolution", preset="tiny"))
    with pytest.raises(UsageError, match="rising"):
        TrainingConfig(marks=(500, 100))
    with pytest.raises(UsageError, match="learner"):
        TrainingConfig(learner="luck")
