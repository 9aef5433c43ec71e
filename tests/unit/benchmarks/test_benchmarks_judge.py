"""The benchmarks' judge of linear machines: objective, bound, gap and accuracy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from benchmarks.objectives import LinearTask, accuracy, dual, primal, relative_gap
from hedgerow import LinearSVC
from tests.unit.benchmarks.benchmark_data import (
    DATA,
    INTERCEPTS,
    LOSSES,
    C,
    best,
    dense,
    signs_of_each_problem,
)

pytestmark = pytest.mark.long

LOSS_OF_A_MARGIN = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "logistic": lambda m: math.log1p(math.exp(-m)),
}

each_loss = pytest.mark.parametrize("loss", LOSSES)
each_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
each_data = pytest.mark.parametrize("name", DATA)


def objective_row_by_row(task, data, coef, intercept):
    value = 0.0
    for w, b, signs in zip(coef, intercept, signs_of_each_problem(data), strict=True):
        value += w @ w / 2 + (b * b / 2 if task.intercept == "penalized" else 0)
        for x, sign in zip(dense(data), signs, strict=True):
            value += task.C * LOSS_OF_A_MARGIN[task.loss](sign * (x @ w + b))
    return value


@each_data
@each_intercept
@each_loss
def test_the_objective_is_that_of_the_formula_row_by_row(loss, intercept, name):
    data, task = DATA[name], LinearTask(loss, C, intercept)
    random = np.random.default_rng(2)
    n_problems = len(signs_of_each_problem(data))
    coef, b = random.normal(size=(n_problems, data.X.shape[1])), random.normal(size=n_problems)
    expected = objective_row_by_row(task, data, coef, b)
    # Float64 sums of at most 900 terms in another order differ by rounding alone.
    assert primal(task, data.X, data.y, coef, b) == pytest.approx(expected, rel=1e-12)


def test_the_logistic_loss_of_far_margins_is_neither_infinite_nor_lost():
    X, y = np.array([[1000.0], [-1000.0], [0.0]]), np.array([1, -1, 1])
    task = LinearTask("logistic", 1.0)
    for w, far in ((1.0, 0.0), (-1.0, 2000.0)):
        value = primal(task, X, y, np.array([[w]]), np.zeros(1))
        assert value == pytest.approx(0.5 + far + math.log(2), rel=1e-15)


@each_data
@each_intercept
@each_loss
def test_at_the_optimum_the_bound_meets_the_objective(loss, intercept, name):
    data, task = DATA[name], LinearTask(loss, C, intercept)
    coef, b, alpha = best(task, name)
    objective = primal(task, data.X, data.y, coef, b)
    gap = relative_gap(objective, dual(task, data.X, data.y, alpha))
    # As near as the slow solvers come: the hinge's has corners, the others' error is rounding.
    assert -1e-13 < gap < (1e-4 if loss == "hinge" else 1e-9)


@each_data
@each_intercept
@each_loss
def test_no_dual_value_exceeds_an_objective_whatever_alpha_is(loss, intercept, name):
    data, task = DATA[name], LinearTask(loss, C, intercept)
    coef, b, alpha = best(task, name)
    objective = primal(task, data.X, data.y, coef, b)
    spoiled = np.full_like(alpha, np.nan)
    spoiled[:, :2] = np.inf, -np.inf
    for wrong in (best_outside_the_box(data, C=C), best_outside_the_box(data, C=100 * C), spoiled):
        assert dual(task, data.X, data.y, wrong) <= objective
    lopsided = np.where(np.array(signs_of_each_problem(data)) > 0, alpha, 0.5 * alpha)
    for wrong in (2 * alpha, lopsided):
        assert dual(task, data.X, data.y, wrong) < objective


def best_outside_the_box(data, C):
    """The alpha of least squares: without the bounds on alpha, its dual value is too high."""
    X = np.hstack([dense(data), np.ones((len(data.y), 1))])
    planes = []
    for signs in signs_of_each_problem(data):
        signed = X * signs[:, None]
        ridge = signed @ signed.T + np.eye(len(data.y)) / (2 * C)
        planes.append(np.linalg.solve(ridge, np.ones(len(data.y))))
    return np.array(planes)


@pytest.mark.parametrize("share", [0.0, 1e-300, 1e-17, 0.3, 1 - 2.0**-53, 1.0])
def test_the_logistic_dual_keeps_its_digits_up_to_the_bounds(share):
    X, y = np.zeros((2, 1)), np.array([1, -1])
    value = dual(LinearTask("logistic", 2.0, "free"), X, y, np.array([[2 * share, 2 * share]]))
    assert value == pytest.approx(2 * 2.0 * entropy(share), rel=1e-14)


def entropy(share):
    """-t log t - (1 - t) log(1 - t) in 400 digits."""
    with localcontext(prec=400):
        parts = Decimal(share), 1 - Decimal(share)
        return float(-sum(part * part.ln() for part in parts if part > 0))


@each_data
@each_loss
def test_the_bound_from_alpha_is_that_of_the_certificates(loss, name):
    data, task = DATA[name], LinearTask(loss, C)
    model = LinearSVC(loss=loss, C=C, intercept="penalized", tol=1e-6).fit(data.X, data.y)
    claimed = sum(certificate.dual for certificate in model.certificates_)
    assert dual(task, data.X, data.y, model.alpha_) == pytest.approx(claimed, rel=1e-12)


def test_the_gap_is_relative_to_the_larger_value():
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(0.0, 0.0) == 0.0


def test_accuracy_counts_the_labels_that_are_predicted():
    X, y = np.array([[1.0], [-1.0], [2.0], [-3.0]]), np.array([1, -1, -1, -1])
    assert accuracy(X, y, np.array([[1.0]]), np.array([0.0])) == 0.75
