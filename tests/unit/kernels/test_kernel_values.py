"""Kernel values of the core against their formulas, one pair of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import _core
from hedgerow.data.rows import matrix_of
from hedgerow.errors import DataError
from hedgerow.kernels.gram import FunctionGram, MatrixGram, core_kernel
from tests.kernel_samples import KERNELS, gram_of
from tests.reference import kernels

FORMATS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
}
ROUNDED = 2e-6
"""float32: sums of thirty products, then a formula that multiplies their errors by at most a few."""


def table(n, d, seed=0):
    """Non-negative values, a third of them 0, exact in float32; the first row is all 0."""
    X = np.random.default_rng(seed).uniform(-0.5, 1.0, size=(n, d)).clip(0.0)
    X[0] = 0.0
    return X.astype(np.float32).astype(np.float64)


def everyone(X):
    return np.arange(X.shape[0], dtype=np.int64)


def whole(kernel, X, Z, block=_core.kernel.kernel_block, n_threads=1):
    left, right = matrix_of(X), matrix_of(Z)
    return block(kernel, left, right, everyone(X), everyone(Z), n_threads)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_its_formula(name, format_):
    X, Z = table(21, 30), table(150, 30, seed=1)
    expected = kernels.gram(name, X, Z)
    cast = FORMATS[format_]
    exact = whole(KERNELS[name], cast(X), cast(Z))
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    rounded = whole(KERNELS[name], cast(X), cast(Z), _core.kernel.kernel_block32)
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, expected, rtol=ROUNDED, atol=ROUNDED)


@pytest.mark.parametrize("d", [1, 2, 255, 256, 257, 600])
def test_any_number_of_features_is_summed(d):
    X = table(7, d)
    for cast in FORMATS.values():
        exact = whole(KERNELS["linear"], cast(X), cast(X))
        np.testing.assert_allclose(exact, X @ X.T, rtol=1e-12)


def test_one_side_may_be_sparse_and_the_other_dense():
    X, Z = table(40, 12), table(30, 12, seed=2)
    expected = kernels.gram("rbf", X, Z)
    for left, right in [(X, sp.csr_array(Z)), (sp.csr_array(X), Z)]:
        np.testing.assert_allclose(whole(KERNELS["rbf"], left, right), expected, rtol=1e-12)


def test_rows_and_columns_come_in_the_order_asked_for():
    X = table(300, 5)
    rows, columns = np.array([299, 0, 7, 7]), np.array([3, 250, 1])
    block = gram_of(X).block(rows, columns)
    np.testing.assert_allclose(block, kernels.gram("rbf", X[rows], X[columns]), rtol=1e-12)


def test_kernels_are_added_multiplied_and_scaled():
    X = table(20, 6)
    combined = (KERNELS["rbf"] + KERNELS["linear"].scaled(0.5)) * KERNELS["laplacian"]
    a, b, c = (kernels.gram(name, X) for name in ("rbf", "linear", "laplacian"))
    np.testing.assert_allclose(whole(combined, X, X), (a + 0.5 * b) * c, rtol=1e-12)
    rounded = whole(combined, X, X, _core.kernel.kernel_block32)
    np.testing.assert_allclose(rounded, (a + 0.5 * b) * c, rtol=ROUNDED)


@dataclass(frozen=True)
class Form:
    name: str
    parameters: dict = field(default_factory=dict)
    parts: tuple = ()


def test_a_form_becomes_the_kernel_it_describes():
    X = table(20, 6)
    cubic = Form("polynomial", {"gamma": 0.5, "coef0": 1.5, "degree": 3.0})
    half = Form("scaled", {"factor": 0.5}, (Form("rbf", {"gamma": 0.7}),))
    waves = Form("wavelet", {"dilation": 2.0})
    form = Form("product", parts=(Form("sum", parts=(cubic, half)), waves))
    a, b, c = (kernels.gram(name, X) for name in ("polynomial", "rbf", "wavelet"))
    np.testing.assert_allclose(whole(core_kernel(form), X, X), (a + 0.5 * b) * c, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_the_diagonal_is_that_of_the_whole(name):
    X = table(50, 8)
    expected = np.diagonal(kernels.gram(name, X))
    np.testing.assert_allclose(gram_of(X, name).diagonal, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("format_", FORMATS)
def test_sums_are_the_block_times_the_coefficients(format_):
    X, Z = FORMATS[format_](table(70, 9)), FORMATS[format_](table(1500, 9, seed=3))
    coef = np.random.default_rng(0).normal(size=(70, 3))
    coef[::3] = 0.0
    kernel, left, right = KERNELS["rbf"], matrix_of(X), matrix_of(Z)
    expected = whole(kernel, X, Z).T @ coef
    exact = _core.kernel.kernel_sums(kernel, left, right, coef, True, 2)
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    rounded = _core.kernel.kernel_sums(kernel, left, right, coef, False, 2)
    np.testing.assert_allclose(rounded, expected, atol=70 * 4 * ROUNDED)


def test_values_are_the_same_bits_for_any_number_of_threads():
    X = table(2500, 20)
    one, two = (whole(KERNELS["rbf"], X[:130], X, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    coef = np.ones((130, 1))
    sums = [
        _core.kernel.kernel_sums(KERNELS["rbf"], matrix_of(X[:130]), matrix_of(X), coef, True, n)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*sums)


def test_distances_that_are_small_beside_the_norms_survive_float32():
    X = 100.0 + table(40, 3)
    expected = kernels.gram("rbf", X)
    rounded = whole(KERNELS["rbf"], X, X, _core.kernel.kernel_block32)
    np.testing.assert_allclose(rounded, expected, rtol=1e-5)


def test_rows_that_are_mostly_zeros_are_summed_as_sparse_ones():
    X = np.where(np.random.default_rng(0).uniform(size=(60, 40)) < 0.1, 1.0, 0.0)
    dense = MatrixGram(KERNELS["rbf"], matrix_of(X))
    assert len(dense._rows.parts) == 4
    np.testing.assert_allclose(
        dense.block(everyone(X), everyone(X)), kernels.gram("rbf", X), rtol=1e-12
    )


def test_given_values_are_taken_as_they_are():
    K = kernels.gram("rbf", table(30, 4))
    gram = MatrixGram(_core.kernel.Kernel.precomputed(), matrix_of(K))
    np.testing.assert_array_equal(gram.block(everyone(K), everyone(K)), K)
    np.testing.assert_array_equal(gram.diagonal, np.diagonal(K))


def test_given_values_that_are_not_square_are_refused():
    with pytest.raises(ValueError, match="a column for each row"):
        MatrixGram(_core.kernel.Kernel.precomputed(), matrix_of(np.ones((4, 3)))).diagonal  # noqa: B018


def test_rows_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="row 9"):
        gram_of(table(9, 2)).block(np.array([9]), np.array([0]))


def test_a_function_is_asked_for_blocks_and_gives_the_same_gram():
    X = table(70, 5)
    K = kernels.gram("rbf", X)
    asked = []

    def function(rows, columns):
        asked.append(len(rows) * len(columns))
        return K[np.ix_(rows, columns)]

    gram, coef = FunctionGram(function, len(X)), np.arange(70.0)
    np.testing.assert_allclose(gram.sums(coef), K @ coef, rtol=1e-12)
    np.testing.assert_array_equal(gram.diagonal, np.diagonal(K))
    assert asked


@pytest.mark.parametrize(
    ("values", "complaint"),
    [(np.ones((1, 1)), r"shape \(1, 1\)"), (np.full((2, 3), np.nan), "points 0 and 0")],
)
def test_what_a_function_returns_is_checked(values, complaint):
    gram = FunctionGram(lambda rows, columns: values, 3)  # noqa: ARG005
    with pytest.raises(DataError, match=complaint):
        gram.block(np.arange(2), np.arange(3))
