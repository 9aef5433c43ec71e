"""Whatever table holds them, features reach a tree as the same numbers and categories."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from hedgerow import DataError, DataTypeError, ParameterError, UnseenCategoryWarning, _core
from hedgerow._base.state import dump_state, load_state
from hedgerow.data.table import view_table
from hedgerow.monitor import monitored
from hedgerow.tree import _table
from hedgerow.tree._table import encode, prediction_blocks, prediction_rows, remember_table

NUMBERS = np.array([[1.5, 2.0], [np.nan, -3.0], [0.0, 2.0]])


def fitted(X, categorical_features="from_dtype"):
    """Return an estimator that has seen the table, and what was made of it."""
    estimator = SimpleNamespace()
    table = encode(X, categorical_features, 1)
    remember_table(estimator, table)
    return estimator, table


def cells(table, feature):
    """Return what a feature's codes stand for."""
    known = table.categories[feature]
    meaning = known if len(known) else table.codes.values(feature)
    return [None if code < 0 else meaning[code] for code in table.codes.codes(feature)]


MIXED = {
    "size": [1.5, None, 0.5],
    "tree": ["oak", None, "elm"],
    "is_old": [True, False, None],
    "year": [3, 1, None],
}
ARROW = pa.table(MIXED)
FRAMES = {
    "pandas": pd.DataFrame(MIXED),
    "pandas with nullable types": pd.DataFrame(MIXED).convert_dtypes(),
    "pandas with objects": pd.DataFrame(MIXED, dtype=object),
    "pandas with a category": pd.DataFrame(MIXED).astype({"tree": "category"}),
    "polars": pl.DataFrame(MIXED),
    "polars with a category": pl.DataFrame(MIXED).with_columns(pl.col("tree").cast(pl.Categorical)),
    "polars with an enumeration": pl.DataFrame(MIXED).with_columns(
        pl.col("tree").cast(pl.Enum(["oak", "ash", "elm"]))
    ),
    "arrow": ARROW,
    "arrow with a dictionary": ARROW.set_column(1, "tree", ARROW["tree"].dictionary_encode()),
    "mapping": {
        name: np.array(values, dtype=object if name in ("tree", "is_old") else float)
        for name, values in MIXED.items()
    },
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_numbers_and_categories(kind):
    estimator, table = fitted(FRAMES[kind])
    assert (table.n_rows, table.n_features) == (3, 4)
    assert [values.tolist() for values in table.categories] == [
        [],
        ["elm", "oak"],
        [False, True],
        [],
    ]
    assert [cells(table, j) for j in range(4)] == list(MIXED.values())
    assert list(estimator.feature_names_in_) == list(MIXED)
    expected = [[1.5, 1.0, 1.0, 3.0], [np.nan, np.nan, 0.0, 1.0], [0.5, 0.0, np.nan, np.nan]]
    assert_array_equal(prediction_rows(estimator, FRAMES[kind]), expected)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_of_another_kind_than_that_of_fit_means_the_same(kind):
    estimator, _ = fitted(FRAMES["polars"])
    found = prediction_rows(estimator, FRAMES[kind])
    assert_array_equal(found, prediction_rows(estimator, FRAMES["polars"]))


ARRAYS = {
    "C order": NUMBERS,
    "Fortran order": np.asfortranarray(NUMBERS),
    "every second row": np.repeat(NUMBERS, 2, axis=0)[::2],
    "float32": NUMBERS.astype(np.float32),
    "big-endian": NUMBERS.astype(">f8"),
    "objects": NUMBERS.astype(object),
    "list of lists": NUMBERS.tolist(),
    "csr_array": sp.csr_array(NUMBERS),
    "csc_matrix": sp.csc_matrix(NUMBERS),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_every_array_gives_the_same_numbers(kind):
    estimator, table = fitted(ARRAYS[kind])
    assert table.codes.values(0).tolist() == [0.0, 1.5]
    assert table.codes.codes(0).tolist() == [1, -1, 0]
    assert table.codes.values(1).tolist() == [-3.0, 2.0]
    assert table.codes.codes(1).tolist() == [1, 0, 1]
    assert [len(values) for values in table.categories] == [0, 0]
    assert_array_equal(prediction_rows(estimator, ARRAYS[kind]), NUMBERS)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.int64, np.uint32, np.float16])
def test_whole_numbers_of_every_type_are_numbers(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    estimator, table = fitted(X)
    assert [table.codes.values(j).tolist() for j in range(2)] == [[0.0, 1.0], [0.0, 1.0]]
    assert_array_equal(prediction_rows(estimator, X), X.astype(float))


def test_an_array_of_floats_is_not_copied_for_predictions():
    estimator, _ = fitted(NUMBERS)
    assert prediction_rows(estimator, NUMBERS) is NUMBERS
    single = NUMBERS.astype(np.float32)
    assert prediction_rows(estimator, single) is single


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_of_floats_is_encoded_where_it_is(monkeypatch, dtype):
    given, X = [], NUMBERS.astype(dtype)

    def of_matrix(matrix, n_threads):
        given.append(matrix)
        return _core.tree.CodeTable.of_matrix(matrix, n_threads)

    fake = SimpleNamespace(of_matrix=of_matrix)
    core = SimpleNamespace(tree=SimpleNamespace(CodeTable=fake))
    monkeypatch.setattr(_table, "_core", core)
    for table in (X, sp.csr_array(X)):
        fitted(table)
        memory = table.data if sp.issparse(table) else table
        assert np.shares_memory(given[-1].parts[0], memory)


def test_columns_of_a_fortran_array_are_read_where_they_are():
    array = np.asfortranarray(NUMBERS)
    assert all(
        np.shares_memory(column, array) and column.flags.c_contiguous
        for column in view_table(array).by_columns().columns
    )


def test_named_columns_of_numbers_become_categories_by_value():
    for chosen in ([1], [False, True], np.array([1]), np.array([False, True])):
        estimator, table = fitted(NUMBERS, chosen)
        assert [values.tolist() for values in table.categories] == [[], [-3.0, 2.0]]
        assert cells(table, 1) == [2.0, -3.0, 2.0]
        expected = [[1.5, 1.0], [np.nan, 0.0], [0.0, 1.0]]
        assert_array_equal(prediction_rows(estimator, NUMBERS), expected)
    frame = pd.DataFrame({"street": [12, 7, 12], "tree": ["oak", "elm", "oak"]})
    _, table = fitted(frame, ["street"])
    assert [values.tolist() for values in table.categories] == [[7, 12], ["elm", "oak"]]


def test_numbers_that_are_categories_are_known_by_value_and_not_by_type():
    estimator, _ = fitted(pd.DataFrame({"street": [12, 7, 12]}), ["street"])
    for again in ([[7.0], [12.0]], np.array([["x", 7], ["x", 12]], dtype=object)[:, 1:]):
        assert prediction_rows(estimator, again).tolist() == [[0.0], [1.0]]


def test_without_categorical_features_truths_are_numbers_and_text_is_refused():
    _, table = fitted(pd.DataFrame({"is_old": [True, False]}), None)
    assert table.codes.values(0).tolist() == [0.0, 1.0]
    levels = pd.DataFrame({"year": pd.Categorical([7, 3, 7])})
    assert fitted(levels, None)[1].codes.values(0).tolist() == [3.0, 7.0]
    with pytest.raises(DataError, match="column 'tree' of X holds text, 'oak' at row 1"):
        fitted(pd.DataFrame({"tree": [None, "oak"]}), None)


def test_only_categories_that_occur_are_kept():
    frame = pd.DataFrame({"tree": pd.Categorical(["oak", "oak"], categories=["ash", "oak"])})
    estimator, table = fitted(frame)
    assert table.categories[0].tolist() == ["oak"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prediction_rows(estimator, frame)


def test_lists_of_numbers_and_text_keep_their_numbers():
    _, table = fitted([[1.0, "oak"], [2, "elm"]])
    assert table.codes.values(0).tolist() == [1.0, 2.0]
    assert table.categories[1].tolist() == ["elm", "oak"]


def test_an_array_of_text_has_columns_of_categories():
    estimator, table = fitted(np.array([["oak", "a"], ["elm", "b"]]))
    assert [values.tolist() for values in table.categories] == [["elm", "oak"], ["a", "b"]]
    assert prediction_rows(estimator, np.array([["elm", "a"]])).tolist() == [[0.0, 0.0]]


def test_hundreds_of_categories_keep_their_order():
    names = [f"street {i:03}" for i in range(700)]
    estimator, table = fitted(pd.DataFrame({"street": names[::-1]}))
    assert table.categories[0].tolist() == names
    assert prediction_rows(estimator, pd.DataFrame({"street": names}))[:, 0].tolist() == list(
        range(700)
    )


def test_unseen_categories_are_missing_and_told_of_once():
    estimator, _ = fitted(FRAMES["pandas"])
    strange = pd.DataFrame(
        {"size": [1.0] * 3, "tree": ["ash", "oak", "fir"], "is_old": [True] * 3, "year": [1] * 3}
    )
    with pytest.warns(UnseenCategoryWarning) as told:
        rows = prediction_rows(estimator, strange)
    assert_array_equal(rows[:, 1], [np.nan, 1.0, np.nan])
    assert len(told) == 1
    assert str(told[0].message) == (
        "column 'tree' of X holds the category 'ash', which was not there in fit; "
        "it is taken for a missing value, as are 1 more"
    )
    assert told[0].filename == __file__


def test_a_column_of_text_that_was_always_missing_stays_one_of_categories():
    estimator, table = fitted(pd.DataFrame({"tree": pd.Series([None, None], dtype="str")}))
    assert table.codes.codes(0).tolist() == [-1, -1]
    with pytest.warns(UnseenCategoryWarning, match="'oak'"):
        rows = prediction_rows(estimator, pd.DataFrame({"tree": ["oak"]}))
    assert np.isnan(rows).all()


WRONG = {
    "X contains inf at row 1, column 0; replace": ([[1.0], [np.inf]], "from_dtype", DataError),
    "X contains -inf at row 0, column 2": ([[np.nan, 1.0, -np.inf]], "from_dtype", DataError),
    "X contains inf at row 0, column 'a'": (
        pd.DataFrame({"a": [np.inf]}),
        ["a"],
        DataError,
    ),
    "X contains inf at row 1, column 1": (sp.csr_array([[1, 0], [0, np.inf]]), None, DataError),
    "column 't' of X holds Datetime": (
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}),
        "from_dtype",
        DataTypeError,
    ),
    "column 0 of X holds dict values": (np.array([[{}]], dtype=object), None, DataTypeError),
    "column 0 of X holds object values": (
        np.array([[object()]], dtype=object),
        "from_dtype",
        DataTypeError,
    ),
    "column 0 of X mixes kinds, 'a' and 1 among them": (
        np.array([["a"], [1]], dtype=object),
        "from_dtype",
        DataTypeError,
    ),
    "column 'a' of X holds bytes values": (
        {"a": np.array([b"oak"], dtype=object)},
        "from_dtype",
        DataTypeError,
    ),
    "X is sparse and categorical_features names columns": (sp.csr_array([[1.0]]), [0], DataError),
    "Complex data not supported": (np.array([[1j]]), "from_dtype", DataError),
    "X has 1 dimension": ([1.0, 2.0], "from_dtype", DataError),
    "X has 0 rows": (np.zeros((0, 2)), "from_dtype", DataError),
    "X has 0 feature": (pd.DataFrame(index=[0, 1]), "from_dtype", DataError),
    "the columns of X have shapes": ({"a": [1], "b": [1, 2]}, "from_dtype", DataError),
    "X cannot be read as a table": ([[1.0], [1.0, 2.0]], "from_dtype", DataError),
    "names 'a' and the columns of X have no names": ([[1.0]], ["a"], ParameterError),
    "names 'b', and X has no such column": (pd.DataFrame({"a": [1]}), ["b"], ParameterError),
    "holds 3, and X has the columns 0 to 0": ([[1.0]], [3], ParameterError),
    "has 2 truth values and X has 1 columns": ([[1.0]], [True, False], ParameterError),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_read_is_refused_by_its_place(message):
    X, categorical_features, kind = WRONG[message]
    with pytest.raises(kind) as caught:
        fitted(X, categorical_features)
    assert message in str(caught.value)


def test_predictions_refuse_text_where_there_were_numbers_and_infinite_values():
    estimator, _ = fitted(FRAMES["pandas"])
    text = FRAMES["pandas"].assign(size=["1", "2", "big"])
    with pytest.raises(DataError, match="column 'size' of X holds text, '1' at row 0"):
        prediction_rows(estimator, text)
    estimator, _ = fitted(NUMBERS)
    with pytest.raises(DataError, match="X contains inf at row 0, column 1"):
        prediction_rows(estimator, np.array([[1.0, np.inf]]))
    with pytest.raises(DataError, match="X has 3 features"):
        prediction_rows(estimator, np.zeros((1, 3)))


def test_predictions_refuse_other_columns_than_those_of_fit():
    estimator, _ = fitted(FRAMES["pandas"])
    with pytest.raises(DataError, match="lacks the columns 'year'"):
        prediction_rows(estimator, FRAMES["pandas"].drop(columns="year"))
    with pytest.raises(DataError, match="in another order"):
        prediction_rows(estimator, FRAMES["pandas"][["tree", "size", "is_old", "year"]])


def test_a_wide_sparse_matrix_is_made_dense_a_block_at_a_time(monkeypatch):
    X = sp.random_array((50, 30), density=0.1, rng=np.random.default_rng(0)).tocsr()
    estimator, _ = fitted(X)
    monkeypatch.setattr(_table, "_BLOCK", 30 * 20)
    blocks = list(prediction_blocks(estimator, X))
    assert [len(block) for block in blocks] == [20, 20, 10]
    assert_array_equal(np.concatenate(blocks), X.toarray())


def test_an_encoding_that_may_stop_does_and_keeps_what_categories_there_are():
    frame = pl.DataFrame({"size": [1.0, 2.0], "tree": ["oak", "elm"]})
    with monitored("a fit", max_time=1e-9):
        table = encode(frame, "from_dtype", 1, may_stop=True)
        assert encode(frame, "from_dtype", 1).is_whole
    assert not table.is_whole
    assert (table.n_rows, table.n_features) == (2, 2)
    assert table.categories[1].tolist() == ["elm", "oak"]


def test_categories_survive_being_saved():
    estimator, table = fitted(FRAMES["polars"], ["year"])
    again = load_state(*dump_state(table.columns))
    assert [v.tolist() for v in again.by_feature] == [v.tolist() for v in table.categories]
    assert [v.dtype for v in again.by_feature] == [v.dtype for v in table.categories]
    estimator.category_columns_ = again
    assert prediction_rows(estimator, FRAMES["polars"])[:, 3].tolist()[:2] == [1.0, 0.0]
