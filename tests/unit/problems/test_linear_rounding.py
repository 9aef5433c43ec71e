"""Certificates of linear machines know how far rounding has put their figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import LinearOneClassSVM, LinearSVC
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name, regression_loss
from hedgerow.penalties import L1
from hedgerow.problems import linear_rounding as rounding_module
from hedgerow.problems.base import Solution, extended
from hedgerow.problems.certificates import certify
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.linear_rounding import quick_rounding
from hedgerow.solvers import Settings, solve
from hedgerow.solvers.streamed.certificate import StreamedCertificate

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3))
SIGNS = np.where(ROWS[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1.0, -1.0)
LOSSES = {
    "hinge": {"loss": loss_by_name("hinge")},
    "squared_hinge": {"loss": loss_by_name("squared_hinge")},
    "logistic": {"loss": loss_by_name("logistic")},
    "l1": {"loss": loss_by_name("squared_hinge"), "penalty": L1()},
    "tube": {"loss": regression_loss("epsilon_insensitive", 0.1), "targets": ROWS[:, 1] - 0.3},
}


def problem_of(name, rows=ROWS, container=np.asarray, **parts):
    signs = np.ones(60) if name == "tube" else SIGNS
    parts = {"weight": np.full(60, 0.7), "intercept": "free"} | LOSSES[name] | parts
    return LinearProblem(matrix=matrix_of(container(rows)), y=signs, **parts)


def figures(problem, solution):
    """The figures of a solution in the precision of the problem, and their bounds."""
    alpha = problem.feasible(solution.alpha)
    v, scores = problem.combine(alpha), problem.scores(solution.w, solution.intercept)
    primal = problem.objective(solution.w, solution.intercept, scores)
    dual = problem.dual_objective(alpha, v)
    return primal, dual, problem.rounding(solution, scores, alpha, v)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", LOSSES)
def test_figures_are_within_their_bounds_of_those_in_extended_precision(
    name, scale, shift, intercept, container
):
    problem = problem_of(name, scale * (ROWS + shift), container, intercept=intercept)
    solution = solve(problem, Settings(1e-6, 1000, 0, {}))
    primal, dual, rounding = figures(problem, solution)
    exactly = replace(solution, w=extended(solution.w), alpha=extended(solution.alpha))
    true_primal, true_dual, smaller = figures(replace(problem, is_precise=True), exactly)
    assert abs(primal - true_primal) <= rounding.primal
    assert abs(dual - true_dual) <= rounding.dual
    assert smaller.gap <= rounding.gap
    assert rounding.gap <= 1e-6 * abs(primal) * (1.0 + shift) ** 2
    alpha = problem.feasible(solution.alpha)
    given = problem.scores(solution.w, solution.intercept), alpha, problem.combine(alpha)
    quick = quick_rounding(problem, solution, *given, objectives=(primal, dual))
    if name == "l1":
        assert quick is None
        return
    assert rounding.primal <= 1.01 * quick.primal
    assert rounding.dual <= 1.01 * quick.dual
    assert rounding.violation <= 1.01 * quick.violation
    if scale == 1.0:
        assert quick.gap <= 1e-6 * abs(primal) * (1.0 + shift) ** 2


def test_a_hard_margin_that_rounding_may_have_made_is_no_proof():
    rows = np.array([[1e8 + 1.0], [1e8 + 1.0 + 2.0**-24]])
    problem = HardMarginProblem(
        matrix=matrix_of(rows), y=np.array([-1.0, 1.0]), weight=np.ones(2), intercept="free"
    )
    w = np.array([2.0**25])
    solution = Solution(w, -float(w[0] * (1e8 + 1.0)) - 1.0, np.full(2, 2.0**49), "optimal", 1, "")
    scores = problem.scores(w, solution.intercept)
    coarse = problem.rounding(solution, scores, solution.alpha, w)
    assert coarse.primal == np.inf


def test_small_tables_are_proven_in_extended_precision_and_large_ones_say_what_is_missing(
    monkeypatch,
):
    rows = ROWS + 1e6  # the objective is 1e-13 of the terms of its scores
    targets = rows @ [1.0, -2.0, 1.0]
    loss = regression_loss("squared_epsilon_insensitive", 0.0)
    problem = problem_of("tube", rows, weight=np.full(60, 1e9), loss=loss, targets=targets)
    solution = solve(problem, Settings(1e-4, 1000, 0, {}))
    unmet = certify(problem, solution, 1e-12)
    rounding = unmet.gap_error / unmet.primal
    tolerance = unmet.relative_gap + 2.0 * rounding
    assert certify(problem, solution, tolerance).is_certified
    monkeypatch.setattr(rounding_module, "PRECISE_ENTRIES", 179)
    coarse = certify(problem, solution, tolerance)
    assert not coarse.is_certified
    assert coarse.gap_error > 100.0 * unmet.gap_error
    assert "rounding alone may have changed the objective" in str(coarse)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "l1"])
def test_rows_in_blocks_have_the_bounds_of_all_rows_together(name):
    problem = problem_of(name)
    solution = solve(problem, Settings(1e-6, 1000, 0, {}))
    whole = certify(problem, solution, 1e-4)
    proof = StreamedCertificate(solution.w, solution.intercept)
    alpha = problem.feasible(solution.alpha)
    for rows in (slice(0, 25), slice(25, 60)):
        targets = None if problem.targets is None else problem.targets[rows]
        part = replace(
            problem,
            matrix=matrix_of(ROWS[rows]),
            y=problem.y[rows],
            weight=problem.weight[rows],
            targets=targets,
        )
        proof.add(part, alpha[rows])
    streamed = proof.finish("optimal", 1e-4)
    assert streamed.gap_error == pytest.approx(whole.gap_error, rel=1e-6)
    assert streamed.violation_error == pytest.approx(whole.violation_error, rel=1e-6)
    assert 0.0 < whole.gap_error < 1e-9


def test_all_classes_and_one_class_have_bounds_too():
    labels = np.digitize(ROWS[:, 0], [-0.5, 0.5])
    classes = LinearSVC(multi_class="crammer_singer", loss="hinge").fit(ROWS, labels)
    inliers = LinearOneClassSVM(nu=0.3).fit(ROWS + 3.0)
    for certificate in (classes.certificate_, inliers.certificate_):
        assert certificate.is_certified
        assert 0.0 < certificate.gap_error < 1e-9 * abs(certificate.primal)
