"""One reader of tables serves the encoder of tables, trees and forests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from hedgerow import DataError, DecisionTreeClassifier, RandomForestClassifier, Table, TableEncoder
from hedgerow.auto.columns import as_columns
from hedgerow.data.table import view_table
from hedgerow.tree._table import encode

CELLS = {"size": [1.5, None, 0.5], "tree": ["oak", None, "elm"], "is_old": [True, False, None]}
OBJECTS = {name: np.array(values, dtype=object) for name, values in CELLS.items()}
CONTAINERS = {
    "mapping": OBJECTS,
    "table from a file": Table(OBJECTS),
    "pandas": pd.DataFrame(CELLS),
    "pandas with nullable types": pd.DataFrame(CELLS).convert_dtypes(),
    "pandas with a category": pd.DataFrame(CELLS).astype({"tree": "category"}),
    "polars": pl.DataFrame(CELLS),
    "arrow": pa.table(CELLS),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_encoder_and_trees_read_the_same_columns(kind):
    view = view_table(CONTAINERS[kind])
    assert view.names == list(CELLS)
    columns, table = as_columns(view), encode(view, "from_dtype", 1)
    assert columns.is_text.tolist() == [False, True, False]
    assert_array_equal(columns.numbers, [[1.5, 1.0], [np.nan, 0.0], [0.5, np.nan]])
    assert columns.texts[0].tolist() == CELLS["tree"]
    assert [values.tolist() for values in table.categories] == [[], ["elm", "oak"], [False, True]]


def test_a_table_from_a_file_fits_trees_and_forests():
    table = Table({"size": np.array([1.0, 2.0, 3.0]), "tree": OBJECTS["tree"]})
    for model in (DecisionTreeClassifier(), RandomForestClassifier(n_estimators=3)):
        model.set_params(random_state=0).fit(table, [0, 1, 1])
        assert_array_equal(model.predict(table), model.predict(table.X))


def test_lists_of_numbers_and_text_keep_their_numbers():
    encoder = TableEncoder(scale=None).fit([[1.5, "oak"], [2, "elm"]])
    assert encoder.is_text_.tolist() == [False, True]
    assert encoder.transform([[3, "elm"]]).tolist() == [[3.0, 1.0, 0.0]]


def test_lists_of_unequal_lengths_are_no_table():
    with pytest.raises(DataError, match="give every row the same number of values"):
        as_columns([[1.0], [1.0, 2.0]])


def test_columns_without_any_value_are_numbers_for_the_encoder():
    empty = pl.DataFrame({"a": [None, None], "b": pl.Series([None, None], dtype=pl.Datetime)})
    assert np.isnan(as_columns(empty).numbers).all()


def test_rows_of_numbers_stay_in_one_container():
    X = np.arange(6.0).reshape(3, 2)
    assert view_table(X).rows is X
    assert as_columns(X).numbers is X
    assert sp.issparse(view_table(sp.csc_matrix(X)).rows)
    assert_array_equal(view_table(X).take(np.array([2, 0])).rows, X[[2, 0]])
