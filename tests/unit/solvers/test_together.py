"""Problems over the same rows that share passes end where each ends alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import hedgerow
from hedgerow import LinearProblem, LinearSVC, LinearSVCCV, Settings, certify, solve
from hedgerow.data.rows import MANY_COLUMNS, array_of, by_use, matrix_of
from hedgerow.linear import _machine
from hedgerow.losses import loss_by_name
from hedgerow.solvers.linear import joint_descent
from hedgerow.solvers.path import solve_path, solve_paths
from hedgerow.solvers.together import in_groups, is_swept, solve_together

SWEEPS = "dual_coordinate_descent"
LOSSES = ["hinge", "squared_hinge", "logistic"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16.0, y[:500]


def planes(digits, loss, intercept="penalized", C=0.5, n_threads=1):
    X, y = digits
    matrix, weight = matrix_of(sp.csr_matrix(X)), np.full(len(y), C)
    common = {"loss": loss_by_name(loss), "intercept": intercept, "n_threads": n_threads}
    return [
        LinearProblem(matrix=matrix, y=np.where(y == k, 1.0, -1.0), weight=weight, **common)
        for k in range(7)
    ]


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_problem_of_a_group_is_certified_at_the_objective_it_has_alone(
    digits, loss, intercept
):
    settings = Settings(tol=1e-6, max_iter=20_000)
    problems = planes(digits, loss, intercept)
    assert is_swept(problems, settings, SWEEPS)
    for problem, solution in zip(problems, solve_together(problems, settings, SWEEPS), strict=True):
        proof = certify(problem, solution, 1e-6)
        alone = certify(problem, solve(problem, settings, SWEEPS), 1e-6)
        assert proof.is_certified
        assert proof.primal == pytest.approx(alone.primal, rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_shared_passes_alone_solve_problems_for_which_they_stay_worth_it(digits, loss, monkeypatch):
    monkeypatch.setattr(joint_descent, "WORTH_IT", 0.0)
    problems = planes(digits, loss)
    found = solve_together(problems, Settings(tol=1e-5, max_iter=20_000), SWEEPS)
    assert all(certify(p, s, 1e-5).is_certified for p, s in zip(problems, found, strict=True))


def test_what_is_left_is_gone_on_with_from_where_shared_passes_ended(digits, monkeypatch):
    problems = planes(digits, "hinge")
    settings = Settings(tol=1e-7, max_iter=20_000)
    monkeypatch.setattr(joint_descent, "WORTH_IT", np.inf)  # one burst, and each alone
    for problem, solution in zip(problems, solve_together(problems, settings, SWEEPS), strict=True):
        steps = [n for n, _, _ in solution.history]
        assert len(steps) > 1
        assert steps == sorted(steps)
        duals = [dual for _, _, dual in solution.history]
        assert duals == sorted(duals)
        assert certify(problem, solution, 1e-7).is_certified


@pytest.mark.parametrize("n_iter", [1, 3])
def test_no_more_sweeps_are_made_than_are_allowed(digits, n_iter):
    found = solve_together(planes(digits, "hinge"), Settings(tol=1e-12, max_iter=n_iter), SWEEPS)
    assert all(s.n_iter <= n_iter and s.status == "max_iter" for s in found)


def test_problems_that_differ_in_more_than_labels_and_weights_share_nothing(digits):
    first, second, *_ = planes(digits, "hinge")
    settings = Settings()
    others = [
        replace(second, matrix=matrix_of(array_of(second.matrix))),
        replace(second, loss=loss_by_name("squared_hinge")),
        replace(second, intercept="free"),
        replace(second, intercept_scaling=2.0),
        replace(second, targets=np.zeros(len(second.y))),
    ]
    assert is_swept([first, second], settings, SWEEPS)
    assert not any(is_swept([first, other], settings, SWEEPS) for other in others)
    assert not is_swept([first, second], settings, "interior_point")
    cyclic = replace(settings, options={"order": "cyclic"})
    assert not is_swept([first, second], cyclic, SWEEPS)


def test_groups_are_small_about_equal_and_in_order():
    for n in range(1, 60):
        groups = in_groups(range(n), multiple_of=2)
        sizes = [len(group) for group in groups]
        assert [k for group in groups for k in group] == list(range(n))
        assert max(sizes) <= 8
        assert max(sizes) - min(sizes) <= 1
        assert len(groups) % 2 == 0 or n == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_paths_that_are_followed_together_are_those_of_each(digits, loss):
    settings, Cs = Settings(tol=1e-6, max_iter=20_000), [0.01, 0.1, 1.0]
    problems = planes(digits, loss, C=1.0)[:4]
    together = list(solve_paths(problems, Cs, settings, SWEEPS))
    for k, problem in enumerate(problems):
        alone = solve_path(problem, Cs, settings, SWEEPS)
        for solved, (at_C, solution) in zip(together, alone, strict=True):
            ours, peer = certify(*solved[k], 1e-6), certify(at_C, solution, 1e-6)
            assert ours.is_certified
            assert ours.primal == pytest.approx(peer.primal, rel=2e-6)


# ----------------------------------------------------------------------------------- estimators


@pytest.fixture(scope="module")
def words():
    """Return wide, sparse rows of five classes, most values in few columns."""
    rng = np.random.default_rng(7)
    n, d = 300, MANY_COLUMNS + 1000
    y = rng.integers(0, 5, n)
    columns = (d * rng.random((n, 30)) ** 4).astype(int)
    columns[:, :4] = 40 * y[:, None] + rng.integers(0, 40, (n, 4))
    rows = np.repeat(np.arange(n), 30)
    X = sp.coo_matrix((rng.random(n * 30) + 0.1, (rows, columns.ravel())), (n, d)).tocsr()
    return X[:, rng.permutation(d)], y


@pytest.mark.parametrize("loss", LOSSES)
def test_classes_that_share_passes_have_the_planes_that_each_has_alone(words, loss, monkeypatch):
    X, y = words
    machine = LinearSVC(loss=loss, solver=SWEEPS, tol=1e-8, max_iter=20_000)
    model = machine.fit(X, y)
    assert model.certificate_.is_certified
    monkeypatch.setattr(_machine, "FEWEST_TOGETHER", 100)
    alone = hedgerow.LinearSVC(**machine.get_params()).fit(X, y)
    assert model.n_iter_ != alone.n_iter_ or not np.array_equal(model.coef_, alone.coef_)
    # |w - w*|^2 is at most twice the gap, 1e-8 of an objective below 300, for either solution.
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=5e-3)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)


def test_threads_change_no_bits_of_classes_that_share_passes(words):
    one, two = (
        LinearSVC(loss="hinge", solver=SWEEPS, n_jobs=n, random_state=3).fit(*words) for n in (1, 2)
    )
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.alpha_, two.alpha_)


def test_stopped_classes_that_share_passes_have_an_honest_certificate(words):
    model = LinearSVC(loss="hinge", solver=SWEEPS, tol=1e-12)
    model.set_callbacks(lambda event: event.done > 1).fit(*words)
    assert model.status_ == model.certificate_.status == "stopped"
    assert 0 <= model.certificate_.dual < model.certificate_.primal


def test_folds_that_share_passes_choose_what_they_choose_alone(words, monkeypatch):
    X, y = words
    machine = LinearSVCCV(Cs=[0.01, 0.1, 1.0], cv=4, solver=SWEEPS, path_tol=1e-6)
    shared = machine.fit(X, y)
    monkeypatch.setattr("hedgerow.linear._c_path.is_swept", lambda *_: False)
    monkeypatch.setattr(_machine, "FEWEST_TOGETHER", 100)
    alone = LinearSVCCV(**machine.get_params()).fit(X, y)
    assert shared.C_ == alone.C_
    np.testing.assert_allclose(shared.scores_, alone.scores_, atol=0.02)
    assert np.max(shared.gaps_) <= 1e-6


# -------------------------------------------------------------------------------------- columns


def test_columns_that_are_used_most_come_first_and_values_stay_with_them(words):
    X, _ = words
    matrix, places = by_use(matrix_of(X))
    moved = sp.csr_matrix(array_of(matrix))
    assert np.all(np.diff(np.bincount(moved.indices, minlength=X.shape[1])) <= 0)
    assert moved.has_sorted_indices
    assert (moved[:, places] != X).nnz == 0
    w = np.random.default_rng(0).normal(size=X.shape[1])
    np.testing.assert_allclose(moved @ w, X @ w[places], rtol=1e-12)


def test_narrow_or_dense_rows_stay_as_they_are():
    for rows in (np.eye(3), sp.eye(50, format="csr")):
        matrix = matrix_of(rows)
        assert by_use(matrix) == (matrix, None)
