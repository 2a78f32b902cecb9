import numpy as np
import pytest

from tbgat.graph.compiled import lean_kernel
from tbgat.policy.product import PANEL, multiply, packed, padded


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
