"""Where a perceptron starts, and how it goes on: start, warm_start, coef_init, partial_fit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.errors import ParameterError
from hedgerow.linear import Perceptron
from tests.unit.perceptron.perceptron_data import fit_quietly, overlapping

EXAMPLE_X = np.array([[1.0, 2.0], [4.0, 1.0], [2.0, 2.0]])
EXAMPLE_Y = np.array([-1, 1, 1])


# ---------------------------------------------------------------------------------------- starts


def test_a_random_start_depends_on_the_seed_alone():
    X, y = overlapping()
    models = [
        fit_quietly(Perceptron(start="random", random_state=s, max_iter=1), X, y) for s in (1, 1, 2)
    ]
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert not np.array_equal(models[0].coef_, models[2].coef_)


def test_a_random_start_lies_within_one():
    # Rows of zeros teach nothing, so the plane stays where it starts.
    model = Perceptron(start="random", random_state=3, fit_intercept=False, max_iter=1, tol=None)
    fit_quietly(model, np.zeros((2, 500)), [0, 1])
    assert model.intercept_ == 0.0
    assert model.coef_.min() >= -1
    assert model.coef_.max() < 1
    # 500 uniform draws have mean 0 with standard error 0.026; four of them is a fair bound.
    assert abs(model.coef_.mean()) < 0.104


def test_a_start_that_separates_is_kept():
    model = Perceptron(start=([[1.0, 0.0]], [-1.5]), shuffle=False).fit(EXAMPLE_X, EXAMPLE_Y)
    assert_array_equal(model.coef_, [[1, 0]])
    assert model.n_mistakes_ == 0


def test_planes_given_to_fit_go_before_start():
    model = Perceptron(start="random", shuffle=False)
    model.fit(EXAMPLE_X, EXAMPLE_Y, coef_init=[[1.0, 0.0]], intercept_init=[-1.5])
    assert_array_equal(model.coef_, [[1, 0]])


def test_a_warm_start_goes_on_from_the_fitted_plane():
    X, y = overlapping()
    model = Perceptron(warm_start=True, shuffle=False, max_iter=2, tol=None)
    fit_quietly(fit_quietly(model, X, y), X, y)
    at_once = fit_quietly(Perceptron(shuffle=False, max_iter=4, tol=None), X, y)
    assert_array_equal(model.coef_, at_once.coef_)
    cold = fit_quietly(Perceptron(shuffle=False, max_iter=2, tol=None), X, y)
    assert not np.array_equal(cold.coef_, at_once.coef_)


def test_without_a_warm_start_fitting_again_starts_afresh():
    X, y = overlapping()
    model = fit_quietly(Perceptron(max_iter=2, tol=None), X, y)
    first = model.coef_
    assert_array_equal(fit_quietly(model, X, y).coef_, first)
    assert model.t_ == 1 + 2 * len(y)


def test_fitting_leaves_the_given_start_as_it_was():
    coef = np.array([[1.0, -1.0]])
    Perceptron(start=(coef, -2.0)).fit(EXAMPLE_X, EXAMPLE_Y)
    assert_array_equal(coef, [[1, -1]])


@pytest.mark.parametrize(
    "start", [((1, 2, 3), 0), ((1, 2), (0, 0)), (("a", "b"), 0), ((1, np.nan), 0), (None, 0)]
)
def test_a_start_of_the_wrong_shape_is_refused(start):
    with pytest.raises(ParameterError, match="start"):
        Perceptron(start=start).fit(EXAMPLE_X, EXAMPLE_Y)


def test_a_warm_start_from_other_columns_is_refused():
    model = Perceptron(warm_start=True).fit(EXAMPLE_X, EXAMPLE_Y)
    with pytest.raises(ParameterError, match="the hyperplane to warm-start from"):
        model.fit(EXAMPLE_X[:, :1], EXAMPLE_Y)


# ----------------------------------------------------------------------------------- partial_fit


def test_partial_fits_on_the_same_rows_are_the_passes_of_one_fit():
    X, y = overlapping(90, n_classes=3)
    model = Perceptron(random_state=5)
    for _ in range(4):
        model.partial_fit(X, y, classes=[0, 1, 2])
    at_once = fit_quietly(Perceptron(random_state=5, max_iter=4, tol=None), X, y)
    assert_array_equal(model.coef_, at_once.coef_)
    assert_array_equal(model.intercept_, at_once.intercept_)
    assert model.t_ == at_once.t_ == 361
    assert model.error_ == at_once.error_
    assert (model.n_iter_, len(model.error_history_)) == (1, 1)


def test_a_batch_may_lack_classes():
    model = Perceptron().partial_fit([[0.0, 1.0]], ["b"], classes=["c", "a", "b"])
    assert_array_equal(model.classes_, ["a", "b", "c"])
    assert_array_equal(model.coef_, [[0, -1], [0, 1], [0, -1]])


def test_partial_fit_goes_on_after_fit():
    X, y = overlapping()
    model = fit_quietly(Perceptron(max_iter=2, tol=None, random_state=5), X, y).partial_fit(X, y)
    at_once = fit_quietly(Perceptron(max_iter=3, tol=None, random_state=5), X, y)
    assert_array_equal(model.coef_, at_once.coef_)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"y": [0, 1]}, "classes must be passed on the first call"),
        ({"y": [0, 1], "classes": [0]}, "fewer than two"),
        ({"y": [0, 5], "classes": [0, 1]}, "label 5, which is not among the classes"),
    ],
)
def test_batches_of_unknown_classes_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Perceptron().partial_fit([[0.0], [1.0]], **arguments)


def test_classes_cannot_change_between_batches():
    model = Perceptron().partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    with pytest.raises(ParameterError, match="not the same as on the first call"):
        model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 2])


@pytest.mark.parametrize("parameters", [{"early_stopping": True}, {"class_weight": "balanced"}])
def test_what_needs_all_rows_is_refused_in_partial_fit(parameters):
    with pytest.raises(ParameterError, match="needs all rows at once"):
        Perceptron(**parameters).partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
