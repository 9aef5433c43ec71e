"""scikit-learn's own battery, on every way the linear machines are commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import LinearSVC, LinearSVR

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(intercept="penalized"),
    LinearSVC(loss="hinge", intercept="penalized", n_jobs=1),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, intercept="penalized"),
]


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
