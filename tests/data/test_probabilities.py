"""Probabilities and thresholds on real data, where HEDGEROW_DATA points at them."""

from __future__ import annotations

import pytest
from scipy.special import expit
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import f1_score, log_loss

from hedgerow import LinearSVC, tune_threshold
from hedgerow.calibrators.maps import METHODS

pytestmark = pytest.mark.data


@pytest.fixture
def a9a(data_folder):
    names = ("a9a.bz2", "a9a.t.bz2")
    return [load_svmlight_file(str(data_folder / "a9a" / name), n_features=123) for name in names]


@pytest.mark.parametrize("method", METHODS)
def test_on_a9a_probabilities_are_honest(a9a, method):
    (X, y), (X_new, y_new) = a9a
    model = LinearSVC(calibrate=method, random_state=0).fit(X, y)
    shares = model.predict_proba(X_new)
    squashed = expit(model.decision_function(X_new))
    assert log_loss(y_new, shares) < 0.8 * log_loss(y_new, squashed)
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (shares[:, 1] >= low) & (shares[:, 1] < low + 0.2)
        # At least 1000 rows each: a standard error of 0.016, and what a sigmoid cannot follow.
        assert inside.sum() > 1000
        assert abs(shares[inside, 1].mean() - (y_new[inside] == 1).mean()) < 0.06


def test_on_a9a_a_tuned_threshold_has_a_better_f1(a9a):
    (X, y), (X_new, y_new) = a9a
    tuned = tune_threshold(LinearSVC(), X, y, metric="f1", cv=5, random_state=0)
    plain = f1_score(y_new, tuned.learner_.predict(X_new))
    assert f1_score(y_new, tuned.predict(X_new)) > plain + 0.02
