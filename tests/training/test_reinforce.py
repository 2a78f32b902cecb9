import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tbgat import generate
from tbgat.errors import UsageError
from tbgat.policy.network import TBGAT
from tbgat.training.config import TrainingConfig
from tbgat.training.reinforce import Episode, learn, normalised_returns, run_batch, window_gradient


def episode(count=6, size=(6, 5), seed=3):
    rng = np.random.default_rng(seed)
    instances = [generate.uniform(*size, rng) for _ in range(count)]
    return Episode(instances, rng)


def tiny(seed=0):
    return TBGAT("tiny", generator=torch.Generator().manual_seed(seed))


def gradient(policy):
    return torch.cat([p.grad.flatten() for p in policy.parameters()])


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=12))
def test_returns_are_suffix_sums_with_mean_zero_and_deviation_one(rewards):
    found = normalised_returns(rewards)
    for column in range(3):
        sums = [sum(row[column] for row in rewards[k:]) for k in range(len(rewards))]
        if len(set(sums)) == 1:
            assert (found[:, column] == 0).all()
        else:
            expected = (np.array(sums) - np.mean(sums)) / np.std(sums, ddof=1)
            np.testing.assert_allclose(found[:, column], expected, atol=1e-9)


def test_rewards_add_up_to_what_the_best_makespan_lost():
    policy, search = tiny(), episode()
    before = search.best.copy()
    window = search.window(policy, 40)
    assert (window.rewards >= 0).all()
    np.testing.assert_array_equal(before - window.rewards.sum(axis=0), search.best)
    assert (search.best <= search.batch.arrays.makespan).all()
    assert window.rewards.sum() > 0


def test_skipping_windows_without_return_changes_no_gradient_without_entropy():
    policy = tiny()
    window = episode(count=12).window(policy, 10)
    skipped = (normalised_returns(window.rewards) == 0).all(axis=0)
    assert skipped.any()
    assert not skipped.all()
    window_gradient(policy, window, entropy=0.0)
    lazy = gradient(policy)
    policy.zero_grad()
    window_gradient(policy, window, entropy=0.0, literal=True)
    torch.testing.assert_close(lazy, gradient(policy), rtol=1e-4, atol=1e-6)


def test_gradient_is_that_of_the_loss_as_algorithm_1_writes_it():
    policy = tiny()
    search = episode(count=4)
    window = search.window(policy, 5)
    returns = normalised_returns(window.rewards)
    total = torch.zeros(())
    for step, seen in enumerate(window.observations):
        scores = policy(seen)
        for b in range(len(seen)):
            if window.actions[step, b] < 0:
                continue
            pi = scores[seen.move_offsets[b] : seen.move_offsets[b + 1]].softmax(0)
            chosen = pi[int(window.actions[step, b])].log()
            entropy = -(pi * pi.log()).sum()
            total = total - (chosen * returns[step, b] + 0.01 * entropy)
    (total / 4).backward()
    expected = gradient(policy)
    policy.zero_grad()
    window_gradient(policy, window, entropy=0.01, literal=True)
    torch.testing.assert_close(gradient(policy), expected, rtol=1e-4, atol=1e-6)


def test_an_update_makes_rewarded_moves_likelier():
    policy = tiny()
    window = episode(count=12).window(policy, 10)
    config = TrainingConfig(preset="tiny", lr=1e-3, entropy=0.0)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    losses = [learn(policy, optimiser, window, config)[0] for _ in range(5)]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("mixed", [False, True])
def test_a_batch_depends_on_seed_and_number_alone(mixed):
    config = TrainingConfig(
        sizes=((4, 3), (5, 5)), mixed=mixed, preset="tiny", batch=4, steps=20, lr=1e-3, seed=5
    )
    ends = []
    for _ in range(2):
        policy = tiny()
        optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
        ends.append([run_batch(policy, optimiser, config, number) for number in (0, 1)])
        ends[-1].append(torch.cat([p.flatten() for p in policy.parameters()]).tolist())
    assert ends[0] == ends[1]
    assert ends[0][0] != ends[0][1]


def test_inexact_products_hardly_change_the_roll_outs():
    """A move is drawn otherwise now and then."""
    windows = {}
    for products in ("float32", "lowrank"):
        rng = np.random.default_rng(3)
        instances = [generate.uniform(6, 5, rng) for _ in range(6)]
        windows[products] = Episode(instances, rng, products=products).window(TBGAT("paper"), 5)
    same = windows["float32"].actions == windows["lowrank"].actions
    assert same.mean() > 0.9


def test_runs_from_before_products_were_named_go_on_in_float32():
    old = TrainingConfig().to_dict()
    del old["products"]
    assert TrainingConfig.from_dict(old).products == "float32"
    assert TrainingConfig.from_dict(TrainingConfig().to_dict()) == TrainingConfig()


def test_unknown_products_are_refused_at_once():
    with pytest.raises(UsageError, match="int8"):
        TrainingConfig(products="int8")
