"""The first-order solvers: exact ones end certified, approximate ones say how far they came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import LinearSVC, _core
from hedgerow.data.rows import matrix_of
from hedgerow.errors import ParameterError
from hedgerow.losses import Logistic, loss_by_name, regression_loss
from hedgerow.problems.certificates import certify
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import SOLVERS, Settings, solve
from hedgerow.solvers.first_order.columns import curvatures
from hedgerow.solvers.first_order.descent import Iterate
from hedgerow.testing import check_interrupt, check_max_time
from tests.reference import first_order

DESCENTS = ["lbfgs", "conjugate_gradient", "gradient_descent"]
EXACT = [*DESCENTS, "iterative_scaling"]
SMOOTH = ["squared_hinge", "logistic", "squared_epsilon_insensitive"]
INTERCEPTS = ["free", "penalized", "none"]
PAIRS = [(solver, loss) for solver in DESCENTS for loss in SMOOTH] + [
    ("iterative_scaling", "logistic")
]

RNG = np.random.default_rng(11)
X = RNG.normal(size=(60, 5)) + 0.3
SIGNS = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=60) > 0.2, 1.0, -1.0)
NUMBERS = X[:, 0] + 0.5 * RNG.normal(size=60)
WEIGHT = 0.5 * RNG.integers(0, 4, size=60)


def problem(loss, intercept="free", *, rows=X, weight=WEIGHT, scaling=1.0):
    matrix = matrix_of(rows)
    rest = {"intercept": intercept, "intercept_scaling": scaling}
    if "epsilon" in loss:
        loss = regression_loss(loss, 0.2)
        return LinearProblem(matrix, np.ones(60), weight, loss, targets=NUMBERS, **rest)
    return LinearProblem(matrix, SIGNS, weight, loss_by_name(loss), **rest)


def settings(tol=1e-4, max_iter=100_000, **options):
    return Settings(tol=tol, max_iter=max_iter, seed=5, options=options)


# --------------------------------------------------------------------------------- exact ones


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("solver", "loss"), PAIRS)
def test_an_exact_solver_ends_where_newton_does(solver, loss, intercept):
    asked = problem(loss, intercept, scaling=2.0)
    expected = certify(asked, solve(asked, settings(1e-12), "newton"), 1e-10)
    found = solve(asked, settings(1e-10), solver)
    certificate = certify(asked, found, 1e-10)
    assert found.status == "optimal"
    assert certificate.is_certified, certificate
    # The objective is within the gap asked for, 1e-10, of one that is within 1e-10 itself.
    assert_allclose(certificate.primal, expected.primal, rtol=3e-10)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_gap_is_half_the_square_of_the_gradient(loss, intercept):
    asked = problem(loss, intercept, scaling=0.5)
    point = Iterate(asked)
    for _ in range(3):
        step = 0.3 * RNG.normal(size=len(point.unknowns))
        point.move(step, point.scores_of(step))
        gap = asked.objective(point.w, point.intercept) - asked.dual_objective(point.alpha)
        assert_allclose(0.5 * point.gradient @ point.gradient, gap, rtol=1e-10)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_gradient_is_that_of_differences(loss, intercept):
    asked = problem(loss, intercept, scaling=0.5)
    point = Iterate(asked)
    step = 0.3 * RNG.normal(size=len(point.unknowns))
    point.move(step, point.scores_of(step))

    def objective(unknowns):
        w, b = unknowns[:5], 0.5 * unknowns[-1] if intercept == "penalized" else 0.0
        if intercept == "free":
            b = asked.best_intercept(asked.scores(w, 0.0))
        return asked.objective(w, b)

    h = 1e-5
    for j, slope in enumerate(point.gradient):
        there, back = point.unknowns.copy(), point.unknowns.copy()
        there[j] += h
        back[j] -= h
        # Central differences err by h^2 and by rounding / h.
        assert_allclose(slope, (objective(there) - objective(back)) / (2 * h), atol=1e-6)


@pytest.mark.parametrize(("solver", "loss"), PAIRS)
def test_no_round_of_an_exact_solver_goes_up(solver, loss):
    for intercept in INTERCEPTS:
        history = np.array(solve(problem(loss, intercept), settings(1e-8), solver).history)
        assert len(history) > 3
        assert np.all(np.diff(history[:, 1]) <= 0)
        assert np.all(np.diff(history[:, 2]) >= 0)
        assert np.all(history[:, 2] <= history[:, 1])


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_line_search_ends_where_the_slope_is_small(loss):
    for intercept in INTERCEPTS:
        point = Iterate(problem(loss, intercept))
        direction = -point.gradient
        point.move_along(direction)
        assert abs(point.gradient @ direction) < 0.05 * (direction @ direction)


def test_a_way_up_is_not_taken():
    point = Iterate(problem("logistic"))
    assert point.move_along(point.gradient) is None


@pytest.mark.parametrize("solver", ["lbfgs", "conjugate_gradient"])
def test_the_scale_of_a_feature_does_not_slow_down_what_is_preconditioned(solver):
    scales = 10.0 ** np.arange(-2, 3)
    rounds = [
        solve(
            problem("squared_hinge", rows=rows, weight=100 * WEIGHT), settings(1e-8), solver
        ).n_iter
        for rows in (X, X * scales)
    ]
    assert rounds[1] < 3 * rounds[0]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_no_curvature_exceeds_its_bound(loss, intercept):
    asked = problem(loss, intercept, scaling=2.0)
    bends = asked.loss.second_derivative(
        asked.residuals(asked.scores(RNG.normal(size=5), 0.1)), asked.weight
    )
    columns = X if intercept != "penalized" else np.hstack([X, np.full((60, 1), 2.0)])
    hessian = columns.T @ (columns * bends[:, None])
    if intercept == "free":
        sums = columns.T @ bends
        hessian -= np.outer(sums, sums) / bends.sum()
    assert np.all(1 + np.diag(hessian) <= curvatures(asked) * (1 + 1e-12))


def test_a_memory_of_one_step_still_ends_certified():
    found = [
        solve(problem("logistic"), settings(1e-8, memory=memory), "lbfgs") for memory in (1, 10)
    ]
    assert [solution.status for solution in found] == ["optimal", "optimal"]
    assert found[0].n_iter != found[1].n_iter


@pytest.mark.parametrize("solver", EXACT)
def test_a_solver_ends_by_itself_when_rounding_is_all_that_is_left(solver):
    asked = problem("logistic")
    found = solve(asked, settings(1e-300), solver)
    assert found.status in {"stalled", "optimal"}  # the latter if rounding makes the gap 0
    assert found.n_iter < 5000
    assert certify(asked, found, 1e-12).is_certified


@pytest.mark.parametrize("solver", EXACT)
def test_rounds_are_counted_and_limited(solver):
    found = solve(problem("logistic"), settings(1e-10, max_iter=3), solver)
    assert (found.status, found.n_iter) == ("max_iter", 3)


@pytest.mark.parametrize("intercept", ["penalized", "none"])
def test_a_step_of_iterative_scaling_is_the_minimum_of_its_bound(intercept):
    asked = problem("logistic", intercept)
    columns = X if intercept == "none" else np.hstack([X, np.ones((60, 1))])
    begin = Iterate(asked)
    found = solve(asked, settings(max_iter=1), "iterative_scaling")
    step = np.append(found.w, [found.intercept] if intercept == "penalized" else [])
    bound = [
        first_order.scaling_bound(begin.unknowns, step + shift, begin.alpha, SIGNS, columns)
        for shift in [
            np.zeros(len(step)),
            *(1e-4 * np.eye(len(step))),
            *(-1e-4 * np.eye(len(step))),
        ]
    ]
    assert np.argmin(bound) == 0
    change = asked.objective(found.w, found.intercept) - asked.objective(np.zeros(5), 0.0)
    assert change <= bound[0] < 0


def test_iterative_scaling_takes_columns_and_tables_of_zeros():
    rows = X * [1, 0, 1, 0, 1]
    found = solve(problem("logistic", rows=rows), settings(1e-8), "iterative_scaling")
    assert found.status == "optimal"
    assert_array_equal(found.w[[1, 3]], 0)
    empty = solve(problem("logistic", rows=0 * X), settings(1e-8), "iterative_scaling")
    assert empty.status == "optimal"


@pytest.mark.parametrize("solver", EXACT)
def test_overflow_leaves_the_gap_open(solver):
    asked = replace(problem("logistic"), matrix=_core.data.Matrix.dense(X * 1e200))
    found = solve(asked, settings(max_iter=20), solver)
    assert found.status in {"stalled", "max_iter"}
    assert np.isfinite(found.w).all()


# ------------------------------------------------------------------------------ approximate ones


def visits_of_epochs(n_epochs):
    used = np.flatnonzero(WEIGHT > 0)
    return np.concatenate(
        [used[_core.system.random_permutation(5, epoch, len(used))] for epoch in range(n_epochs)]
    )


def draws_of_epochs(n_epochs):
    used = np.flatnonzero(WEIGHT > 0)
    ends = np.cumsum(WEIGHT[used])
    drawn = [
        used[
            np.searchsorted(
                ends, ends[-1] * _core.system.random_uniform(5, epoch, len(used)), "right"
            )
        ]
        for epoch in range(n_epochs)
    ]
    return np.concatenate(drawn)


KINDS = {"dense": lambda a: a, "dense32": np.float32, "sparse": sp.csr_array}


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", ["penalized", "none"])
def test_pegasos_returns_the_plain_mean_of_its_planes(intercept, kind):
    rows = X.astype(np.float32).astype(np.float64)
    asked = problem("hinge", intercept, rows=KINDS[kind](rows), scaling=2.0)
    found = solve(asked, settings(1e-12, max_iter=7), "pegasos")
    if intercept == "penalized":
        rows = np.hstack([rows, np.full((60, 1), 2.0)])
    planes, _ = first_order.every_pegasos_plane(
        rows, SIGNS, draws_of_epochs(7), total_weight=WEIGHT.sum()
    )
    mean = np.mean(planes, axis=0)
    assert_allclose(found.w, mean[:5], atol=1e-10)
    assert_allclose(found.intercept, 2.0 * mean[5] if intercept == "penalized" else 0.0, atol=1e-10)
    assert (found.status, found.n_iter) == ("approximate", 7)


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_a_constant_rate_gives_the_plane_of_the_lecture(intercept, kind):
    rows = X.astype(np.float32).astype(np.float64)
    asked = problem("hinge", intercept, rows=KINDS[kind](rows))
    found = solve(asked, settings(1e-12, max_iter=5, rate=0.3), "sgd")
    w, b = first_order.constant_rate(
        rows, SIGNS, WEIGHT, visits_of_epochs(5), rate=0.3, fit_intercept=intercept == "free"
    )
    assert_allclose(found.w, w, atol=1e-10)
    assert_allclose(found.intercept, b, atol=1e-10)


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", ["penalized", "none"])
def test_a_convex_combination_gives_the_plane_of_the_lecture(intercept, kind):
    rows = X.astype(np.float32).astype(np.float64)
    asked = problem("hinge", intercept, rows=KINDS[kind](rows), scaling=0.5)
    options = {"form": "convex_combination", "rate": 0.05}
    found = solve(asked, settings(1e-12, max_iter=5, **options), "sgd")
    if intercept == "penalized":
        rows = np.hstack([rows, np.full((60, 1), 0.5)])
    w = first_order.convex_combination(rows, SIGNS, WEIGHT, visits_of_epochs(5), rate=0.05)
    assert_allclose(found.w, w[:5], atol=1e-10)
    assert_allclose(found.intercept, 0.5 * w[5] if intercept == "penalized" else 0.0, atol=1e-10)


def test_both_forms_of_sgd_make_the_same_steps_without_an_intercept():
    asked = problem("hinge", "none")
    a, g = 0.2, 0.2 / WEIGHT.sum()
    one = solve(asked, settings(max_iter=9, rate=a), "sgd")
    options = {"form": "convex_combination", "rate": g}
    other = solve(asked, settings(max_iter=9, **options), "sgd")
    assert_allclose(one.w, other.w, rtol=1e-12)


def test_rows_of_pegasos_are_drawn_in_proportion_to_their_weight():
    draws = np.bincount(draws_of_epochs(400), minlength=60)
    chances = WEIGHT / WEIGHT.sum()
    expected = draws.sum() * chances
    assert_array_equal(draws[WEIGHT == 0], 0)
    # Five standard deviations of a binomial count.
    assert np.all(np.abs(draws - expected) <= 5 * np.sqrt(expected * (1 - chances)))


@pytest.mark.parametrize(
    ("solver", "intercept", "options"),
    [
        ("pegasos", "penalized", {}),
        ("pegasos", "none", {}),
        ("sgd", "free", {}),
        ("sgd", "none", {}),
        ("sgd", "penalized", {"form": "convex_combination"}),
    ],
)
def test_an_approximate_solver_comes_near_and_says_how_near(solver, intercept, options):
    weight = 0.02 * np.ones(60)
    asked = problem("hinge", intercept, weight=weight)
    found = solve(asked, settings(1e-12, max_iter=2000, **options), solver)
    certificate = certify(asked, found, 1e-12)
    best = certify(asked, solve(asked, settings(1e-10), "interior_point"), 1e-8).primal
    assert found.status == "approximate"
    assert not certificate.is_certified
    assert certificate.dual <= best <= certificate.primal
    assert certificate.relative_gap < 0.02
    assert_allclose(found.history[-1][1:], [certificate.primal, certificate.dual], rtol=1e-12)


def test_an_approximate_solver_that_meets_the_tolerance_is_optimal():
    asked = problem("hinge", "none", weight=0.02 * np.ones(60))
    found = solve(asked, settings(0.2, max_iter=2000), "pegasos")
    assert found.status == "optimal"
    assert found.n_iter < 2000
    assert certify(asked, found, 0.2).is_certified


@pytest.mark.parametrize("solver", ["pegasos", "sgd"])
def test_another_seed_is_another_order(solver):
    asked = problem("hinge", "none")
    one, same, other = (
        solve(asked, Settings(max_iter=3, seed=seed), solver).w for seed in (1, 1, 2)
    )
    assert_array_equal(one, same)
    assert np.any(one != other)


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("solver", "loss", "intercept", "sentence"),
    [
        (
            "lbfgs",
            "hinge",
            "free",
            r"cannot minimise loss='hinge'; solvers that can are 'interior_point'",
        ),
        (
            "iterative_scaling",
            "squared_hinge",
            "free",
            r"cannot minimise loss='squared_hinge'; .*'lbfgs'",
        ),
        ("pegasos", "logistic", "none", r"cannot minimise loss='logistic'; .*'iterative_scaling'"),
        ("pegasos", "hinge", "free", r"cannot fit a free intercept; solvers that can are .*'sgd'"),
        (
            "sgd",
            "hinge",
            "penalized",
            r"'constant_rate' cannot fit a penalized intercept; form='convex_combination' can",
        ),
    ],
)
def test_a_refusal_names_who_can(solver, loss, intercept, sentence):
    with pytest.raises(ParameterError, match=sentence):
        solve(problem(loss, intercept), settings(), solver)


def test_the_convex_combination_refuses_a_free_intercept():
    with pytest.raises(ParameterError, match="free intercept; form='constant_rate' can"):
        solve(problem("hinge"), settings(form="convex_combination"), "sgd")


@pytest.mark.parametrize("solver", ["pegasos", "sgd"])
def test_the_intercept_of_a_one_class_machine_is_refused(solver):
    intercept = "penalized" if solver == "pegasos" else "free"
    asked = LinearProblem(
        matrix_of(X), np.ones(60), WEIGHT, loss_by_name("hinge"), intercept, pull=1.0
    )
    with pytest.raises(ParameterError, match="cannot fit the intercept of a one-class machine"):
        solve(asked, settings(), solver)


@pytest.mark.parametrize(
    ("solver", "options", "sentence"),
    [
        ("lbfgs", {"memory": 0}, "memory=0 of solver='lbfgs' must be an integer of at least 1"),
        ("sgd", {"rate": 0.0}, "rate=0.0 of solver='sgd' must be None or a finite number above 0"),
        (
            "sgd",
            {"rate": 1e9},
            r"rate=1000000000.0 of solver='sgd' must be below .*form='constant_rate'",
        ),
        ("sgd", {"form": "fast"}, "form='fast' of solver='sgd' must be one of"),
        ("gradient_descent", {"rate": 1.0}, "has no option 'rate'; its options are: none"),
    ],
)
def test_a_wrong_option_gets_a_sentence(solver, options, sentence):
    loss = "hinge" if solver == "sgd" else "logistic"
    with pytest.raises(ParameterError, match=sentence):
        solve(problem(loss), settings(**options), solver)


def test_a_share_of_one_or_more_is_no_convex_combination():
    options = {"form": "convex_combination", "rate": 1.0}
    with pytest.raises(ParameterError, match="must be below 1 for form='convex_combination'"):
        solve(problem("hinge", "none"), settings(**options), "sgd")


# ---------------------------------------------------------------------------------- end to end

MACHINES = {
    "lbfgs": {"loss": "logistic"},
    "conjugate_gradient": {"loss": "squared_hinge"},
    "gradient_descent": {"loss": "squared_hinge"},
    "iterative_scaling": {"loss": "logistic"},
    "pegasos": {"loss": "hinge", "intercept": "penalized"},
    "sgd": {"loss": "hinge"},
}


@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
@pytest.mark.parametrize("solver", MACHINES)
def test_a_machine_says_which_solver_ran_and_what_its_gap_is(solver):
    model = LinearSVC(solver=solver, random_state=0, C=0.1, max_iter=200, **MACHINES[solver])
    model.fit(X, SIGNS)
    assert model.solver_ == solver
    assert model.status_ == ("optimal" if SOLVERS[solver].is_exact else "approximate")
    assert model.certificate_.is_certified == SOLVERS[solver].is_exact
    assert model.score(X, SIGNS) > 0.7


@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", MACHINES)
def test_any_number_of_threads_gives_the_same_bits(solver, kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 40)) * (rng.random((3000, 40)) < 0.7)
    y = np.where(rows[:, :3].sum(axis=1) + rng.normal(size=3000) > 0, 1, -1)
    models = [
        LinearSVC(solver=solver, random_state=3, C=0.01, max_iter=20, n_jobs=n, **MACHINES[solver])
        for n in (1, 3)
    ]
    one, other = (model.fit(KINDS[kind](rows), y) for model in models)
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.intercept_, other.intercept_)
    assert_array_equal(one.alpha_, other.alpha_)


@pytest.mark.parametrize("solver", ["gradient_descent", "iterative_scaling", "pegasos", "sgd"])
def test_ctrl_c_is_obeyed_and_leaves_a_model(solver):
    random = np.random.default_rng(0)
    rows = np.tile(random.standard_normal((1500, 20)), (2, 1)) * np.logspace(0, 4, 20)
    y = random.integers(2, size=len(rows))
    model = LinearSVC(
        solver=solver, tol=1e-300, C=1e6, max_iter=10**9, random_state=0, **MACHINES[solver]
    )
    check_interrupt(model, rows, y, after=0.4)


@pytest.mark.parametrize("solver", ["gradient_descent", "pegasos"])
def test_the_time_limit_is_kept(solver):
    random = np.random.default_rng(0)
    rows = np.tile(random.standard_normal((1500, 20)), (2, 1)) * np.logspace(0, 4, 20)
    y = random.integers(2, size=len(rows))
    model = LinearSVC(
        solver=solver, tol=1e-300, C=1e6, max_iter=10**9, random_state=0, **MACHINES[solver]
    )
    check_max_time(model, rows, y, seconds=1.0)


def test_the_largest_bend_of_the_logistic_loss_is_a_quarter_of_the_weight():
    asked = LinearProblem(
        matrix_of(np.eye(2)), np.array([1.0, -1.0]), np.array([4.0, 8.0]), Logistic(), "none"
    )
    assert_allclose(curvatures(asked), [2.0, 3.0])
