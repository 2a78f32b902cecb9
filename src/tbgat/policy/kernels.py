"""The attention layers of one view, compiled: what runs on a CPU in float32.

``links`` is a :class:`~tbgat.policy.links.Links`. Indices of inner loops are unsigned: a signed one
could count from the end of an array, which forbids vectors.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions; their arrays are described in tbgat.policy.links.

import numpy as np

from tbgat.graph.compiled import float_kernel, lean_kernel
from tbgat.policy.scalars import elu, exp_negative, leaky, softmax_of_three

__all__ = [
    "activate_mixed",
    "add_product_of_few",
    "attend_and_activate",
    "first_logit",
    "first_weights",
    "last_layer",
    "last_shares",
    "look",
    "mix_features",
    "put_rows",
]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@lean_kernel
def look(g, links, view, begin, end, scale, features, fresh, stale):
    """Read features and machine neighbours off the graphs; mark whose layer 1 output changed.

    ``g`` holds the arrays of the batch, ``features`` and ``links.machine`` what was seen last time.
    ``fresh`` is scratch space; ``stale[node]`` becomes 1 where the node's features, those of an
    in-neighbour, or the in-neighbours themselves differ. Returns the number of such nodes.
    """
    count = 0
    for b in range(begin, end):
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
            changed = (
                features[node, 0] != p or features[node, 1] != time or features[node, 2] != depth
            )
            features[node, 0] = p
            features[node, 1] = time
            features[node, 2] = depth
            fresh[node] = changed
            stale[node] = changed or links.machine[node] != near
            links.machine[node] = near
        for k in range(size):
            node = base + k
            if fresh[base + links.job[node]] or (
                links.machine[node] >= 0 and fresh[base + links.machine[node]]
            ):
                stale[node] = 1
            count += stale[node]
        sink = base + size + 1
        for j in range(g.job_start[b], g.job_start[b + 1]):
            if fresh[base + links.ends[j]]:
                stale[sink] = 1
        count += stale[sink] + stale[sink - 1]
    return count


@float_kernel
def mix_features(links, begin, end, features, stale, every, logits, mixed, rows):
    """Mix the raw features of the stale nodes (or of all) and their in-neighbours, head by head.

    ``logits`` is 3 x 2 x heads (tail part, head part). Row i of ``mixed`` (heads * 3) belongs to
    node ``rows[i]``. Returns how many rows were written.
    """
    heads = logits.shape[2]
    at = 0
    for b in range(begin, end):
        size = links.offset[b + 1] - links.offset[b]
        base = links.offset[b] + 2 * b
        for k in range(size + 2):
            node = base + k
            if not (every or stale[node]):
                continue
            rows[at] = node
            for h in range(heads):
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
            at += 1
    return at


@float_kernel
def first_logit(features, logits, h, tail, head):
    """Attention logit of an arc in layer 1, straight from the raw features."""
    result = _ZERO
    for i in range(3):
        result += features[tail, i] * logits[i, 0, h] + features[head, i] * logits[i, 1, h]
    return leaky(result)


@float_kernel
def first_weights(features, logits, h, node, near, far):
    """Attention of layer 1 paid to a node itself, by job and by machine (``far == node``: none)."""
    own = first_logit(features, logits, h, node, node)
    by_job = first_logit(features, logits, h, near, node)
    by_machine = first_logit(features, logits, h, far, node)
    return softmax_of_three(own, by_job, by_machine, far != node)


@float_kernel
def _first_top(links, b, base, node, features, logits, h):
    top = first_logit(features, logits, h, node, node)
    for j in range(links.job_start[b], links.job_start[b + 1]):
        top = max(top, first_logit(features, logits, h, base + links.ends[j], node))
    return top


@float_kernel
def activate_mixed(mixed, count, weight, bias, hidden):
    """Output of layer 1: the product of mixed raw features and weights (3 x outputs), bias, ELU."""
    heads = mixed.shape[1] // 3
    width = len(bias) // heads
    for at in range(count):
        for h in range(heads):
            x0 = mixed[at, 3 * h]
            x1 = mixed[at, 3 * h + 1]
            x2 = mixed[at, 3 * h + 2]
            for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                value = weight[0, c] * x0 + weight[1, c] * x1 + weight[2, c] * x2
                hidden[at, c] = elu(value + bias[c])


@lean_kernel
def put_rows(source, rows, count, first, table):
    """Copy row ``i`` of ``source`` to row ``rows[i] - first`` of ``table``."""
    columns = source.shape[1]
    for i in range(count):
        to = rows[i] - first
        for c in range(columns):
            table[to, c] = source[i, c]


@float_kernel
def attend_and_activate(links, begin, end, heads, values, bias, hidden):
    """One inner layer behind its product: attention, bias, ELU.

    Row 0 of ``values`` and ``hidden`` belongs to the first node of graph ``begin``. A row of
    ``values`` holds the values of all heads, then the tail and the head parts of the logits.
    """
    outputs = len(bias)
    width = outputs // heads
    first = links.offset[begin] + 2 * begin
    for b in range(begin, end):
        size = links.offset[b + 1] - links.offset[b]
        base = links.offset[b] + 2 * b
        row = base - first
        for k in range(size):
            node = np.uint64(row + k)
            here = np.uint64(row + links.job[base + k])
            has_machine = links.machine[base + k] >= 0
            there = np.uint64(row + links.machine[base + k]) if has_machine else node
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
                    hidden[node, c] = elu(mixed + by_machine * values[there, c] + bias[c])
        root = np.uint64(row + size)
        sink = np.uint64(row + size + 1)
        for c in range(outputs):
            hidden[root, c] = elu(values[root, c] + bias[c])
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
                hidden[sink, c] = total * values[sink, c]
            for j in range(links.job_start[b], links.job_start[b + 1]):
                near = np.uint64(row + links.ends[j])
                part = exp_negative(leaky(values[near, tail] + target) - top)
                total += part
                for c in range(channels[0], channels[1]):
                    hidden[sink, c] += part * values[near, c]
            scale = _ONE / total
            for c in range(channels[0], channels[1]):
                hidden[sink, c] = elu(hidden[sink, c] * scale + bias[c])


@float_kernel
def last_shares(links, b, row, hidden, logit_weights, parts, shares):
    """Attention in the last layer (one head) of graph b, whose first node is row ``row``.

    ``logit_weights`` is 2 x inputs. ``parts`` (nodes x 2) takes each node's parts of the logits,
    ``shares`` (nodes x 4) what it pays to itself, by job and by machine, and all that it receives.
    """
    inputs = hidden.shape[1]
    size = links.offset[b + 1] - links.offset[b]
    base = links.offset[b] + 2 * b
    root = row + size
    sink = root + 1
    for k in range(size + 2):
        node = np.uint64(row + k)
        source = _ZERO
        target = _ZERO
        for c in range(inputs):
            source += hidden[node, c] * logit_weights[0, c]
            target += hidden[node, c] * logit_weights[1, c]
        parts[node, 0] = source
        parts[node, 1] = target
        shares[node, 3] = _ZERO
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


@float_kernel
def _mix_row(hidden, shares, node, by_job, by_machine, to, mixed):
    """Row ``to`` of ``mixed``: what a node and its in-neighbours hold, by the shares it pays."""
    for c in range(hidden.shape[1]):
        value = shares[node, 0] * hidden[node, c] + shares[node, 1] * hidden[by_job, c]
        mixed[to, c] = value + shares[node, 2] * hidden[by_machine, c]


@float_kernel
def last_layer(
    links, begin, end, hidden, logit_weights, parts, shares, first_graph, starts, u, v, mixed
):
    """Mix the inputs of the last layer, whose product is left to the caller.

    The product commutes with every weighted sum over nodes, so it is needed for the operations of
    the candidate moves and the mean of each graph alone. ``mixed`` takes its inputs: the first
    operations of all moves of the run, the second ones, the graphs. The run starts at graph
    ``first_graph``; moves ``starts[i] .. starts[i + 1] - 1`` of it, with operations ``u`` and
    ``v``, belong to its graph i. ``parts`` and ``shares`` are described at :func:`last_shares`.
    """
    inputs = hidden.shape[1]
    first = links.offset[begin] + 2 * begin
    moves = len(u)
    for b in range(begin, end):
        lo = links.offset[b]
        size = links.offset[b + 1] - lo
        base = lo + 2 * b
        row = base - first
        last_shares(links, b, row, hidden, logit_weights, parts, shares)
        mean = np.uint64(2 * moves + b - first_graph)
        for c in range(inputs):
            mixed[mean, c] = _ZERO
        for k in range(size + 2):
            node = np.uint64(row + k)
            share = shares[node, 3] / np.float32(size + 2)
            for c in range(inputs):
                mixed[mean, c] += share * hidden[node, c]
        for at in range(starts[b - first_graph], starts[b - first_graph + 1]):
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


@float_kernel
def add_product_of_few(x, weight, out):
    """Add ``x @ weight`` to ``out`` for a handful of rows.

    A library packs the weights first, which pays for many rows only; here they stream through once.
    """
    inputs, columns = weight.shape
    for k in range(0, inputs - 3, 4):
        for m in range(len(x)):
            x0 = x[m, k]
            x1 = x[m, k + 1]
            x2 = x[m, k + 2]
            x3 = x[m, k + 3]
            for c in range(columns):
                out[m, c] += (
                    x0 * weight[k, c]
                    + x1 * weight[k + 1, c]
                    + x2 * weight[k + 2, c]
                    + x3 * weight[k + 3, c]
                )
    for k in range(inputs - inputs % 4, inputs):
        for m in range(len(x)):
            for c in range(columns):
                out[m, c] += x[m, k] * weight[k, c]
