"""Matrix products inside compiled code, as fast as a BLAS and without its start-up costs.

A tile of up to six rows and sixteen columns of the result stays in vector registers while one pass
over the inner dimension adds to it. The weights are packed once, in panels of sixteen columns, so
that this pass reads them from end to end. Each row is summed in the same order whatever its
neighbours are: results do not depend on how rows are cut or who multiplies them.

Narrow products do the same with whole numbers of 16 bits, twice as many at a time. Every row of the
left side and every column of the right one has a unit of its own, small enough that no sum leaves
32 bits: about as accurate as half precision.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
# Compiled functions carry no annotations, nor do Numba's decorators.

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tbgat.graph.compiled import inner_float_kernel, inner_kernel

__all__ = ["PANEL", "multiply", "narrow_rows", "narrow_width", "narrowed", "packed", "padded"]

PANEL = 16
"""Columns of a panel."""

_LANES = 8
_VECTORS = PANEL // _LANES

# The largest whole number of a narrow row. What is left of 31 bits goes to the columns.
_MOST = 4095
_MOST_FLOAT = np.float32(_MOST)
_HALF_UP = np.float32(_MOST + 1.5)
_ZERO = np.float32(0.0)

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]


def padded(array: Any) -> Float32:
    """Copy with zeros behind the last column, up to whole panels."""
    values = np.asarray(array, dtype=np.float32)
    missing = -values.shape[-1] % PANEL
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])


def packed(weight: Any) -> Float32:
    """Copy ``... x inputs x outputs`` as ``... x panels x inputs x 16`` for :func:`multiply`."""
    values = padded(weight)
    split = values.reshape(*values.shape[:-1], values.shape[-1] // PANEL, PANEL)
    return np.ascontiguousarray(np.moveaxis(split, -2, -3))


def narrowed(weight: Any) -> tuple[Int32, Float32]:
    """Copy ``... x inputs x outputs`` for narrow products; second, the units of the columns.

    Returned are ``... x panels x pairs x 16``, where a number holds the weights of two inputs.
    """
    values = padded(weight)
    inputs = values.shape[-2]
    # A sum is at most _MOST times the sum of a column; rounding adds half a unit per input.
    room = (2**31 - 1) // _MOST - inputs
    size = np.abs(values)
    units = np.maximum(size.sum(axis=-2) / room, size.max(axis=-2) / (2**15 - 1))
    units = np.where(units > 0, units, 1.0).astype(np.float32)
    whole = np.rint(values / units[..., np.newaxis, :]).astype(np.int16)
    whole = np.pad(whole, [(0, 0)] * (whole.ndim - 2) + [(0, inputs % 2), (0, 0)])
    *outer, depth, columns = whole.shape
    split = whole.reshape(*outer, depth // 2, 2, columns // PANEL, PANEL)
    split = np.moveaxis(np.moveaxis(split, -3, -1), -3, -4)
    return np.ascontiguousarray(split).view(np.int32)[..., 0], units


def narrow_width(inputs: int) -> int:
    """Columns of a narrow row: pairs of inputs, and the unit."""
    return (inputs + 1) // 2 + 1


@inner_float_kernel
def narrow_rows(x, row, first, last, narrow):
    """Narrow rows ``row + first .. row + last - 1``, each with a unit that its largest entry sets.

    ``narrow`` is an array of 32-bit numbers with :func:`narrow_width` columns.
    """
    inputs = x.shape[1]
    whole = narrow.view(np.int16)
    unit = narrow.view(np.float32)
    for i in range(first, last):
        at = np.uint64(row + i)
        most = _ZERO
        for c in range(inputs):
            most = max(most, abs(x[at, c]))
        scale = _MOST_FLOAT / most if most > _ZERO else _ZERO
        for c in range(inputs):
            # Cut towards zero, which is downwards where nothing is negative.
            whole[at, c] = np.int16(np.int32(x[at, c] * scale + _HALF_UP) - np.int32(_MOST + 1))
        if inputs % 2:
            whole[at, inputs] = 0
        unit[at, narrow.shape[1] - 1] = most / _MOST_FLOAT


_FLOATS = ir.VectorType(ir.FloatType(), _LANES)


def _spread(builder, scalar, kind):
    """A vector with one value everywhere."""
    undefined = ir.Constant(kind, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
    single = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, undefined, everywhere)


class _Wide:
    """Sums of float32, which begin with the bias."""

    kind = _FLOATS

    def __init__(self, builder):
        self.builder = builder
        function = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        name = f"llvm.fmuladd.v{_LANES}f32"
        self.fma = cgutils.get_or_insert_function(builder.module, function, name)

    def start(self, bias):
        return bias

    def add(self, value, weight, total):
        return self.builder.call(self.fma, [value, weight, total])

    def end(self, total, bias, behind_row):
        return total


class _Narrow:
    """Sums of whole numbers, to which every entry adds two products of 16 bits each.

    Written as plain multiplications, in which LLVM recognises the instruction of processors that
    have one for this.
    """

    kind = ir.VectorType(ir.IntType(32), _LANES)
    halves = ir.VectorType(ir.IntType(16), 2 * _LANES)
    products = ir.VectorType(ir.IntType(32), 2 * _LANES)

    def __init__(self, builder):
        self.builder = builder

    def start(self, unit):
        return ir.Constant(self.kind, [0] * _LANES)

    def add(self, value, weight, total):
        build = self.builder
        left, right = (
            build.sext(build.bitcast(side, self.halves), self.products) for side in (value, weight)
        )
        both, undefined = build.mul(left, right), ir.Constant(self.products, ir.Undefined)
        of_pairs = [
            build.shuffle_vector(
                both, undefined, ir.Constant(self.kind, list(range(side, 2 * _LANES, 2)))
            )
            for side in range(2)
        ]
        return build.add(build.add(*of_pairs), total)

    def end(self, total, unit, behind_row):
        build = self.builder
        stored = build.load(build.bitcast(behind_row, ir.FloatType().as_pointer()))
        size = build.fmul(_spread(build, stored, _FLOATS), unit)
        return build.fmul(build.sitofp(total, _FLOATS), size)


def _tile_of(rows: int) -> Any:
    """Make the function that computes ``rows`` rows of one panel of a product."""

    @intrinsic
    def tile(context, x, row, weight, panel, bias, out, to, index, first):
        signature = types.void(x, row, weight, panel, bias, out, to, index, first)
        return signature, generate

    def generate(context, builder, signature, given):
        x, weight, bias, out, index = (
            context.make_array(signature.args[i])(context, builder, given[i])
            for i in (0, 2, 4, 5, 7)
        )
        row, panel, to, first = (
            context.cast(builder, given[i], signature.args[i], types.intp) for i in (1, 3, 6, 8)
        )
        narrow = signature.args[0].dtype is not types.float32
        arithmetic = (_Narrow if narrow else _Wide)(builder)
        whole = ir.IntType(64)

        def number(value):
            return ir.Constant(whole, value)

        def vector_at(pointer, offset, kind):
            address = builder.gep(pointer, [offset])
            return builder.bitcast(address, kind.as_pointer())

        depth = builder.extract_value(weight.shape, 1)
        columns = builder.extract_value(x.shape, 1)
        sources = [
            builder.gep(x.data, [builder.mul(builder.add(row, number(i)), columns)])
            for i in range(rows)
        ]
        column = builder.mul(panel, number(PANEL))
        block = builder.gep(weight.data, [builder.mul(column, depth)])
        lanes = [number(_LANES * v) for v in range(_VECTORS)]
        by_column = [
            builder.load(vector_at(bias.data, builder.add(column, lane), _FLOATS), align=4)
            for lane in lanes
        ]

        before = builder.block
        loop, behind = builder.append_basic_block("inner"), builder.append_basic_block("behind")
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(whole)
        sums = [[builder.phi(arithmetic.kind) for _ in lanes] for _ in range(rows)]
        here = builder.mul(k, number(PANEL))
        weights = [
            builder.load(vector_at(block, builder.add(here, lane), arithmetic.kind), align=4)
            for lane in lanes
        ]
        results = []
        for source, total in zip(sources, sums, strict=True):
            value = _spread(builder, builder.load(builder.gep(source, [k])), arithmetic.kind)
            results.append(
                [arithmetic.add(value, w, s) for w, s in zip(weights, total, strict=True)]
            )
        following = builder.add(k, number(1))
        k.add_incoming(number(0), before)
        k.add_incoming(following, loop)
        for total, result in zip(sums, results, strict=True):
            for s, r, value in zip(total, result, by_column, strict=True):
                s.add_incoming(arithmetic.start(value), before)
                s.add_incoming(r, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, behind)

        builder.position_at_end(behind)
        columns = builder.extract_value(out.shape, 1)
        for i, (source, result) in enumerate(zip(sources, results, strict=True)):
            listed = builder.load(builder.gep(index.data, [builder.add(first, number(i))]))
            target = builder.add(
                to, context.cast(builder, listed, signature.args[7].dtype, types.intp)
            )
            base = builder.add(builder.mul(target, columns), column)
            behind_row = builder.gep(source, [depth])
            for lane, r, value in zip(lanes, result, by_column, strict=True):
                place = vector_at(out.data, builder.add(base, lane), _FLOATS)
                builder.store(arithmetic.end(r, value, behind_row), place, align=4)
        return context.get_dummy_value()

    return tile


_one, _two, _three, _four, _five, _six = (_tile_of(rows) for rows in range(1, 7))


@inner_kernel
def multiply(x, row, weight, low, high, bias, out, to, index, first, last):
    """Panels ``low .. high - 1`` of ``x @ weight + bias`` for some rows.

    Parameters
    ----------
    x, row
        Row ``row + i`` is multiplied, for ``i`` in ``first .. last - 1``. Narrow rows are from
        :func:`narrow_rows`.
    weight
        From :func:`packed`; for narrow rows from :func:`narrowed`.
    bias
        From :func:`padded`; for narrow rows the units of the columns instead, and no bias.
    out, to, index
        Row ``to + index[i]`` takes the result; its columns are padded to whole panels.
    """
    for panel in range(low, high):
        i = first
        while i < last:
            # The rest is cut evenly: seven rows as four and three, not six and one.
            left = last - i
            rows = 6 if left >= 12 else (left + 1) // 2 if left > 6 else left
            if rows == 6:
                _six(x, row + i, weight, panel, bias, out, to, index, i)
            elif rows == 5:
                _five(x, row + i, weight, panel, bias, out, to, index, i)
            elif rows == 4:
                _four(x, row + i, weight, panel, bias, out, to, index, i)
            elif rows == 3:
                _three(x, row + i, weight, panel, bias, out, to, index, i)
            elif rows == 2:
                _two(x, row + i, weight, panel, bias, out, to, index, i)
            else:
                _one(x, row + i, weight, panel, bias, out, to, index, i)
            i += rows
