"""The softmax over the moves of each solution: log-probabilities, entropy, sampling."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

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
    counts = np.diff(move_offsets)
    chosen = np.full(len(counts), -1, dtype=np.int64)
    has_moves = counts > 0
    if not has_moves.any():
        return chosen
    table = np.full((len(counts), int(counts.max())), -math.inf)
    table[np.arange(table.shape[1]) < counts[:, None]] = np.asarray(scores, dtype=np.float64)
    if rng is None:
        best = table.argmax(axis=1)
    else:
        drawn = rng.random(len(counts)) if isinstance(rng, np.random.Generator) else rng
        table[~has_moves] = 0.0
        weights = np.exp(table - table.max(axis=1, keepdims=True)).cumsum(axis=1)
        # The threshold lies below the total, so a move is found whatever the rounding.
        best = (weights <= (drawn * weights[:, -1])[:, None]).sum(axis=1)
        best = np.minimum(best, counts - 1)
    chosen[has_moves] = move_offsets[:-1][has_moves] + best[has_moves]
    return chosen


def _padded(flat: Tensor, counts: npt.NDArray[np.int32]) -> tuple[Tensor, Tensor]:
    """Lay flat values out as one row per state, the lowest float behind, and mark the real ones."""
    lengths = torch.from_numpy(counts).to(flat.device)
    inside = torch.arange(int(counts.max()), device=flat.device) < lengths[:, None]
    # Not -inf: a state without moves would be a row of NaN.
    lowest = torch.finfo(flat.dtype).min
    table = flat.new_full(inside.shape, lowest).masked_scatter(inside, flat)
    return table, inside
