"""The attention layers of one view without gradients, compiled: what inference on a CPU runs.

Nodes stand graph by graph: operations, root, sink (see :mod:`tbgat.policy.structure`); graph ``b``
begins at node ``offset[b] + 2 * b``. Neighbours are numbered within their graph. Indices of inner
loops are unsigned: a signed one could count from the end of an array, which forbids vectors.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions: the arrays are described where they are made, in tbgat.policy.inference.

import numpy as np

from tbgat.graph.compiled import float_kernel, lean_kernel

__all__ = ["attend_and_activate", "first_layer", "last_layer", "look", "put_rows"]

_ZERO = np.float32(0.0)
_HALF = np.float32(0.5)
_ONE = np.float32(1.0)
_SLOPE = np.float32(0.2)
_LOWEST = np.float32(-87.0)  # exp of it is still a normal number
_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)
# Cephes' polynomial for exp(r) - 1 - r on |r| <= ln(2) / 2, relative error 1e-7.
_C0 = np.float32(1.9875691500e-4)
_C1 = np.float32(1.3981999507e-3)
_C2 = np.float32(8.3334519073e-3)
_C3 = np.float32(4.1665795894e-2)
_C4 = np.float32(1.6666665459e-1)
_C5 = np.float32(5.0000001201e-1)


@float_kernel
def _exp_negative(x):
    """Exponential of x <= 0, in a form that the compiler can vectorise."""
    x = max(x, _LOWEST)
    k = np.int32(x * _LOG2_E - _HALF)
    whole = np.float32(k)
    r = x - whole * _LN2_HIGH - whole * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
    p = p * r * r + r + _ONE
    return p * np.int32((k + np.int32(127)) << np.int32(23)).view(np.float32)


@float_kernel
def _elu(x):
    return x if x > _ZERO else _exp_negative(min(x, _ZERO)) - _ONE


@float_kernel
def _leaky(x):
    return x if x > _ZERO else _SLOPE * x


@lean_kernel
def look(g, view, begin, end, scale, job, machine, ends, features, fresh, stale):
    """Read features and machine neighbours off the graphs; mark whose layer 1 output changed.

    ``features`` and ``machine`` hold what was seen last time. ``fresh`` is scratch space;
    ``stale[node]`` becomes 1 where the node's features, those of an in-neighbour, or the
    in-neighbours themselves differ. Returns the number of such nodes.
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
                    if near == job[node]:
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
            stale[node] = changed or machine[node] != near
            machine[node] = near
        for k in range(size):
            node = base + k
            if fresh[base + job[node]] or (machine[node] >= 0 and fresh[base + machine[node]]):
                stale[node] = 1
            count += stale[node]
        sink = base + size + 1
        for j in range(g.job_start[b], g.job_start[b + 1]):
            if fresh[base + ends[j]]:
                stale[sink] = 1
        count += stale[sink] + stale[sink - 1]
    return count


@float_kernel
def first_layer(
    g, begin, end, job, machine, ends, features, stale, every, logits, weight, bias, hidden, rows
):
    """Output of layer 1 for the stale nodes (or all), densely, and which nodes those are.

    The raw features are mixed first, three numbers per head, and multiplied by the weights after.
    ``logits`` is 3 x 2 x heads (tail part, head part), ``weight`` 3 x outputs. Returns how many
    rows were written.
    """
    heads = logits.shape[2]
    width = len(bias) // heads
    at = 0
    for b in range(begin, end):
        size = g.offset[b + 1] - g.offset[b]
        base = g.offset[b] + 2 * b
        for k in range(size + 2):
            node = base + k
            if not (every or stale[node]):
                continue
            for h in range(heads):
                target = _ZERO
                own = _ZERO
                for i in range(3):
                    target += features[node, i] * logits[i, 1, h]
                    own += features[node, i] * logits[i, 0, h]
                x0 = features[node, 0]
                x1 = features[node, 1]
                x2 = features[node, 2]
                if k < size:
                    here = base + job[node]
                    there = base + machine[node] if machine[node] >= 0 else node
                    by_job = target
                    by_machine = target
                    for i in range(3):
                        by_job += features[here, i] * logits[i, 0, h]
                        by_machine += features[there, i] * logits[i, 0, h]
                    own = _leaky(own + target)
                    by_job = _leaky(by_job)
                    by_machine = _leaky(by_machine)
                    top = max(own, by_job, by_machine)
                    own = _exp_negative(own - top)
                    by_job = _exp_negative(by_job - top)
                    by_machine = _exp_negative(by_machine - top) if machine[node] >= 0 else _ZERO
                    total = own + by_job + by_machine
                    own /= total
                    by_job /= total
                    by_machine /= total
                    x0 = own * x0 + by_job * features[here, 0] + by_machine * features[there, 0]
                    x1 = own * x1 + by_job * features[here, 1] + by_machine * features[there, 1]
                    x2 = own * x2 + by_job * features[here, 2] + by_machine * features[there, 2]
                elif k == size + 1:
                    own = _leaky(own + target)
                    top = own
                    for j in range(g.job_start[b], g.job_start[b + 1]):
                        near = base + ends[j]
                        logit = target
                        for i in range(3):
                            logit += features[near, i] * logits[i, 0, h]
                        top = max(top, _leaky(logit))
                    total = _exp_negative(own - top)
                    x0 *= total
                    x1 *= total
                    x2 *= total
                    for j in range(g.job_start[b], g.job_start[b + 1]):
                        near = base + ends[j]
                        logit = target
                        for i in range(3):
                            logit += features[near, i] * logits[i, 0, h]
                        part = _exp_negative(_leaky(logit) - top)
                        total += part
                        x0 += part * features[near, 0]
                        x1 += part * features[near, 1]
                        x2 += part * features[near, 2]
                    x0 /= total
                    x1 /= total
                    x2 /= total
                for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                    mixed = weight[0, c] * x0 + weight[1, c] * x1 + weight[2, c] * x2
                    hidden[at, c] = _elu(mixed + bias[c])
            rows[at] = node
            at += 1
    return at


@lean_kernel
def put_rows(source, rows, count, first, table):
    """Copy row ``i`` of ``source`` to row ``rows[i] - first`` of ``table``."""
    columns = source.shape[1]
    for i in range(count):
        to = rows[i] - first
        for c in range(columns):
            table[to, c] = source[i, c]


@float_kernel
def attend_and_activate(g, begin, end, job, machine, ends, heads, values, bias, hidden):
    """One inner layer behind its product: attention, bias, ELU.

    Row 0 of ``values`` and ``hidden`` belongs to the first node of graph ``begin``. A row of
    ``values`` holds the values of all heads, then the tail and the head parts of the logits.
    """
    outputs = len(bias)
    width = outputs // heads
    first = g.offset[begin] + 2 * begin
    for b in range(begin, end):
        size = g.offset[b + 1] - g.offset[b]
        base = g.offset[b] + 2 * b
        row = base - first
        for k in range(size):
            node = np.uint64(row + k)
            here = np.uint64(row + job[base + k])
            has_machine = machine[base + k] >= 0
            there = np.uint64(row + machine[base + k]) if has_machine else node
            for h in range(heads):
                tail = outputs + h
                target = values[node, tail + heads]
                own = _leaky(values[node, tail] + target)
                by_job = _leaky(values[here, tail] + target)
                by_machine = _leaky(values[there, tail] + target)
                top = max(own, by_job, by_machine)
                own = _exp_negative(own - top)
                by_job = _exp_negative(by_job - top)
                by_machine = _exp_negative(by_machine - top) if has_machine else _ZERO
                scale = _ONE / (own + by_job + by_machine)
                own *= scale
                by_job *= scale
                by_machine *= scale
                for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                    mixed = own * values[node, c] + by_job * values[here, c]
                    hidden[node, c] = _elu(mixed + by_machine * values[there, c] + bias[c])
        root = np.uint64(row + size)
        sink = np.uint64(row + size + 1)
        for c in range(outputs):
            hidden[root, c] = _elu(values[root, c] + bias[c])
        for h in range(heads):
            tail = outputs + h
            channels = (np.uint64(h * width), np.uint64(h * width + width))
            target = values[sink, tail + heads]
            own = _leaky(values[sink, tail] + target)
            top = own
            for j in range(g.job_start[b], g.job_start[b + 1]):
                top = max(top, _leaky(values[row + ends[j], tail] + target))
            total = _exp_negative(own - top)
            for c in range(channels[0], channels[1]):
                hidden[sink, c] = total * values[sink, c]
            for j in range(g.job_start[b], g.job_start[b + 1]):
                near = np.uint64(row + ends[j])
                part = _exp_negative(_leaky(values[near, tail] + target) - top)
                total += part
                for c in range(channels[0], channels[1]):
                    hidden[sink, c] += part * values[near, c]
            scale = _ONE / total
            for c in range(channels[0], channels[1]):
                hidden[sink, c] = _elu(hidden[sink, c] * scale + bias[c])


@float_kernel
def _mix(hidden, shares, node, by_job, by_machine, to, mixed):
    """Row ``to`` of ``mixed``: what a node and its in-neighbours hold, by the shares it pays."""
    for c in range(hidden.shape[1]):
        value = shares[node, 0] * hidden[node, c] + shares[node, 1] * hidden[by_job, c]
        mixed[to, c] = value + shares[node, 2] * hidden[by_machine, c]


@float_kernel
def last_layer(
    g, begin, end, job, machine, ends, hidden, logit_weights, parts, shares, first_graph, starts,
    mixed,
):  # fmt: skip
    """Mix the inputs of the last layer, whose product is left to the caller.

    The product commutes with every weighted sum over nodes, so it is needed for the operations of
    the candidate moves and the mean of each graph alone. ``mixed`` takes its inputs: the first
    operations of all moves of the run, the second ones, the graphs. The run starts at graph
    ``first_graph``, and ``starts`` says where in it the moves of each of its graphs begin.

    ``logit_weights`` is 2 x inputs. ``parts`` (nodes x 2) and ``shares`` (nodes x 4: attention paid
    to itself, by job, by machine, and attention received) are scratch space.
    """
    inputs = hidden.shape[1]
    first = g.offset[begin] + 2 * begin
    moves = starts[len(starts) - 1]
    for b in range(begin, end):
        lo = g.offset[b]
        size = g.offset[b + 1] - lo
        base = lo + 2 * b
        row = base - first
        root = row + size
        sink = root + 1
        for node in range(row, row + size + 2):
            source = _ZERO
            target = _ZERO
            for c in range(inputs):
                source += hidden[np.uint64(node), c] * logit_weights[0, c]
                target += hidden[np.uint64(node), c] * logit_weights[1, c]
            parts[node, 0] = source
            parts[node, 1] = target
            shares[node, 3] = _ZERO
        for k in range(size):
            node = row + k
            here = row + job[base + k]
            has_machine = machine[base + k] >= 0
            there = row + machine[base + k] if has_machine else node
            target = parts[node, 1]
            own = _leaky(parts[node, 0] + target)
            by_job = _leaky(parts[here, 0] + target)
            by_machine = _leaky(parts[there, 0] + target)
            top = max(own, by_job, by_machine)
            own = _exp_negative(own - top)
            by_job = _exp_negative(by_job - top)
            by_machine = _exp_negative(by_machine - top) if has_machine else _ZERO
            scale = _ONE / (own + by_job + by_machine)
            shares[node, 0] = own * scale
            shares[node, 1] = by_job * scale
            shares[node, 2] = by_machine * scale
            shares[node, 3] += own * scale
            shares[here, 3] += by_job * scale
            shares[there, 3] += by_machine * scale
        shares[root, 3] += _ONE
        target = parts[sink, 1]
        own = _leaky(parts[sink, 0] + target)
        top = own
        for j in range(g.job_start[b], g.job_start[b + 1]):
            top = max(top, _leaky(parts[row + ends[j], 0] + target))
        total = _exp_negative(own - top)
        for j in range(g.job_start[b], g.job_start[b + 1]):
            total += _exp_negative(_leaky(parts[row + ends[j], 0] + target) - top)
        shares[sink, 3] += _exp_negative(own - top) / total
        for j in range(g.job_start[b], g.job_start[b + 1]):
            near = row + ends[j]
            shares[near, 3] += _exp_negative(_leaky(parts[near, 0] + target) - top) / total

        mean = np.uint64(2 * moves + b - first_graph)
        for c in range(inputs):
            mixed[mean, c] = _ZERO
        for node in range(row, row + size + 2):
            share = shares[node, 3] / np.float32(size + 2)
            for c in range(inputs):
                mixed[mean, c] += share * hidden[np.uint64(node), c]

        for i in range(g.move_count[b]):
            at = starts[b - first_graph] + i
            for side in range(2):
                x = g.move_u[lo + i] if side == 0 else g.move_v[lo + i]
                k = x - lo
                near = row + machine[base + k] if machine[base + k] >= 0 else row + k
                _mix(
                    hidden,
                    shares,
                    np.uint64(row + k),
                    np.uint64(row + job[base + k]),
                    np.uint64(near),
                    np.uint64(at + side * moves),
                    mixed,
                )
