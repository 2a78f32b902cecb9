"""The scores of all moves of a batch in one compiled call, shared by any number of threads.

``g`` is the :class:`~tbgat.policy.prepared.Seen` of the batch, ``links`` the
:class:`~tbgat.policy.links.Links` of both views; ``m`` and ``r`` are
:class:`~tbgat.policy.prepared.Memory` and ``Rows``, ``w`` the ``LayerWeights`` or, behind the last
attention, the ``ScoringWeights``.

A stage is a loop over tasks that all threads run through alike; each does the tasks it took (see
:mod:`tbgat.policy.sharing`). Where graphs are many, a task is all layers of a graph and view, and
the stages inside it are run through by one thread.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions; their arrays are described in the classes above.

import numpy as np

from tbgat.graph.compiled import inner_float_kernel, inner_kernel, lean_kernel
from tbgat.policy.kernels import attend_nodes, first_rows, last_parts, last_rows, look
from tbgat.policy.product import multiply
from tbgat.policy.scalars import tanh
from tbgat.policy.sharing import (
    close_call,
    enter_call,
    finish_task,
    leave_call,
    open_call,
    take_task,
    wait_for_call,
    wait_for_stage,
)

__all__ = ["STAGES", "score_moves"]

STAGES = 6
"""Stages of a call, besides two per inner layer."""

# Sizes of a task: nodes between products, rows and panels of a product, moves behind the first
# product of the scoring network. All of them some tens of microseconds.
_NODES = 32
_ROWS = 96
_PANELS = 8
_MOVES = 48
# Not the plain number, for which Numba would compile functions of their own.
_ZERO = np.int64(0)
_ONE = np.int64(1)
_BOTH = np.int64(2)
_TILE = np.int64(6)


@lean_kernel
def score_moves(shared, own, number, thread, alone, g, links, scale, layers, scoring, m, r):
    """Fill ``r.scores``: thread 0, as call ``number`` of the shared counters; others help.

    Helpers stay for later calls while these follow each other closely. Calls of the same arrays
    have numbers with the same upper half. ``alone``: a thread takes whole graphs, not parts of
    them; ``own`` has counters of its own for each.
    """
    graphs = len(r.starts) - 1
    arrays = number >> 32
    if thread == 0:
        open_call(shared, number)
    else:
        number = wait_for_call(shared, 0)
    while number >> 32 == arrays and number != 0:
        if thread == 0 or enter_call(shared, number):
            if alone:
                task = 0
                mine = take_task(shared, _ZERO)
                for b in range(graphs):
                    for view in range(2):
                        if task == mine:
                            open_call(own[thread], _ONE)
                            _embed(
                                own[thread], thread, b, b + 1, view, view + 1, g, links, scale,
                                layers, m, r,
                            )  # fmt: skip
                            mine = finish_task(shared, _ZERO)
                        task += 1
                wait_for_stage(shared, _ZERO, task)
                stage = _ONE
            else:
                stage = _embed(
                    shared, _ZERO, _ZERO, graphs, _ZERO, _BOTH, g, links, scale, layers, m, r
                )
            _score(shared, stage, scoring, r)
        if thread == 0:
            close_call(shared)
            break
        leave_call(shared)
        number = wait_for_call(shared, number)


@inner_kernel
def _embed(shared, slot, begin, end, low, high, g, links, scale, w, m, r):
    """All layers up to the last product, of some graphs and views; returns the next stage.

    View ``low`` works in ``slot`` of the memory, the other one, if any, in the next. The first node
    has row 0 there.
    """
    origin = g.offset[begin] + 2 * begin
    stage = _ZERO
    task = 0
    mine = take_task(shared, stage)
    for b in range(begin, end):
        for view in range(low, high):
            if task == mine:
                m.counts[view, b] = _look(g, links, scale, m, view, b)
                mine = finish_task(shared, stage)
            task += 1
    wait_for_stage(shared, stage, task)

    stage += 1
    task = 0
    mine = take_task(shared, stage)
    for b in range(begin, end):
        row = g.offset[b] + 2 * b - origin
        for view in range(low, high):
            for first in range(0, m.counts[view, b], _NODES):
                if task == mine:
                    last = min(first + _NODES, m.counts[view, b])
                    _first(links, w, m, r, view, slot + view - low, b, row, first, last)
                    mine = finish_task(shared, stage)
                task += 1
    wait_for_stage(shared, stage, task)

    for depth in range(len(w.inner)):
        stage += 1
        _multiply_inner(shared, stage, slot, begin, end, low, high, depth, g, w, m, r)
        stage += 1
        _attend_inner(shared, stage, slot, begin, end, low, high, depth, g, links, w, m)

    stage += 1
    task = 0
    mine = take_task(shared, stage)
    for b in range(begin, end):
        row = g.offset[b] + 2 * b - origin
        nodes = g.offset[b + 1] - g.offset[b] + 2
        for view in range(low, high):
            if task == mine:
                at = slot + view - low
                if len(w.inner) == 0:
                    last_parts(row, _ZERO, nodes, m.hidden[at], w.last_logits[view], m.parts[at])
                last_rows(
                    links[view], b, row, m.hidden[at], m.parts[at], m.shares[at], r.starts, r.u,
                    r.v, r.mixed[view],
                )  # fmt: skip
                mine = finish_task(shared, stage)
            task += 1
    wait_for_stage(shared, stage, task)
    return stage + 1


@inner_kernel
def _multiply_inner(shared, stage, slot, begin, end, low, high, depth, g, w, m, r):
    """The product of an inner layer: of the changed nodes in layer 2, of all nodes further on."""
    origin = g.offset[begin] + 2 * begin
    panels = w.inner.shape[2]
    wide = _part(panels, _PANELS, _ONE)
    task = 0
    mine = take_task(shared, stage)
    for b in range(begin, end):
        base = g.offset[b] + 2 * b
        nodes = g.offset[b + 1] - g.offset[b] + 2
        for view in range(low, high):
            at = slot + view - low
            count = m.counts[view, b] if depth == 0 else nodes
            size = _part(count, _ROWS, _TILE)
            for panel in range(0, panels, wide):
                for first in range(0, count, size):
                    if task == mine:
                        remembered = depth == 0 and m.values.shape[1] > 0
                        reduced = depth == 0 and w.basis.shape[1] > 0
                        multiply(
                            m.coordinates[at] if reduced else m.hidden[at],
                            base - origin,
                            w.reduced[view] if reduced else w.inner[depth, view],
                            panel,
                            min(panel + wide, panels),
                            w.zeros,
                            m.values[view] if remembered else m.spare[at],
                            base if remembered else base - origin,
                            m.changed[view, base:] if depth == 0 else r.order,
                            first,
                            min(first + size, count),
                        )
                        mine = finish_task(shared, stage)
                    task += 1
    wait_for_stage(shared, stage, task)


@inner_kernel
def _attend_inner(shared, stage, slot, begin, end, low, high, depth, g, links, w, m):
    """What follows that product, and behind the last inner layer the logits of the last one."""
    origin = g.offset[begin] + 2 * begin
    task = 0
    mine = take_task(shared, stage)
    for b in range(begin, end):
        base = g.offset[b] + 2 * b
        nodes = g.offset[b + 1] - g.offset[b] + 2
        row = base - origin
        for view in range(low, high):
            at = slot + view - low
            for first in range(0, nodes, _NODES):
                if task == mine:
                    last = min(first + _NODES, nodes)
                    remembered = depth == 0 and m.values.shape[1] > 0
                    attend_nodes(
                        links[view],
                        b,
                        base if remembered else row,
                        row,
                        first,
                        last,
                        w.heads,
                        m.values[view] if remembered else m.spare[at],
                        w.inner_bias[depth, view],
                        m.hidden[at],
                    )
                    if depth == len(w.inner) - 1:
                        last_parts(row, first, last, m.hidden[at], w.last_logits[view], m.parts[at])
                    mine = finish_task(shared, stage)
                task += 1
    wait_for_stage(shared, stage, task)


@inner_kernel
def _look(g, links, scale, m, view, b):
    """List the nodes of a graph whose layer 1 is to be computed: all if none is remembered."""
    every = m.values.shape[1] == 0
    return look(
        g, links[view], view, b, scale, m.features[view], m.fresh[view], m.stale[view], every,
        m.changed[view],
    )  # fmt: skip


@inner_kernel
def _first(links, w, m, r, view, slot, b, row, first, last):
    """Layer 1 of the listed nodes ``first .. last - 1``, and its coordinates if it has a basis."""
    first_rows(
        links[view], b, row, m.changed[view], first, last, m.features[view], w.first_logits[view],
        w.first[view], w.first_bias[view], m.raw[slot], m.hidden[slot],
    )  # fmt: skip
    multiply(
        m.hidden[slot], row, w.basis[view], _ZERO, w.basis.shape[1], w.zeros, m.coordinates[slot],
        row, r.order, first, last,
    )  # fmt: skip


@inner_kernel
def _part(count, most, unit):
    """Size of equal parts of at most about so many, in whole units."""
    parts = max(1, (count + most - 1) // most)
    return max(unit, (count + unit * parts - 1) // (unit * parts) * unit)


@inner_kernel
def _score(shared, stage, w, r):
    """The product of the last layer, and the scoring network."""
    graphs = len(r.starts) - 1
    moves = np.int64(r.starts[graphs])
    rows = 2 * moves + graphs
    task = 0
    mine = take_task(shared, stage)
    for first in range(0, rows, _ROWS):
        for view in range(2):
            if task == mine:
                last = min(first + _ROWS, rows)
                weight = w.last[view]
                multiply(
                    r.mixed[view], _ZERO, weight, _ZERO, len(weight), w.last_bias[view],
                    r.embedded[view], _ZERO, r.order, first, last,
                )  # fmt: skip
                _deal(r, moves, view, first, last)
                mine = finish_task(shared, stage)
            task += 1
    wait_for_stage(shared, stage, task)

    stage += 1
    task = 0
    mine = take_task(shared, stage)
    for low in range(0, len(w.pair), _PANELS):
        high = min(low + _PANELS, len(w.pair))
        for first in range(0, moves, _ROWS):
            if task == mine:
                last = min(first + _ROWS, moves)
                multiply(
                    r.pair, _ZERO, w.pair, low, high, w.zeros, r.x[0], _ZERO, r.order, first, last
                )
                mine = finish_task(shared, stage)
            task += 1
        if task == mine:
            multiply(
                r.graph, _ZERO, w.graph, low, high, w.graph_bias, r.by_graph, _ZERO, r.order,
                _ZERO, graphs,
            )  # fmt: skip
            mine = finish_task(shared, stage)
        task += 1
    wait_for_stage(shared, stage, task)

    stage += 1
    task = 0
    mine = take_task(shared, stage)
    size = _part(moves, _MOVES if moves > 4 * _MOVES else _TILE, _TILE)
    for first in range(0, moves, size):
        if task == mine:
            _finish(w, r, first, min(first + size, moves))
            mine = finish_task(shared, stage)
        task += 1
    wait_for_stage(shared, stage, task)


@inner_kernel
def _deal(r, moves, view, first, last):
    """Put embedded rows where the scoring network wants them: u and v side by side, graphs."""
    width = r.graph.shape[1] // 2
    for row in range(first, last):
        if row < 2 * moves:
            side = row // moves
            begin = 2 * width * side + width * view
            for c in range(width):
                r.pair[row - side * moves, begin + c] = r.embedded[view, row, c]
        else:
            for c in range(width):
                r.graph[row - 2 * moves, width * view + c] = r.embedded[view, row, c]


@inner_float_kernel
def _finish(w, r, first, last):
    """The scoring network behind its first product."""
    columns = r.by_graph.shape[1]
    b = 0
    for i in range(np.uint64(first), np.uint64(last)):
        while r.starts[b + 1] <= i:
            b += 1
        for c in range(columns):
            r.x[0, i, c] += r.by_graph[b, c]
        for f in range(r.features.shape[1]):
            for c in range(columns):
                r.x[0, i, c] += r.features[i, f] * w.features[f, c]
    at = 0
    for depth in range(len(w.rest)):
        weight = w.rest[depth]
        for i in range(np.uint64(first), np.uint64(last)):
            for c in range(weight.shape[1]):
                r.x[at, i, c] = tanh(r.x[at, i, c])
        multiply(
            r.x[at], _ZERO, weight, _ZERO, len(weight), w.rest_bias[depth], r.x[1 - at], _ZERO,
            r.order, first, last,
        )  # fmt: skip
        at = 1 - at
    for i in range(np.uint64(first), np.uint64(last)):
        score = r.x[at, i, 0]
        for f in range(r.features.shape[1]):
            score += r.features[i, f] * w.shortcut[f]
        r.scores[i] = score
