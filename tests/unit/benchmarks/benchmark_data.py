"""Small problems for the benchmarks' judge and adapters, and their solutions, without Hedgerow."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import optimize, sparse
from scipy.special import expit

from benchmarks.datasets import Dataset, two_clouds
from tests.reference import linear_svm

LOSSES = ["hinge", "squared_hinge", "logistic"]
INTERCEPTS = ["penalized", "free"]
C = 0.05


def three_classes():
    """Rows whose labels do not come in their sorted order, so that mixed-up planes are seen."""
    random = np.random.default_rng(1)
    y = (np.arange(300) + 1) % 3
    X = random.normal(size=(300, 5))
    X[np.arange(300), y] += 2.0
    return Dataset(X, y, X, y)


def as_sparse(data):
    return Dataset(sparse.csr_matrix(data.X), data.y, sparse.csr_matrix(data.X_test), data.y_test)


def moved(data):
    """The rows far from the origin, so that it matters whether the intercept is penalised."""
    return Dataset(data.X + 3.0, data.y, data.X_test + 3.0, data.y_test)


DATA = {
    "two": moved(two_clouds(None)),
    "three": moved(three_classes()),
    "three sparse": as_sparse(moved(three_classes())),
}


def signs_of_each_problem(data):
    """A row of +1 and -1 for every binary problem."""
    labels = np.unique(data.y)
    positive = labels[1:] if len(labels) == 2 else labels
    return [np.where(data.y == label, 1.0, -1.0) for label in positive]


def dense(data):
    return data.X.toarray() if sparse.issparse(data.X) else data.X


@cache
def best(task, name):
    """Return coef, intercept and alpha of the optimum, found by slow and general methods."""
    if name.endswith(" sparse"):
        return best(task, name.removesuffix(" sparse"))
    solve = best_with_corners if task.loss == "hinge" else best_of_smooth
    solved = [solve(DATA[name].X, y, task) for y in signs_of_each_problem(DATA[name])]
    coef, intercept, alpha = zip(*solved, strict=True)
    return np.array(coef), np.array(intercept), np.array(alpha)


def best_of_smooth(X, y, task):
    """By SciPy's minimiser; alpha is what the loss's slope makes of the margins."""
    penalised = np.ones(X.shape[1] + 1)
    penalised[-1] = task.intercept == "penalized"
    rows = np.hstack([X, np.ones((len(y), 1))]) * y[:, None]

    def alpha_at(v):
        m = rows @ v
        return task.C * (expit(-m) if task.loss == "logistic" else 2 * np.maximum(0.0, 1 - m))

    def value_and_slope(v):
        m = rows @ v
        losses = np.logaddexp(0, -m) if task.loss == "logistic" else np.maximum(0.0, 1 - m) ** 2
        value = 0.5 * v @ (penalised * v) + task.C * losses.sum()
        return value, penalised * v - rows.T @ alpha_at(v)

    options = {"gtol": 1e-10, "ftol": 0.0, "maxiter": 10_000, "maxfun": 100_000}
    v = optimize.minimize(
        value_and_slope, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options=options
    ).x
    return v[:-1], v[-1], alpha_at(v)


def best_with_corners(X, y, task):
    """By the reference's projected gradient; a free intercept is searched for."""
    c = np.full(len(y), task.C)
    w, alpha = linear_svm.solve(X, y, c, loss=task.loss, intercept=task.intercept, n_iter=1500)
    if task.intercept == "penalized":
        return w, alpha @ y, alpha

    def value(b):
        return linear_svm.primal(X, y, c, w, b, loss=task.loss)

    b = optimize.minimize_scalar(value, bounds=(-10, 10), options={"xatol": 1e-12}).x
    return w, b, alpha
