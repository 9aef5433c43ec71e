"""A certificate is computed from the data, and believes no solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow import Certificate, LinearProblem, Settings, certify, solve
from hedgerow.data.rows import matrix_of
from hedgerow.losses import LOSSES
from hedgerow.problems.certificates import worst
from tests.reference import linear_svm

CASES = [
    (loss, intercept)
    for loss in ("hinge", "squared_hinge")
    for intercept in ("free", "penalized", "none")
]


def make(loss, intercept, n=40, d=5, seed=0, scaling=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    c = rng.uniform(0.1, 3.0, size=n)
    problem = LinearProblem(matrix_of(X), y, c, LOSSES[loss], intercept, scaling)
    return X, y, c, problem


@pytest.mark.parametrize(("loss", "intercept"), CASES)
def test_primal_and_dual_are_those_of_the_reference(loss, intercept):
    X, y, c, problem = make(loss, intercept)
    solution = solve(problem, Settings())
    certificate = certify(problem, solution, 1e-4)
    kind = {"loss": loss, "intercept": intercept, "scaling": 2.0}
    w, b, alpha = solution.w, solution.intercept, problem.feasible(solution.alpha)
    assert_allclose(certificate.primal, linear_svm.primal(X, y, c, w, b, **kind), rtol=1e-12)
    assert_allclose(certificate.dual, linear_svm.dual(X, y, c, alpha, **kind), rtol=1e-12)
    assert certificate.is_certified
    assert certificate.kkt_violation < 1e-6


@pytest.mark.parametrize(("loss", "intercept"), CASES)
def test_the_objective_is_the_one_the_reference_finds(loss, intercept):
    X, y, c, problem = make(loss, intercept, seed=1)
    certificate = certify(problem, solve(problem, Settings()), 1e-4)
    kind = {"loss": loss, "intercept": intercept, "scaling": 2.0}
    _, alpha = linear_svm.solve(X, y, c, **kind)
    assert_allclose(certificate.primal, linear_svm.dual(X, y, c, alpha, **kind), rtol=1e-7)


@pytest.mark.parametrize(("loss", "intercept"), CASES)
def test_a_perturbed_solution_is_not_certified(loss, intercept):
    _, _, _, problem = make(loss, intercept)
    solution = solve(problem, Settings())
    rng = np.random.default_rng(0)
    moved_w = replace(solution, w=solution.w + 0.1 * rng.normal(size=5))
    moved_b = replace(solution, intercept=solution.intercept + 0.3)
    moved_alpha = replace(solution, alpha=solution.alpha * rng.uniform(0.5, 1.5, 40))
    for wrong in (moved_w, moved_b, moved_alpha):
        certificate = certify(problem, wrong, 1e-4)
        assert certificate.relative_gap > 1e-4
        assert not certificate.is_certified


@pytest.mark.parametrize(("loss", "intercept"), CASES)
def test_no_alpha_whatsoever_gives_a_bound_above_the_optimum(loss, intercept):
    _, _, _, problem = make(loss, intercept)
    optimum = certify(problem, solve(problem, Settings()), 1e-4).primal
    solution = solve(problem, Settings())
    rng = np.random.default_rng(0)
    nonsense = [rng.normal(size=40) * 10.0**k for k in range(-3, 4)]
    nonsense += [np.full(40, np.nan), np.full(40, np.inf), np.full(40, -1.0), np.zeros(40)]
    for alpha in nonsense:
        certificate = certify(problem, replace(solution, alpha=alpha), 1e-4)
        assert certificate.dual <= optimum * (1 + 1e-12)
        assert not certificate.is_certified


def test_a_solution_that_is_not_finite_is_not_certified():
    _, _, _, problem = make("hinge", "free")
    solution = replace(solve(problem, Settings()), w=np.full(5, np.nan))
    certificate = certify(problem, solution, 1e-4)
    assert not certificate.is_certified
    assert "not finite" in str(certificate)


def test_a_primal_below_the_dual_is_no_proof():
    assert not Certificate(1.0, 1.1, 0.0, "relative_gap", 1e-4, "optimal").is_certified


def one_class(X, nu=0.3):
    n = len(X)
    return LinearProblem(
        matrix_of(X),
        np.ones(n),
        np.full(n, 1 / (nu * n)),
        LOSSES["hinge"],
        targets=np.zeros(n),
        pull=1.0,
    )


def test_where_the_optimum_is_zero_the_gap_is_held_against_a_stated_scale():
    X = np.random.default_rng(0).normal(size=(50, 3))
    problem = one_class(X - X.mean(axis=0))
    certificate = certify(problem, solve(problem, Settings()), 1e-4)
    longest = max(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert_allclose(certificate.least_scale, 5e-13 * longest, rtol=1e-12)
    assert max(abs(certificate.primal), abs(certificate.dual)) < certificate.least_scale
    assert certificate.is_certified
    # Without the scale, rounding would be all there is to compare.
    bare = replace(certificate, least_scale=0.0)
    assert bare.relative_gap >= 0.5 or bare.gap == 0.0


def test_the_stated_scale_does_not_hide_a_gap():
    X = np.random.default_rng(0).normal(size=(50, 3))
    problem = one_class(X - X.mean(axis=0))
    solution = solve(problem, Settings())
    tilted = replace(solution, w=np.full(3, 1e-4))
    assert not certify(problem, tilted, 1e-4).is_certified
    uneven = replace(solution, alpha=np.where(X[:, 0] > 0, 1.0, 0.0))
    assert not certify(problem, uneven, 1e-4).is_certified


def test_the_scale_is_zero_where_there_is_no_pull():
    _, _, _, problem = make("hinge", "free")
    assert problem.least_scale == 0.0
    assert Certificate(0.0, 0.0, 0.0, "relative_gap", 1e-4, "optimal").relative_gap == 0.0


def test_it_reads_as_one_paragraph():
    good = Certificate(12.5, 12.4999, 2e-5, "relative_gap", 1e-4, "optimal")
    assert str(good) == (
        "Certified: the objective is 12.5, and no solution can go below 12.4999, so this one is the "
        "best there is to within 0.0008 % (asked for: 0.01 %); the largest KKT violation is "
        "2.0e-05, in units of the score."
    )
    exact = Certificate(12.5, 12.5, 0.0, "relative_gap", 1e-4, "optimal")
    assert "the best there is up to rounding" in str(exact)
    bad = Certificate(12.5, 11.0, 0.7, "relative_gap", 1e-4, "max_iter")
    assert str(bad).startswith("Not certified: the objective is 12.5")
    assert "12 %" in str(bad)
    assert "'max_iter'" in str(bad)
    assert "\n" not in str(good) + str(bad)


def test_the_criterion_chooses_the_figures():
    figures = {"primal": 1.0, "dual": 0.9995, "status": "optimal", "tolerance": 1e-3}
    gap, violation = {"criterion": "relative_gap"}, {"criterion": "kkt_violation"}
    assert Certificate(**figures, **gap, kkt_violation=1.0).is_certified
    assert not Certificate(**figures, **violation, kkt_violation=2e-3).is_certified
    assert Certificate(**figures, **violation, kkt_violation=1e-3).is_certified


def test_a_small_violation_with_a_large_gap_is_not_certified():
    figures = {"primal": 1.0, "kkt_violation": 1e-9, "status": "optimal"}
    kernel = {**figures, "criterion": "kkt_violation"}
    assert not Certificate(**kernel, dual=0.998, tolerance=1e-3).is_certified
    assert not Certificate(**kernel, dual=0.998, tolerance=1e-6).is_certified
    assert Certificate(**kernel, dual=0.9991, tolerance=1e-6).is_certified
    assert Certificate(**kernel, dual=0.98, tolerance=0.05).is_certified  # max(1e-3, tol)


def test_rounding_that_exceeds_the_tolerance_is_a_reason_to_decline():
    fine = Certificate(1.0, 1.0, 1e-6, "kkt_violation", 1e-3, "optimal", gap_error=1e-5)
    assert fine.is_certified
    of_gap = replace(fine, gap_error=2e-3)
    of_violation = replace(fine, violation_error=2e-3)
    for doubtful in (of_gap, of_violation):
        assert not doubtful.is_certified
        assert "rounding alone" in str(doubtful)
    assert "rounding" not in str(replace(fine, kkt_violation=1.0))


def test_the_worst_of_several_binary_problems_is_named():
    good = Certificate(1.0, 1.0, 1e-6, "kkt_violation", 1e-3, "optimal", subject="a and b")
    bad = replace(good, kkt_violation=1e-4, subject="b and c")
    assert str(worst((good,))).startswith("Certified: ")
    unnamed = (replace(bad, subject=""), replace(good, subject=""))
    assert worst(unnamed).subject == "the worst of 2 binary problems: certificates_[0]"
    assert str(worst((good, bad))).startswith(
        "Certified (the worst of 2 binary problems: b and c): the objective"
    )


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_the_kkt_violation_is_the_distance_from_optimality_of_alpha_zero(intercept):
    _, _, _, problem = make("hinge", intercept)
    solution = replace(solve(problem, Settings()), alpha=np.zeros(40))
    # At alpha = 0 every margin is 0 where 1 is wanted; a free b can mend one class only.
    expected = 2.0 if intercept == "free" else 1.0
    assert certify(problem, solution, 1e-4).kkt_violation == expected
