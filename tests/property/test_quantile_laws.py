"""Laws of quantile forests, proximities and variances that must hold on any table."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hedgerow.ensemble import ExtraTreesRegressor, RandomForestRegressor
from tests.property.test_forest_laws import settings, tables
from tests.reference import forest_answers as slow

REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)
SHARES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


def fitted(cls, table, parameters, *, decimals=8):
    """A forest that keeps its targets, and what it was fitted to."""
    X, y, weights = table
    y = np.round(y, decimals)
    forest = cls(**parameters, keep_targets=True).fit(X, y, sample_weight=weights)
    return forest, X, y, np.ones(len(y)) if weights is None else weights


@hypothesis_settings(max_examples=40)
@given(st.sampled_from(REGRESSORS), tables(), settings(), SHARES, st.sampled_from([0, 8]))
def test_quantiles_are_those_that_fractions_give(cls, table, parameters, asked, decimals):
    forest, X, y, weights = fitted(cls, table, parameters, decimals=decimals)
    expected = slow.quantiles(forest, (X, y, weights), X[:12], asked)
    assert np.array_equal(forest.predict_quantiles(X[:12], asked), expected)


@given(st.sampled_from(REGRESSORS), tables(), settings(), SHARES)
def test_quantiles_are_targets_and_rise_with_their_share(cls, table, parameters, asked):
    forest, X, y, _ = fitted(cls, table, parameters)
    found = forest.predict_quantiles(X, sorted(asked))
    assert np.isin(found, y).all()
    assert np.all(np.diff(found, axis=1) >= 0)


@given(st.sampled_from(REGRESSORS), tables(), settings())
def test_wider_intervals_hold_narrower_ones_and_the_median(cls, table, parameters):
    forest, X, _, _ = fitted(cls, table, parameters)
    narrow, wide = forest.predict_interval(X, 0.5), forest.predict_interval(X, 0.9)
    median = forest.predict_quantiles(X, [0.5])[:, 0]
    assert np.all((wide[:, 0] <= narrow[:, 0]) & (narrow[:, 1] <= wide[:, 1]))
    assert np.all((narrow[:, 0] <= median) & (median <= narrow[:, 1]))


@given(st.sampled_from(REGRESSORS), tables(), settings())
def test_what_increases_targets_increases_quantiles_alike(cls, table, parameters):
    forest, X, y, weights = fitted(cls, table, parameters, decimals=0)
    given_weights = None if table[2] is None else weights
    doubled = cls(**parameters, keep_targets=True).fit(X, 2.0 * y, sample_weight=given_weights)
    assert np.array_equal(doubled.predict_quantiles(X), 2.0 * forest.predict_quantiles(X))


@given(st.sampled_from(REGRESSORS), tables(), settings())
def test_proximities_are_an_inner_product_of_leaves(cls, table, parameters):
    forest, X, _, _ = fitted(cls, table, parameters)
    shares, points = forest.proximity(X), forest.leaf_embedding(X)
    assert np.array_equal(shares, (points @ points.T).toarray() / len(forest))
    assert np.linalg.eigvalsh(shares).min() > -1e-9


@given(tables(), settings(), st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_variances_scale_as_variances_do(table, parameters, factor, shift):
    X, y, weights = table
    parameters |= {"max_depth": 1, "splitter": "median", "max_features": None, "n_estimators": 8}
    plain = RandomForestRegressor(**parameters).fit(X[:, :1], y, sample_weight=weights)
    other = RandomForestRegressor(**parameters).fit(
        X[:, :1], factor * y + shift, sample_weight=weights
    )
    found, scaled = (f.predict_variance(X[:, :1], corrected=False) for f in (plain, other))
    assert np.allclose(scaled, factor**2 * found, rtol=1e-6, atol=1e-9 * factor**2)
