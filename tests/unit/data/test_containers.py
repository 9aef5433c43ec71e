"""Whatever holds the numbers, the model is the same, and nothing is copied that need not be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import DataError, LinearSVC
from hedgerow.data.training_data import check_classification_data

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(50, 6)), 2) * (rng.random((50, 6)) < 0.5)
X32 = X.astype(np.float32)
y = np.where(X[:, 0] - X[:, 3] + 0.1 * rng.normal(size=50) > 0, "yes", "no")
NAMES = list("abcdef")


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def long_indices(matrix):
    return type(matrix)(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)),
        shape=matrix.shape,
    )


def memory_map(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


CONTAINERS = {
    "C order": lambda _: X.copy(),
    "Fortran order": lambda _: np.asfortranarray(X),
    "every second column of a wider array": lambda _: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": lambda _: read_only(X),
    "memory map": memory_map,
    "big-endian": lambda _: X.astype(">f8"),
    "list of lists": lambda _: X.tolist(),
    "objects": lambda _: X.astype(object),
    "csr_matrix": lambda _: sp.csr_matrix(X),
    "csr_array": lambda _: sp.csr_array(X),
    "csr_array with 64-bit indices": lambda _: long_indices(sp.csr_array(X)),
    "csc_matrix": lambda _: sp.csc_matrix(X),
    "csc_array with 64-bit indices": lambda _: long_indices(sp.csc_array(X)),
    "coo_array": lambda _: sp.coo_array(X),
    "lil_matrix": lambda _: sp.lil_matrix(X),
    "pandas": lambda _: pd.DataFrame(X, columns=NAMES),
    "pandas with mixed types": lambda _: pd.DataFrame(X, columns=NAMES).astype({"a": "Float64"}),
    "pandas with numbered columns": lambda _: pd.DataFrame(X),
    "polars": lambda _: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda _: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}
SINGLE = {
    "C order": X32.copy(),
    "Fortran order": np.asfortranarray(X32),
    "csr_array": sp.csr_array(X32),
    "csr_array with 64-bit indices": long_indices(sp.csr_array(X32)),
    "polars": pl.DataFrame(X32, schema=NAMES),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_model(name, loss, tmp_path):
    data = CONTAINERS[name](tmp_path)
    plain = LinearSVC(loss=loss).fit(X, y)
    model = LinearSVC(loss=loss).fit(data, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-10)
    assert_allclose(model.decision_function(data), plain.decision_function(X), atol=1e-9)
    assert model.certificate_.is_certified
    assert_array_equal(model.predict(data), plain.predict(X))


@pytest.mark.parametrize("name", SINGLE)
def test_float32_stays_float32_and_gives_a_certified_model(name):
    data = SINGLE[name]
    model = LinearSVC().fit(data, y)
    assert check_classification_data(LinearSVC(), data, y).X.dtype == np.float32
    assert model.certificate_.is_certified
    assert_allclose(model.coef_, LinearSVC().fit(X, y).coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow"])
def test_column_names_are_kept(name, tmp_path):
    model = LinearSVC().fit(CONTAINERS[name](tmp_path), y)
    assert model.feature_names_in_.tolist() == NAMES


NOT_COPIED = {
    "float64": X.copy(),
    "float32": X32.copy(),
    "read-only": read_only(X),
}


@pytest.mark.parametrize("name", NOT_COPIED)
def test_rows_in_c_order_are_not_copied(name):
    data = NOT_COPIED[name]
    checked = check_classification_data(LinearSVC(), data, y)
    assert np.shares_memory(checked.X, np.asarray(data))


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    data = memory_map(tmp_path)
    assert np.shares_memory(check_classification_data(LinearSVC(), data, y).X, data)


@pytest.mark.parametrize(
    "convert", [sp.csr_matrix, sp.csr_array, lambda a: long_indices(sp.csr_array(a))]
)
def test_csr_is_not_copied(convert):
    data = convert(X)
    checked = check_classification_data(LinearSVC(), data, y).X
    assert np.shares_memory(checked.data, data.data)
    assert np.shares_memory(checked.indices, data.indices)
    assert checked.indices.dtype == data.indices.dtype


def test_duplicate_entries_are_summed_in_a_copy():
    data = sp.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    checked = check_classification_data(LinearSVC(), data, [0, 1]).X
    assert checked.toarray().tolist() == [[2, 0], [0, 2]]
    assert data.nnz == 4


def test_a_damaged_csr_is_refused():
    data = sp.csr_array(X)
    data.indices = data.indices.copy()
    data.indices[3] = 99
    with pytest.raises(ValueError, match="damaged csr_array: it has the index 99"):
        LinearSVC().fit(data, y)


def test_a_csr_with_more_values_than_indices_is_refused():
    data = sp.csr_array(X)
    data.data = np.append(data.data, 1.0)
    with pytest.raises(DataError, match=r"indices for \d+ values; build the matrix again"):
        LinearSVC().fit(data, y)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia"])
def test_a_sparse_matrix_of_negative_shape_is_refused(form):
    data = sp.coo_array(X).asformat(form)
    data._shape = (-1, X.shape[1])
    with pytest.raises(DataError, match=r"has the shape \(-1, 6\); build"):
        LinearSVC().fit(data, y)


@pytest.mark.parametrize("wrap", [list, pd.Series, pl.Series, np.asarray, pa.chunked_array])
def test_labels_and_weights_come_in_any_container(wrap):
    weights = rng.uniform(0.5, 2.0, 50)
    plain = LinearSVC().fit(X, y, weights)
    labels = wrap([y.tolist()]) if wrap is pa.chunked_array else wrap(y.tolist())
    wrapped = wrap([weights]) if wrap is pa.chunked_array else wrap(weights)
    model = LinearSVC().fit(X, labels, wrapped)
    assert_array_equal(model.coef_, plain.coef_)
    assert model.classes_.tolist() == ["no", "yes"]
