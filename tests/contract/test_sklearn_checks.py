"""scikit-learn's own battery, on every way the linear machines are commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(intercept="penalized"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="ovo"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(multi_class="crammer_singer", intercept="penalized"),
    LinearSVC(loss="hinge", intercept="penalized", n_jobs=1),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, intercept="penalized"),
    LinearOneClassSVM(),
    LinearOneClassSVM(nu=0.1, intercept="penalized"),
    LinearOneClassSVM(fit_intercept=False),
]


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
