"""The softmax over the moves of each solution: log-probabilities, entropy, sampling."""

# mypy: disable-error-code="no-untyped-call"
# Calls into compiled functions, which carry no types.

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tbgat.policy.listing import draw_moves, take_best

__all__ = ["choose_moves", "entropies", "log_probabilities"]


def log_probabilities(scores: Tensor, move_offsets: npt.NDArray[np.int32]) -> Tensor:
    """Log-softmax over the moves of each state, flat like the scores."""
    counts = np.diff(move_offsets)
    if len(scores) == 0:
        return scores
    table, inside = _padded(scores, counts)
    return table.log_softmax(dim=1)[inside]


def entropies(log_probability: Tensor, move_offsets: npt.NDArray[np.int32]) -> Tensor:
    """Entropy of the move of each state; 0 where there is no move."""
    counts = np.diff(move_offsets)
    if len(log_probability) == 0:
        return log_probability.new_zeros(len(counts))
    terms = -log_probability.exp() * log_probability
    table, inside = _padded(terms, counts)
    return table.masked_fill(~inside, 0.0).sum(dim=1)


def choose_moves(
    scores: npt.ArrayLike,
    move_offsets: npt.NDArray[np.int32],
    rng: np.random.Generator | npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.int64]:
    """Choose one move per state: its index in the flat arrays, or -1 where there is none.

    Parameters
    ----------
    rng
        Draws the moves from the softmax of the scores: a generator, or one number uniform in
        [0, 1) per state. Without it the best is taken, the first of equals.
    """
    chosen = np.empty(len(move_offsets) - 1, dtype=np.int64)
    values = np.ascontiguousarray(scores, dtype=np.float64)
    if rng is None:
        take_best(values, move_offsets, chosen)
    else:
        uniform = rng.random(len(chosen)) if isinstance(rng, np.random.Generator) else rng
        draw_moves(values, move_offsets, np.ascontiguousarray(uniform), chosen)
    return chosen


def _padded(flat: Tensor, counts: npt.NDArray[np.int32]) -> tuple[Tensor, Tensor]:
    """Lay flat values out as one row per state, the lowest float behind, and mark the real ones."""
    lengths = torch.from_numpy(counts).to(flat.device)
    inside = torch.arange(int(counts.max()), device=flat.device) < lengths[:, None]
    # Not -inf: a state without moves would be a row of NaN.
    lowest = torch.finfo(flat.dtype).min
    table = flat.new_full(inside.shape, lowest).masked_scatter(inside, flat)
    return table, inside
