"""The l1 penalty: planes that use few features, with the same proofs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import LinearSVC, ParameterError, certify
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name, regression_loss
from hedgerow.penalties import PENALTIES
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import Settings, solve
from hedgerow.solvers.linear import proximal_newton
from hedgerow.solvers.linear.l1_model import L1Model

L1 = PENALTIES["l1"]
LOSSES = ["squared_hinge", "logistic"]
INTERCEPTS = ["free", "penalized", "none"]


def few_of_many(n=120, d=600, seed=0):
    """A sparse table of many features, five of which tell the classes apart, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    scores = X[:, :5] @ [2.0, -2.0, 1.5, 1.0, -1.0] + 0.3 * rng.normal(size=n)
    return sp.csr_array(X), np.where(scores > 0, 1.0, -1.0)


def problem_of(X, y, C, loss="squared_hinge", **rest):
    return LinearProblem(
        matrix_of(X), y, np.full(len(y), C), loss_by_name(loss), penalty=L1, **rest
    )


def test_one_feature_is_a_soft_threshold():
    # 1/2 C' (t - w)^2 + |w| for three rows x = 1 and epsilon = 0: w = mean(t) - 1 / (2 C n).
    targets, C = np.array([1.0, 2.0, 6.0]), 2.0
    problem = LinearProblem(
        matrix_of(np.ones((3, 1))),
        np.ones(3),
        np.full(3, C),
        regression_loss("squared_epsilon_insensitive", 0.0),
        intercept="none",
        targets=targets,
        penalty=L1,
    )
    solution = solve(problem, Settings())
    assert_allclose(solution.w, targets.mean() - 1 / (2 * C * 3), rtol=1e-14)
    assert solution.solver == "proximal_newton"


def test_equal_columns_give_the_objective_of_one():
    X, y = few_of_many()
    X = X[:, :30].toarray()
    once = solve(problem_of(X, y, 1.0), Settings(tol=1e-10))
    twice = problem_of(np.hstack([X, X]), y, 1.0)
    solution = solve(twice, Settings(tol=1e-10))
    assert certify(twice, solution, 1e-10).is_certified
    assert_allclose(solution.history[-1][1], once.history[-1][1], rtol=1e-9)
    # Along the flattest directions a gap of 1e-10 leaves w open by its root and more.
    assert_allclose(solution.w[:30] + solution.w[30:], once.w, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_below_the_least_C_that_matters_zero_is_proven_at_once(loss, intercept):
    X, y = few_of_many()
    y[:20] = 1.0  # so that a free intercept is not 0
    rest = {"intercept": intercept, "loss": loss}
    solution = solve(problem_of(X, y, 1.0, **rest), Settings())
    zero = np.zeros(len(y))
    unit = problem_of(X, y, 1.0, **rest)
    b = unit.best_intercept(zero) if intercept == "free" else 0.0
    alpha = unit.loss.alpha_at(unit.residuals(zero + b), unit.weight)
    largest = np.abs(unit.combine(alpha)).max()
    if intercept == "penalized":
        largest = max(largest, abs(alpha @ y))
    assert np.any(solution.w)
    for C, is_zero in ((0.999 / largest, True), (1.01 / largest, False)):
        problem = problem_of(X, y, C, **rest)
        solution = solve(problem, Settings())
        assert certify(problem, solution, 1e-12).relative_gap < 1e-12 or not is_zero
        used = np.any(solution.w) or (intercept == "penalized" and solution.intercept != 0.0)
        assert used is not is_zero
        if is_zero:
            assert len(solution.history) == 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_working_sets_change_nothing_but_the_way(loss, C, monkeypatch):
    X, y = few_of_many()
    problem = problem_of(X, y, C, loss=loss)
    solution = solve(problem, Settings(tol=1e-9))
    assert certify(problem, solution, 1e-9).is_certified
    monkeypatch.setattr(proximal_newton, "SMALL", 10**6)
    at_once = solve(problem, Settings(tol=1e-9))
    assert_allclose(solution.history[-1][1], at_once.history[-1][1], rtol=2e-9)


def test_more_features_in_use_than_a_working_set_can_hold_are_solved_in_turns(monkeypatch):
    X, y = few_of_many()
    problem = problem_of(X, y, 0.1)
    monkeypatch.setattr(proximal_newton, "SMALL", 8)
    monkeypatch.setattr(proximal_newton, "LARGEST", 16)
    solution = solve(problem, Settings(tol=1e-6, max_iter=3000))
    assert certify(problem, solution, 1e-6).is_certified
    assert np.count_nonzero(solution.w) > 16


def test_dense_sparse_and_float32_are_the_same():
    X, y = few_of_many()
    X = sp.csr_array(np.round(X.toarray(), 1).astype(np.float32))
    models = [
        LinearSVC(penalty="l1", tol=1e-9).fit(rows, y)
        for rows in (X, X.astype(np.float64), X.toarray(), X.toarray().astype(np.float64))
    ]
    for model in models[1:]:
        assert_allclose(model.coef_, models[0].coef_, atol=1e-6)


def test_no_result_depends_on_the_number_of_threads():
    X, y = few_of_many()
    one, two = (LinearSVC(penalty="l1", n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.alpha_, two.alpha_)


def test_the_features_in_use_are_those_whose_bound_is_met():
    X, y = few_of_many()
    model = LinearSVC(penalty="l1", C=0.5, tol=1e-10).fit(X, y)
    v = X.T @ (model.alpha_[0] * y)
    used = model.coef_[0] != 0
    assert 0 < used.sum() < 120
    assert_allclose(v[used], np.sign(model.coef_[0][used]), atol=1e-6)
    assert np.all(np.abs(v[~used]) <= 1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_few_rounds_are_needed(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=2000) > 0, 1.0, -1.0)
    solution = solve(problem_of(X, y, 1.0, loss=loss), Settings(tol=1e-10))
    gaps = [(primal - dual) / primal for _, primal, dual in solution.history]
    assert solution.n_iter <= 10
    assert gaps[-1] < 1e-3 * gaps[-2]  # faster than any fixed factor


@pytest.mark.parametrize("solver", ["auto", "interior_point", "proximal_newton"])
def test_the_hinge_is_refused_with_the_losses_that_can(solver):
    X, y = few_of_many()
    with pytest.raises(
        ParameterError,
        match=r"no solver can take penalty='l1' with loss='hinge'; .*'squared_hinge', 'logistic'",
    ):
        LinearSVC(penalty="l1", loss="hinge", solver=solver).fit(X, y)


def test_other_solvers_name_the_one_that_can():
    X, y = few_of_many()
    with pytest.raises(
        ParameterError, match=r"'newton' cannot take penalty='l1' .* can are 'proximal_newton'"
    ):
        LinearSVC(penalty="l1", solver="newton").fit(X, y)
    with pytest.raises(ParameterError, match=r"'proximal_newton' cannot take penalty='l2'"):
        LinearSVC(solver="proximal_newton").fit(X, y)


@pytest.mark.parametrize("rank", [3, 8, 40])
def test_the_model_is_minimised_also_where_it_is_singular(rank):
    rng = np.random.default_rng(rank)
    root = rng.normal(size=(rank, 30))
    hessian, slope = root.T @ root, root.T @ rng.normal(size=rank) * 5
    price = np.ones(30)
    price[-1] = 0.0
    model = L1Model(hessian, price, np.zeros(30), slope)
    for _ in range(20):  # each brings what is left of the violation to a hundredth
        model = L1Model(hessian, price, model.minimise(1), model.slope)
    gradient = slope + hessian @ model.point
    assert_allclose(gradient, model.slope, atol=1e-10)
    used = model.point != 0
    assert_allclose(gradient[used], (-price * np.sign(model.point))[used], atol=1e-10)
    assert np.all(np.abs(gradient[~used]) <= price[~used] + 1e-10)
