"""Newton's method in all its forms, and the augmented Lagrangian, reach the exact optimum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import LinearProblem, Settings, certify, solve
from hedgerow.data.rows import matrix_of
from hedgerow.errors import ParameterError
from hedgerow.losses import REGRESSION_LOSSES, loss_by_name, regression_loss
from hedgerow.solvers.linear.smooth_objective import ChangingSum

FORMS = [
    {"system": "exact"},
    {"system": "direct"},
    {"system": "truncated"},
    {"system": "truncated", "preconditioner": "none"},
    {"step": "trust_region"},
    {"step": "trust_region", "preconditioner": "none"},
]
SMOOTH = ["squared_hinge", "logistic", "squared_epsilon_insensitive"]
KINKED = ["hinge", "epsilon_insensitive"]


def make(loss, intercept, *, sparse=False, n=300, d=12, C=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 1, d)
    X[:, -1] = (rng.random(n) < 0.05) * 1.0
    numbers = X @ rng.normal(size=d) + 3.0 * rng.normal(size=n) + 1.0
    weight = C * rng.integers(0, 4, size=n)
    rows = matrix_of(sp.csr_array(X) if sparse else X)
    if loss in REGRESSION_LOSSES:
        made, y, rest = regression_loss(loss, 0.5), np.ones(n), {"targets": numbers}
    else:
        made, y, rest = loss_by_name(loss), np.where(numbers > 0, 1.0, -1.0), {}
    return LinearProblem(rows, y, weight, made, intercept, 2.0, n_threads=2, **rest)


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_of_newton_is_certified_to_1e_9(form, loss, intercept):
    for problem in (make(loss, intercept), make(loss, intercept, sparse=True, C=100.0)):
        solution = solve(problem, Settings(tol=1e-9, max_iter=3000, options=form), "newton")
        certificate = certify(problem, solution, 1e-9)
        assert certificate.is_certified, str(certificate)


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_augmented_lagrangian_is_certified_to_1e_8(loss, intercept, C):
    for sparse in (False, True):
        problem = make(loss, intercept, sparse=sparse, C=C)
        solution = solve(problem, Settings(tol=1e-8), "augmented_lagrangian")
        certificate = certify(problem, solution, 1e-8)
        assert certificate.is_certified, str(certificate)


def test_rounds_are_few():
    problem = make("logistic", "free", n=2000)
    for form in FORMS[:3]:
        assert solve(problem, Settings(tol=1e-6, options=form), "newton").n_iter <= 15
    problem = make("hinge", "free", n=2000)
    assert solve(problem, Settings(tol=1e-6), "augmented_lagrangian").n_iter <= 80


def test_an_option_that_does_not_exist_names_those_that_do():
    problem = make("logistic", "free")
    with pytest.raises(
        ParameterError, match="no option 'sytem'; its options are: 'system', 'step'"
    ):
        solve(problem, Settings(options={"sytem": "direct"}), "newton")
    with pytest.raises(ParameterError, match="system='fast' of solver='newton' must be"):
        solve(problem, Settings(options={"system": "fast"}), "newton")
    with pytest.raises(ParameterError, match="'auto' has no options"):
        solve(problem, Settings(options={"system": "direct"}))


def test_a_solver_that_cannot_take_a_loss_names_those_that_can():
    with pytest.raises(ParameterError, match=r"cannot minimise loss='hinge'.*'interior_point'"):
        solve(make("hinge", "free"), Settings(), "newton")


def test_a_sum_by_what_changed_is_that_computed_anew():
    rng = np.random.default_rng(5)
    X, v, known, asked_for = rng.normal(size=(200, 6)), rng.random(200), ChangingSum(), []

    def gram(v):
        asked_for.append(np.count_nonzero(v))
        return X.T @ (v[:, None] * X)

    for n_changed in (200, 3, 0, 150, 1):
        rows = rng.permutation(200)[:n_changed]
        v[rows] = np.where(rng.random(n_changed) < 0.5, 0.0, rng.random(n_changed))
        found = known.at(v, gram)
        np.testing.assert_allclose(found, X.T @ (v[:, None] * X), atol=1e-11)
        assert asked_for[-1] <= min(max(n_changed, 1), np.count_nonzero(v))
        found[:] = np.nan  # what is kept is no view of what is given
