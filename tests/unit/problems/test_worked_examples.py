"""The worked examples of the lectures come out exactly, with default settings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow import Hyperplane, LinearSVC

pytestmark = pytest.mark.sanitize

EXACT = {"rtol": 0, "atol": 1e-12}

SOFT_X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
SOFT_Y = np.array([-1, -1, 1, 1])
HARD_X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
HARD_Y = np.array([1, 1, -1, -1])


def test_the_widest_margin_between_four_points():
    model = LinearSVC(loss="hinge", C=1e6).fit(HARD_X, HARD_Y)
    assert_allclose(model.coef_, [[1, 1]], **EXACT)
    assert_allclose(model.intercept_, [-1], **EXACT)
    assert_allclose(Hyperplane.of(model).margin(HARD_X, HARD_Y), 1 / np.sqrt(2), **EXACT)
    assert_allclose(Hyperplane.of(model).width, np.sqrt(2), **EXACT)
    assert np.flatnonzero(model.alpha_[0] > 1e-9).tolist() == [0, 2]


def test_scaling_the_data_scales_the_margin():
    model = LinearSVC(loss="hinge", C=1e6).fit(3 * HARD_X, HARD_Y)
    assert_allclose(Hyperplane.of(model).margin(3 * HARD_X, HARD_Y), 3 / np.sqrt(2), **EXACT)


def test_soft_margin_at_five_sixteenths():
    model = LinearSVC(loss="hinge", C=5 / 16).fit(SOFT_X, SOFT_Y)
    assert_allclose(model.alpha_, [[5 / 16, 0, 1 / 16, 1 / 4]], **EXACT)
    assert_allclose(model.coef_, [[3 / 8, -1 / 2]], **EXACT)
    assert_allclose(model.intercept_, [3 / 8], **EXACT)
    second_point = SOFT_Y[1] * model.decision_function(SOFT_X)[1]
    assert_allclose(second_point, 1.0, **EXACT)


def test_soft_margin_at_one_tenth_is_parallel_to_the_class_means():
    model = LinearSVC(loss="hinge", C=1 / 10).fit(SOFT_X, SOFT_Y)
    assert_allclose(model.alpha_, [[1 / 10] * 4], **EXACT)
    assert_allclose(model.coef_, [[0.2, -0.5]], **EXACT)
    assert_allclose(model.intercept_, [0.2], **EXACT)
    means = SOFT_X[SOFT_Y > 0].mean(0) - SOFT_X[SOFT_Y < 0].mean(0)
    assert_allclose(np.linalg.det([model.coef_[0], means]), 0.0, **EXACT)


@pytest.mark.parametrize("C", [5 / 16, 1 / 10])
def test_both_parametrisations_are_the_same_problem(C):
    by_C = LinearSVC(loss="hinge", C=C).fit(SOFT_X, SOFT_Y)
    by_lambda = LinearSVC(loss="hinge", reg_lambda=1 / (2 * 4 * C)).fit(SOFT_X, SOFT_Y)
    assert_allclose(by_lambda.coef_, by_C.coef_, **EXACT)
    assert_allclose(by_lambda.intercept_, by_C.intercept_, **EXACT)


def test_without_rows_on_the_margin_the_intercept_is_the_middle_of_its_interval():
    X = np.array([[-1.0], [1.0]])
    model = LinearSVC(loss="hinge", C=0.1).fit(X, [-1, 1])
    # w = 0.2; every b with |b| <= 0.8 is optimal.
    assert_allclose(model.coef_, [[0.2]], **EXACT)
    assert_allclose(model.intercept_, [0.0], **EXACT)
