import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tbgat.errors import UsageError
from tbgat.generate import uniform
from tbgat.instance import Instance
from tbgat.policy.environment import JobShopEnvironment
from tests.policy.states import ODD_SHOPS


@pytest.mark.filterwarnings("ignore:.*Box.*:UserWarning")
@pytest.mark.parametrize("instance", [uniform(6, 5, 0), ODD_SHOPS[0]], ids=["classic", "odd"])
def test_gymnasiums_own_checker(instance):
    check_env(JobShopEnvironment(instance, steps=20), skip_render_check=True)


def play(env, seed, choose):
    seen, info = env.reset(seed=seed)
    rewards, spans = [], [info["makespan"]]
    terminated = truncated = False
    while not (terminated or truncated):
        assert seen["mask"].tolist() == info["mask"].tolist()
        seen, reward, terminated, truncated, info = env.step(choose(seen))
        rewards.append(reward)
        spans.append(info["makespan"])
    return rewards, spans, terminated, truncated, info


def first(seen):
    return np.int64(0)


def test_rewards_budget_and_seed():
    # Few different durations make ties, which the seed decides.
    env = JobShopEnvironment(uniform(8, 8, 1, low=1, high=3), steps=30)
    rewards, spans, terminated, truncated, info = play(env, 5, first)
    assert truncated
    assert not terminated
    assert len(rewards) == 30
    assert sum(rewards) == spans[0] - info["best"]
    assert info["best"] == min(spans)
    env.states.best_schedule(0).check(env.instance)
    assert play(env, 5, first)[1] == spans
    assert any(play(env, seed, first)[1] != spans for seed in range(3))


def test_terminated_means_optimal():
    env = JobShopEnvironment(Instance([[(0, 4), (1, 2)], [(0, 3)]]), steps=50)
    _, _, terminated, truncated, info = play(env, 0, first)
    assert terminated
    assert not truncated
    assert info["best"] == 7
    assert not info["mask"].any()


def test_an_action_outside_the_mask_changes_nothing():
    env = JobShopEnvironment(uniform(6, 6, 2), steps=5)
    seen, info = env.reset(seed=0)
    illegal = np.int64(len(seen["mask"]) - 1)
    assert seen["mask"][illegal] == 0
    after, reward, terminated, _, now = env.step(illegal)
    assert reward == 0
    assert not terminated
    assert now["makespan"] == info["makespan"]
    np.testing.assert_array_equal(after["arcs"], seen["arcs"])


def test_moves_in_the_observation_are_what_is_done():
    env = JobShopEnvironment(uniform(6, 6, 3), steps=40)
    seen, _ = env.reset(seed=1)
    for _ in range(10):
        u, v = seen["moves"][0]
        assert seen["arcs"][u, 3] == v
        seen, *_ = env.step(np.int64(0))
        assert seen["arcs"][v, 3] == u


def test_errors():
    with pytest.raises(UsageError, match="at least one step"):
        JobShopEnvironment(uniform(3, 3, 0), steps=0)
    with pytest.raises(UsageError, match=r"reset\(\) first"):
        JobShopEnvironment(uniform(3, 3, 0)).step(np.int64(0))
    assert issubclass(JobShopEnvironment, gymnasium.Env)
