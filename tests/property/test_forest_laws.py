"""Laws of forests that must hold on any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.sampling import bootstrap_sampler

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier, BalancedRandomForestClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)


@st.composite
def tables(draw, n_classes=None):
    """Small tables with ties and missing values, targets and weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(8, 60)), draw(st.integers(1, 5))
    X = random.integers(draw(st.integers(1, 8)) + 1, size=(n_rows, n_features)).astype(float)
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    if n_classes is None:
        y = random.integers(4, size=n_rows) + random.random(n_rows)
    else:
        y = np.r_[np.arange(n_classes), random.integers(n_classes, size=n_rows - n_classes)]
    weights = random.integers(1, 4, size=n_rows).astype(float)
    return X, y, weights if draw(st.booleans()) else None


@st.composite
def settings(draw):
    """Settings that change how a forest grows."""
    return {
        "n_estimators": draw(st.integers(1, 8)),
        "random_state": draw(st.integers(0, 1000)),
        "max_depth": draw(st.sampled_from([None, 2])),
        "min_samples_leaf": draw(st.sampled_from([1, 3])),
        "splitter": draw(st.sampled_from(["best", "random", "mean", "median"])),
        "max_features": draw(st.sampled_from([None, 1, "sqrt"])),
    }


def is_drawn(forest):
    """Whether rows can be left out."""
    return bool(forest.bootstrap) or isinstance(forest, BalancedRandomForestClassifier)


@given(st.sampled_from(CLASSIFIERS), tables(n_classes=3), settings())
def test_shares_are_a_distribution_and_predictions_follow_them(cls, table, parameters):
    X, y, weights = table
    forest = cls(**parameters).fit(X, y, sample_weight=weights)
    shares = forest.predict_proba(X)
    assert np.all(shares >= 0)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(forest.predict(X), shares.argmax(axis=1))


@given(st.sampled_from(REGRESSORS), tables(), settings())
def test_numbers_lie_between_those_that_were_given(cls, table, parameters):
    X, y, weights = table
    found = cls(**parameters).fit(X, y, sample_weight=weights).predict(X)
    assert np.all((found >= y.min() - 1e-9) & (found <= y.max() + 1e-9))


@hypothesis_settings(max_examples=40)
@given(st.sampled_from(CLASSIFIERS + REGRESSORS), tables(n_classes=2), settings())
def test_threads_and_added_trees_change_no_bit(cls, table, parameters):
    X, y, weights = table
    parameters["oob_score"] = is_drawn(cls())
    ways = [
        cls(**parameters, n_jobs=1).fit(X, y, sample_weight=weights),
        cls(**parameters, n_jobs=4).fit(X, y, sample_weight=weights),
        cls(**parameters | {"n_estimators": 1}, warm_start=True).fit(X, y, sample_weight=weights),
    ]
    if parameters["n_estimators"] > 1:
        ways[2].set_params(**parameters).fit(X, y, sample_weight=weights)
    for forest in ways[1:]:
        assert all(map(np.array_equal, forest.trees_.parts.values(), ways[0].trees_.parts.values()))
        assert np.array_equal(forest.feature_importances_, ways[0].feature_importances_)
        if parameters["oob_score"]:
            assert np.array_equal(forest.oob_.sums, ways[0].oob_.sums)
            assert np.array_equal(forest.oob_.curve, ways[0].oob_.curve, equal_nan=True)


@given(
    st.sampled_from([RandomForestClassifier, BalancedRandomForestClassifier]),
    tables(n_classes=3),
    settings(),
)
def test_a_row_is_answered_out_of_bag_exactly_if_some_sample_lacks_it(cls, table, parameters):
    X, y, weights = table
    forest = cls(**parameters, oob_score=True).fit(X, y, sample_weight=weights)
    n_without = sum(~np.isin(np.arange(len(y)), rows) for rows in forest.estimators_samples_)
    assert np.array_equal(forest.oob_.n_trees_of_row, n_without)
    assert np.array_equal(np.isnan(forest.oob_decision_function_[:, 0]), n_without == 0)
    sums = forest.oob_decision_function_.sum(axis=1)
    assert np.allclose(sums[n_without > 0], 1.0)


@given(tables(), settings())
def test_together_trees_are_no_worse_than_one_by_one_for_numbers(table, parameters):
    X, y, weights = table
    oob = RandomForestRegressor(**parameters, oob_score=True).fit(X, y, sample_weight=weights).oob_
    if len(oob.rows):
        assert oob.vote_error <= oob.tree_error * (1 + 1e-12) + 1e-12


@given(st.sampled_from(CLASSIFIERS), tables(n_classes=3), settings())
def test_importances_sum_to_1_where_anything_was_split(cls, table, parameters):
    X, y, weights = table
    forest = cls(**parameters).fit(X, y, sample_weight=weights)
    total = forest.feature_importances_.sum()
    gained = any(tree.feature_importances_.any() for tree in forest)
    assert total == pytest.approx(1.0 if gained else 0.0)


@given(
    st.integers(0, 2**64 - 1),
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.sampled_from([None, 3, 0.5]),
)
def test_groups_are_drawn_whole_and_as_often_as_asked_for(seed, labels, max_samples):
    groups = np.unique(labels, return_inverse=True)[1].reshape(-1)
    n_groups = int(groups.max()) + 1
    sampler = bootstrap_sampler(seed, np.ones(len(labels)), groups, max_samples)
    counts = sampler.counts(5)
    per_group = np.array([counts[groups == group][0] for group in range(n_groups)])
    assert np.array_equal(counts, per_group[groups])
    expected = {None: n_groups, 3: 3, 0.5: max(n_groups // 2, 1)}[max_samples]
    assert per_group.sum() == expected
    assert np.array_equal(sampler.rows(5), np.repeat(np.arange(len(labels)), counts))


@hypothesis_settings(max_examples=40)
@given(tables(n_classes=2), settings(), st.integers(0, 50))
def test_the_order_of_labels_only_renames_the_classes(table, parameters, shift):
    X, y, weights = table
    forest = RandomForestClassifier(**parameters).fit(X, y, sample_weight=weights)
    renamed = RandomForestClassifier(**parameters).fit(X, y * 7 + shift, sample_weight=weights)
    assert np.array_equal(renamed.classes_, np.array([0, 7]) + shift)
    assert np.array_equal(forest.predict_proba(X), renamed.predict_proba(X))
