import numpy as np
import torch

from tbgat.policy.moves import choose_moves, entropies, log_probabilities

OFFSETS = np.array([0, 3, 3, 4, 6], dtype=np.int32)  # the second state has no move
SCORES = torch.tensor([0.5, -1.0, 2.0, 7.0, 1.0, 1.0])


def test_log_probabilities_are_a_softmax_per_state():
    found = log_probabilities(SCORES, OFFSETS)
    torch.testing.assert_close(found[:3], SCORES[:3].log_softmax(0))
    torch.testing.assert_close(found[3:], torch.tensor([0.0, np.log(0.5), np.log(0.5)]).float())


def test_entropies_and_their_gradients():
    scores = SCORES.clone().requires_grad_()
    values = entropies(log_probabilities(scores, OFFSETS), OFFSETS)
    p = SCORES[:3].softmax(0)
    expected = torch.tensor([-(p * p.log()).sum(), 0.0, 0.0, np.log(2.0)])
    torch.testing.assert_close(values, expected.float())
    values.sum().backward()
    assert torch.isfinite(scores.grad).all()
    assert scores.grad[:3].abs().max() > 0


def test_no_moves_at_all():
    none = np.zeros(3, dtype=np.int32)
    empty = torch.zeros(0)
    assert len(log_probabilities(empty, none)) == 0
    assert entropies(empty, none).tolist() == [0.0, 0.0]
    assert choose_moves(empty.numpy(), none, None).tolist() == [-1, -1]


def test_greedy_takes_the_best_and_sampling_follows_the_softmax():
    assert choose_moves(SCORES.numpy(), OFFSETS, None).tolist() == [2, -1, 3, 4]
    rng = np.random.default_rng(0)
    drawn = np.array([choose_moves(SCORES.numpy(), OFFSETS, rng) for _ in range(4000)])
    assert set(drawn[:, 1]) == {-1}
    shares = np.bincount(drawn[:, 0], minlength=3) / len(drawn)
    np.testing.assert_allclose(shares, SCORES[:3].softmax(0).numpy(), atol=0.03)


def test_same_seed_same_moves():
    first, second = (
        choose_moves(SCORES.numpy(), OFFSETS, np.random.default_rng(5)) for _ in range(2)
    )
    assert first.tolist() == second.tolist()
