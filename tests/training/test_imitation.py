"""Imitation: the divergence, that lessons lower it, and that runs repeat."""

import dataclasses

import numpy as np
import pytest
import torch
from torch.nn import functional

from tbgat.errors import TbgatError
from tbgat.policy.network import TBGAT
from tbgat.training.config import TrainingConfig
from tbgat.training.imitation import divergence, run_lesson
from tbgat.training.run import TrainingRun, train
from tests.training.test_run import assert_same_run

SMALL = TrainingConfig(
    learner="imitation",
    preset="tiny",
    move_features=("recent",),
    sizes=((6, 5), (5, 6)),
    mixed=True,
    batch=8,
    instances=48,
    steps=30,
    window=4,
    lr=2e-3,
    clip=1.0,
    validate_every=2,
    validation=4,
)


def test_divergence_is_the_sum_over_states_of_kl_both_ways():
    rng = torch.Generator().manual_seed(1)
    ours, wanted = torch.randn(2, 7, generator=rng)
    offsets = np.array([0, 3, 3, 7], dtype=np.int32)
    expected = sum(
        functional.kl_div(
            x[a:b].log_softmax(0), y[a:b].log_softmax(0), reduction="sum", log_target=True
        )
        for a, b in ((0, 3), (3, 7))
        for x, y in ((ours, wanted), (wanted, ours))
    )
    assert torch.allclose(divergence(ours, wanted, offsets), expected)
    assert divergence(wanted, wanted + 3.0, offsets).abs() < 1e-6


def test_lessons_bring_the_network_closer_to_its_teacher():
    policy = TBGAT(TBGAT("tiny").config.replace(move_features=("recent",)))
    optimiser = torch.optim.Adam(policy.parameters())
    config = dataclasses.replace(SMALL, batch=16, window=12, instances=10_000)
    found = [
        run_lesson(TBGAT("moves"), policy, optimiser, config, number)["divergence"]
        for number in range(24)
    ]
    # Lessons differ in difficulty by a tenth or so: many late ones against the first.
    assert np.mean(found[-8:]) < 0.9 * np.mean(found[:2])


def test_a_resumed_run_ends_like_one_that_never_stopped(tmp_path):
    train(TrainingRun.start(tmp_path / "whole", SMALL), listen=lambda record: None)
    part = TrainingRun.start(tmp_path / "part", SMALL)
    for _ in range(3):
        part.advance()
    again = TrainingRun.resume(tmp_path / "part")
    train(again, listen=lambda record: None)
    assert_same_run(tmp_path / "whole", tmp_path / "part")


def test_an_unknown_teacher_is_said_and_leaves_nothing_behind(tmp_path):
    with pytest.raises(TbgatError, match="nobody"):
        TrainingRun.start(tmp_path / "run", dataclasses.replace(SMALL, teacher="nobody"))
    assert not (tmp_path / "run").exists()


def test_passes_change_the_scoring_network_alone_and_repeat(tmp_path):
    assert_learns_and_resumes(
        tmp_path, dataclasses.replace(SMALL, passes=3, lr=3e-3), kept=("embedding",)
    )


def assert_learns_and_resumes(tmp_path, config, kept=()):
    """Train, and again with a stop: only what is named ``kept`` stays, both runs end alike."""
    whole = TrainingRun.start(tmp_path / "whole", config)
    before = {name: p.detach().clone() for name, p in whole.policy.named_parameters()}
    train(whole, listen=lambda record: None)
    for name, parameter in whole.policy.named_parameters():
        assert torch.equal(parameter, before[name]) == name.startswith(kept), name
    part = TrainingRun.start(tmp_path / "part", config)
    for _ in range(3):
        part.advance()
    train(TrainingRun.resume(tmp_path / "part"), listen=lambda record: None)
    assert_same_run(tmp_path / "whole", tmp_path / "part")


def test_passes_bring_the_network_closer_to_its_teacher():
    policy = TBGAT(TBGAT("tiny").config.replace(move_features=("recent",)))
    optimiser = torch.optim.Adam(policy.parameters())
    config = dataclasses.replace(SMALL, batch=16, window=12, instances=10_000, passes=2)
    found = [
        run_lesson(TBGAT("moves"), policy, optimiser, config, number)["divergence"]
        for number in range(24)
    ]
    assert np.mean(found[-8:]) < 0.9 * np.mean(found[:2])


def test_passes_need_attention_layers(tmp_path):
    config = dataclasses.replace(SMALL, preset="moves", move_features=None, passes=1)
    with pytest.raises(TbgatError, match="passes"):
        TrainingRun.start(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()
