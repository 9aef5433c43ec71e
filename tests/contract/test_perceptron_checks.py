"""The perceptrons keep scikit-learn's contract."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow.linear import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron

PERCEPTRONS = [Perceptron(), AveragedPerceptron(), VotedPerceptron(), KernelPerceptron()]


def expected_failures(_estimator: Any) -> dict[str, str]:
    reason = "a weight is the length of a step, and a step of 2 is not two visits with steps of 1"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


# Some checks fit random labels, which nothing separates, and the perceptrons say so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(PERCEPTRONS, expected_failed_checks=expected_failures)
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)
