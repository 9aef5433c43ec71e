"""What "auto" tries first depends on the shape of the data, on C and on the loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from hedgerow import LinearProblem, LinearSVC, Settings, certify, solve
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name
from hedgerow.penalties import L1
from hedgerow.solvers import SOLVERS
from hedgerow.solvers.choose import plan

RNG = np.random.default_rng(0)
SMALL = RNG.normal(size=(100, 5))
MANY_ROWS = RNG.normal(size=(60_000, 12))
TEXT = normalize(sp.random_array((2000, 50_000), density=1e-3, format="csr", rng=RNG))
PICTURES = RNG.random((3000, 700))


def make(X, loss, C=1.0, **rest):
    y = np.where(np.arange(X.shape[0]) % 3 == 0, 1.0, -1.0)
    return LinearProblem(matrix_of(X), y, np.full(len(y), C), loss_by_name(loss), **rest)


@pytest.mark.parametrize(
    ("X", "loss", "C", "first"),
    [
        (SMALL, "hinge", 1.0, "interior_point"),
        (SMALL, "logistic", 1.0, "newton"),
        (MANY_ROWS, "hinge", 1.0, "augmented_lagrangian"),
        (MANY_ROWS, "squared_hinge", 1.0, "newton"),
        (MANY_ROWS, "logistic", 1.0, "newton"),
        (TEXT, "hinge", 1.0, "dual_coordinate_descent"),
        (TEXT, "logistic", 1.0, "dual_coordinate_descent"),
        (TEXT, "squared_hinge", 1000.0, "dual_coordinate_descent"),
        (PICTURES, "hinge", 0.01, "dual_coordinate_descent"),
        (PICTURES, "squared_hinge", 0.01, "dual_coordinate_descent"),
        (PICTURES, "squared_hinge", 100.0, "newton"),
    ],
)
def test_the_first_choice_follows_shape_loss_and_weight(X, loss, C, first):
    assert plan(make(X, loss, C))[0] == first


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("X", [SMALL, MANY_ROWS, TEXT, PICTURES], ids=lambda X: str(X.shape))
def test_every_solver_of_a_plan_is_exact_and_can_take_the_problem(X, loss):
    problem = make(X, loss)
    solvers = plan(problem)
    assert len(set(solvers)) == len(solvers)
    for name in solvers:
        assert SOLVERS[name].is_exact
        assert SOLVERS[name].what_it_lacks(problem) is None


def test_the_l1_penalty_has_a_solver_of_its_own():
    assert plan(make(SMALL, "logistic", penalty=L1())) == ["proximal_newton"]


def test_many_rows_are_solved_from_a_sample_to_the_same_optimum():
    for loss in ("hinge", "squared_hinge", "logistic"):
        problem = make(MANY_ROWS + (np.arange(60_000) % 3 == 0)[:, None], loss, n_threads=2)
        (name, *_) = plan(problem)
        solution = solve(problem, Settings(tol=1e-9), name)
        assert certify(problem, solution, 1e-9).is_certified
        assert solution.n_iter <= 60


def test_the_seed_of_the_sample_does_not_change_the_optimum():
    y = np.arange(60_000) % 3 == 0
    X = MANY_ROWS + y[:, None]
    first, second = (
        LinearSVC(loss="logistic", tol=1e-10, random_state=seed).fit(X, y).coef_ for seed in (0, 1)
    )
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(first, second, rtol=1e-3)
