"""The perceptron: the worked example, the reference, the mistake bound, limits, refusals."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from hedgerow import _core
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import DataError, ParameterError
from hedgerow.linear import Hyperplane, KernelPerceptron, Perceptron
from tests.reference import perceptron as reference
from tests.unit.perceptron.perceptron_data import fit_quietly, overlapping

pytestmark = pytest.mark.sanitize

EXAMPLE_X = np.array([[1.0, 2.0], [4.0, 1.0], [2.0, 2.0]])
EXAMPLE_Y = np.array([-1, 1, 1])

# The core sums in another order than NumPy: a few units in the last place a pass, a few passes.
SUMMATION = {"rtol": 1e-12, "atol": 1e-12}


@st.composite
def separable(draw):
    """Integer points, on which all sums are exact, on both sides of a plane with integer normal."""
    n_features = draw(st.integers(1, 4))
    vectors = st.lists(st.integers(-5, 5), min_size=n_features + 1, max_size=n_features + 1)
    plane = np.array(draw(vectors.filter(lambda v: any(v[:-1]))), float)
    points = draw(st.lists(vectors, min_size=2, max_size=25))
    rows = np.array(points, float)
    rows[:, -1] = 1.0
    scores = rows @ plane
    rows, scores = rows[scores != 0], scores[scores != 0]
    return rows[:, :-1], np.sign(scores), np.abs(scores).min(initial=np.inf), plane


# ---------------------------------------------------------------------------- the worked example


def test_the_worked_example_comes_out_exactly():
    model = Perceptron(start=((1, -1), -2), eta0=1 / 4, shuffle=False).fit(EXAMPLE_X, EXAMPLE_Y)
    assert_array_equal(Hyperplane([1, -1], -2).score(EXAMPLE_X), [-3, 1, -2])
    assert_array_equal(model.coef_, [[1.5, -0.5]])
    assert_array_equal(model.intercept_, [-1.75])
    assert_array_equal(model.decision_function(EXAMPLE_X), [-1.25, 3.75, 0.25])
    assert_array_equal(model.predict(EXAMPLE_X), EXAMPLE_Y)
    assert (model.status_, model.n_mistakes_, model.n_iter_, model.t_) == ("separated", 1, 2, 7)
    assert_array_equal(model.error_history_, [0.0, 0.0])
    assert model.error_ == 0.0


def test_the_one_mistake_of_the_worked_example_is_on_the_third_point():
    model = Perceptron(start=((1, -1), -2), eta0=1 / 4, shuffle=False)
    model.partial_fit(EXAMPLE_X[:2], EXAMPLE_Y[:2], classes=[-1, 1])
    assert_array_equal(model.coef_, [[1, -1]])
    assert model.status_ == "separated"
    model.partial_fit(EXAMPLE_X[2:], EXAMPLE_Y[2:])
    assert_array_equal(model.coef_, [[1.5, -0.5]])
    assert model.n_mistakes_ == 1


def test_a_score_of_exactly_zero_is_a_mistake():
    model = Perceptron(shuffle=False, fit_intercept=False).fit([[1.0], [-1.0]], [1, -1])
    assert model.n_mistakes_ == 1
    assert_array_equal(model.coef_, [[1.0]])
    stuck = fit_quietly(Perceptron(max_iter=3, tol=None), [[0.0], [0.0]], [1, -1])
    assert stuck.n_mistakes_ == 6  # the intercept goes to and fro: each row undoes the other
    assert stuck.status_ == "max_iter"


# -------------------------------------------------------------------------------- the reference


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_matrix, np.asfortranarray])
def test_it_makes_the_moves_of_the_slow_perceptron(kind, weighted, fit_intercept):
    X, y = overlapping()
    signs = np.where(y == 1, 1, -1)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = Perceptron(max_iter=7, tol=None, eta0=0.3, shuffle=False, fit_intercept=fit_intercept)
    fit_quietly(model, kind(X), y, sample_weight=weight)
    planes, mistakes = reference.every_plane(
        X, signs, [range(len(y))] * 7, step=0.3, weight=weight, fit_intercept=fit_intercept
    )
    assert model.n_mistakes_ == sum(mistakes)
    assert_allclose(model.coef_[0], planes[-1][0], **SUMMATION)
    assert_allclose(model.intercept_[0], planes[-1][1], **SUMMATION)
    after_each_pass = planes[len(y) - 1 :: len(y)]
    errors = [reference.error(X, signs, plane, weight) for plane in after_each_pass]
    assert_allclose(model.error_history_, errors, rtol=1e-10)
    assert model.error_ == model.error_history_[-1]


def test_every_pass_visits_all_rows_in_a_random_order_of_its_own():
    X, y = overlapping()
    n = len(y)
    model = fit_quietly(Perceptron(max_iter=5, tol=None, random_state=42), X, y)
    orders = [_core.system.random_permutation(42, 1 + k * n, n) for k in range(5)]
    assert len({tuple(order) for order in orders}) == 5
    planes, mistakes = reference.every_plane(X, np.where(y == 1, 1, -1), orders)
    assert model.n_mistakes_ == sum(mistakes)
    assert_allclose(model.coef_[0], planes[-1][0], **SUMMATION)


def test_every_one_vs_rest_problem_has_orders_of_its_own():
    X, y = overlapping(90, n_classes=3)
    model = fit_quietly(Perceptron(max_iter=3, tol=None, random_state=42), X, y)
    for k in range(3):
        orders = [_core.system.random_permutation(42, k * 2**48 + 1 + p * 90, 90) for p in range(3)]
        planes, _ = reference.every_plane(X, np.where(y == k, 1, -1), orders)
        assert_allclose(model.coef_[k], planes[-1][0], **SUMMATION)


def test_the_error_of_several_classes_is_that_of_all_their_planes():
    X, y = load_iris(return_X_y=True)
    model = fit_quietly(Perceptron(), X, y)  # only setosa is separated, and ends early
    planes = zip(model.coef_, model.intercept_, strict=True)
    errors = [reference.error(X, np.where(y == k, 1, -1), p) for k, p in enumerate(planes)]
    assert errors[0] == 0
    assert_allclose(model.error_, sum(errors), rtol=1e-10)


def test_several_classes_are_separated_one_against_the_rest():
    X, y = overlapping(90, n_classes=3)
    labels = np.array(["a", "b", "c"])[y]
    model = fit_quietly(Perceptron(max_iter=4, tol=None, shuffle=False), X, labels)
    for k in range(3):
        signs = np.where(y == k, 1, -1)
        planes, _ = reference.every_plane(X, signs, [range(90)] * 4)
        assert_allclose(model.coef_[k], planes[-1][0], **SUMMATION)
        assert_allclose(model.intercept_[k], planes[-1][1], **SUMMATION)
    assert model.decision_function(X).shape == (90, 3)
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


def test_two_perceptrons_of_two_libraries_agree_without_shuffling():
    X, y = overlapping()
    ours = fit_quietly(Perceptron(max_iter=5, tol=None, shuffle=False), X, y)
    theirs = sklearn.linear_model.Perceptron(max_iter=5, tol=None, shuffle=False).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, **SUMMATION)
    assert_allclose(ours.intercept_, theirs.intercept_, **SUMMATION)


def test_it_takes_the_parameters_of_scikit_learn_with_the_same_defaults():
    ours, theirs = Perceptron().get_params(), sklearn.linear_model.Perceptron().get_params()
    assert {name: ours[name] for name in theirs} == theirs
    assert set(ours) - set(theirs) == {"start", "max_time"}


# ----------------------------------------------------------------------------- the mistake bound


@given(separable(), st.integers(0, 2**64 - 1))
def test_separable_data_cost_at_most_the_square_of_radius_over_margin(case, seed):
    X, y, score, plane = case
    if len(np.unique(y)) < 2:
        return
    radius = np.sqrt((X**2).sum(axis=1).max() + 1)
    bound = math.floor((radius * np.linalg.norm(plane) / score) ** 2 + 1e-9)
    # Every pass but the last makes a mistake, so the bound on mistakes bounds the passes too.
    model = Perceptron(max_iter=bound + 1, tol=None, random_state=seed).fit(X, y)
    assert model.status_ == "separated"
    assert model.n_mistakes_ <= bound
    assert model.error_ == 0.0
    assert Hyperplane.of(model).separates(X, y)


# ------------------------------------------------------------------------------ limits and words


def test_overlapping_data_end_at_max_iter_and_a_warning_says_so():
    X, y = overlapping()
    model = Perceptron(max_iter=3, tol=None, shuffle=False)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    _, mistakes = reference.every_plane(X, np.where(y == 1, 1, -1), [range(len(y))] * 3)
    assert str(caught[0].message) == (
        "Perceptron did not separate the data within max_iter=3 passes: the last pass made "
        f"{mistakes[-1]} mistakes; raise max_iter, or, if the classes overlap, use LinearSVC or "
        "KernelPerceptron"
    )
    assert caught[0].filename == __file__
    assert (model.status_, model.n_iter_) == ("max_iter", 3)


@pytest.mark.parametrize("tol", [1e-3, 2.0])
def test_a_plateau_ends_training_and_a_warning_says_so(tol):
    X, y = overlapping()
    with pytest.warns(
        ConvergenceWarning, match=rf"no progress of tol={tol:g} in 5 passes.*tol=None"
    ):
        model = Perceptron(tol=tol).fit(X, y)
    assert model.status_ == "plateau"
    mean_error = model.error_history_ / len(y)
    lowest_before = np.minimum.accumulate(mean_error)[:-1]
    progress = np.r_[True, mean_error[1:] <= lowest_before - tol]
    without = [not progress[k : k + 5].any() for k in range(len(progress) - 4)]
    assert without.index(True) == len(without) - 1, "the first five passes without are the last"


def test_data_known_to_be_separable_are_not_given_up_without_a_tolerance():
    # Points 1 and -1 on the line, far from zero: thousands of mistakes, errors that stay alike.
    X, y = np.array([[100.0], [101.0]]), [0, 1]
    with pytest.warns(ConvergenceWarning, match="tol=None"):
        assert Perceptron().fit(X, y).status_ == "plateau"
    assert Perceptron(tol=None, max_iter=100_000).fit(X, y).status_ == "separated"


def test_the_warning_counts_the_one_vs_rest_problems_that_failed():
    # On a line, the class in the middle cannot be cut off by one point.
    X, y = [[-2.0], [-1.9], [0.0], [1.9], [2.0]], ["low", "low", "mid", "high", "high"]
    with pytest.warns(ConvergenceWarning, match="in 1 of 3 one-vs-rest problems"):
        model = Perceptron(max_iter=50, tol=None).fit(X, y)
    assert model.n_iter_ == len(model.error_history_) == 50


def test_iris_setosa_is_separated_in_silence():
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X, y == 0)
    assert model.status_ == "separated"
    assert model.score(X, y == 0) == 1.0


def test_passes_are_logged_when_asked_for(caplog):
    with caplog.at_level(logging.INFO, logger="hedgerow.perceptron"):
        Perceptron(start=((1, -1), -2), eta0=1 / 4, shuffle=False).fit(EXAMPLE_X, EXAMPLE_Y)
        assert caplog.messages == []
        model = Perceptron(start=((1, -1), -2), eta0=1 / 4, shuffle=False, verbose=1)
        model.fit(EXAMPLE_X, EXAMPLE_Y)
    assert caplog.messages == [
        "problem 0, pass 1: 1 mistakes, error 0",
        "problem 0, pass 2: 0 mistakes, error 0",
    ]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_scores_that_overflow_are_refused():
    X = np.array([[1e70, 0.0], [-1e70, 1.0]])
    with pytest.raises(DataError, match=r"overflowed to .*StandardScaler"):
        KernelPerceptron(kernel="poly", degree=5, gamma=1.0).fit(X, [0, 1])


# ------------------------------------------------------------------------------- early stopping


def test_early_stopping_learns_nothing_from_the_rows_it_holds_out():
    X, y = overlapping(100)
    model = Perceptron(early_stopping=True, validation_fraction=0.2, shuffle=False).fit(X, y)
    assert model.t_ == 1 + 80 * model.n_iter_
    order = _core.system.random_permutation(0, 2**63, 100)
    held_out = np.concatenate([order[y[order] == k][: round(0.2 * np.sum(y == k))] for k in (0, 1)])
    learnt = np.setdiff1d(np.arange(100), held_out)
    orders = [learnt] * model.n_iter_
    planes, mistakes = reference.every_plane(X, np.where(y == 1, 1, -1), orders)
    assert model.n_mistakes_ == sum(mistakes)
    assert_allclose(model.coef_[0], planes[-1][0], **SUMMATION)


def test_early_stopping_ends_in_silence_when_the_held_out_score_stays():
    X, y = overlapping(200)
    model = Perceptron(early_stopping=True).fit(X, y)
    assert model.status_ == "plateau"
    patient = Perceptron(early_stopping=True, n_iter_no_change=20).fit(X, y)
    assert patient.n_iter_ > model.n_iter_


def test_early_stopping_needs_rows_to_hold_out():
    with pytest.raises(DataError, match="holds out 0 of the 2 rows of class"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


# ------------------------------------------------------------------ weights, formats and threads


@pytest.mark.parametrize("early_stopping", [True, False])
def test_rows_of_weight_zero_are_as_if_not_there(early_stopping):
    X, y = overlapping(90, n_classes=3)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    there = weight > 0
    model = Perceptron(max_iter=5, tol=None, early_stopping=early_stopping)
    fit_quietly(model, X, y, sample_weight=weight)
    without = clone(model)
    fit_quietly(without, X[there], y[there], sample_weight=weight[there])
    assert_array_equal(model.coef_, without.coef_)
    # The error is summed pairwise, and zeros in between move the pairs.
    assert_allclose(model.error_history_, without.error_history_, rtol=1e-14)


def test_class_weights_multiply_sample_weights():
    X, y = overlapping()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    by_class = Perceptron(max_iter=5, tol=None, class_weight={0: 1.0, 1: 3.0})
    fit_quietly(by_class, X, y, sample_weight=weight)
    by_row = fit_quietly(
        Perceptron(max_iter=5, tol=None), X, y, sample_weight=weight * np.where(y == 1, 3.0, 1.0)
    )
    assert_array_equal(by_class.coef_, by_row.coef_)


def test_a_weight_is_a_factor_of_the_step():
    model = Perceptron(shuffle=False).fit([[1.0], [-1.0]], [1, 0], sample_weight=[2.5, 1.0])
    assert_array_equal(model.coef_, [[2.5 + 1.0]])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_change_nothing(n_classes):
    X, y = overlapping(500, n_classes=n_classes)
    models = [fit_quietly(Perceptron(max_iter=6, tol=None, n_jobs=n), X, y) for n in (1, 2, 3)]
    for model in models[1:]:
        assert_array_equal(model.coef_, models[0].coef_)
        assert_array_equal(model.error_history_, models[0].error_history_)
        assert_array_equal(model.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_rows_give_the_same_plane(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (80, 7)).astype(dtype)  # sums of integers are exact in any order
    y = (X @ rng.integers(-3, 4, 7) + rng.normal(size=80) > 0).astype(int)
    dense = fit_quietly(Perceptron(max_iter=9, tol=None), X, y)
    sparse = fit_quietly(Perceptron(max_iter=9, tol=None), sp.csr_matrix(X), y)
    assert_array_equal(dense.coef_, sparse.coef_)
    assert_array_equal(dense.intercept_, sparse.intercept_)
    assert_array_equal(dense.decision_function(X), sparse.decision_function(sp.csc_array(X)))


# ------------------------------------------------------------------------- refusals and the rest


@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": "l2"},
        {"alpha": -1.0},
        {"l1_ratio": 2.0},
        {"fit_intercept": 1},
        {"max_iter": 0},
        {"tol": -1e-3},
        {"shuffle": "yes"},
        {"verbose": -1},
        {"eta0": 0.0},
        {"n_jobs": 0},
        {"random_state": "seed"},
        {"early_stopping": None},
        {"validation_fraction": 0.0},
        {"n_iter_no_change": 0},
        {"class_weight": "fair"},
        {"warm_start": "no"},
        {"start": "zero"},
        {"start": (1, 2, 3)},
    ],
)
def test_a_parameter_out_of_bounds_is_refused_by_name(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        Perceptron(**parameters).fit(EXAMPLE_X, EXAMPLE_Y)


def test_a_penalty_is_refused_with_advice():
    with pytest.raises(ParameterError, match="use LinearSVC"):
        Perceptron(penalty="elasticnet").fit(EXAMPLE_X, EXAMPLE_Y)


def test_a_fitted_perceptron_survives_as_a_state():
    model = Perceptron(start=((1, -1), -2), eta0=1 / 4).fit(EXAMPLE_X, ["no", "yes", "yes"])
    again = load_state(*dump_state(model))
    assert_array_equal(again.predict(EXAMPLE_X), model.predict(EXAMPLE_X))
    assert again.status_ == "separated"
    assert_array_equal(again.error_history_, model.error_history_)
    assert clone(again).fit(EXAMPLE_X, EXAMPLE_Y).n_mistakes_ == model.n_mistakes_
