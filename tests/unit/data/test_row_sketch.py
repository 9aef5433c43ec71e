"""Training rows are known again, and others are not taken for them."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hedgerow import DecisionTreeClassifier, RandomForestClassifier, TableClassifier, load, save
from hedgerow.data.row_sketch import RowSketch, kept_rows


def sketch_of(rows) -> RowSketch:
    return RowSketch.of(rows[kept_rows(rows.shape[0])], rows.shape[0])


@pytest.mark.parametrize("n_rows", [20, 1024, 5000])
def test_all_training_rows_some_and_none_are_told_apart(n_rows: int) -> None:
    generator = np.random.default_rng(0)
    rows, others = generator.normal(size=(2, n_rows, 3))
    sketch = sketch_of(rows)
    assert len(sketch.digests) == min(n_rows, 1024)
    assert sketch.share_known(generator.permutation(rows)) == pytest.approx(1, abs=0.01)
    half = np.vstack([rows[: n_rows // 2], others[: n_rows // 2]])
    assert sketch.share_known(half) == pytest.approx(0.5, abs=0.02)
    assert sketch.share_known(others) == 0


def test_a_few_equal_rows_are_not_worth_a_word() -> None:
    rows, others = np.random.default_rng(0).normal(size=(2, 400, 3))
    assert sketch_of(rows).share_known(np.vstack([rows[:2], others])) == 0


def test_rows_that_are_equal_by_chance_prove_nothing() -> None:
    """Of three columns of two values there are eight rows, and new ones are all among them."""
    rows, others = np.random.default_rng(0).integers(0, 2, (2, 300, 3)).astype(float)
    assert sketch_of(rows).share_known(others) == 0


def test_new_rows_of_a_table_with_many_equal_rows_are_rarely_taken_for_training_rows() -> None:
    generator = np.random.default_rng(0)
    for n_values in (3, 5, 9):
        for _ in range(20):
            rows, others = generator.integers(0, n_values, (2, 200, 3)).astype(float)
            assert sketch_of(rows).share_known(others) == 0


def test_sparse_and_dense_and_rounded_rows_have_the_same_digests() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 6)) * (np.arange(6) % 2)
    rows[3, 1] = np.nan
    digests = sketch_of(rows).digests
    for same in (
        sp.csr_matrix(rows),
        sp.csc_array(rows).tocsr(),
        rows.astype(np.float32),
        -0.0 + rows,
    ):
        np.testing.assert_array_equal(sketch_of(same).digests, digests)
    assert not np.array_equal(sketch_of(rows[:, ::-1]).digests, digests)


def test_numbers_beyond_float32_are_taken_without_a_warning() -> None:
    assert len(sketch_of(np.array([[1e300, -1e300], [1e-300, 0.0]])).digests) == 2


@pytest.mark.parametrize(
    "model", [TableClassifier(), DecisionTreeClassifier(), RandomForestClassifier(n_estimators=3)]
)
def test_a_saved_model_takes_its_sketch_along_in_bounded_size(model, tmp_path) -> None:
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.normal(size=3000), "b": generator.choice(["u", "v"], 3000)})
    fitted = model.fit(X, (X["a"] > 0).to_numpy())
    save(fitted, tmp_path / "m.hedge")
    found = load(tmp_path / "m.hedge").row_sketch_
    np.testing.assert_array_equal(found.digests, fitted.row_sketch_.digests)
    assert (found.n_rows, found.digests.nbytes) == (3000, 8192)


def test_a_sketch_costs_next_to_nothing() -> None:
    rows = np.random.default_rng(0).normal(size=(100_000, 20))
    began = time.process_time()
    for _ in range(20):
        sketch_of(rows)
    assert time.process_time() - began < 1.0
