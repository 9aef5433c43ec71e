"""The solver of kernel machines: how it grows, what it spends, and how it ends."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hedgerow import _core
from hedgerow.data.rows import matrix_of
from hedgerow.errors import NotSeparableError, ParameterError
from hedgerow.kernels.gram import FunctionGram, MatrixGram, SignedGram
from hedgerow.monitor import monitored, watch
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp import decomposition
from hedgerow.solvers.dual_qp.decomposition import bytes_needed, decompose
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves

MEGABYTE = 1 << 20


def problem_of(n=1500, C=5.0, seed=0, **options):
    X, y = blobs(n, seed)
    return CSvcProblem(gram_of(X), y, np.full(n, C), **options)


def fitted(problem, start=None, **settings):
    return fit_kernel(problem, KernelSettings(n_threads=2, **settings), start)


@pytest.fixture
def grown_from_few(monkeypatch):
    """Let small problems start on a few points, as large ones do."""
    monkeypatch.setattr(decomposition, "ALL_AT_ONCE", 100)
    monkeypatch.setattr(decomposition, "FIRST_POINTS", 100)


@pytest.mark.usefixtures("grown_from_few")
@pytest.mark.parametrize("has_intercept", [True, False])
def test_a_solution_grown_from_few_points_is_that_of_all_points(has_intercept):
    problem = problem_of(has_intercept=has_intercept)
    _, grown = fitted(problem, tol=1e-7)
    assert grown.is_certified
    everyone, y = problem.gram, problem.y
    direct = CSvcProblem(everyone, y, problem.weight, has_intercept=has_intercept)
    decomposition.ALL_AT_ONCE = 10_000
    _, at_once = fitted(direct, tol=1e-7)
    assert grown.dual == pytest.approx(at_once.dual, rel=1e-8)


@pytest.mark.usefixtures("grown_from_few")
@pytest.mark.parametrize("machine", ["nu", "tube", "nu tube", "one class", "ball"])
def test_every_machine_can_grow(machine):
    X, z = waves(700)
    y, one, gram = np.sign(np.sin(X[:, 0]) + 1e-9), np.ones(700), gram_of(X)
    problem = {
        "nu": lambda: NuSvcProblem(gram, y, one, 0.2),
        "tube": lambda: SvrProblem(gram, z, one, 0.1),
        "nu tube": lambda: NuSvrProblem(gram, z, one, 0.3),
        "one class": lambda: OneClassProblem(gram, one, 0.3),
        "ball": lambda: SvddProblem(gram, 0.01 * one),
    }[machine]()
    _, certificate = fitted(problem, tol=1e-6)
    assert certificate.is_certified, certificate


class CountingGram(MatrixGram):
    """A Gram matrix that counts how often its exact sums are taken."""

    n_sums = 0

    def sums(self, coef):
        type(self).n_sums += 1
        return super().sums(coef)


@pytest.mark.parametrize("C", [1.0, 100.0, 1e3])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_a_large_C_comes_within_the_gap_before_exact_scores_are_asked_for(C, tol):
    X, y = blobs(1500)
    CountingGram.n_sums = 0
    gram = CountingGram(_core.kernel.Kernel.rbf(60.0), matrix_of(X), 2)
    solution, certificate = fitted(CSvcProblem(gram, y, np.full(1500, C)), tol=tol)
    assert certificate.is_certified
    assert solution.status == "optimal"
    assert CountingGram.n_sums == 1
    assert np.all(np.abs(solution.beta) <= C)


def test_a_larger_margin_leaves_the_points_that_may_rise_without_a_loss():
    X, y = blobs(1500)
    problem = CSvcProblem(gram_of(X, _core.kernel.Kernel.rbf(60.0)), y, np.full(1500, 1e6))
    solution, _ = fitted(problem)
    point = problem.point(solution.beta)
    margins = y * (point.products + solution.figures["intercept"])
    assert np.max(np.abs(solution.beta)) < 1e6  # all may rise
    assert np.mean(margins < 1.0) < 0.02
    assert problem.with_larger_margin(0.0).linear == pytest.approx(problem.program.linear)
    squared = CSvcProblem(problem.gram, y, problem.weight, loss="squared_hinge")
    assert squared.with_larger_margin(0.0) is None


def test_threads_do_not_change_a_bit():
    X, y = blobs(3000, seed=1)
    found = []
    for n_threads in (1, 2):
        problem = CSvcProblem(gram_of(X, n_threads=n_threads), y, np.full(len(y), 10.0))
        found.append(fit_kernel(problem, KernelSettings(n_threads=n_threads))[0].beta)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("megabytes", [1, 2, 200])
def test_a_small_budget_costs_time_alone(megabytes):
    problem = problem_of(2000)
    _, certificate = fitted(problem, cache_bytes=megabytes * MEGABYTE, working_set=256)
    assert certificate.is_certified
    _, plenty = fitted(problem_of(2000), working_set=256)
    assert certificate.dual == pytest.approx(plenty.dual, rel=1e-5)


@pytest.mark.parametrize("working_set", [2, 16, 200, 4096])
def test_any_working_set_comes_to_the_optimum(working_set):
    _, certificate = fitted(problem_of(300), tol=1e-6, working_set=working_set)
    _, usual = fitted(problem_of(300), tol=1e-6)
    assert certificate.is_certified
    assert certificate.dual == pytest.approx(usual.dual, rel=1e-7)


def test_a_budget_that_holds_no_working_set_is_refused_at_once():
    problem = problem_of(5000)
    began = time.monotonic()
    with pytest.raises(ParameterError, match=r"allow at least 8 MB.*Nystroem"):
        fitted(problem, cache_bytes=MEGABYTE)
    assert time.monotonic() - began < 0.1
    settings = KernelSettings(cache_bytes=bytes_needed(problem, KernelSettings()))
    assert decompose(problem, settings).status == "optimal"


def test_a_kernel_of_pythons_gives_the_same_machine_and_is_asked_for_no_whole_matrix():
    X, y = blobs(600)
    largest = 0

    def function(rows, columns):
        nonlocal largest
        largest = max(largest, len(rows))
        apart = ((X[rows][:, None, :] - X[columns][None, :, :]) ** 2).sum(axis=2)
        return np.exp(-0.7 * apart)

    c = np.full(len(y), 2.0)
    _, ours = fitted(CSvcProblem(FunctionGram(function, len(y)), y, c), tol=1e-6, working_set=128)
    _, core = fitted(CSvcProblem(gram_of(X), y, c), tol=1e-6, working_set=128)
    assert ours.is_certified
    assert ours.dual == pytest.approx(core.dual, rel=1e-8)
    assert largest < 600


def test_an_error_in_a_kernel_of_pythons_comes_out_as_it_is():
    def function(rows, columns):
        if len(columns) > 40:
            raise KeyError("lost")
        return np.ones((len(rows), len(columns)))

    _, y = blobs(60)
    with pytest.raises(KeyError, match="lost"):
        fitted(CSvcProblem(FunctionGram(function, 60), y, np.ones(60)))


def test_given_values_give_the_same_machine():
    X, y = blobs(200)
    gram = gram_of(X)
    everyone = np.arange(200)
    given = MatrixGram(_core.kernel.Kernel.precomputed(), matrix_of(gram.block(everyone, everyone)))
    c = np.ones(200)
    _, a = fitted(CSvcProblem(given, y, c), tol=1e-7)
    _, b = fitted(CSvcProblem(gram, y, c), tol=1e-7)
    assert a.is_certified
    assert a.dual == pytest.approx(b.dual, rel=1e-9)


def test_a_warm_start_takes_few_steps():
    problem = problem_of(1000)
    cold, _ = fitted(problem)
    again, certificate = fitted(problem_of(1000), start=cold.beta)
    assert certificate.is_certified
    assert again.n_iter <= 0.01 * cold.n_iter
    nearby, certificate = fitted(problem_of(1000, C=6.0), start=cold.beta * 1.2)
    assert certificate.is_certified
    assert nearby.n_iter < cold.n_iter


def test_a_start_that_breaks_the_constraints_is_put_right():
    problem = problem_of(300)
    start = np.random.default_rng(0).normal(size=300) * 100.0
    _, certificate = fitted(problem, start=start)
    assert certificate.is_certified


def test_steps_are_limited_and_the_certificate_says_what_is_left():
    solution, certificate = fitted(problem_of(), max_iter=50)
    assert solution.status == "max_iter"
    assert solution.n_iter == 50
    assert not certificate.is_certified
    assert certificate.kkt_violation > certificate.tolerance
    assert np.isfinite(certificate.gap)


def test_a_time_limit_leaves_a_feasible_beta_and_an_honest_certificate():
    problem = problem_of(4000, C=1e4)
    with monitored("fit", max_time=0.05):
        solution, certificate = fitted(problem, tol=1e-9)
    assert solution.status == "time_limit"
    assert not certificate.is_certified
    assert abs(solution.beta.sum()) <= 1e-9 * np.abs(solution.beta).sum()


def test_a_listener_hears_of_the_violation_and_may_stop_the_fit():
    heard = []

    def stop(event):
        heard.append(event.figures["violation"])
        return len(heard) >= 2

    with watch(stop), monitored("fit"):
        solution, _ = fitted(problem_of(3000, C=1e4), tol=1e-9)
    assert solution.status == "stopped"
    assert len(heard) == 2


def test_an_indefinite_kernel_ends_with_a_status_and_without_a_certificate():
    X, y = blobs(300)
    gram = gram_of(X, _core.kernel.Kernel.sigmoid(2.0, -1.0))
    problem = CSvcProblem(gram, y, np.full(300, 10.0), is_convex=False)
    solution, certificate = fitted(problem)
    assert solution.status in {"optimal", "stalled"}
    assert not certificate.is_certified


@pytest.mark.parametrize("has_intercept", [True, False])
def test_a_hard_margin_where_there_is_none_is_refused_with_a_proof(has_intercept):
    X = np.array([[0.5], [1.0], [0.5], [1.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    weight = np.full(4, np.inf)
    problem = CSvcProblem(gram_of(X), y, weight, has_intercept=has_intercept)
    with pytest.raises(NotSeparableError, match="meet") as caught:
        fitted(problem)
    assert caught.value.proof.is_certified


def test_a_hard_margin_that_no_plane_has_is_refused_with_a_proof():
    X, y = blobs(60)
    with pytest.raises(NotSeparableError) as caught:
        fitted(CSvcProblem(gram_of(X, "linear"), y, np.full(60, np.inf)))
    proof = caught.value.proof
    apart = (proof.weights * y[proof.rows]) @ X[proof.rows]
    assert proof.is_certified
    assert np.linalg.norm(apart) < 1e-6


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_points_is_enough(n):
    X, y = blobs(n)
    _, certificate = fitted(CSvcProblem(gram_of(X), y, np.ones(n)))
    assert certificate.is_certified


def test_equal_points_of_both_classes_do_no_harm():
    X, y = blobs(100)
    X[::2] = X[1::2]
    _, certificate = fitted(CSvcProblem(gram_of(X), y, np.full(100, 1e3)), tol=1e-6)
    assert certificate.is_certified


def test_without_free_vectors_the_intercept_is_the_middle_of_its_interval():
    X, y = blobs(40)
    problem = CSvcProblem(gram_of(X), y, np.full(40, 1e-3))
    solution, _ = fitted(problem, tol=1e-9)
    assert np.all(np.abs(solution.beta) == 1e-3)
    point = problem.point(solution.beta)
    slopes = problem.program.slopes(point.beta, point.products)
    ((rising, falling),) = problem.program.ends(point.beta, slopes)
    assert solution.figures["intercept"] == pytest.approx(0.5 * (rising + falling))


@pytest.mark.parametrize(
    ("make", "largest"),
    [
        (lambda g, y: NuSvcProblem(g, y, np.where(y > 0, 0.25, 1.0), 0.5), "at most 0.4"),
        (lambda g, y: OneClassProblem(g, np.ones(len(y)), 1.5), "at most 1"),
        (lambda g, y: NuSvrProblem(g, y, np.ones(len(y)), 1.5), "at most 1"),
        (lambda g, y: SvddProblem(g, np.full(len(y), 0.01)), "at least 0.05"),
    ],
)
def test_what_is_infeasible_is_refused_with_what_is_feasible(make, largest):
    X, y = blobs(20)
    with pytest.raises(ParameterError, match=largest):
        make(gram_of(X), y)


def test_points_times_signs_have_the_values_times_both_signs():
    X, y = blobs(40, d=3)
    plain, coef = gram_of(X), np.random.default_rng(0).normal(size=(40, 2))
    signed = SignedGram(plain, y)
    some, all_points = np.array([3, 17, 18], dtype=np.int64), np.arange(40)
    full = y[:, None] * y * plain.block(all_points, all_points)
    np.testing.assert_array_equal(signed.block(some, all_points), full[some])
    np.testing.assert_allclose(signed.sums(coef), full @ coef, atol=1e-13)
    np.testing.assert_allclose(signed.sums(coef[:, 0]), full @ coef[:, 0], atol=1e-13)
    problem = OneClassProblem(signed, np.ones(40), 0.2)
    assert fit_kernel(problem, KernelSettings(tol=1e-8))[1].is_certified
