"""Listing the moves of a batch and drawing one each, compiled: a step of one graph is short."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions.

import math

from tbgat.graph.compiled import lean_kernel

__all__ = ["draw_moves", "list_moves", "take_best"]


@lean_kernel
def list_moves(offset, move_count, offsets, at):
    """Fill where the moves of each solution stand, and where they begin in that list."""
    end = 0
    for b in range(len(move_count)):
        offsets[b] = end
        for i in range(move_count[b]):
            at[end] = offset[b] + i
            end += 1
    offsets[len(move_count)] = end


@lean_kernel
def take_best(scores, offsets, chosen):
    """Choose the move with the highest score of each solution, the first of equals; -1: none."""
    for b in range(len(chosen)):
        chosen[b] = -1
        for i in range(offsets[b], offsets[b + 1]):
            if chosen[b] < 0 or scores[i] > scores[chosen[b]]:
                chosen[b] = i


@lean_kernel
def draw_moves(scores, offsets, uniform, chosen):
    """Draw a move of each solution from the softmax of its scores; -1: none."""
    for b in range(len(chosen)):
        begin = offsets[b]
        end = offsets[b + 1]
        chosen[b] = -1
        if begin == end:
            continue
        top = scores[begin]
        for i in range(begin, end):
            top = max(top, scores[i])
        total = 0.0
        for i in range(begin, end):
            total += math.exp(scores[i] - top)
        rest = uniform[b] * total
        # Rounding may leave a little after the last: then it is the last.
        chosen[b] = end - 1
        for i in range(begin, end):
            rest -= math.exp(scores[i] - top)
            if rest < 0.0:
                chosen[b] = i
                break
