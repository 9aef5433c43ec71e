"""Laws of the importances of forests that must hold on any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.importance.correlation import correlated_features
from hedgerow.ensemble.importance.debiased_impurity import decreases
from hedgerow.ensemble.importance.node_rows import NodeRows
from hedgerow.ensemble.importance.training_rows import TrainingRows
from hedgerow.errors import DataError
from tests.reference.forest_importances import permutation_by_tree

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")

CLASSES = (RandomForestClassifier, BalancedRandomForestClassifier, RandomForestRegressor)


@st.composite
def tables(draw):
    """Small tables with ties and missing values, two classes and weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(8, 50)), draw(st.integers(1, 5))
    X = random.integers(draw(st.integers(1, 8)) + 1, size=(n_rows, n_features)).astype(float)
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y = np.r_[0, 1, random.integers(2, size=n_rows - 2)]
    weights = random.integers(1, 4, size=n_rows).astype(float)
    return X, y, weights if draw(st.booleans()) else None


@st.composite
def settings(draw):
    """Settings that change how a forest grows."""
    return {
        "n_estimators": draw(st.integers(1, 6)),
        "random_state": draw(st.integers(0, 1000)),
        "max_depth": draw(st.sampled_from([None, 2])),
        "splitter": draw(st.sampled_from(["best", "random", "median"])),
    }


def measured(forest, kind, X, y, **options):
    """The importances, or None if no row is out of any bag."""
    try:
        return forest.importances(kind, X, y, **options)
    except DataError as error:
        assert "no row was left out" in str(error)  # noqa: PT017
        return None


@given(st.sampled_from([RandomForestClassifier, RandomForestRegressor]), tables(), settings())
def test_told_by_the_rows_of_the_sample_the_debiased_decrease_is_that_of_impurity(
    cls, table, parameters
):
    X, y, weights = table
    forest = cls(**parameters).fit(X, y, sample_weight=weights)
    seen = TrainingRows.of(forest, "impurity_debiased", X, y, weights)
    for number in range(len(forest)):
        tree, inside = seen.tree(number), seen.weights * seen.counts(number)
        found = decreases(tree, seen.leaves(tree), seen.targets, inside, inside)
        kept = forest.tree_importances_.of_tree(number)
        assert np.all(found >= -1e-12)
        if found.sum() > 1e-6:  # else there is nothing but rounding to share
            assert np.allclose(found / found.sum(), kept, rtol=0, atol=1e-9)


@given(st.sampled_from(CLASSES), tables(), settings(), st.integers(0, 2**64 - 1))
def test_permutation_is_what_predicting_row_by_row_gives(cls, table, parameters, seed):
    X, y, weights = table
    forest = cls(**parameters).fit(X, y, sample_weight=weights)
    found = measured(forest, "permutation", X, y, sample_weight=weights, random_state=seed)
    if found is None or found.n_trees < len(forest):
        return
    blocks = [[j] for j in range(X.shape[1])]
    expected = permutation_by_tree(forest, X, y, blocks, seed=seed)
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-12


@given(st.sampled_from(CLASSES), tables(), settings())
def test_features_that_no_tree_uses_are_worth_0_by_every_measure(cls, table, parameters):
    X, y, weights = table
    X = np.c_[X, np.ones(len(X))]
    forest = cls(**parameters).fit(X, y, sample_weight=weights)
    for kind in ("occurrences", "impurity", "node_average", "permutation", "impurity_debiased"):
        found = measured(forest, kind, X, y, sample_weight=weights, random_state=0)
        if found is not None:
            assert (found.values[-1], found.spread[-1]) == (0.0, 0.0)


@hypothesis_settings(max_examples=40)
@given(tables(), settings(), st.sampled_from([1e6, -3e7]))
def test_where_the_zero_of_y_is_does_not_matter(table, parameters, shift):
    X, y, weights = table
    here = RandomForestRegressor(**parameters).fit(X, y, sample_weight=weights)
    there = RandomForestRegressor(**parameters).fit(X, y + shift, sample_weight=weights)
    if not np.array_equal(here.apply(X), there.apply(X)):
        return  # a tie of two splits that rounding breaks
    found = measured(here, "impurity_debiased", X, y, sample_weight=weights)
    if found is not None:
        moved = there.importances("impurity_debiased", X, y + shift, sample_weight=weights)
        assert np.allclose(found.values, moved.values, rtol=0, atol=1e-7)


@hypothesis_settings(max_examples=40)
@given(
    st.sampled_from(CLASSES),
    tables(),
    settings(),
    st.sampled_from(["permutation", "impurity_debiased"]),
)
def test_threads_change_no_bit(cls, table, parameters, kind):
    X, y, weights = table
    ways = []
    for n_jobs in (1, 4):
        forest = cls(**parameters, n_jobs=n_jobs).fit(X, y, sample_weight=weights)
        ways.append(measured(forest, kind, X, y, sample_weight=weights, random_state=0))
    if ways[0] is not None:
        assert np.array_equal(ways[0].values, ways[1].values)
        assert np.array_equal(ways[0].spread, ways[1].spread)


@given(tables(), settings(), st.data())
def test_the_rows_through_some_nodes_are_those_whose_paths_hold_one(table, parameters, data):
    X, y, _ = table
    member = RandomForestClassifier(**parameters).fit(X, y).estimators_[0]
    n_nodes = member.tree_.node_count
    nodes = data.draw(st.lists(st.integers(0, n_nodes - 1), min_size=1, unique=True))
    passage = NodeRows(member.tree_, member.apply(X).astype(np.int32))
    found = passage.through(np.array(nodes))
    passes = member.decision_path(X)[:, nodes].toarray().any(axis=1)
    assert np.array_equal(np.sort(found), np.flatnonzero(passes))


@hypothesis_settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([0.3, 0.6, 0.9]))
def test_groups_of_correlated_features_are_disjoint_and_cannot_be_joined(seed, n_features, least):
    random = np.random.default_rng(seed)
    mixed = random.normal(size=(40, 2)) @ random.normal(size=(2, n_features))
    X = mixed + random.normal(0, 0.3, mixed.shape)
    groups = correlated_features(X, np.zeros(n_features, dtype=np.int64), least)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    rho = np.abs(np.atleast_2d(np.corrcoef(ranks.T)))
    members = [j for group in groups for j in group.features]
    assert len(members) == len(set(members))
    for group in groups:
        assert rho[np.ix_(group.features, group.features)].min() >= least - 1e-9
    alone = [(j,) for j in range(n_features) if j not in members]
    blocks = [*(group.features for group in groups), *alone]
    for a in range(len(blocks)):
        for b in range(a):
            assert rho[np.ix_(blocks[a], blocks[b])].min() < least
