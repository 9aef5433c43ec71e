"""LIBLINEAR on real data: its objective is never below ours, and its published accuracies are met."""

from __future__ import annotations

import os
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC as PeersLinearSVC

from benchmarks.datasets import from_folder
from hedgerow import LinearSVC
from tests.reference.conic import Machine

pytestmark = pytest.mark.data

TOL = 1e-6


@cache
def data_set(name):
    return from_folder(name)(Path(os.environ["HEDGEROW_DATA"]))


def liblinear(loss, C):
    """Scikit-learn's LIBLINEAR with a tight tolerance; the hinge it has in the dual alone."""
    if loss == "logistic":
        return LogisticRegression(solver="liblinear", C=C, tol=1e-8, max_iter=1000)
    dual = loss == "hinge"
    return PeersLinearSVC(
        loss=loss, C=C, dual=dual, tol=1e-8, max_iter=20_000 if dual else 1000, random_state=0
    )


def check_not_above(X, y, C, loss):
    """Hold our certified objective against LIBLINEAR's, wherever it stopped."""
    ours = LinearSVC(loss=loss, C=C, intercept="penalized", tol=TOL, random_state=0).fit(X, y)
    peer = liblinear(loss, C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(X, y)
    n = len(y)
    target = np.full(n, 0.0 if loss == "logistic" else 1.0)
    machine = Machine(X, y, np.full(n, C), loss, target, intercept="penalized")
    value = machine.objective(ours.coef_[0], float(ours.intercept_[0]))
    theirs = machine.objective(peer.coef_[0], float(peer.intercept_[0]))
    assert ours.certificate_.is_certified
    assert value <= theirs * (1 + TOL)
    assert theirs <= value * (1 + 1e-3)  # else they did not minimise the same thing


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(
    ("name", "C", "n_rows"),
    [("a9a", 1.0, 6000), ("a9a", 32.0, 3000), ("ijcnn1", 32.0, 10_000), ("mnist", 0.03125, 3000)],
)
def test_liblinears_objective_is_not_below_ours(name, C, n_rows, loss):
    """All rows where a parabola or a logistic loss lets LIBLINEAR end in seconds, else some."""
    data = data_set(name)
    if loss == "hinge" or name == "mnist":
        data = data.thinned(n_rows)
    check_not_above(data.X, data.y.astype(float), C, loss)


def test_liblinears_objective_is_not_below_ours_on_wide_sparse_text():
    data = data_set("20newsgroups")
    some = np.flatnonzero(data.y < 3)
    X, y = data.X[some], data.y[some]
    for loss, k in product(("hinge", "squared_hinge", "logistic"), range(3)):
        check_not_above(X, np.where(y == k, 1.0, -1.0), 1.0, loss)


def test_liblinears_objective_of_all_classes_at_once_is_not_below_ours():
    data = data_set("20newsgroups").thinned(2000)
    X, y, C = data.X, data.y, 1.0
    ours = LinearSVC(multi_class="crammer_singer", C=C, intercept="penalized", tol=1e-5).fit(X, y)
    peer = PeersLinearSVC(multi_class="crammer_singer", C=C, tol=1e-6, max_iter=20_000).fit(X, y)

    def objective(model):
        scores = X @ model.coef_.T + model.intercept_
        costs = 1.0 - np.eye(20)[y] + scores - scores[np.arange(len(y)), y][:, None]
        penalty = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
        return 0.5 * penalty + C * np.sum(np.max(costs, axis=1))

    assert ours.certificate_.is_certified
    assert objective(ours) == pytest.approx(ours.certificate_.primal, rel=1e-9)
    assert objective(ours) <= objective(peer) * (1 + 1e-5)
    assert objective(peer) <= objective(ours) * (1 + 1e-3)  # else they did not minimise the same


@pytest.mark.parametrize(
    ("name", "C", "published"),
    [
        ("a9a", 32.0, 84.98),
        ("ijcnn1", 32.0, 92.21),
        ("mnist", 0.03125, 96.82),
        pytest.param("covtype", 0.0625, 76.35, marks=pytest.mark.slow),
    ],
)
def test_the_published_accuracies_of_linear_machines_are_met(name, C, published):
    """The table does not say of which loss and intercept they are, nor which 80 % of covtype it used.

    Of hinge, squared hinge and logistic loss, each with a free, a penalised and no intercept, the
    hinge alone meets all four, and is nearest without an intercept: 84.95, 92.18, 96.88 and 76.50 %.
    The squared hinge without one has 84.93, 91.80, 96.82 and 75.90 %.
    """
    data = data_set(name)
    model = LinearSVC(loss="hinge", C=C, fit_intercept=False).fit(data.X, data.y)
    assert model.certificate_.is_certified
    assert abs(100 * model.score(data.X_test, data.y_test) - published) < 0.3
