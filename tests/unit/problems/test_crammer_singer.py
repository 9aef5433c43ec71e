"""The machine of Crammer and Singer: its optimum, its proof, and its relations to other machines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import scale

import hedgerow
from hedgerow import LinearSVC, NotCertifiedWarning, ParameterError, load, save
from hedgerow.data.rows import matrix_of
from hedgerow.losses import Hinge
from hedgerow.problems.all_classes import circulation
from hedgerow.problems.certificates import certify
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import Settings, Solution, solve
from tests.reference import crammer_singer

INTERCEPTS = ("free", "penalized", "none")
SOLVERS = ("class_interior_point", "sequential_dual")


def machine(**parameters):
    intercept = parameters.pop("intercept", "free")
    kind = {"fit_intercept": False} if intercept == "none" else {"intercept": intercept}
    return LinearSVC(multi_class="crammer_singer", random_state=0, **kind, **parameters)


def table(n=60, d=4, n_classes=4, seed=0):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(n, d)), random.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    return X + 1.5 * np.eye(n_classes, d)[y], y


def problem_of(X, y, c, intercept, n_classes=None, scaling=1.0):
    n_classes = y.max() + 1 if n_classes is None else n_classes
    return CrammerSingerProblem(
        matrix_of(X),
        y * 1.0,
        c,
        intercept=intercept,
        intercept_scaling=scaling,
        n_classes=int(n_classes),
    )


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_is_the_conic_programs(solver, intercept, C):
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)) * 1.0
    weight[:4] = 1.0
    model = machine(C=C, intercept=intercept, intercept_scaling=2.0, tol=1e-6, max_iter=20_000)
    model.set_params(solver=solver)
    model.fit(X, y, weight)
    best = crammer_singer.optimum(X, y, C * weight, 4, intercept=intercept, scaling=2.0)
    found = crammer_singer.objective(
        X,
        y,
        C * weight,
        model.coef_,
        model.intercept_,
        penalized=intercept == "penalized",
        scaling=2.0,
    )
    slack = crammer_singer.ACCURACY
    assert model.certificate_.is_certified
    assert found == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert best * (1 - slack) <= found <= best * (1 + 1e-6 + slack)
    assert model.certificate_.dual <= best * (1 + slack)


@st.composite
def small_tables(draw):
    n, d, n_classes = draw(st.integers(6, 20)), draw(st.integers(1, 6)), draw(st.integers(3, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.normal(size=(n, d))
    X = np.round(X) if draw(st.booleans()) else X
    y = random.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    weight = random.integers(0, 3, size=n) * 1.0 if draw(st.booleans()) else np.ones(n)
    weight[:n_classes] = 1.0
    return X, y, weight


@settings(max_examples=60, deadline=None)
@given(
    small_tables(),
    st.sampled_from(SOLVERS),
    st.sampled_from(INTERCEPTS),
    st.floats(-3, 1).map(lambda e: 10.0**e),
)
def test_small_problems_end_certified_at_the_optimum(drawn, solver, intercept, C):
    X, y, weight = drawn
    n_classes = int(y.max()) + 1
    model = machine(C=C, intercept=intercept, solver=solver, max_iter=100_000).fit(X, y, weight)
    best = crammer_singer.optimum(X, y, C * weight, n_classes, intercept=intercept)
    certificate = model.certificate_
    assert certificate.is_certified, str(certificate)
    assert certificate.dual <= best * (1 + crammer_singer.ACCURACY)
    assert certificate.primal >= best * (1 - crammer_singer.ACCURACY)


@settings(max_examples=100, deadline=None)
@given(small_tables(), st.sampled_from(INTERCEPTS), st.integers(0, 2**32 - 1))
def test_no_alpha_however_wrong_proves_too_much(drawn, intercept, seed):
    X, y, weight = drawn
    problem = problem_of(X, y, weight, intercept)
    random = np.random.default_rng(seed)
    n_classes = problem.n_classes
    alpha = random.normal(size=(len(y), n_classes)) * 10.0 ** random.integers(-3, 3)
    alpha[random.integers(len(y))] = np.nan
    w = random.normal(size=(n_classes, X.shape[1] + 1)) * (intercept != "none")
    claim = Solution(w, 0.0, alpha, "optimal", 1, "a guess")
    certificate = certify(problem, claim, 1e-4)
    best = crammer_singer.optimum(X, y, weight, n_classes, intercept=intercept)
    assert certificate.dual <= best * (1 + crammer_singer.ACCURACY) + 1e-9
    assert certificate.primal >= best * (1 - crammer_singer.ACCURACY)
    feasible = problem.feasible(alpha)
    own = np.arange(len(y)), y
    others = feasible.copy()
    others[own] = 0.0
    size = np.abs(feasible).sum()  # of what is left: an imbalance beside it would be no proof
    assert (others <= 0.0).all()
    assert (feasible[own] <= weight).all()
    assert np.abs(feasible.sum(axis=1)).max() <= 1e-14 * size
    if intercept == "free":
        assert np.abs(feasible.sum(axis=0)).max() <= 1e-13 * size


@pytest.mark.parametrize("n_nodes", [2, 3, 7, 30])
def test_a_circulation_is_no_larger_than_the_flow_and_balanced(n_nodes):
    random = np.random.default_rng(n_nodes)
    for density in (0.1, 0.5, 1.0):
        flow = random.random((n_nodes, n_nodes)) * (random.random((n_nodes, n_nodes)) < density)
        np.fill_diagonal(flow, 0.0)
        kept = circulation(flow)
        assert (kept >= 0.0).all()
        assert (kept <= flow).all()
        np.testing.assert_allclose(kept.sum(axis=0), kept.sum(axis=1), atol=1e-13 * flow.sum())


def test_a_circulation_is_left_as_it_is():
    ring = np.roll(np.eye(5), 1, axis=1) * 0.7
    np.testing.assert_array_equal(circulation(ring), ring)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_two_classes_are_the_hinge_with_twice_the_weights_and_half_the_objective(intercept):
    X, y = table(n_classes=2)
    c = np.full(len(y), 0.3)
    both = problem_of(X, y, c, intercept, scaling=1.5)
    signs = np.where(y == 1, 1.0, -1.0)
    hinge = LinearProblem(
        matrix_of(X), signs, 2 * c, Hinge(), intercept=intercept, intercept_scaling=1.5
    )
    settings_ = Settings(tol=1e-8, max_iter=100_000)
    at_once, binary = solve(both, settings_), solve(hinge, settings_)
    proof = certify(both, at_once, 1e-8)
    assert proof.is_certified
    assert 2 * proof.primal == pytest.approx(certify(hinge, binary, 1e-8).primal, rel=2e-8)
    # |w - w*|^2 is at most twice the gap, here 1e-8 of an objective of about 10, for either solution.
    np.testing.assert_allclose(at_once.w[1, :-1] - at_once.w[0, :-1], binary.w, atol=2e-3)


def test_a_model_of_two_classes_has_one_plane():
    X, y = table(n_classes=2)
    model = machine(C=0.5).fit(X, y)
    hinge = LinearSVC(loss="hinge", C=1.0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, hinge.coef_)
    assert model.decision_function(X).shape == (len(y),)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("load_data", [load_iris, load_digits])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_liblinears_objective_is_not_below_ours(load_data, C, fit_intercept):
    X, y = load_data(return_X_y=True)
    X = scale(X)
    peer = sklearn.svm.LinearSVC(
        multi_class="crammer_singer",
        C=C,
        fit_intercept=fit_intercept,
        tol=1e-6,
        max_iter=20_000,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X, y)
    kind = {"intercept": "penalized"} if fit_intercept else {"fit_intercept": False}
    ours = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-6, max_iter=5000, **kind).fit(X, y)
    c = np.full(len(y), C)
    value, theirs = (
        crammer_singer.objective(
            X, y, c, m.coef_, np.broadcast_to(m.intercept_, len(m.coef_)), penalized=fit_intercept
        )
        for m in (ours, peer)
    )
    assert ours.certificate_.is_certified
    assert value <= theirs * (1 + 1e-6)
    assert theirs <= value * (1 + 1e-3)  # else they did not minimise the same thing


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weights_are_repetitions(intercept):
    X, y = table()
    times = np.random.default_rng(2).integers(0, 3, size=len(y))
    times[:4] = 1
    tight = {"tol": 1e-8, "max_iter": 100_000, "intercept": intercept, "C": 0.3}
    weighted = machine(**tight).fit(X, y, times)
    repeated = machine(**tight).fit(X.repeat(times, axis=0), y.repeat(times))
    # |w - w*|^2 is at most twice the gap, 1e-8 of an objective of about 10, for either solution.
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-8)


def test_class_weights_multiply_the_weights_of_rows():
    X, y = table()
    factors = {0: 1.0, 1: 2.0, 2: 0.5, 3: 3.0}
    by_class = machine(class_weight=factors).fit(X, y)
    by_row = machine().fit(X, y, np.array([factors[k] for k in y]))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_classes_by_other_names_have_the_same_planes():
    X, y = table()
    order = np.array([2, 0, 3, 1])
    tight = {"tol": 1e-8, "max_iter": 100_000}
    first, second = machine(**tight).fit(X, y), machine(**tight).fit(X, order[y])
    np.testing.assert_allclose(second.coef_[order], first.coef_, atol=2e-3)
    np.testing.assert_array_equal(second.predict(X), order[first.predict(X)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_and_threads_give_the_same_planes(dtype):
    X, y = table()
    X = np.where(X > 0.3, X, 0.0).astype(dtype)
    dense, sparse = machine(n_jobs=1).fit(X, y), machine(n_jobs=2).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-2)
    again = machine(n_jobs=1).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(again.coef_, sparse.coef_)


def test_planes_are_the_sums_of_signed_alphas():
    X, y = table()
    model = machine().fit(X, y)
    signs = np.where(np.arange(4)[:, None] == y, 1.0, -1.0)
    # The planes returned are the best seen, alpha is the best dual point: near, and not the same.
    np.testing.assert_allclose((signs * model.alpha_) @ X, model.coef_, atol=0.05)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    outside = np.setdiff1d(np.arange(len(y)), model.support_)
    scores = model.decision_function(X)
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    assert ((own - scores.max(axis=1))[outside] > 1 - 0.05).all()
    assert model.point_groups(plane=1).at_bound.size > 0


def test_one_certificate_speaks_for_all_planes_and_a_model_file_keeps_it(tmp_path):
    X, y = table()
    model = machine().fit(X, y)
    assert model.certificates_ == (model.certificate_,)
    assert model.solver_ == "class_interior_point"
    save(model, tmp_path / "model.hedgerow")
    again = load(tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.alpha_, model.alpha_)


def test_a_class_without_weight_is_kept():
    X, y = table()
    for intercept in INTERCEPTS:
        model = machine(intercept=intercept).fit(X, y, (y != 2) * 1.0)
        assert model.coef_.shape == (4, 4)
        assert model.certificate_.is_certified


def test_max_iter_is_kept_and_said():
    X, y = table()
    with pytest.warns(NotCertifiedWarning, match="'max_iter'"):
        model = machine(C=100.0, max_iter=3, tol=1e-9, solver="sequential_dual").fit(X, y)
    assert (model.n_iter_, model.status_) == (3, "max_iter")
    assert model.certificate_.gap > 0.0


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_small_problems_are_solved_to_the_last_bits(intercept, C):
    X, y = table()
    model = machine(C=C, intercept=intercept).fit(X, y)
    assert model.solver_ == "class_interior_point"
    assert model.certificate_.relative_gap <= 1e-10


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_fit_that_was_broken_off_goes_on_to_the_same_bits(solver, tmp_path):
    X, y = table()
    whole = machine(C=3.0, solver=solver, tol=1e-7, max_iter=5000).fit(X, y)
    part = machine(C=3.0, solver=solver, tol=1e-7, max_iter=5000)
    steps = []
    with hedgerow.checkpoint(tmp_path / "fit.checkpoint", every=0.0):
        with hedgerow.watch(lambda _: steps.append(1) or len(steps) >= 4):
            part.fit(X, y)
        assert part.status_ == "stopped"
        part.fit(X, y)
    np.testing.assert_array_equal(part.coef_, whole.coef_)


def test_progress_is_reported_down_to_the_tolerance():
    X, y = table()
    seen = []
    with hedgerow.watch(lambda event: seen.append(event.figures["relative_gap"])):
        machine(C=0.1).fit(X, y)
    assert seen[-1] <= 1e-4
    assert seen[0] > seen[-1]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"loss": "logistic"}, "loss='logistic' does not go with multi_class='crammer_singer'"),
        ({"penalty": "l1"}, "penalty='l1' does not go with multi_class='crammer_singer'"),
        ({"C": np.inf}, "C=inf asks for a hard margin, which multi_class='crammer_singer' has not"),
        ({"solver": "newton"}, "'newton' cannot minimise loss='crammer_singer'.*'sequential_dual'"),
    ],
)
def test_what_does_not_go_with_all_classes_at_once_is_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        machine(**parameters).fit(*table())
