"""Trees that grow in other processes are those that grow here, to the bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits

import hedgerow
from hedgerow import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    watch,
)

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]
A, B = load_diabetes(return_X_y=True)
COMMON = {"n_estimators": 12, "random_state": 0, "n_jobs": 2}
JUDGED = {**COMMON, "oob_score": True}


def frame():
    """Categories that fit into a word, others that do not, and missing numbers."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "few": pd.Categorical(rng.integers(0, 20, len(X))),
            "many": pd.Categorical(rng.integers(0, 150, len(X))),
            "numbers": rng.normal(size=len(X)),
        }
    )
    table.loc[3:9, "numbers"] = np.nan
    return table


def grown_twice():
    forest = RandomForestClassifier(**JUDGED, warm_start=True).fit(X, Y)
    return forest.set_params(n_estimators=20).fit(X, Y)


FORESTS = {
    "single precision": lambda: RandomForestClassifier(**JUDGED).fit(X.astype(np.float32), Y),
    "weights": lambda: RandomForestClassifier(
        **JUDGED, class_weight="balanced_subsample", min_weight_fraction_leaf=0.01
    ).fit(X, Y, sample_weight=np.arange(len(X)) % 3 + 0.5),
    "pruned": lambda: RandomForestRegressor(**JUDGED, ccp_alpha=1.0).fit(A, B),
    "several outputs": lambda: RandomForestRegressor(**JUDGED).fit(A, np.stack([B, -B, B**2], 1)),
    "no samples": lambda: ExtraTreesClassifier(**COMMON).fit(X, Y),
    "balanced": lambda: BalancedRandomForestClassifier(**JUDGED, min_samples_leaf=0.02).fit(
        X, Y == 1
    ),
    "categories": lambda: RandomForestClassifier(**JUDGED).fit(frame(), Y),
    "until flat": lambda: RandomForestClassifier(
        **{**JUDGED, "n_estimators": 200}, stop_when_flat=0.01
    ).fit(X, Y),
    "grown on": grown_twice,
}


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores:UserWarning")
@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_is_the_same_wherever_its_trees_grow(name):
    here = FORESTS[name]()
    with hedgerow.engine("loky"):
        there = FORESTS[name]()
    assert there.status_ == here.status_
    expected = here.trees_.parts
    for part, found in there.trees_.parts.items():
        np.testing.assert_array_equal(found, expected[part], part)
    np.testing.assert_array_equal(there.feature_importances_, here.feature_importances_)
    if "oob_score" in vars(here) and here.oob_score:
        for figures in ("sums", "n_trees_of_row", "tree_losses", "curve"):
            found, wanted = getattr(there.oob_, figures), getattr(here.oob_, figures)
            np.testing.assert_array_equal(found, wanted, figures)


@pytest.mark.parametrize("kind", ["permutation", "impurity_debiased"])
def test_importances_are_the_same_wherever_they_are_measured(kind):
    forest = RandomForestClassifier(**COMMON).fit(X, Y)
    options = {"random_state": 0} if kind == "permutation" else {}
    here = forest.importances(kind, X, Y, **options)
    steps = []
    with hedgerow.engine("loky"), watch(steps.append):
        there = forest.importances(kind, X, Y, **options)
    np.testing.assert_array_equal(there.values, here.values)
    np.testing.assert_array_equal(there.spread, here.spread)
    assert [step.done for step in steps] == list(range(1, 13))
