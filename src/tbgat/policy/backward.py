"""Gradients of the compiled layers, compiled: the counterparts of :mod:`tbgat.policy.kernels`.

Attention weights are computed again instead of being kept. One call serves one view on one thread,
so sums over nodes need no atomic operations.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions; their arrays are described in tbgat.policy.links.

import numpy as np

from tbgat.graph.compiled import float_kernel, inner_float_kernel
from tbgat.policy.kernels import first_logit, first_weights, last_parts, last_shares
from tbgat.policy.scalars import SLOPE, exp_negative, leaky, softmax_of_three

__all__ = ["attend_backward", "first_backward", "last_backward"]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@inner_float_kernel
def _slope(x):
    """Derivative of LeakyReLU, by its input or (the sign is the same) its output."""
    return _ONE if x > _ZERO else SLOPE


@float_kernel
def first_backward(
    links, features, logits, mixed, weight, hidden, grad_hidden, grad_weight, grad_bias, grad_logits
):
    """Gradients of layer 1 by its weights; ``mixed`` and ``hidden`` are what forward gave.

    The raw features are data: no gradient goes there.
    """
    heads = logits.shape[2]
    width = len(grad_bias) // heads
    for b in range(len(links.offset) - 1):
        size = links.offset[b + 1] - links.offset[b]
        base = links.offset[b] + 2 * b
        for k in range(size + 2):
            node = base + k
            row = np.uint64(node)
            for h in range(heads):
                x0 = mixed[node, 3 * h]
                x1 = mixed[node, 3 * h + 1]
                x2 = mixed[node, 3 * h + 2]
                g0 = _ZERO
                g1 = _ZERO
                g2 = _ZERO
                for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                    y = hidden[row, c]
                    grad = grad_hidden[row, c] * (_ONE if y > _ZERO else y + _ONE)
                    grad_bias[c] += grad
                    grad_weight[0, c] += grad * x0
                    grad_weight[1, c] += grad * x1
                    grad_weight[2, c] += grad * x2
                    g0 += grad * weight[0, c]
                    g1 += grad * weight[1, c]
                    g2 += grad * weight[2, c]
                if k < size:
                    near = base + links.job[node]
                    far = base + links.machine[node] if links.machine[node] >= 0 else node
                    own, by_job, by_machine = first_weights(features, logits, h, node, near, far)
                    d_own = _dot(features, node, g0, g1, g2)
                    d_job = _dot(features, near, g0, g1, g2)
                    d_machine = _dot(features, far, g0, g1, g2)
                    mean = own * d_own + by_job * d_job + by_machine * d_machine
                    d_own = own * (d_own - mean)
                    d_job = by_job * (d_job - mean)
                    d_machine = by_machine * (d_machine - mean)
                    _first_logit_gradient(features, logits, h, node, node, d_own, grad_logits)
                    _first_logit_gradient(features, logits, h, near, node, d_job, grad_logits)
                    _first_logit_gradient(features, logits, h, far, node, d_machine, grad_logits)
                elif k == size + 1:
                    mean = g0 * x0 + g1 * x1 + g2 * x2
                    top = first_logit(features, logits, h, node, node)
                    for j in range(links.job_start[b], links.job_start[b + 1]):
                        near = base + links.ends[j]
                        top = max(top, first_logit(features, logits, h, near, node))
                    total = exp_negative(first_logit(features, logits, h, node, node) - top)
                    for j in range(links.job_start[b], links.job_start[b + 1]):
                        near = base + links.ends[j]
                        total += exp_negative(first_logit(features, logits, h, near, node) - top)
                    for j in range(links.job_start[b] - 1, links.job_start[b + 1]):
                        near = node if j < links.job_start[b] else base + links.ends[j]
                        logit = first_logit(features, logits, h, near, node)
                        part = exp_negative(logit - top) / total
                        d_part = part * (_dot(features, near, g0, g1, g2) - mean)
                        _first_logit_gradient(features, logits, h, near, node, d_part, grad_logits)


@inner_float_kernel
def _dot(features, node, g0, g1, g2):
    return features[node, 0] * g0 + features[node, 1] * g1 + features[node, 2] * g2


@inner_float_kernel
def _first_logit_gradient(features, logits, h, tail, head, grad, grad_logits):
    grad *= _slope(first_logit(features, logits, h, tail, head))
    for i in range(3):
        grad_logits[i, 0, h] += grad * features[tail, i]
        grad_logits[i, 1, h] += grad * features[head, i]


@float_kernel
def attend_backward(links, heads, values, hidden, grad_hidden, grad_values, grad_bias):
    """Gradients of attention, bias and ELU; ``grad_values`` starts at zero.

    ``grad_hidden`` is overwritten by the gradient in front of the ELU.
    """
    outputs = len(grad_bias)
    width = outputs // heads
    for b in range(len(links.offset) - 1):
        size = links.offset[b + 1] - links.offset[b]
        base = links.offset[b] + 2 * b
        for k in range(size + 2):
            node = np.uint64(base + k)
            for c in range(outputs):
                y = hidden[node, c]
                grad = grad_hidden[node, c] * (_ONE if y > _ZERO else y + _ONE)
                grad_hidden[node, c] = grad
                grad_bias[c] += grad
        for k in range(size):
            node = np.uint64(base + k)
            here = np.uint64(base + links.job[base + k])
            has_machine = links.machine[base + k] >= 0
            there = np.uint64(base + links.machine[base + k]) if has_machine else node
            for h in range(heads):
                tail = outputs + h
                head = tail + heads
                target = values[node, head]
                logit_own = leaky(values[node, tail] + target)
                logit_job = leaky(values[here, tail] + target)
                logit_machine = leaky(values[there, tail] + target)
                own, by_job, by_machine = softmax_of_three(
                    logit_own, logit_job, logit_machine, has_machine
                )
                d_own = _ZERO
                d_job = _ZERO
                d_machine = _ZERO
                for c in range(np.uint64(h * width), np.uint64(h * width + width)):
                    grad = grad_hidden[node, c]
                    d_own += grad * values[node, c]
                    d_job += grad * values[here, c]
                    d_machine += grad * values[there, c]
                _add_row(own, grad_hidden, node, grad_values, node, h * width, width)
                _add_row(by_job, grad_hidden, node, grad_values, here, h * width, width)
                if has_machine:
                    _add_row(by_machine, grad_hidden, node, grad_values, there, h * width, width)
                mean = own * d_own + by_job * d_job + by_machine * d_machine
                d_own = own * (d_own - mean) * _slope(logit_own)
                d_job = by_job * (d_job - mean) * _slope(logit_job)
                d_machine = by_machine * (d_machine - mean) * _slope(logit_machine)
                grad_values[node, tail] += d_own
                grad_values[here, tail] += d_job
                grad_values[there, tail] += d_machine
                grad_values[node, head] += d_own + d_job + d_machine
        root = np.uint64(base + size)
        sink = np.uint64(base + size + 1)
        for h in range(heads):
            tail = outputs + h
            head = tail + heads
            _add_row(_ONE, grad_hidden, root, grad_values, root, h * width, width)
            target = values[sink, head]
            top = leaky(values[sink, tail] + target)
            for j in range(links.job_start[b], links.job_start[b + 1]):
                top = max(top, leaky(values[base + links.ends[j], tail] + target))
            total = exp_negative(leaky(values[sink, tail] + target) - top)
            for j in range(links.job_start[b], links.job_start[b + 1]):
                total += exp_negative(leaky(values[base + links.ends[j], tail] + target) - top)
            # Twice over the in-neighbours: the mean of their gradients comes before each one's.
            mean = _ZERO
            for j in range(links.job_start[b] - 1, links.job_start[b + 1]):
                near = sink if j < links.job_start[b] else np.uint64(base + links.ends[j])
                part = exp_negative(leaky(values[near, tail] + target) - top) / total
                mean += part * _dot_rows(grad_hidden, sink, values, near, h * width, width)
            for j in range(links.job_start[b] - 1, links.job_start[b + 1]):
                near = sink if j < links.job_start[b] else np.uint64(base + links.ends[j])
                logit = leaky(values[near, tail] + target)
                part = exp_negative(logit - top) / total
                d_part = _dot_rows(grad_hidden, sink, values, near, h * width, width)
                d_part = part * (d_part - mean) * _slope(logit)
                _add_row(part, grad_hidden, sink, grad_values, near, h * width, width)
                grad_values[near, tail] += d_part
                grad_values[sink, head] += d_part


@inner_float_kernel
def _add_row(factor, source, row, target, to, first, count):
    """Add a multiple of some columns of a row to a row of another array."""
    for c in range(np.uint64(first), np.uint64(first + count)):
        target[to, c] += factor * source[row, c]


@inner_float_kernel
def _dot_rows(left, row, right, other, first, count):
    result = _ZERO
    for c in range(np.uint64(first), np.uint64(first + count)):
        result += left[row, c] * right[other, c]
    return result


@float_kernel
def last_backward(
    links, hidden, logit_weights, parts, shares, pulls, starts, u, v, grad_mixed, grad_hidden,
    grad_logits,
):  # fmt: skip
    """Gradients of the last mixing; ``grad_hidden`` is filled, ``grad_logits`` added to.

    ``pulls`` (nodes x 5) is scratch space: gradients of what a node pays to itself, by job and by
    machine, and of its two parts of the logits.
    """
    inputs = hidden.shape[1]
    moves = len(u)
    for b in range(len(links.offset) - 1):
        lo = links.offset[b]
        size = links.offset[b + 1] - lo
        base = lo + 2 * b
        sink = base + size + 1
        last_parts(base, 0, size + 2, hidden, logit_weights, parts)
        last_shares(links, b, base, parts, shares)
        mean = np.uint64(2 * moves + b)
        scale = _ONE / np.float32(size + 2)
        # By the mean: every arc's attention is pulled by the dot product with its tail's row.
        for k in range(size + 2):
            node = np.uint64(base + k)
            pull = scale * _dot_rows(grad_mixed, mean, hidden, node, 0, inputs)
            share = scale * shares[node, 3]
            for c in range(inputs):
                grad_hidden[node, c] = share * grad_mixed[mean, c]
            pulls[node, 0] = pull
            pulls[node, 3] = _ZERO
            pulls[node, 4] = _ZERO
        for k in range(size):
            node = base + k
            far = base + links.machine[node] if links.machine[node] >= 0 else node
            pulls[node, 1] = pulls[base + links.job[node], 0]
            pulls[node, 2] = pulls[far, 0]
        # The sink reads its in-neighbours' own pulls, so it comes before the moves change them.
        target = parts[sink, 1]
        top = leaky(parts[sink, 0] + target)
        for j in range(links.job_start[b], links.job_start[b + 1]):
            top = max(top, leaky(parts[base + links.ends[j], 0] + target))
        total = exp_negative(leaky(parts[sink, 0] + target) - top)
        for j in range(links.job_start[b], links.job_start[b + 1]):
            total += exp_negative(leaky(parts[base + links.ends[j], 0] + target) - top)
        average = _ZERO
        for j in range(links.job_start[b] - 1, links.job_start[b + 1]):
            near = sink if j < links.job_start[b] else base + links.ends[j]
            average += exp_negative(leaky(parts[near, 0] + target) - top) / total * pulls[near, 0]
        for j in range(links.job_start[b] - 1, links.job_start[b + 1]):
            near = sink if j < links.job_start[b] else base + links.ends[j]
            logit = leaky(parts[near, 0] + target)
            pull = exp_negative(logit - top) / total * (pulls[near, 0] - average) * _slope(logit)
            pulls[near, 3] += pull
            pulls[sink, 4] += pull
        for at in range(starts[b], starts[b + 1]):
            for side in range(2):
                node = base + (u[at] if side == 0 else v[at]) - lo
                row = np.uint64(at + side * moves)
                near = base + links.job[node]
                pulls[node, 0] += _dot_rows(grad_mixed, row, hidden, np.uint64(node), 0, inputs)
                pulls[node, 1] += _dot_rows(grad_mixed, row, hidden, np.uint64(near), 0, inputs)
                own, by_job, by_machine = shares[node, 0], shares[node, 1], shares[node, 2]
                _add_row(own, grad_mixed, row, grad_hidden, np.uint64(node), 0, inputs)
                _add_row(by_job, grad_mixed, row, grad_hidden, np.uint64(near), 0, inputs)
                if links.machine[node] >= 0:
                    far = np.uint64(base + links.machine[node])
                    pulls[node, 2] += _dot_rows(grad_mixed, row, hidden, far, 0, inputs)
                    _add_row(by_machine, grad_mixed, row, grad_hidden, far, 0, inputs)
        for k in range(size):
            node = base + k
            near = base + links.job[node]
            far = base + links.machine[node] if links.machine[node] >= 0 else node
            target = parts[node, 1]
            own, by_job, by_machine = shares[node, 0], shares[node, 1], shares[node, 2]
            average = own * pulls[node, 0] + by_job * pulls[node, 1] + by_machine * pulls[node, 2]
            d_own = own * (pulls[node, 0] - average) * _slope(parts[node, 0] + target)
            d_job = by_job * (pulls[node, 1] - average) * _slope(parts[near, 0] + target)
            d_machine = by_machine * (pulls[node, 2] - average) * _slope(parts[far, 0] + target)
            pulls[node, 3] += d_own
            pulls[near, 3] += d_job
            pulls[far, 3] += d_machine
            pulls[node, 4] += d_own + d_job + d_machine
        for k in range(size + 2):
            node = np.uint64(base + k)
            source = pulls[node, 3]
            target = pulls[node, 4]
            for c in range(inputs):
                grad_hidden[node, c] += source * logit_weights[0, c] + target * logit_weights[1, c]
                grad_logits[0, c] += source * hidden[node, c]
                grad_logits[1, c] += target * hidden[node, c]
