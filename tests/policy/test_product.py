import numpy as np
import pytest

from tbgat.graph.compiled import lean_kernel
from tbgat.policy.product import (
    PANEL,
    multiply,
    narrow_rows,
    narrow_width,
    narrowed,
    packed,
    padded,
)


@lean_kernel
def run(x, weight, low, high, bias, out, to, index, first, last):
    multiply(x, 0, weight, low, high, bias, out, to, index, first, last)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 40])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (7, 20), (64, 48), (512, 130)])
def test_equals_the_product_in_double_precision(rows, inputs, outputs):
    rng = np.random.default_rng(rows)
    x = rng.standard_normal((rows, inputs)).astype(np.float32)
    weight = rng.standard_normal((inputs, outputs)).astype(np.float32)
    bias = rng.standard_normal(outputs).astype(np.float32)
    panels = packed(weight)
    out = np.full((rows, len(panels) * PANEL), np.nan, dtype=np.float32)
    run(x, panels, 0, len(panels), padded(bias), out, 0, np.arange(rows), 0, rows)
    expected = x.astype(np.float64) @ weight + bias
    np.testing.assert_allclose(out[:, :outputs], expected, rtol=1e-5, atol=2e-5)
    assert (out[:, outputs:] == 0).all()


def test_some_rows_and_panels_go_where_the_index_says():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, 30)).astype(np.float32)
    weight = rng.standard_normal((30, 3 * PANEL)).astype(np.float32)
    out = np.full((20, 3 * PANEL), np.nan, dtype=np.float32)
    index = np.array([0, 9, 3, 7, 4, 1, 2, 5, 8], dtype=np.int32)
    run(x, packed(weight), 1, 3, np.zeros(3 * PANEL, np.float32), out, 10, index, 2, 9)
    expected = np.full_like(out, np.nan)
    expected[10 + index[2:], PANEL:] = (x @ weight)[2:, PANEL:]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_a_row_is_the_same_in_any_company():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((23, 77)).astype(np.float32)
    panels = packed(rng.standard_normal((77, PANEL)))
    zeros = np.zeros(PANEL, np.float32)
    together, apart = np.empty((2, 23, PANEL), np.float32)
    run(x, panels, 0, 1, zeros, together, 0, np.arange(23), 0, 23)
    for i in range(23):
        run(x, panels, 0, 1, zeros, apart, 0, np.arange(23), i, i + 1)
    np.testing.assert_array_equal(together, apart)


@lean_kernel
def run_narrow(x, narrow, weight, low, high, units, out, to, index, first, last):
    narrow_rows(x, 0, first, last, narrow)
    multiply(narrow, 0, weight, low, high, units, out, to, index, first, last)


def narrow_product(x, weight):
    panels, units = narrowed(weight)
    rows, columns = len(x), len(panels) * PANEL
    out = np.full((rows, columns), np.nan, dtype=np.float32)
    narrow = np.empty((rows, narrow_width(x.shape[1])), dtype=np.int32)
    run_narrow(x, narrow, panels, 0, len(panels), units, out, 0, np.arange(rows), 0, rows)
    return out


@pytest.mark.parametrize("rows", [1, 5, 6, 13, 40])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (7, 20), (64, 48), (512, 130)])
def test_narrow_products_are_as_accurate_as_half_precision(rows, inputs, outputs):
    rng = np.random.default_rng(rows)
    x = rng.standard_normal((rows, inputs)).astype(np.float32)
    weight = rng.standard_normal((inputs, outputs)).astype(np.float32) * rng.uniform(0.01, 10)
    out = narrow_product(x, weight)
    exact = x.astype(np.float64) @ weight
    size = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(weight, axis=0)
    assert (np.abs(out[:, :outputs] - exact) / size).max() < 1e-3
    assert (out[:, outputs:] == 0).all()


@pytest.mark.parametrize("inputs", [1, 2, 7, 512, 3000])
def test_the_largest_narrow_sums_do_not_overflow(inputs):
    x = np.outer([1, -1], np.ones(inputs)).astype(np.float32)
    weight = np.ones((inputs, PANEL), np.float32)
    weight[:, 1] = -1
    np.testing.assert_allclose(narrow_product(x, weight), x @ weight, rtol=5e-3)


def test_narrow_rows_and_columns_of_zeros():
    x, weight = np.zeros((3, 6), np.float32), np.ones((6, 2), np.float32)
    assert (narrow_product(x, weight) == 0).all()
    assert (narrow_product(x + 1, 0 * weight) == 0).all()


def test_a_narrow_row_is_the_same_in_any_company():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((23, 77)).astype(np.float32)
    weight = rng.standard_normal((77, PANEL)).astype(np.float32)
    apart = [narrow_product(x[i : i + 1], weight) for i in range(23)]
    np.testing.assert_array_equal(narrow_product(x, weight), np.concatenate(apart))
