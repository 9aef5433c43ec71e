"""Theory one can compute: the formulas by hand, and what they say of fitted planes."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import hedgerow
from hedgerow import LinearSVC, theory
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.kernels import Linear
from hedgerow.theory import (
    balanced_error_bound,
    balancing_lambda,
    bounds_of,
    c_of_lambda,
    distance_histogram,
    hard_margin_error_bound,
    hyperplane_vc_dimension,
    kernel_norm,
    lambda_of_c,
    margin_error_bound,
    margin_histogram,
    margin_of,
    margin_vc_dimension,
    shatters,
    soft_margin_error_bound,
    structural_risk,
)

X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
Y = np.array([1, 1, -1, -1])


@pytest.fixture(scope="module")
def hard():
    """The worked example of the hard margin: w = (1, 1), b = -1."""
    return LinearSVC(loss="hinge", C=math.inf).fit(X, Y)


# --------------------------------------------------------------------------------- formulas


def test_a_wide_margin_leaves_a_small_dimension_whatever_the_space():
    assert margin_vc_dimension(3.0, 1.5, 10**6) == 5.0
    assert margin_vc_dimension(3.0, 1.5, 2) == 3.0
    assert margin_vc_dimension(3.0, 1e-9, 2) == hyperplane_vc_dimension(2)


def test_the_margin_bound_by_hand():
    # h = 5, m = 1000: 5 (ln 400 + 1) = 34.9573, ln 80 = 4.3820; sqrt(0.0393393) = 0.198341.
    expected = 0.1 + math.sqrt((5 * (math.log(400) + 1) + math.log(80)) / 1000)
    assert margin_error_bound(0.1, 5.0, 1000) == pytest.approx(expected, rel=1e-15)
    assert expected == pytest.approx(0.298341, abs=5e-7)


def test_a_dimension_beyond_the_rows_leaves_nothing_to_say():
    assert margin_error_bound(0.0, 10.0**9, 100) >= 1.0
    assert margin_error_bound(0.0, 10.0**9, 100) == margin_error_bound(0.0, 200.0, 100)


def test_the_hard_margin_bound_by_hand():
    # sqrt(4 * 4 / 10000) = 0.04, sqrt(2 ln 40 / 10000) = 0.027162...
    assert hard_margin_error_bound(1.0, 0.5, 10_000, delta=0.05) == pytest.approx(
        0.067162, abs=5e-7
    )


def test_the_balancing_lambda_gives_the_smallest_bound_and_its_closed_form():
    rho, norm, m = 2.0, 5.0, 400
    best = balancing_lambda(rho, norm, m)
    assert best == pytest.approx(math.sqrt(8.0 / 10_000), rel=1e-15)
    at_best = soft_margin_error_bound(0.25, norm, rho, best, m)
    assert at_best == pytest.approx(balanced_error_bound(0.25, rho, norm, m), rel=1e-14)
    assert at_best == pytest.approx(0.25 + math.sqrt(8 * 4 * 25 / 400), rel=1e-15)
    for other in (0.9 * best, 1.1 * best):
        assert soft_margin_error_bound(0.25, norm, rho, other, m) > at_best


def test_lambda_and_c_are_two_names_of_one_number():
    assert c_of_lambda(0.01, 200) == 0.25
    assert lambda_of_c(0.25, 200) == 0.01
    rows = np.vstack([X, -X + 1.0])
    labels = np.append(Y, Y)
    by_lambda = LinearSVC(loss="hinge", reg_lambda=0.05).fit(rows, labels)
    by_c = LinearSVC(loss="hinge", C=c_of_lambda(0.05, len(rows))).fit(rows, labels)
    np.testing.assert_allclose(by_lambda.coef_, by_c.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: margin_vc_dimension(1.0, 0.0, 2), "margin=0.0"),
        (lambda: margin_vc_dimension(1.0, 1.0, 2.5), "n_features=2.5"),
        (lambda: margin_error_bound(0.0, 1.0, 10, delta=1.0), "delta=1.0"),
        (lambda: hard_margin_error_bound(-1.0, 1.0, 10), "rho=-1.0"),
        (lambda: soft_margin_error_bound(0.0, 1.0, 1.0, 0.0, 10), "reg_lambda=0.0"),
        (lambda: balancing_lambda(1.0, math.nan, 10), "norm=nan"),
        (lambda: c_of_lambda(1.0, 0), "n_samples=0"),
        (lambda: lambda_of_c(math.inf, 10), "C=inf"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_name(call, name):
    with pytest.raises(ParameterError, match=f"{name} is not allowed: it must be"):
        call()


# ------------------------------------------------------------------------------- dimension


def test_lines_in_the_plane_shatter_three_points_and_no_four():
    assert hyperplane_vc_dimension(2) == 3
    assert shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert not shatters([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])  # on one line
    rng = np.random.default_rng(0)
    assert not any(shatters(rng.normal(size=(4, 2))) for _ in range(10))


@pytest.mark.parametrize("through_origin", [False, True])
@pytest.mark.parametrize("n_features", [1, 2, 3, 4])
def test_the_dimension_is_the_largest_number_of_points_that_are_shattered(
    n_features, through_origin
):
    h = hyperplane_vc_dimension(n_features, through_origin=through_origin)
    rng = np.random.default_rng(n_features)
    assert shatters(rng.normal(size=(h, n_features)), through_origin=through_origin)
    assert not shatters(rng.normal(size=(h + 1, n_features)), through_origin=through_origin)


def test_too_many_points_are_refused():
    with pytest.raises(DataError, match=r"X has 13 points, which have 2\^13 labellings"):
        shatters(np.zeros((13, 2)))


# --------------------------------------------------------------------- structural risk


def test_structural_risk_weighs_the_margin_against_the_rows_that_do_not_keep_it():
    margins = np.append(np.full(9900, 0.3), np.full(100, -0.1))
    risk = structural_risk(margins, radius=1.0, n_features=10_000)
    assert risk.margins[:3].tolist() == [1.0, 0.5, 0.25]
    assert risk.training_errors[:3].tolist() == [1.0, 1.0, 0.01]
    assert risk.vc_dimensions[:3].tolist() == [2.0, 5.0, 17.0]
    assert risk.best == 2
    assert risk.error_bounds[2] == margin_error_bound(0.01, 17.0, 10_000, 0.05 / 20)


def test_margins_that_are_no_numbers_are_refused():
    for wrong in ([], [[1.0]], [math.nan]):
        with pytest.raises(DataError, match="give one finite number per row"):
            structural_risk(wrong, 1.0, 2)


# ------------------------------------------------------------------------- fitted planes


def test_the_bounds_of_the_worked_example(hard):
    bounds = bounds_of(hard, X, Y)
    assert (bounds.n_samples, bounds.n_features) == (4, 2)
    # The solver is asked for a gap of 1e-4; a hard margin ends at rounding.
    assert bounds.margin == pytest.approx(1 / math.sqrt(2), rel=1e-9)
    assert margin_of(hard, X, Y) == bounds.margin
    assert bounds.radius == pytest.approx(math.sqrt(13) / 2, rel=1e-12)
    # With the constant feature: |(2, 2, 1)| = 3, |(1, 1, -1)| = sqrt 3, the margin 1 / sqrt 3.
    assert bounds.rho == pytest.approx(3.0, rel=1e-15)
    assert bounds.norm == pytest.approx(math.sqrt(3), rel=1e-9)
    assert bounds.hard_margin_bound == pytest.approx(
        hard_margin_error_bound(3.0, 1 / math.sqrt(3), 4), rel=1e-9
    )
    assert bounds.balanced_lambda == pytest.approx(math.sqrt(2 * 9 / (3 * 4)), rel=1e-9)
    assert bounds.balanced_c == pytest.approx(c_of_lambda(math.sqrt(1.5), 4), rel=1e-9)
    assert bounds.balanced_excess == pytest.approx(math.sqrt(8 * 9 * 3 / 4), rel=1e-9)


def test_a_plane_through_the_origin_needs_no_constant_feature():
    model = LinearSVC(loss="hinge", fit_intercept=False).fit(X + 1.0, Y)
    bounds = bounds_of(model, X + 1.0, Y)
    assert bounds.rho == pytest.approx(math.sqrt(18), rel=1e-15)
    assert bounds.norm == pytest.approx(np.linalg.norm(model.coef_), rel=1e-15)


def test_real_data_that_are_not_separated_have_no_hard_margin():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    bounds = bounds_of(LinearSVC(C=0.01).fit(rows, labels), rows, labels)
    assert bounds.margin < 0
    assert bounds.hard_margin_bound is None
    assert bounds.error_bound == bounds.risk.error_bounds.min()
    assert str(bounds).startswith("With probability 0.95 the error is at most ")


def test_of_several_classes_one_is_named():
    rows, labels = load_iris(return_X_y=True)
    model = LinearSVC().fit(rows, labels)
    assert margin_of(model, rows, labels, class_label=0) > 0
    assert bounds_of(model, rows, labels, class_label=0).hard_margin_bound is not None
    with pytest.raises(ParameterError, match="with class_label="):
        bounds_of(model, rows, labels)


def test_the_length_in_the_space_of_a_kernel_is_that_of_the_vector(hard):
    coefficients = hard.alpha_[0] * Y
    length = kernel_norm(Linear()(X), coefficients)
    assert length == pytest.approx(np.linalg.norm(coefficients @ X), rel=1e-14)
    with pytest.raises(DataError, match="give a square matrix"):
        kernel_norm(np.ones((2, 3)), [1.0, 1.0])


# ---------------------------------------------------------------------------- histograms


def test_a_histogram_counts_every_row_once_on_its_side(hard):
    histogram = distance_histogram(hard, X, Y, bins=6)
    assert 0.0 in histogram.edges
    assert {label: int(counts.sum()) for label, counts in histogram.counts.items()} == {-1: 2, 1: 2}
    negative = histogram.edges[:-1] < 0
    assert histogram.counts[-1][~negative].sum() == histogram.counts[1][negative].sum() == 0
    assert np.ptp(np.diff(histogram.edges)) < 1e-12


def test_a_margin_is_negative_on_the_wrong_side(hard):
    wrong = np.array([1, 1, -1, 1])
    histogram = margin_histogram(hard, X, wrong)
    assert histogram.counts[1][histogram.edges[:-1] < 0].sum() == 1
    assert histogram.counts[-1][histogram.edges[:-1] < 0].sum() == 0


def test_rows_on_the_plane_are_counted_too(hard):
    histogram = distance_histogram(hard, np.zeros((3, 2)) + 0.5, [1, 1, 1], bins=4)
    assert sum(counts.sum() for counts in histogram.counts.values()) == 3
    with pytest.raises(DataError, match="give one label per row"):
        distance_histogram(hard, X, Y[:2])
    with pytest.raises(ParameterError, match="bins=0"):
        distance_histogram(hard, X, Y, bins=0)


def test_a_histogram_is_drawn_with_a_bar_for_each_bin_and_class(hard):
    pytest.importorskip("matplotlib")
    histogram = distance_histogram(hard, X, Y, bins=6)
    axes = histogram.plot()
    assert len(axes.patches) == 2 * (len(histogram.edges) - 1)
    assert histogram.plot(axes) is axes


def test_without_matplotlib_the_numbers_are_still_there(hard, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnavailableError, match=r"pip install hedgerow\[plot\]"):
        distance_histogram(hard, X, Y).plot()


def test_the_modules_are_reached_from_the_package():
    assert hedgerow.theory is theory
    assert {"kernels", "testing", "theory"} <= set(dir(hedgerow))
