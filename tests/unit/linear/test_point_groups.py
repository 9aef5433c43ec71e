"""Which training rows have alpha 0, between, or at its bound, after any solver."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import hedgerow
from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR, ParameterError, UnavailableError
from hedgerow.solvers import SOLVERS
from tests.models.write import HERE

SOFT_X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
SOFT_Y = np.array([-1, -1, 1, 1])
HARD_X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
HARD_Y = np.array([1, 1, -1, -1])


def solvers_of(loss):
    """Return the exact solvers for a loss."""
    return [
        name
        for name, s in SOLVERS.items()
        if s.is_exact and loss in s.losses and "l2" in s.penalties
    ]


def groups_of(model):
    groups = model.point_groups()
    return groups.zero.tolist(), groups.between.tolist(), groups.at_bound.tolist()


def overlapping(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.7 * rng.normal(size=n)


def test_a_point_on_the_margin_may_have_alpha_zero():
    model = LinearSVC(loss="hinge", C=5 / 16).fit(SOFT_X, SOFT_Y)
    assert groups_of(model) == ([1], [2, 3], [0])
    assert_array_equal(model.support_, [0, 2, 3])
    assert abs(SOFT_Y[1] * model.decision_function(SOFT_X)[1] - 1.0) < 1e-12


def test_with_little_weight_every_point_is_at_the_bound():
    model = LinearSVC(loss="hinge", C=1 / 10).fit(SOFT_X, SOFT_Y)
    assert groups_of(model) == ([], [], [0, 1, 2, 3])
    # Margins of at most 1 are what alphas at the bound ask for; that leaves an interval for b.
    margins = SOFT_Y * (SOFT_X @ model.coef_[0])
    low, high = max((margins - 1.0)[SOFT_Y < 0]), min((1.0 - margins)[SOFT_Y > 0])
    assert model.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-12)


def test_two_points_at_the_bound_leave_the_intercept_the_middle_of_a_wide_interval():
    model = LinearSVC(loss="hinge", C=0.1).fit([[-1.0], [3.0]], [-1, 1])
    assert groups_of(model) == ([], [], [0, 1])
    # w = 0.4: b >= -0.6 for the first margin to be at most 1, and b <= -0.2 for the second.
    assert model.intercept_[0] == pytest.approx(-0.4, abs=1e-12)


def test_the_widest_margin_is_held_by_two_points():
    model = LinearSVC(loss="hinge", C=1e6).fit(HARD_X, HARD_Y)
    assert groups_of(model) == ([1, 3], [0, 2], [])
    assert_array_equal(model.support_, [0, 2])


@pytest.mark.parametrize("solver", solvers_of("hinge"))
@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_every_row_is_where_its_alpha_says(solver, intercept):
    X, y = overlapping()
    weight = np.linspace(0.0, 2.0, len(y))
    model = LinearSVC(loss="hinge", solver=solver, intercept=intercept, tol=1e-9, max_iter=10**5)
    model.set_params(random_state=0).fit(X, y > 0, weight)
    groups, margin = model.point_groups(), np.where(y > 0, 1, -1) * model.decision_function(X)
    near = 1e-3  # what a relative gap of 1e-9 may leave of a residual
    assert_array_equal(np.sort(np.concatenate(groups_of(model))), np.arange(len(y)))
    weighs = groups.zero[weight[groups.zero] > 0]
    assert (margin[weighs] >= 1 - near).all()
    assert (np.abs(margin[groups.between] - 1) <= near).all()
    assert (margin[groups.at_bound] <= 1 + near).all()
    assert_array_equal(groups.alpha[groups.at_bound], weight[groups.at_bound])
    assert 0 in groups.zero  # a row without weight
    assert len(groups.at_bound) > 10


@pytest.mark.parametrize("solver", solvers_of("squared_hinge"))
def test_a_squared_hinge_has_two_groups(solver):
    X, y = overlapping()
    model = LinearSVC(solver=solver, tol=1e-9, max_iter=10**5, random_state=0).fit(X, y > 0)
    groups, margin = model.point_groups(), np.where(y > 0, 1, -1) * model.decision_function(X)
    assert len(groups.at_bound) == 0
    assert (margin[groups.zero] >= 1 - 1e-3).all()
    assert (margin[groups.between] <= 1 + 1e-3).all()


def test_the_logistic_loss_has_none_and_says_why():
    model = LinearSVC(loss="logistic").fit(SOFT_X, SOFT_Y)
    with pytest.raises(UnavailableError, match="strictly between 0 and its bound"):
        model.point_groups()
    assert not hasattr(model, "support_")
    assert ((model.alpha_ > 0) & (model.alpha_ < 1)).all()


def test_a_regressor_has_rows_above_and_below_its_tube():
    X, y = overlapping()
    model = LinearSVR(C=0.5, epsilon=0.3).fit(X, y)
    groups, residual = model.point_groups(), y - model.predict(X)
    assert len(groups.zero) > 10
    assert (np.abs(residual[groups.zero]) <= 0.3 + 1e-9).all()
    assert (np.abs(np.abs(residual[groups.between]) - 0.3) <= 1e-9).all()
    assert (np.abs(residual[groups.at_bound]) >= 0.3 - 1e-9).all()
    assert (residual[groups.above] >= 0.3 - 1e-9).all()
    assert (residual[groups.below] <= -0.3 + 1e-9).all()
    assert_array_equal(np.abs(groups.alpha[groups.at_bound]), 0.5)
    assert_array_equal(np.union1d(groups.above, groups.below), model.support_)


def test_a_one_class_machine_has_its_outliers_at_the_bound():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 2.0
    model = LinearOneClassSVM(nu=0.2).fit(X)
    groups = model.point_groups()
    outliers = np.flatnonzero(model.predict(X) == -1)
    assert set(outliers) <= set(groups.at_bound)
    assert_array_equal(groups.support, model.support_)


def test_several_classes_have_groups_for_each_plane():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(loss="hinge").fit(X, y)
    supports = [model.point_groups(plane).support for plane in range(3)]
    assert_array_equal(np.unique(np.concatenate(supports)), model.support_)
    for wrong in (3, -1, 0.5):
        with pytest.raises(ParameterError, match=r"plane=.* has 3, counted from 0"):
            model.point_groups(wrong)


def test_tiny_weights_are_not_taken_for_rounding():
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, C=1e-14).fit(SOFT_X, SOFT_Y)
        assert_array_equal(model.support_, [0, 1, 2, 3])
        assert model.certificate_.kkt_violation < 1e-9


def test_groups_come_along_with_a_saved_model(tmp_path):
    model = LinearSVC(loss="hinge", C=5 / 16).fit(SOFT_X, SOFT_Y)
    hedgerow.save(model, tmp_path / "m.hedge")
    assert groups_of(hedgerow.load(tmp_path / "m.hedge")) == groups_of(model)
    assert groups_of(pickle.loads(pickle.dumps(model))) == groups_of(model)


def test_a_model_of_an_earlier_version_says_that_it_kept_none():
    model = hedgerow.load(HERE / "format-1" / "LinearSVC.hedge")
    with pytest.raises(UnavailableError, match="fit it again"):
        model.point_groups()


def test_a_model_that_is_not_fitted_has_none():
    with pytest.raises(NotFittedError):
        LinearSVC().point_groups()
    assert not hasattr(LinearSVC(), "support_")
