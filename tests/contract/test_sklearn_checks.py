"""scikit-learn's own battery, on every way the linear machines are commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(intercept="penalized"),
    LinearSVC(penalty="l1"),
    LinearSVC(loss="hinge", intercept="penalized", n_jobs=1),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, intercept="penalized"),
    LinearOneClassSVM(),
    LinearOneClassSVM(nu=0.1, intercept="penalized"),
    LinearOneClassSVM(fit_intercept=False),
    LinearSVCCV(Cs=3, cv=3),
    LinearSVRCV(Cs=3, cv=3, scale="standard"),
]


FOLDS = "folds of repeated rows are other folds; given equal ones, weights equal repeated rows"
NOT_PASSED = {
    "check_sample_weight_equivalence_on_dense_data": FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS,
}


def not_passed(estimator):
    """Return the checks that are not meant to pass, each with the reason."""
    return NOT_PASSED if isinstance(estimator, LinearSVCCV) else {}


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_passed)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
