"""Matrix products inside compiled code, as fast as a BLAS and without its start-up costs.

A tile of up to six rows and sixteen columns of the result stays in vector registers while one pass
over the inner dimension adds to it. The weights are packed once, in panels of sixteen columns, so
that this pass reads them from end to end. Each row is summed in the same order whatever its
neighbours are: results do not depend on how rows are cut or who multiplies them.
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

from tbgat.graph.compiled import inner_kernel

__all__ = ["PANEL", "multiply", "packed", "padded"]

PANEL = 16
"""Columns of a panel."""

_LANES = 8
_VECTORS = PANEL // _LANES

Float32 = npt.NDArray[np.float32]


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
        vector, whole = ir.VectorType(ir.FloatType(), _LANES), ir.IntType(64)
        fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.v{_LANES}f32"
        )

        def number(value):
            return ir.Constant(whole, value)

        def vector_at(pointer, offset):
            address = builder.gep(pointer, [offset])
            return builder.bitcast(address, vector.as_pointer())

        def spread(scalar):
            undefined = ir.Constant(vector, ir.Undefined)
            lane = ir.Constant(ir.IntType(32), 0)
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
            single = builder.insert_element(undefined, scalar, lane)
            return builder.shuffle_vector(single, undefined, everywhere)

        depth = builder.extract_value(weight.shape, 1)
        columns = builder.extract_value(x.shape, 1)
        sources = [
            builder.gep(x.data, [builder.mul(builder.add(row, number(i)), columns)])
            for i in range(rows)
        ]
        column = builder.mul(panel, number(PANEL))
        block = builder.gep(weight.data, [builder.mul(column, depth)])
        lanes = [number(_LANES * v) for v in range(_VECTORS)]
        start = [
            builder.load(vector_at(bias.data, builder.add(column, lane)), align=4) for lane in lanes
        ]

        before = builder.block
        loop, behind = builder.append_basic_block("inner"), builder.append_basic_block("behind")
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(whole)
        sums = [[builder.phi(vector) for _ in lanes] for _ in range(rows)]
        here = builder.mul(k, number(PANEL))
        weights = [
            builder.load(vector_at(block, builder.add(here, lane)), align=4) for lane in lanes
        ]
        results = []
        for source, total in zip(sources, sums, strict=True):
            value = spread(builder.load(builder.gep(source, [k])))
            results.append(
                [builder.call(fma, [value, w, s]) for w, s in zip(weights, total, strict=True)]
            )
        following = builder.add(k, number(1))
        k.add_incoming(number(0), before)
        k.add_incoming(following, loop)
        for total, result in zip(sums, results, strict=True):
            for s, r, initial in zip(total, result, start, strict=True):
                s.add_incoming(initial, before)
                s.add_incoming(r, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, behind)

        builder.position_at_end(behind)
        columns = builder.extract_value(out.shape, 1)
        for i, result in enumerate(results):
            listed = builder.load(builder.gep(index.data, [builder.add(first, number(i))]))
            target = builder.add(
                to, context.cast(builder, listed, signature.args[7].dtype, types.intp)
            )
            base = builder.add(builder.mul(target, columns), column)
            for lane, r in zip(lanes, result, strict=True):
                builder.store(r, vector_at(out.data, builder.add(base, lane)), align=4)
        return context.get_dummy_value()

    return tile


_one, _two, _three, _four, _five, _six = (_tile_of(rows) for rows in range(1, 7))


@inner_kernel
def multiply(x, row, weight, low, high, bias, out, to, index, first, last):
    """Panels ``low .. high - 1`` of ``x @ weight + bias`` for some rows.

    Parameters
    ----------
    x, row
        Row ``row + i`` is multiplied, for ``i`` in ``first .. last - 1``.
    weight
        From :func:`packed`.
    bias
        From :func:`padded`.
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
