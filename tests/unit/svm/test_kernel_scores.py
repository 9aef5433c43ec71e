"""Scores by support vectors: the core's scorer against sums of the formula's values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import SVC, _core
from hedgerow.data.rows import matrix_of
from hedgerow.reduction import scores_from_pairs
from hedgerow.svm import _scores
from hedgerow.svm._coefficients import Coefficients
from tests.kernel_samples import KERNELS, blobs
from tests.reference import kernel_scores, kernels

FORMATS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
}
BLOCK = 120
"""Rows that the core scores in one task."""


def table(n, d, seed=0):
    """Non-negative values, a third of them 0, exact in float32; the first row is all 0."""
    X = np.random.default_rng(seed).uniform(-0.5, 1.0, size=(n, d)).clip(0.0)
    X[0] = 0.0
    return X.astype(np.float32).astype(np.float64)


def one_plane(n, seed=3):
    return Coefficients(
        np.random.default_rng(seed).normal(size=(1, n)), np.array([n]), is_of_pairs=False
    )


def of_pairs(n_support, seed=3):
    """Coefficients of a machine of pairs of classes."""
    n_support = np.array(n_support)
    values = np.random.default_rng(seed).normal(size=(len(n_support) - 1, n_support.sum()))
    return Coefficients(values, n_support, is_of_pairs=True)


def scorer(kernel, vectors, coef):
    core = KERNELS[kernel] if isinstance(kernel, str) else kernel
    return _scores._packed(core, matrix_of(vectors), coef)


def error_of(scores, values, planes):
    """The largest error, relative to the sum of the sizes of what was added up."""
    sizes = np.abs(values) @ np.abs(planes).T
    return np.max(np.abs(scores - kernel_scores.scores(values, planes)) / np.maximum(sizes, 1.0))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_scores_are_sums_of_the_formula(name, format_):
    X, Z, cast = table(33, 30), table(150, 30, seed=1), FORMATS[format_]
    coef = one_plane(150)
    values = kernels.gram(name, X, Z)
    # float32: sums of thirty products, then a formula that multiplies their errors by at most a few.
    allowed = 2e-6 if format_.endswith("32") else 1e-13
    for vectors in (Z, sp.csr_array(Z)):
        got = scorer(name, vectors, coef).scores(matrix_of(cast(X)), 1)
        assert error_of(got, values, coef.values) < allowed


@pytest.mark.parametrize("n_support", [[3, 1], [5, 0, 2], [40, 90, 7, 130], [9] * 13])
@pytest.mark.parametrize("format_", FORMATS)
def test_every_pair_of_classes_has_its_plane(n_support, format_):
    Z, X, coef = table(sum(n_support), 6), table(11, 6, seed=1), of_pairs(n_support)
    got = scorer("rbf", Z, coef).scores(matrix_of(FORMATS[format_](X)), 1)
    planes = kernel_scores.planes_of(coef.values, coef.n_support)
    allowed = 2e-6 if format_.endswith("32") else 1e-13
    assert got.shape == (11, len(planes))
    assert error_of(got, kernels.gram("rbf", X, Z), planes) < allowed


@pytest.mark.parametrize("d", [1, 7, 255, 256, 257, 600])
def test_any_number_of_features_is_summed(d):
    Z, X, coef = table(21, d), table(14, d, seed=1), one_plane(21)
    for cast in (FORMATS["float64"], FORMATS["csr"]):
        got = scorer("linear", Z, coef).scores(matrix_of(cast(X)), 1)
        assert error_of(got, X @ Z.T, coef.values) < 1e-13


def test_kernels_are_added_multiplied_and_scaled():
    Z, X, coef = table(200, 6), table(9, 6, seed=1), one_plane(200)
    kernel = KERNELS["rbf"].scaled(0.5) * KERNELS["linear"] + KERNELS["laplacian"]
    values = {name: kernels.gram(name, X, Z) for name in ("rbf", "linear", "laplacian")}
    expected = 0.5 * values["rbf"] * values["linear"] + values["laplacian"]
    got = scorer(kernel, Z, coef).scores(matrix_of(X), 1)
    assert error_of(got, expected, coef.values) < 1e-13


@pytest.mark.parametrize("n_features", [5, 16, 17, 40])
def test_float32_rows_far_from_the_origin_keep_their_distances(n_features):
    # gamma |x|^2 is 3e4 and more: in float32 sums nothing would be left of distances of about 1.
    Z, X = (table(n, n_features, seed=n) + 100.0 for n in (150, 20))
    Z, X, coef = Z.astype(np.float32), X.astype(np.float32), one_plane(150)
    ready = scorer("rbf", Z, coef)
    got = ready.scores(matrix_of(X), 1)
    assert error_of(got, kernels.gram("rbf", X, Z), coef.values) < 1e-6
    np.testing.assert_array_equal(ready.scores(matrix_of(sp.csr_array(X)), 1), got)
    np.testing.assert_array_equal(ready.scores(matrix_of(X[3:4]), 1), got[3:4])
    exact = ready.scores(matrix_of(X.astype(np.float64)), 1)
    assert error_of(exact, kernels.gram("rbf", X, Z), coef.values) < 1e-10


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_a_row_has_the_same_bits_alone_and_among_others(name, format_):
    X, coef = table(2 * BLOCK + 17, 37), of_pairs([30, 61, 50])
    ready, cast = scorer(name, table(141, 37, seed=1), coef), FORMATS[format_]
    whole = ready.scores(matrix_of(cast(X)), 2)
    for some in (slice(0, 1), slice(5, 8), slice(100, 105), slice(3, 200)):
        np.testing.assert_array_equal(ready.scores(matrix_of(cast(X[some])), 1), whole[some])


@pytest.mark.parametrize("name", ["rbf", "polynomial", "cosine", "laplacian"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_has_the_same_bits_dense_and_sparse(name, dtype):
    X, ready = table(50, 37).astype(dtype), scorer(name, table(141, 37, seed=1), one_plane(141))
    dense, sparse = (ready.scores(matrix_of(rows), 1) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense, sparse)


def test_the_number_of_threads_changes_no_bit():
    X, ready = table(5 * BLOCK + 1, 20), scorer("rbf", table(300, 20, seed=1), one_plane(300))
    one, several = (ready.scores(matrix_of(X), n_threads) for n_threads in (1, 4))
    np.testing.assert_array_equal(one, several)


def test_threads_may_share_a_scorer():
    X, coef = table(BLOCK, 20), one_plane(700)
    expected = scorer("rbf", table(700, 20, seed=1), coef).scores(matrix_of(X), 1)
    fresh = scorer("rbf", table(700, 20, seed=1), coef)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: fresh.scores(matrix_of(X), 2), range(8)):
            np.testing.assert_array_equal(got, expected)


def test_vectors_without_room_for_a_dense_copy_give_the_same_scores(monkeypatch):
    Z, X, coef = sp.csr_array(table(150, 30)), table(33, 30, seed=1), of_pairs([70, 30, 50])
    kernel = SVC(kernel="rbf", gamma=0.7)._kernel_as_given()
    made = partial(_scores.scorer_of, kernel, np.arange(150), Z, 30, coef)
    expected = made()(X, matrix_of(X), 1)
    monkeypatch.setattr(_scores, "MOST_PACKED", 0)
    np.testing.assert_allclose(made()(X, matrix_of(X), 1), expected, rtol=0.0, atol=1e-12)


def test_many_rows_of_zeros_are_scored_as_a_few_of_them_are():
    X, y = blobs(120, d=40)
    X[np.random.default_rng(0).random(X.shape) > 0.1] = 0.0
    model = SVC(gamma=0.3).fit(X, y)
    many = np.tile(X, (5, 1))
    np.testing.assert_array_equal(model.decision_function(many)[:3], model.decision_function(X[:3]))


@pytest.mark.parametrize("n_classes", [3, 4, 9])
def test_votes_of_pairs_are_counted(n_classes):
    scores = np.random.default_rng(0).normal(size=(50, n_classes * (n_classes - 1) // 2))
    scores[0] = 0.0
    expected = kernel_scores.votes(scores, n_classes)
    np.testing.assert_allclose(scores_from_pairs(scores, n_classes), expected, rtol=1e-14)


def test_a_scorer_refuses_what_does_not_fit():
    Z = matrix_of(table(10, 4))
    make = partial(_core.kernel.KernelScorer, KERNELS["rbf"], Z)
    ones, all_, plane = np.ones((1, 10)), np.array([10]), np.array([[0]])
    ready = make(coef=ones, segments=all_, hyperplanes=plane, n_hyperplanes=1)
    with pytest.raises(ValueError, match="feature of the vectors"):
        ready.scores(matrix_of(table(3, 5)), 1)
    with pytest.raises(ValueError, match="one for each vector"):
        make(coef=np.ones((1, 9)), segments=all_, hyperplanes=plane, n_hyperplanes=1)
    with pytest.raises(ValueError, match="vector of a segment"):
        make(coef=ones, segments=np.array([9]), hyperplanes=plane, n_hyperplanes=1)
    with pytest.raises(ValueError, match="a hyperplane that is none"):
        make(coef=ones, segments=all_, hyperplanes=plane + 1, n_hyperplanes=1)
    with pytest.raises(ValueError, match="one for each segment"):
        make(
            coef=ones, segments=all_, hyperplanes=np.zeros((2, 1), dtype=np.int64), n_hyperplanes=1
        )
    with pytest.raises(ValueError, match="given kernel values"):
        _core.kernel.KernelScorer(
            _core.kernel.Kernel.precomputed(),
            Z,
            coef=ones,
            segments=all_,
            hyperplanes=plane,
            n_hyperplanes=1,
        )
