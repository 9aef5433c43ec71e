"""The averaged perceptron is the mean of all planes, though it never forms them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import _core
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import ParameterError
from hedgerow.linear import AveragedPerceptron, Perceptron
from tests.reference import perceptron as reference
from tests.unit.perceptron.perceptron_data import fit_quietly, overlapping

# Means of a few hundred planes, summed in another order than the reference does.
SUMMATION = {"rtol": 1e-11, "atol": 1e-11}


def test_three_points_on_a_line_by_hand():
    # Visits 1, 2: plane (1, 1). Visit 3 errs on -1: (2, 0), which survives visits 3 to 6.
    model = AveragedPerceptron(shuffle=False).fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
    # The shares 1 - 0/6 and 1 - 2/6 are rounded once each.
    assert_allclose(model.coef_, [[(2 * 1 + 4 * 2) / 6]], rtol=1e-15)
    assert_allclose(model.intercept_, [(2 * 1 + 4 * 0) / 6], rtol=1e-15)
    assert (model.n_mistakes_, model.n_iter_, model.t_) == (2, 2, 7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_it_is_the_mean_of_all_planes_of_the_slow_perceptron(kind, weighted, fit_intercept):
    X, y = overlapping()
    signs = np.where(y == 1, 1, -1)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = AveragedPerceptron(max_iter=6, tol=None, eta0=0.3, fit_intercept=fit_intercept)
    fit_quietly(model, kind(X), y, sample_weight=weight)
    orders = [_core.system.random_permutation(0, 1 + k * len(y), len(y)) for k in range(6)]
    planes, mistakes = reference.every_plane(
        X, signs, orders, step=0.3, weight=weight, fit_intercept=fit_intercept
    )
    coef, intercept = reference.averaged(planes)
    assert model.n_mistakes_ == sum(mistakes)
    assert_allclose(model.coef_[0], coef, **SUMMATION)
    assert_allclose(model.intercept_[0], intercept, **SUMMATION)
    error = reference.error(X, signs, (coef, intercept), weight)
    assert_allclose(model.error_, error, rtol=1e-9)


def test_each_class_of_several_has_its_mean():
    X, y = overlapping(90, n_classes=3)
    model = fit_quietly(AveragedPerceptron(max_iter=4, tol=None, shuffle=False), X, y)
    for k in range(3):
        planes, _ = reference.every_plane(X, np.where(y == k, 1, -1), [range(90)] * 4)
        assert_allclose(model.coef_[k], reference.averaged(planes)[0], **SUMMATION)
        assert_allclose(model.intercept_[k], reference.averaged(planes)[1], **SUMMATION)


def test_it_makes_the_passes_of_the_perceptron():
    X, y = overlapping(90, n_classes=3)
    averaged = fit_quietly(AveragedPerceptron(max_iter=9, tol=None), X, y)
    plain = fit_quietly(Perceptron(max_iter=9, tol=None), X, y)
    for name in ("n_iter_", "t_", "status_", "n_mistakes_"):
        assert getattr(averaged, name) == getattr(plain, name)


def test_the_error_history_is_that_of_the_mean_plane():
    X, y = overlapping()
    model = fit_quietly(AveragedPerceptron(max_iter=5, tol=None, shuffle=False), X, y)
    signs = np.where(y == 1, 1, -1)
    planes, _ = reference.every_plane(X, signs, [range(60)] * 5)
    means = [reference.averaged(planes[: 60 * n]) for n in range(1, 6)]
    assert_allclose(model.error_history_, [reference.error(X, signs, p) for p in means], rtol=1e-9)
    assert model.error_ == model.error_history_[-1]


def test_on_overlapping_classes_the_mean_is_better_than_the_last_plane():
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.1, 1 - y, y)  # a tenth of the labels is wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        averaged, plain = (
            cross_val_score(make_pipeline(StandardScaler(), model), X, y).mean()
            for model in (AveragedPerceptron(), Perceptron())
        )
    assert averaged > plain + 0.02  # one standard error of 569 rows at 90 % is 0.013


def test_rows_of_weight_zero_are_as_if_not_there():
    X, y = overlapping()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    there = weight > 0
    model = fit_quietly(AveragedPerceptron(), X, y, sample_weight=weight)
    without = fit_quietly(AveragedPerceptron(), X[there], y[there], sample_weight=weight[there])
    # The sums over rows are cut into blocks by the number of rows, so the last bits may differ.
    assert_allclose(model.coef_, without.coef_, **SUMMATION)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_change_nothing(n_classes):
    X, y = overlapping(500, n_classes)
    models = [fit_quietly(AveragedPerceptron(n_jobs=n), X, y) for n in (1, 2)]
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].error_ == models[1].error_


def test_it_warns_when_the_perceptron_did_not_separate():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="AveragedPerceptron did not separate the data"):
        AveragedPerceptron().fit(X, y)


def test_a_parameter_out_of_bounds_is_refused_by_name():
    with pytest.raises(ParameterError, match="eta0=-1 is not allowed in AveragedPerceptron"):
        AveragedPerceptron(eta0=-1).fit([[0.0], [1.0]], [0, 1])


def test_a_fitted_average_survives_as_a_state():
    X, y = overlapping()
    model = fit_quietly(AveragedPerceptron(), X, y)
    again = load_state(*dump_state(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
