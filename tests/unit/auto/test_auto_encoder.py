"""Tables to matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression

from hedgerow.auto import TableClassifier, TableEncoder
from hedgerow.auto.columns import as_columns
from hedgerow.data.io import Table
from hedgerow.errors import DataError, DataTypeError, ParameterError

TABLE = {
    "size": np.array([1.0, np.nan, 3.0, 8.0]),
    "colour": np.array(["red", "blue", None, "red"], dtype=object),
    "same": np.array([0.1, 0.1, 0.1, 0.1]),
}


def test_numbers_are_filled_and_standardised_and_text_is_one_hot() -> None:
    encoder = TableEncoder().fit(TABLE)
    matrix = encoder.transform(TABLE)
    assert encoder.get_feature_names_out().tolist() == ["size", "same", "colour=blue", "colour=red"]
    assert matrix[:, 0].mean() == pytest.approx(0)
    assert matrix[:, 0].std() == pytest.approx(1)
    assert matrix[1, 0] == 0  # the mean stands for a missing value
    assert matrix[:, 1].tolist() == [0, 0, 0, 0]  # a constant column is centred, not blown up
    assert matrix[:, 2:].tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6) | st.just(np.nan),
    )
)
def test_standardised_columns_have_mean_zero_and_deviation_one_or_zero(X: np.ndarray) -> None:
    matrix = TableEncoder().fit_transform(X)
    # Values up to 1e6 whose spread may be as small as their rounding, 1e-10.
    assert np.isfinite(matrix).all()
    for column, values in zip(X.T, matrix.T, strict=True):
        present = column[~np.isnan(column)]
        if len(present) == 0 or np.ptp(present) == 0:
            assert np.all(values == 0)
        elif np.ptp(present) > 1e-3:
            assert values.mean() == pytest.approx(0, abs=1e-6)
            assert values.std() == pytest.approx(1, abs=1e-6)


def test_maxabs_divides_by_the_largest_value_and_none_leaves_numbers_alone() -> None:
    X = np.array([[2.0, -8.0, 0.0], [1.0, 4.0, 0.0]])
    assert TableEncoder("maxabs").fit_transform(X).tolist() == [[1, -1, 0], [0.5, 0.5, 0]]
    assert TableEncoder(None).fit_transform(X).tolist() == X.tolist()


def test_a_sparse_matrix_stays_sparse_and_its_zeros_stay_zero() -> None:
    X = sp.csr_matrix(np.array([[0.0, -4.0, 0.0], [5.0, 2.0, 0.0]]))
    encoder = TableEncoder().fit(X)
    matrix = encoder.transform(X)
    assert encoder.scaling_ == "maxabs"
    assert sp.issparse(matrix)
    assert matrix.toarray().tolist() == [[0, -1, 0], [1, 0.5, 0]]
    assert encoder.transform(X.toarray()).toarray().tolist() == matrix.toarray().tolist()
    with pytest.raises(ParameterError, match="use scale='maxabs'"):
        TableEncoder("standard").fit(X)


def test_much_text_makes_the_matrix_sparse_with_the_same_values() -> None:
    words = np.array([f"w{i % 80}" for i in range(200)], dtype=object)
    table = {"word": words, "size": np.arange(200.0)}
    encoder = TableEncoder().fit(table)
    matrix = encoder.transform(table)
    assert sp.issparse(matrix)
    assert matrix.shape == (200, 81)
    encoder.sparse_output_ = False
    assert np.array_equal(matrix.toarray(), encoder.transform(table))


def test_every_container_gives_the_same_matrix() -> None:
    expected = TableEncoder().fit_transform(TABLE)
    lists = {name: values.tolist() for name, values in TABLE.items()}
    frame = pl.DataFrame({**lists, "size": [1.0, None, 3.0, 8.0]})
    containers = [
        Table(TABLE),
        lists,
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE).astype({"colour": "category"}),
        frame,
        frame.with_columns(pl.col("colour").cast(pl.Categorical)),
        frame.to_arrow(),
        np.array(list(zip(*lists.values(), strict=True)), dtype=object),
    ]
    for container in containers:
        assert np.array_equal(TableEncoder().fit_transform(container), expected)


def test_columns_are_found_by_name_in_any_order_and_others_are_noted() -> None:
    encoder = TableEncoder().fit(TABLE)
    shuffled = {"more": np.zeros(4), **dict(reversed(TABLE.items()))}
    assert np.array_equal(encoder.transform(shuffled), encoder.transform(TABLE))
    assert encoder.notes(shuffled) == (
        "Not used, because the model was not trained on it: 'more'.",
    )


def test_text_not_seen_in_fit_is_zero_everywhere_and_noted_with_its_count() -> None:
    encoder = TableEncoder().fit(TABLE)
    new = {**TABLE, "colour": np.array(["green", "green", None, "red"], dtype=object)}
    assert encoder.transform(new)[:, 2:].tolist() == [[0, 0], [0, 0], [0, 0], [0, 1]]
    (note,) = encoder.notes(new)
    assert "Column 'colour' has 2 cells with text not seen in training" in note
    assert "'green'" in note
    assert encoder.notes(TABLE) == ()


def test_missing_and_renamed_columns_are_named() -> None:
    encoder = TableEncoder().fit(TABLE)
    renamed = {("Size" if name == "size" else name): values for name, values in TABLE.items()}
    with pytest.raises(DataError, match=r"lacks column 'size' .* has column 'Size'"):
        encoder.transform(renamed)
    with pytest.raises(DataError, match="lacks columns 'size', 'colour' that"):
        encoder.transform({"same": TABLE["same"]})
    with pytest.raises(DataError, match="X has 2 features, but TableEncoder is expecting 3"):
        encoder.transform(np.zeros((1, 2)))


def test_a_column_that_changed_its_kind_is_refused_unless_it_is_empty() -> None:
    encoder = TableEncoder().fit(TABLE)
    with pytest.raises(DataError, match=r"'colour' held text .* holds numbers now \(.*7.* row 1\)"):
        encoder.transform({**TABLE, "colour": np.array([np.nan, 7, 7, 7])})
    with pytest.raises(DataError, match=r"'size' held numbers .* holds text now"):
        encoder.transform({**TABLE, "size": np.array(["1", "2", "3", "x"], dtype=object)})
    empty = {**TABLE, "colour": np.full(4, np.nan), "size": np.full(4, None)}
    assert np.all(encoder.transform(empty) == 0)
    with pytest.raises(DataError, match="X is sparse, but the model was fitted on text"):
        encoder.transform(sp.csr_matrix(np.zeros((4, 3))))


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        ({"a": np.array([1.0, np.inf])}, DataError, "inf at row 1, column 'a'; replace"),
        (sp.csr_matrix([[0.0, -np.inf]]), DataError, "-inf at row 0, column 1; replace"),
        (sp.csr_matrix([[0.0, np.nan]]), DataError, "sparse and contains NaN"),
        ({"a": [1.0, 2.0], "b": [1.0]}, DataError, "give each one value per row"),
        (
            {"a": np.array(["x", 5], dtype=object)},
            DataTypeError,
            "mixes kinds, 'x' and 5 among them",
        ),
        ({"a": np.array(["2020-01-01"], dtype="M8[D]")}, DataTypeError, "numbers or text first"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), DataTypeError, "'t' of X holds"),
        (pd.DataFrame({"a": [1], 2: [3]}), DataTypeError, "mixes text and numbers as column names"),
        (np.zeros(3), DataError, "Reshape your data"),
        ({}, DataError, "0 feature"),
        (np.zeros((0, 2)), DataError, "0 rows"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(X, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words):
        as_columns(X)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_numbers_that_would_overflow_are_refused_with_their_place(container) -> None:
    huge = container(np.array([[1.0, 2.0], [3.0, 1e101]]))
    with pytest.raises(DataError, match=r"1e\+101 at row 1, column 'x1'; values beyond 1e\+100"):
        TableEncoder().fit(huge)
    encoder = TableEncoder(scale="maxabs").fit(container(np.array([[1e-310, 1.0], [0.0, 2.0]])))
    with pytest.raises(
        DataError, match=r"3\.0 at row 1, column 'x0'; on the scale of the training"
    ):
        encoder.transform(container(np.array([[1e-310, 1.0], [3.0, 2.0]])))


def test_a_learner_of_scikit_learn_never_sees_an_infinite_number() -> None:
    X = np.array([[1e-310], [2e-310], [3e-310], [4e-310]])
    model = TableClassifier(LogisticRegression(), scale="maxabs").fit(X, [0, 0, 1, 1])
    with pytest.raises(DataError, match=r"1\.0 at row 0, column 'x0'"):
        model.predict([[1.0]])


def test_frames_without_names_go_by_position() -> None:
    frame = pd.DataFrame({0: [1, 2], 1: ["a", "b"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1=a", "x1=b"]
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.transform(frame.to_numpy()).shape == (2, 3)


def test_unknown_scales_are_refused() -> None:
    with pytest.raises(ParameterError, match="scale='big' is not allowed"):
        TableEncoder("big").fit(TABLE)
