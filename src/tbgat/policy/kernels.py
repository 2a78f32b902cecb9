"""The attention layers of one view, compiled: what runs on a CPU in float32.

``links`` is a :class:`~tbgat.policy.links.Links`. Indices of inner loops are unsigned: a signed one
could count from the end of an array, which forbids vectors.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions; their arrays are described in tbgat.policy.links.

import numpy as np

from tbgat.graph.compiled import float_kernel, inner_float_kernel, inner_kernel
from tbgat.policy.scalars import elu, exp_negative, leaky, softmax_of_three

__all__ = [
    "attend",
    "attend_nodes",
    "first_layer",
    "first_logit",
    "first_rows",
    "first_weights",
    "last_layer",
    "last_parts",
    "last_rows",
    "last_shares",
    "look",
]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@inner_kernel
def look(g, links, view, b, scale, features, fresh, stale, every, rows):
    """Read features and machine neighbours off a graph; list whose layer 1 output changed.

    ``g`` is a :class:`~tbgat.policy.prepared.Seen` of the batch; ``features`` and ``links.machine``
    hold what was seen last time. ``fresh`` and ``stale`` are scratch space. A node is listed in
    ``rows``, from the graph's first entry on and numbered within the graph, if its features, those
    of an in-neighbour, or the in-neighbours themselves differ, or if ``every`` node is wanted.
    Returns how many are.
    """
    lo = g.offset[b]
    size = g.offset[b + 1] - lo
    base = lo + 2 * b
    deepest = np.float64(g.sink_level[b])
    span = np.float32(g.makespan[b] * scale[b] / 1000.0)
    for k in range(size + 2):
        node = base + k
        p = _ZERO
        time = _ZERO
        depth = _ZERO
        near = -1
        if k < size:
            x = lo + k
            p = np.float32(g.duration[x] * scale[b] / 99.0)
            if view == 0:
                time = np.float32(g.est[x] * scale[b] / 1000.0)
                depth = np.float32(g.level[x] / deepest)
                near = g.machine_pred[x]
            else:
                latest = g.makespan[b] - g.tail[x] - g.duration[x]
                time = np.float32(latest * scale[b] / 1000.0)
                depth = np.float32(g.back_level[x] / deepest)
                near = g.machine_succ[x]
            if near >= 0:
                near -= lo
                # An arc of the job and of the machine at once counts once.
                if near == links.job[node]:
                    near = -1
        elif k == size:
            time = span if view == 1 else _ZERO
        else:
            time = span if view == 0 else _ZERO
            depth = _ONE
        changed = features[node, 0] != p or features[node, 1] != time or features[node, 2] != depth
        features[node, 0] = p
        features[node, 1] = time
        features[node, 2] = depth
        fresh[node] = changed
        stale[node] = every or changed or links.machine[node] != near
        links.machine[node] = near
    sink = base + size + 1
    for j in range(g.job_start[b], g.job_start[b + 1]):
        if fresh[base + links.ends[j]]:
            stale[sink] = 1
    count = 0
    for k in range(size + 2):
        node = base + k
        if k < size and (
            fresh[base + links.job[node]]
            or (links.machine[node] >= 0 and fresh[base + links.machine[node]])
        ):
            stale[node] = 1
        if stale[node]:
            rows[base + count] = k
            count += 1
    return count


@inner_float_kernel
def first_rows(links, b, row, rows, first, last, features, logits, weight, bias, mixed, hidden):
    """Layer 1 with its ELU for the nodes ``rows[i]`` of graph b, ``i`` in ``first .. last - 1``.

    ``rows`` counts from the graph's first entry; ``mixed`` and ``hidden`` take the result at
    ``row + i``. ``logits`` is 3 x 2 x heads (tail part, head part). The raw features of a node and
    its in-neighbours are mixed head by head (``mixed``: heads * 3), then multiplied by the weights
    (3 x outputs).
    """
    heads = logits.shape[2]
    width = len(bias) // heads
    size = links.offset[b + 1] - links.offset[b]
    base = links.offset[b] + 2 * b
    for i in range(first, last):
        k = rows[base + i]
        at = np.uint64(row + i)
        _mix_features(links, b, base, size, k, features, logits, mixed, at)
        for h in range(heads):
            x0 = mixed[at, 3 * h]
            x1 = mixed[at, 3 * h + 1]
            x2 = mixed[at, 3 * h + 2]
            for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                value = weight[0, c] * x0 + weight[1, c] * x1 + weight[2, c] * x2
                hidden[at, c] = elu(value + bias[c])


@float_kernel
def first_layer(links, features, logits, weight, bias, rows, mixed, hidden):
    """Layer 1 of all graphs, see :func:`first_rows`; ``rows`` is scratch space."""
    for b in range(len(links.offset) - 1):
        size = links.offset[b + 1] - links.offset[b]
        base = links.offset[b] + 2 * b
        for k in range(size + 2):
            rows[base + k] = k
        first_rows(links, b, base, rows, 0, size + 2, features, logits, weight, bias, mixed, hidden)


@inner_float_kernel
def _mix_features(links, b, base, size, k, features, logits, mixed, at):
    """Mix the raw features of node k of graph b and its in-neighbours into row ``at``."""
    node = base + k
    for h in range(logits.shape[2]):
        if k < size:
            near = base + links.job[node]
            far = base + links.machine[node] if links.machine[node] >= 0 else node
            own, by_job, by_machine = first_weights(features, logits, h, node, near, far)
            for i in range(3):
                mixed[at, 3 * h + i] = (
                    own * features[node, i]
                    + by_job * features[near, i]
                    + by_machine * features[far, i]
                )
        elif k == size:
            for i in range(3):
                mixed[at, 3 * h + i] = features[node, i]
        else:
            top = _first_top(links, b, base, node, features, logits, h)
            total = exp_negative(first_logit(features, logits, h, node, node) - top)
            for i in range(3):
                mixed[at, 3 * h + i] = total * features[node, i]
            for j in range(links.job_start[b], links.job_start[b + 1]):
                near = base + links.ends[j]
                logit = first_logit(features, logits, h, near, node)
                part = exp_negative(logit - top)
                total += part
                for i in range(3):
                    mixed[at, 3 * h + i] += part * features[near, i]
            for i in range(3):
                mixed[at, 3 * h + i] /= total


@inner_float_kernel
def first_logit(features, logits, h, tail, head):
    """Attention logit of an arc in layer 1, straight from the raw features."""
    result = _ZERO
    for i in range(3):
        result += features[tail, i] * logits[i, 0, h] + features[head, i] * logits[i, 1, h]
    return leaky(result)


@inner_float_kernel
def first_weights(features, logits, h, node, near, far):
    """Attention of layer 1 paid to a node itself, by job and by machine (``far == node``: none)."""
    own = first_logit(features, logits, h, node, node)
    by_job = first_logit(features, logits, h, near, node)
    by_machine = first_logit(features, logits, h, far, node)
    return softmax_of_three(own, by_job, by_machine, far != node)


@inner_float_kernel
def _first_top(links, b, base, node, features, logits, h):
    top = first_logit(features, logits, h, node, node)
    for j in range(links.job_start[b], links.job_start[b + 1]):
        top = max(top, first_logit(features, logits, h, base + links.ends[j], node))
    return top


@float_kernel
def attend(links, heads, values, bias, hidden):
    """One inner layer of all graphs behind its product, see :func:`attend_nodes`."""
    for b in range(len(links.offset) - 1):
        nodes = links.offset[b + 1] - links.offset[b] + 2
        base = links.offset[b] + 2 * b
        attend_nodes(links, b, base, base, 0, nodes, heads, values, bias, hidden)


@inner_float_kernel
def attend_nodes(links, b, row, to, first, last, heads, values, bias, hidden):
    """One inner layer behind its product for nodes of graph b: attention, bias, ELU.

    Row ``row + k`` of ``values`` and ``to + k`` of ``hidden`` belong to node k; those from
    ``first`` to ``last - 1`` are computed. A row of ``values`` holds the values of all heads, then
    the tail and the head parts of the logits.
    """
    outputs = len(bias)
    width = outputs // heads
    size = links.offset[b + 1] - links.offset[b]
    base = links.offset[b] + 2 * b
    for k in range(first, min(last, size)):
        node = np.uint64(row + k)
        here = np.uint64(row + links.job[base + k])
        has_machine = links.machine[base + k] >= 0
        there = np.uint64(row + links.machine[base + k]) if has_machine else node
        target_row = np.uint64(to + k)
        for h in range(heads):
            tail = outputs + h
            target = values[node, tail + heads]
            own, by_job, by_machine = softmax_of_three(
                leaky(values[node, tail] + target),
                leaky(values[here, tail] + target),
                leaky(values[there, tail] + target),
                has_machine,
            )
            for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                mixed = own * values[node, c] + by_job * values[here, c]
                hidden[target_row, c] = elu(mixed + by_machine * values[there, c] + bias[c])
    if first <= size < last:
        root = np.uint64(row + size)
        target_row = np.uint64(to + size)
        for c in range(outputs):
            hidden[target_row, c] = elu(values[root, c] + bias[c])
    if last <= size + 1:
        return
    sink = np.uint64(row + size + 1)
    target_row = np.uint64(to + size + 1)
    for h in range(heads):
        tail = outputs + h
        channels = (np.uint64(h * width), np.uint64(h * width + width))
        target = values[sink, tail + heads]
        own = leaky(values[sink, tail] + target)
        top = own
        for j in range(links.job_start[b], links.job_start[b + 1]):
            top = max(top, leaky(values[row + links.ends[j], tail] + target))
        total = exp_negative(own - top)
        for c in range(channels[0], channels[1]):
            hidden[target_row, c] = total * values[sink, c]
        for j in range(links.job_start[b], links.job_start[b + 1]):
            near = np.uint64(row + links.ends[j])
            part = exp_negative(leaky(values[near, tail] + target) - top)
            total += part
            for c in range(channels[0], channels[1]):
                hidden[target_row, c] += part * values[near, c]
        scale = _ONE / total
        for c in range(channels[0], channels[1]):
            hidden[target_row, c] = elu(hidden[target_row, c] * scale + bias[c])


@inner_float_kernel
def last_parts(row, first, last, hidden, logit_weights, parts):
    """Parts of the logits of the last layer (nodes x 2) at rows ``row + first .. row + last - 1``.

    ``logit_weights`` is 2 x inputs.
    """
    inputs = hidden.shape[1]
    for k in range(first, last):
        node = np.uint64(row + k)
        source = _ZERO
        target = _ZERO
        for c in range(inputs):
            source += hidden[node, c] * logit_weights[0, c]
            target += hidden[node, c] * logit_weights[1, c]
        parts[node, 0] = source
        parts[node, 1] = target


@inner_float_kernel
def last_shares(links, b, row, parts, shares):
    """Attention in the last layer (one head) of graph b, whose first node is row ``row``.

    ``parts`` is from :func:`last_parts`; ``shares`` (nodes x 4) takes what each node pays to
    itself, by job and by machine, and all that it receives.
    """
    size = links.offset[b + 1] - links.offset[b]
    base = links.offset[b] + 2 * b
    root = row + size
    sink = root + 1
    for k in range(size + 2):
        shares[row + k, 3] = _ZERO
    for k in range(size):
        node = row + k
        here = row + links.job[base + k]
        has_machine = links.machine[base + k] >= 0
        there = row + links.machine[base + k] if has_machine else node
        target = parts[node, 1]
        own, by_job, by_machine = softmax_of_three(
            leaky(parts[node, 0] + target),
            leaky(parts[here, 0] + target),
            leaky(parts[there, 0] + target),
            has_machine,
        )
        shares[node, 0] = own
        shares[node, 1] = by_job
        shares[node, 2] = by_machine
        shares[node, 3] += own
        shares[here, 3] += by_job
        shares[there, 3] += by_machine
    shares[root, 3] += _ONE
    target = parts[sink, 1]
    own = leaky(parts[sink, 0] + target)
    top = own
    for j in range(links.job_start[b], links.job_start[b + 1]):
        top = max(top, leaky(parts[row + links.ends[j], 0] + target))
    total = exp_negative(own - top)
    for j in range(links.job_start[b], links.job_start[b + 1]):
        total += exp_negative(leaky(parts[row + links.ends[j], 0] + target) - top)
    shares[sink, 0] = exp_negative(own - top) / total
    shares[sink, 3] += shares[sink, 0]
    for j in range(links.job_start[b], links.job_start[b + 1]):
        near = row + links.ends[j]
        shares[near, 3] += exp_negative(leaky(parts[near, 0] + target) - top) / total


@inner_float_kernel
def _mix_row(hidden, shares, node, by_job, by_machine, to, mixed):
    """Row ``to`` of ``mixed``: what a node and its in-neighbours hold, by the shares it pays."""
    for c in range(hidden.shape[1]):
        value = shares[node, 0] * hidden[node, c] + shares[node, 1] * hidden[by_job, c]
        mixed[to, c] = value + shares[node, 2] * hidden[by_machine, c]


@float_kernel
def last_layer(links, hidden, logit_weights, parts, shares, starts, u, v, mixed):
    """Mix the inputs of the last layer of all graphs, see :func:`last_rows`."""
    for b in range(len(links.offset) - 1):
        nodes = links.offset[b + 1] - links.offset[b] + 2
        base = links.offset[b] + 2 * b
        last_parts(base, 0, nodes, hidden, logit_weights, parts)
        last_rows(links, b, base, hidden, parts, shares, starts, u, v, mixed)


@inner_float_kernel
def last_rows(links, b, row, hidden, parts, shares, starts, u, v, mixed):
    """Mix the inputs of the last layer of graph b, whose product is left to the caller.

    The product commutes with every weighted sum over nodes, so it is needed for the operations of
    the candidate moves and the mean of each graph alone. ``mixed`` takes its inputs: the first
    operations of all moves, the second ones, the graphs. Moves ``starts[b] .. starts[b + 1] - 1``,
    with operations ``u`` and ``v``, belong to graph b. ``parts`` and ``shares`` are described at
    :func:`last_shares`.
    """
    inputs = hidden.shape[1]
    moves = starts[len(starts) - 1]
    lo = links.offset[b]
    size = links.offset[b + 1] - lo
    base = lo + 2 * b
    last_shares(links, b, row, parts, shares)
    mean = np.uint64(moves + moves + b)
    for c in range(inputs):
        mixed[mean, c] = _ZERO
    for k in range(size + 2):
        node = np.uint64(row + k)
        share = shares[node, 3] / np.float32(size + 2)
        for c in range(inputs):
            mixed[mean, c] += share * hidden[node, c]
    for at in range(starts[b], starts[b + 1]):
        for side in range(2):
            k = (u[at] if side == 0 else v[at]) - lo
            far = row + links.machine[base + k] if links.machine[base + k] >= 0 else row + k
            _mix_row(
                hidden,
                shares,
                np.uint64(row + k),
                np.uint64(row + links.job[base + k]),
                np.uint64(far),
                np.uint64(at + side * moves),
                mixed,
            )
