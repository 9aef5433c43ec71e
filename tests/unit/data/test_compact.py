"""Dense rows that are mostly zeros are read as compressed rows, and nobody notices but the clock."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR, _core
from hedgerow.data.rows import MOST_FILLED, array_of, compact, matrix_of

VALUES = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0, 1.5, -2.0, 1e-310])


@given(
    X=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=VALUES),
    dtype=st.sampled_from([np.float32, np.float64]),
    n_threads=st.sampled_from([1, 2]),
)
def test_a_compact_matrix_holds_the_same_values(X, dtype, n_threads):
    X = X.astype(dtype)
    matrix = compact(matrix_of(X), n_threads)
    rows = array_of(matrix)
    is_sparse = np.count_nonzero(X) <= MOST_FILLED[X.dtype] * X.size
    assert sp.issparse(rows) == is_sparse
    assert rows.dtype == dtype
    if is_sparse:
        assert np.all(rows.data != 0)
        assert rows.has_canonical_format
    assert_array_equal(rows.toarray() if is_sparse else rows, X)


def test_what_is_sparse_already_stays_as_it_is():
    matrix = matrix_of(sp.csr_array(np.eye(9)))
    assert compact(matrix, 1) is matrix


def test_a_few_empty_rows_do_not_stand_for_all():
    X = np.ones((1000, 8))
    X[1000 * np.arange(256) // 256] = 0.0  # the rows that are looked at first
    matrix = matrix_of(X)
    assert compact(matrix, 1) is matrix


@pytest.mark.parametrize(
    "machine", [LinearSVC(), LinearSVC(loss="hinge"), LinearSVR(), LinearOneClassSVM()]
)
def test_dense_and_sparse_rows_give_one_model_to_the_last_bit(machine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.1)
    y = np.sign(X[:, 0] + X[:, 1] + 0.01)
    models = [
        machine.__class__(**machine.get_params()).fit(rows, y) for rows in (X, sp.csr_array(X))
    ]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    assert models[0].alpha_.tobytes() == models[1].alpha_.tobytes()


def test_bounds_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="bounds has 2 values, but 4 are wanted"):
        _core.data.copy_nonzero(np.eye(3), np.zeros(2, np.int32), 1)
