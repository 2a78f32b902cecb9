"""Improvement by roll-outs: what moves are worth, the loss, and that lessons help and repeat."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional

from tbgat import generate
from tbgat.dispatching import dispatch
from tbgat.errors import TbgatError
from tbgat.graph import GraphBatch
from tbgat.graph.state import random_states
from tbgat.policy.features import observe
from tbgat.policy.network import TBGAT
from tbgat.training.config import TrainingConfig
from tbgat.training.imitation import learn
from tbgat.training.improvement import gains, improvement_loss, run_improvement
from tbgat.training.run import TrainingRun
from tbgat.training.values import lowest_makespans
from tests.training.test_imitation import assert_learns_and_resumes

SMALL = TrainingConfig(
    learner="improvement",
    preset="tiny",
    sizes=((6, 5), (5, 6)),
    mixed=True,
    batch=8,
    instances=48,
    steps=20,
    window=3,
    passes=2,
    lr=2e-3,
    clip=1.0,
    marks=(3, 10),
    rollouts=4,
    validate_every=2,
    validation=4,
)


def random_batch(count: int, seed: int) -> tuple[GraphBatch, np.random.Generator]:
    """Random solutions after a few random moves, so that some moves undo recent ones."""
    rng = np.random.default_rng(seed)
    shops = [generate.uniform(6, 4, rng) for _ in range(count)]
    batch = GraphBatch.from_schedules(shops, [dispatch(s, "random", rng) for s in shops])
    paths = random_states(count, rng)
    for _ in range(5):
        batch.neighbourhood(paths)
        g = batch.arrays
        lo = g.offset[:-1]
        batch.swap(np.where(g.move_count > 0, g.move_u[lo], -1), g.move_v[lo])
    batch.neighbourhood(paths)
    batch.levels()
    return batch, rng


def makespan_after(batch: GraphBatch, b: int, *swaps: tuple[int, int]) -> int:
    """Slowly: the machine orders as lists, each pair exchanged, evaluated from scratch."""
    lo = int(batch.arrays.offset[b])
    orders = batch.machine_orders(b)
    for u, v in swaps:
        row = next(row for row in orders if u - lo in row)
        i, j = row.index(u - lo), row.index(v - lo)
        row[i], row[j] = row[j], row[i]
    return int(GraphBatch([batch.instances[b]], [orders]).arrays.makespan[0])


def makespans_after_any_second_move(batch: GraphBatch, b: int, swap: tuple[int, int]) -> set[int]:
    """The lowest makespan of the move and any swap of critical neighbours after it."""
    lo = int(batch.arrays.offset[b])
    orders = batch.machine_orders(b)
    u, v = swap[0] - lo, swap[1] - lo
    row = next(row for row in orders if u in row)
    i = row.index(u)
    row[i], row[i + 1] = v, u
    after = GraphBatch([batch.instances[b]], [orders])
    first = int(after.arrays.makespan[0])
    critical = after.critical
    pairs = [
        pair
        for row in orders
        for pair in itertools.pairwise(row)
        if critical[pair[0]] and critical[pair[1]]
    ]
    found = set()
    for pair in pairs:
        try:
            found.add(min(first, makespan_after(after, 0, pair)))
        except TbgatError:  # a swap of critical operations that do not touch can make a cycle
            continue
    return found or {first}


@pytest.mark.parametrize("seed", range(3))
def test_roll_outs_make_the_move_first_and_then_one_of_the_next(seed):
    batch, rng = random_batch(6, seed)
    seen = observe(batch, ("recent",))
    found = lowest_makespans(batch, seen, TBGAT("moves"), rollouts=5, marks=(1, 2), rng=rng)
    for b in range(len(batch)):
        for k in range(seen.move_offsets[b], seen.move_offsets[b + 1]):
            move = int(seen.move_u[k]), int(seen.move_v[k])
            assert set(found[k, :, 0]) == {makespan_after(batch, b, move)}
            assert set(found[k, :, 1].tolist()) <= makespans_after_any_second_move(batch, b, move)


def test_roll_outs_leave_the_solutions_alone_and_do_not_depend_on_threads():
    batch, _ = random_batch(7, 5)
    kept = ("order", "est", "tail", "machine_pred", "memory_u", "swaps", "lowest", "moves_made")
    before = {name: getattr(batch.arrays, name).copy() for name in kept}
    seen = observe(batch, ("recent",))
    one, two = (
        lowest_makespans(
            batch, seen, TBGAT("moves"), rollouts=3, marks=(2, 9, 30),
            rng=np.random.default_rng(1), threads=threads,
        )
        for threads in (1, 2)
    )  # fmt: skip
    assert np.array_equal(one, two)
    assert (np.diff(one, axis=2) <= 0).all()
    assert (np.diff(one, axis=2) < 0).any()
    for name, value in before.items():
        assert np.array_equal(getattr(batch.arrays, name), value), name


def test_roll_outs_are_of_networks_without_a_graph():
    batch, rng = random_batch(1, 0)
    with pytest.raises(TbgatError, match="without a graph"):
        lowest_makespans(
            batch, observe(batch, ("recent",)), TBGAT("tiny"), rollouts=1, marks=(1,), rng=rng
        )


def test_gains_compare_moves_that_undo_with_each_other_and_the_rest_likewise():
    offsets = np.array([0, 4, 4, 6], dtype=np.int32)
    found = gains([10.0, 12.0, 5.0, 9.0, 3.0, 1.0], [0, 0, 1, 1, 0, 1], offsets)
    assert found.tolist() == [1.0, -1.0, 2.0, -2.0, 0.0, 0.0]


def test_the_loss_is_a_divergence_and_an_expectation():
    rng = torch.Generator().manual_seed(1)
    now, before, gain = torch.randn(3, 7, generator=rng)
    offsets = np.array([0, 3, 3, 7], dtype=np.int32)
    divergence, expected = improvement_loss(now, before, gain, offsets)
    parts = (slice(0, 3), slice(3, 7))
    assert torch.allclose(
        divergence,
        sum(
            functional.kl_div(
                before[p].log_softmax(0), now[p].log_softmax(0), reduction="sum", log_target=True
            )
            for p in parts
        ),
    )
    assert torch.allclose(expected, sum((now[p].softmax(0) * gain[p]).sum() for p in parts))


@pytest.mark.parametrize("passes", [2, 0])
def test_lessons_find_moves_that_are_worth_more(passes):
    policy, before = TBGAT("tiny"), TBGAT("tiny")
    optimiser = torch.optim.Adam(policy.parameters())
    config = dataclasses.replace(
        SMALL, batch=16, window=8, instances=10_000, tau=0.2, passes=passes
    )
    found = [
        run_improvement(TBGAT("moves"), before, policy, optimiser, config, number)
        for number in range(12)
    ]
    assert np.mean([f["gained"] for f in found[-4:]]) > 0.3
    assert found[0]["gained"] < 0.15
    assert found[0]["moved"] < found[-1]["moved"]


def test_passes_change_the_scoring_network_alone_and_resume_exactly(tmp_path):
    assert_learns_and_resumes(tmp_path, SMALL, kept=("embedding",))


def test_without_passes_the_whole_network_learns_and_resumes_exactly(tmp_path):
    assert_learns_and_resumes(tmp_path, dataclasses.replace(SMALL, passes=0))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_update_follows_the_gradient_of_the_loss_per_state(threads):
    """Slowly: the loss of all states in one piece, by torch alone."""
    batch, _ = random_batch(9, 2)
    policy = TBGAT("tiny")
    seen = observe(batch, policy.config.move_features, batch.arrays.makespan)
    old, gain = torch.randn(2, len(seen.move_u), generator=torch.Generator().manual_seed(4))

    def loss(scores, at, offsets):
        moved, gained = improvement_loss(scores, old[at], gain[at], offsets)
        return moved - gained / 0.2

    config = dataclasses.replace(SMALL, clip=0.0)
    still = torch.optim.SGD(policy.parameters(), lr=0.0)
    scores, value = learn(policy, still, seen, loss, config, threads)
    found = [p.grad.clone() for p in policy.parameters()]
    policy.zero_grad()
    slow = loss(policy(seen), np.arange(len(seen.move_u)), seen.move_offsets)
    slow = slow / np.count_nonzero(seen.num_moves)
    slow.backward()
    assert value == pytest.approx(slow.item(), rel=1e-5)
    assert np.allclose(scores, policy(seen).detach().numpy(), atol=1e-5)
    for parameter, gradient in zip(policy.parameters(), found, strict=True):
        assert torch.allclose(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("changes", [{"teacher": "tiny"}, {"preset": "moves"}])
def test_what_cannot_be_improved_is_said_and_leaves_nothing_behind(tmp_path, changes):
    with pytest.raises(TbgatError, match="a teacher without"):
        TrainingRun.start(tmp_path / "run", dataclasses.replace(SMALL, **changes))
    assert not (tmp_path / "run").exists()


def test_tau_is_positive():
    with pytest.raises(TbgatError, match="tau"):
        dataclasses.replace(SMALL, tau=0.0)
