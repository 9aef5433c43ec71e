"""fit_files with more features than Newton's method takes: blocks converge as all rows together do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from hedgerow import LinearSVC, LinearSVR

INTERCEPTS = [{"fit_intercept": False}, {"intercept": "penalized"}, {"intercept": "free"}]
TENS = 60
"""Passes that are enough: the sweeps that the same rows need in memory, which are 8 to 50."""
N_BLOCKS = 6


@pytest.fixture(scope="module")
def wide():
    """Return sparse rows, more features than rows, and the scores that their targets are made of."""
    random = np.random.default_rng(0)
    filled = random.random((400, 900)) < 0.02
    X = np.where(filled, random.normal(size=(400, 900)).round(3), 0.0)
    score = X @ random.normal(size=900) + 0.1 * random.normal(size=400) + 3.0
    return sp.csr_array(X), score


def fitted(model, folder, X, y):
    """Return the model fitted to a file of some blocks."""
    path = folder / "wide.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return model.fit_files(path, n_features=900, block_bytes=path.stat().st_size // N_BLOCKS)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_wide_rows_need_tens_of_passes(tmp_path, wide, loss, intercept, C):
    X, score = wide
    y = np.where(score > np.quantile(score, 0.3), 1, -1)
    settings = {"loss": loss, "C": C, "random_state": 0, **intercept}
    streamed = fitted(LinearSVC(**settings, max_iter=TENS), tmp_path, X, y)
    best = LinearSVC(**settings, tol=1e-9).fit(X, y).certificate_.primal
    found = streamed.certificate_
    assert streamed.solver_ == "dual_coordinate_descent"
    assert found.is_certified
    # Both bounds hold for the same rows, to the rounding of a sum in another order.
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_values_of_wide_rows_need_tens_of_passes(tmp_path, wide, loss, intercept):
    X, score = wide
    settings = {"loss": loss, "C": 1.0, "epsilon": 0.1, "random_state": 0, **intercept}
    streamed = fitted(LinearSVR(**settings, max_iter=TENS), tmp_path, X, score.round(3))
    best = LinearSVR(**settings, tol=1e-9).fit(X, score.round(3)).certificate_.primal
    found = streamed.certificate_
    assert found.is_certified
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)
