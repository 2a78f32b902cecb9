"""Moves on trial: they leave no trace, and they decide as they should."""

import numpy as np
import pytest

from tbgat.errors import UsageError
from tbgat.generate import uniform
from tbgat.graph import GraphBatch
from tbgat.graph.compiled import lean_kernel
from tbgat.graph.critical import n5_pairs
from tbgat.graph.swap import swap_adjacent
from tbgat.policy.features import MOVE_UNIT, observe, training_scale
from tbgat.policy.move_walk import MoveScorer, flat_weights, make_move, put_weights
from tbgat.policy.network import PRESETS, TBGAT, NetworkConfig
from tbgat.policy.trials import TRIAL_FEATURES, save, take_back
from tests.policy.states import mixed_instances, random_move, walk

TRIALS = PRESETS["trials"]
# The moves of the last path drawn: a list made anew at every step, and scratch.
NOT_STATE = (
    "path", "path_length", "block_count", "move_u", "move_v", "move_makespan", "move_age",
    "move_count", "level", "back_level", "sink_level",
)  # fmt: skip


@lean_kernel
def move(g, b, random, path, head, buffer, scorer, weights, best, unit, greedy):
    return make_move(g, b, random, path, head, buffer, scorer, weights, best, unit, greedy)


@lean_kernel
def swap_once(g, b, u, v, buffer):
    return swap_adjacent(g, b, u, v, buffer)


@lean_kernel
def wander_and_return(g, b, random, path, buffer, saved, count):
    """Make moves of random critical paths and take all of them back; return how many."""
    save(g, b, saved)
    made = 0
    for _ in range(count):
        if n5_pairs(g, b, random, path) > 0:
            at = g.offset[b]
            swap_adjacent(g, b, g.move_u[at], g.move_v[at], buffer)
            made += 1
    take_back(g, b, saved)
    return made


def state_of(g):
    return {name: value.copy() for name, value in g._asdict().items() if name not in NOT_STATE}


def assert_same_state(g, expected):
    for name, value in expected.items():
        np.testing.assert_array_equal(getattr(g, name), value, err_msg=name)


class Walk:
    """Everything that :func:`make_move` wants, around one batch."""

    def __init__(self, batch: GraphBatch, config: NetworkConfig, flat=None):
        self.g, n = batch.arrays, len(batch.arrays.duration)
        network = TBGAT(config)
        if flat is not None:
            put_weights(network, np.asarray(flat, dtype=np.float32))
        self.scorer = MoveScorer.of(config, n)
        self.weights = flat_weights(network)
        self.unit = training_scale(self.g.duration, self.g.offset) / MOVE_UNIT
        self.path, self.buffer = np.zeros((2, n), dtype=np.int32)
        self.head = np.zeros(n, dtype=np.int64)

    def move(self, b, random, greedy=True, best=None):
        best = int(self.g.lowest[b]) if best is None else best
        return move(
            self.g, b, random, self.path, self.head, self.buffer, self.scorer, self.weights, best,
            self.unit[b], greedy,
        )  # fmt: skip

    def latest(self, b):
        slot = (self.g.swaps[b] - 1) % self.g.memory_u.shape[1]
        return int(self.g.memory_v[b, slot]), int(self.g.memory_u[b, slot])


@pytest.mark.parametrize("steps", [0, 3, 19, 20, 21, 60])
def test_what_is_taken_back_leaves_no_trace(steps):
    batch, _ = walk(mixed_instances(steps), steps=steps, seed=steps)
    g, n = batch.arrays, len(batch.arrays.duration)
    scorer = MoveScorer.of(TRIALS, n)
    before, made = state_of(g), 0
    random = np.arange(len(batch), dtype=np.uint64)
    for b in range(len(batch)):
        scratch = np.zeros((2, n), dtype=np.int32)
        made += wander_and_return(g, b, random, scratch[0], scratch[1], scorer.saved, 25)
    assert made > 50
    assert_same_state(g, before)


@pytest.mark.parametrize("look_ahead", [0, 1, 4])
def test_a_step_with_trials_is_one_swap(look_ahead):
    """After a step all is as if the chosen move had been made at once."""
    config = TRIALS.replace(look_ahead=look_ahead)
    batch, _ = walk(mixed_instances(1), steps=30)
    twin, _ = walk(mixed_instances(1), steps=30)
    walker, buffer = Walk(batch, config), np.zeros(len(batch.arrays.duration), dtype=np.int32)
    random = np.arange(len(batch), dtype=np.uint64)
    made = 0
    for _ in range(40):
        for b in range(len(batch)):
            if walker.move(b, random, greedy=False):
                made += 1
                swap_once(twin.arrays, b, *walker.latest(b), buffer)
        assert_same_state(batch.arrays, state_of(twin.arrays))
    assert made > 150


def test_steps_repeat():
    ends = []
    for _ in range(2):
        batch, _ = walk([uniform(10, 10, 3)], steps=0)
        walker, random = Walk(batch, TRIALS), np.array([5], dtype=np.uint64)
        for _ in range(50):
            walker.move(0, random, greedy=False)
        ends.append(state_of(batch.arrays))
    assert_same_state(batch.arrays, ends[0])


def weights_with(config, **trial):
    flat = np.zeros(len(config.move_features) + len(config.trial_features))
    for name, value in trial.items():
        flat[len(config.move_features) + config.trial_features.index(name)] = value
    return flat


def test_trials_see_the_exact_makespan():
    """With nothing but that in the score, the step is the steepest one of the path."""
    config = TRIALS.replace(tries=50, look_ahead=0)
    flat = weights_with(config, makespan_change=-1.0)
    shops = [uniform(10, 10, seed) for seed in range(12)]
    batch, _ = walk(shops, steps=40)
    walker, compared = Walk(batch, config, flat), 0
    for attempt in range(5):
        random = np.full(len(batch), attempt, dtype=np.uint64)
        batch.neighbourhood(random.copy())
        g = batch.arrays
        lists = [
            dict(
                zip(g.move_u[a : a + c].tolist(), g.move_makespan[a : a + c].tolist(), strict=True)
            )
            for a, c in zip(g.offset[:-1], g.move_count, strict=True)
        ]
        for b, exact in enumerate(lists):
            # No trial may be a new best, which would end the step at once.
            assert walker.move(b, random, best=0)
            assert exact[walker.latest(b)[0]] == g.makespan[b] == min(exact.values())
            compared += len(set(exact.values())) > 1
    assert compared > 30


def test_a_trial_that_is_a_new_best_is_for_good():
    config = TRIALS.replace(tries=50)
    batch, _ = walk([uniform(10, 10, seed) for seed in range(12)], steps=0)
    walker = Walk(batch, config, weights_with(config, makespan_change=1.0))
    batch.neighbourhood(np.full(len(batch), 7, dtype=np.uint64))
    g, improving = batch.arrays, 0
    for b in range(len(batch)):
        lo, hi = g.offset[b], g.offset[b] + g.move_count[b]
        better = (g.move_makespan[lo:hi] < g.makespan[b]).any()
        before = int(g.makespan[b])
        walker.move(b, np.full(len(batch), 7, dtype=np.uint64))
        # The weights prefer the worst makespan; only a new best may overrule them.
        assert (g.makespan[b] < before) == better
        improving += better
    assert improving > 3


def test_after_the_opening_the_scores_decide_alone():
    plain = TRIALS.replace(tries=0, look_ahead=0, trial_features=())
    late = TRIALS.replace(trial_steps=0)
    flat = flat_weights(TBGAT(TRIALS))
    ends = []
    for config in (plain, late):
        batch, _ = walk([uniform(10, 10, 3)], steps=0)
        given = flat[: len(flat_weights(TBGAT(config)))]
        walker, random = Walk(batch, config, given), np.array([5], dtype=np.uint64)
        for _ in range(80):
            walker.move(0, random, greedy=False)
        ends.append(state_of(batch.arrays))
    assert_same_state(batch.arrays, ends[0])


def test_tabu_is_recent_and_no_new_best():
    shops = [uniform(10, 10, seed) for seed in range(6)]
    names = ("tabu", "recent", "age", "beats_best", "improves")
    batch, _ = walk(shops, steps=0, names=names)
    rng, random = np.random.default_rng(0), np.arange(6, dtype=np.uint64)
    forbidden = 0
    for _ in range(150):
        batch.levels()
        batch.neighbourhood(random)
        columns = observe(batch, names, batch.arrays.lowest).move_features
        tabu, recent, _, beats, improves = (columns[:, i] > 0 for i in range(5))
        assert not (tabu & (~recent | beats)).any()
        # 10x10: tenures from 12 to 20, and 6 downhill.
        steps = 1.0 / np.maximum(columns[:, 2], 1e-9)
        assert tabu[recent & ~beats & (steps < 6.5)].all()
        assert not tabu[improves & (steps > 6.5)].any()
        assert tabu[recent & ~beats & ~improves & (steps < 12.5)].all()
        forbidden += int(tabu.sum())
        batch.swap(*random_move(batch, rng))
    assert forbidden > 50


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"layers": 2}, "without layers"),
        ({"tries": 1}, "come together"),
        ({"trial_features": ()}, "come together"),
        ({"trial_features": ("luck",)}, "unknown trial feature 'luck'"),
        ({"look_ahead": -1}, "negative"),
        ({"sharpness": 0.0}, "negative"),
    ],
)
def test_settings_that_make_no_sense(changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        TRIALS.replace(**changes)
    assert set(TRIALS.trial_features) == set(TRIAL_FEATURES)
