"""Rows that a batch holds several times: their products are computed once.

Successive states of one search differ in a part of the graph only. Where the output of a layer is
the same for a node as in the state before, so is its product with the weights, and the gradients of
all copies may be summed before they are multiplied.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions.

import numpy as np

from tbgat.graph.compiled import float_kernel, lean_kernel

__all__ = ["add_copies", "copy_rows", "find_repeats"]


@lean_kernel
def find_repeats(x, offsets, rows, copy_of):
    """List the rows that differ from the same node's in the state before; return how many.

    Parameters
    ----------
    x
        Nodes x width, state by state.
    offsets
        Nodes of state b are ``offsets[b] .. offsets[b + 1] - 1``.
    rows
        Takes the listed rows.
    copy_of
        Takes, for every row, its place in that list.
    """
    count = 0
    size = 0
    for b in range(len(offsets) - 1):
        before = size
        size = offsets[b + 1] - offsets[b]
        for row in range(offsets[b], offsets[b + 1]):
            same = size == before
            if same:
                for c in range(x.shape[1]):
                    if x[row, c] != x[row - size, c]:
                        same = False
                        break
            if same:
                copy_of[row] = copy_of[row - size]
            else:
                rows[count] = row
                copy_of[row] = count
                count += 1
    return count


@float_kernel
def copy_rows(source, place, target):
    """Row i of the target becomes row ``place[i]`` of the source."""
    for i in range(len(target)):
        at = np.uint64(place[i])
        row = np.uint64(i)
        for c in range(np.uint64(target.shape[1])):
            target[row, c] = source[at, c]


@float_kernel
def add_copies(source, copy_of, target):
    """Add row i of the source to row ``copy_of[i]`` of the target."""
    for i in range(len(source)):
        at = np.uint64(copy_of[i])
        row = np.uint64(i)
        for c in range(np.uint64(source.shape[1])):
            target[at, c] += source[row, c]
