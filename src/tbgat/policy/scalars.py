"""Functions of single numbers for the compiled layers, in forms that the compiler can vectorise."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions of float32.

import numpy as np

from tbgat.graph.compiled import inner_float_kernel

__all__ = ["SLOPE", "elu", "exp_negative", "leaky", "softmax_of_three", "tanh"]

_ZERO = np.float32(0.0)
_HALF = np.float32(0.5)
_ONE = np.float32(1.0)
SLOPE = np.float32(0.2)
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


@inner_float_kernel
def exp_negative(x):
    """Exponential of x <= 0, in a form that the compiler can vectorise."""
    x = max(x, _LOWEST)
    k = np.int32(x * _LOG2_E - _HALF)
    whole = np.float32(k)
    r = x - whole * _LN2_HIGH - whole * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _C5
    p = p * r * r + r + _ONE
    return p * np.int32((k + np.int32(127)) << np.int32(23)).view(np.float32)


@inner_float_kernel
def elu(x):
    """ELU."""
    return x if x > _ZERO else exp_negative(min(x, _ZERO)) - _ONE


@inner_float_kernel
def leaky(x):
    """LeakyReLU."""
    return x if x > _ZERO else SLOPE * x


@inner_float_kernel
def softmax_of_three(own, by_job, by_machine, has_machine):
    """Softmax over two logits or, with a neighbour on the machine, three."""
    top = max(own, by_job)
    if has_machine:
        top = max(top, by_machine)
    own = exp_negative(own - top)
    by_job = exp_negative(by_job - top)
    by_machine = exp_negative(by_machine - top) if has_machine else _ZERO
    scale = _ONE / (own + by_job + by_machine)
    return own * scale, by_job * scale, by_machine * scale


@inner_float_kernel
def tanh(x):
    """Hyperbolic tangent."""
    rest = exp_negative(-(abs(x) + abs(x)))
    size = (_ONE - rest) / (_ONE + rest)
    return size if x > _ZERO else -size
