"""Which features are correlated, and what the importances of a forest say of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from hedgerow.ensemble import RandomForestClassifier
from hedgerow.ensemble.importance.correlation import correlated_features


def small(cls, **parameters):
    """A forest of few trees."""
    return cls(**{"n_estimators": 8, "random_state": 0} | parameters)


def test_correlated_features_are_told_of_and_a_group_of_them_is_not():
    random = np.random.default_rng(0)
    a, b = random.random((2, 200))
    table = pd.DataFrame({"a": a, "b": b, "c": np.exp(a), "d": -a + random.normal(0, 1e-3, 200)})
    y = a + b > 1
    forest = small(RandomForestClassifier, n_estimators=100).fit(table, y)
    found = forest.importances("permutation", table, y, random_state=0)
    assert found.correlated == (("a", "c", "d"),)
    assert "'a', 'c', 'd' are correlated (|rho| 1.00)" in found.note
    assert "groups=[['a', 'c', 'd']]" in found.note
    assert found.note in repr(found)
    grouped = forest.importances("permutation", table, y, groups=[["a", "c", "d"]], random_state=0)
    assert grouped.names.tolist() == ["a + c + d", "b"]
    assert (grouped.correlated, grouped.note) == ((), None)
    assert grouped.values[0] > 2 * found.values[[0, 2, 3]].mean()  # they share it
    assert forest.importances("impurity").correlated == ()
    assert forest.importances("impurity", table).correlated == found.correlated
    assert forest.importances("impurity", table, correlation=None).note is None


def test_what_is_correlated_can_be_given_as_groups():
    X, y = load_breast_cancer(return_X_y=True)
    forest = small(RandomForestClassifier).fit(X, y)
    found = forest.importances("permutation", X, y, random_state=0)
    assert len(found.correlated) > 2
    assert "groups=found.correlated" in found.note
    assert "more groups, see correlated" in found.note
    grouped = forest.importances("permutation", X, y, groups=found.correlated, random_state=0)
    assert (grouped.correlated, grouped.note) == ((), None)
    assert len(grouped.names) == 30 - sum(len(group) - 1 for group in found.correlated)


def test_every_two_features_of_a_group_are_correlated():
    random = np.random.default_rng(1)
    walk = np.cumsum(
        random.normal(size=(12, 3000)), axis=0
    ).T  # each like the next, not like the last
    groups = correlated_features(walk, np.zeros(12, dtype=np.int64), 0.9)
    ranks = np.abs(pd.DataFrame(walk).corr("spearman").to_numpy())
    assert len(groups) > 1
    for group in groups:
        inside = ranks[np.ix_(group.features, group.features)]
        assert inside.min() >= 0.9
        pairs = inside[np.triu_indices(len(inside), 1)]
        assert group.least == pytest.approx(pairs.min())


def test_numbers_with_gaps_and_constants_are_compared_too():
    random = np.random.default_rng(0)
    a = random.random(500)
    X = np.c_[a, a**3, np.ones(500), random.random(500)]
    X[::50, 0] = np.nan
    groups = correlated_features(X, np.zeros(4, dtype=np.int64), 0.9)
    assert [group.features for group in groups] == [(0, 1)]


def test_categories_are_compared_with_numbers_and_with_each_other():
    random = np.random.default_rng(0)
    grade = random.integers(5, size=600)
    table = pd.DataFrame(
        {
            "grade": pd.Categorical(np.array(["e", "c", "a", "d", "b"])[grade]),
            "years": grade * 1.0,
            "title": pd.Categorical(np.array(["P", "Q", "R", "S", "T"])[grade]),
            "other": pd.Categorical(np.array(["u", "v"])[random.integers(2, size=600)]),
            "name": pd.Categorical([f"row {i}" for i in range(600)]),
        }
    )
    forest = small(RandomForestClassifier).fit(table, grade > 1)
    assert forest.importances("impurity", table).correlated == (("grade", "years", "title"),)


def test_more_than_5000_features_are_not_compared_and_the_note_says_so():
    X = sp.random_array((40, 5001), density=0.01, rng=np.random.default_rng(0), format="csr")
    forest = small(RandomForestClassifier).fit(X, np.arange(40) % 2)
    found = forest.importances("permutation", X, np.arange(40) % 2, random_state=0)
    assert found.correlated == ()
    assert "5001" in found.note
