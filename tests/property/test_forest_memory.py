"""A forest fits in the memory that docs/forests.md states."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow
from benchmarks.memory import in_fresh_process, peak_growth

MEGABYTE = 10**6
SHARED = {"classes": 8, "numbers": 24}
"""Bytes a row that all threads share, by what the items of a tree hold."""
OF_A_THREAD = {"classes": 80, "numbers": 176}
"""Bytes a row that each thread works with."""
OUT_OF_BAG = 40
"""Bytes a row and class; numbers are as two classes."""


def table_of(n_rows):
    """Return ten columns of noise, of which three tell the class: no code is narrower than 4 bytes."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, 10), dtype=np.float32)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)


def stated(X, items, n_threads, is_judged):
    """Return the bytes that a fit may take beyond its data, of two classes or numbers."""
    n_rows, n_bytes = len(X), 4 * MEGABYTE * n_threads
    for column in X.T:
        n_distinct = len(np.unique(column))
        width = 1 if n_distinct <= 2**8 else 2 if n_distinct <= 2**16 else 4
        n_bytes += 2 * width * n_rows + 8 * n_distinct
    of_a_row = SHARED[items] + OF_A_THREAD[items] * n_threads + 2 * OUT_OF_BAG * is_judged
    return n_bytes + of_a_row * n_rows


def weigh(name, n_rows, items, parameters):
    """Return the bytes that a fit takes at its peak beyond its data, and what is stated."""
    X, y = table_of(n_rows)
    forest = getattr(hedgerow, name)(**parameters, min_samples_leaf=100, random_state=0)
    forest.fit(X[:20_000], y[:20_000])  # what is imported and started is not counted
    _, n_bytes = peak_growth(lambda: forest.fit(X, y))
    is_judged = bool(parameters.get("oob_score", False))
    return n_bytes, stated(X, items, parameters["n_jobs"], is_judged)


@pytest.mark.parametrize(
    ("name", "items", "parameters"),
    [
        ("RandomForestClassifier", "classes", {}),
        ("RandomForestClassifier", "classes", {"oob_score": True}),
        ("RandomForestClassifier", "numbers", {"class_weight": {0: 0.3, 1: 0.7}}),
        ("ExtraTreesClassifier", "classes", {}),
        ("RandomForestRegressor", "numbers", {"max_features": 3, "oob_score": True}),
        ("ExtraTreesRegressor", "numbers", {"max_features": 3}),
    ],
    ids=str,
)
def test_a_forest_fits_in_the_memory_that_is_stated(name, items, parameters):
    parameters = {**parameters, "n_estimators": 4, "n_jobs": 2}
    n_bytes, allowed = in_fresh_process(weigh, name, 300_000, items, parameters)
    assert n_bytes <= allowed


def test_what_is_stated_has_no_room_for_a_copy_of_the_table():
    parameters = {"n_estimators": 2, "n_jobs": 1}
    n_rows = 1_000_000
    n_bytes, allowed = in_fresh_process(
        weigh, "RandomForestClassifier", n_rows, "classes", parameters
    )
    assert n_bytes <= allowed < n_bytes + 4 * 10 * n_rows


@pytest.mark.slow
def test_ten_million_rows_of_ten_columns_fit_in_the_memory_that_is_stated():
    parameters = {"n_estimators": 2, "n_jobs": 2}
    n_bytes, allowed = in_fresh_process(
        weigh, "RandomForestClassifier", 10_000_000, "classes", parameters
    )
    assert n_bytes <= allowed < 3300 * MEGABYTE
