"""scikit-learn's own battery, on every way LinearSVC is commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import LinearSVC

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(intercept="penalized"),
    LinearSVC(penalty="l1"),
    LinearSVC(loss="hinge", intercept="penalized", n_jobs=1),
]


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
