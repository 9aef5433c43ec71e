"""The geometry of hyperplanes: MISSION's formulas, the lectures' numbers, every refusal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from hedgerow.errors import DataError, ParameterError
from hedgerow.linear import Hyperplane, Perceptron

# The four points of the hard-margin example, and the plane that separates them but is not widest.
X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
Y = np.array([1, 1, -1, -1])
RIVAL = Hyperplane([1.0, 0.0], -0.5)
WIDEST = Hyperplane([1.0, 1.0], -1.0)

# A few operations on numbers near 1 lose at most a few units in the last place.
ROUNDING = {"rtol": 1e-14, "atol": 1e-14}

coordinates = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def planes_and_points(draw):
    n_features = draw(st.integers(1, 5))
    normal = draw(arrays(np.float64, n_features, elements=coordinates))
    if np.abs(normal).max() < 1e-3:
        normal[0] = 1.0
    points = draw(arrays(np.float64, (draw(st.integers(1, 6)), n_features), elements=coordinates))
    return Hyperplane(normal, draw(coordinates)), points


# ------------------------------------------------------------------------------- worked values


def test_the_rival_plane_separates_too():
    assert RIVAL.separates(X, Y)
    assert WIDEST.separates(X, Y)


def test_the_rival_rescaled_to_scores_of_one_is_twice_as_long():
    canonical = RIVAL.canonical(X)
    assert canonical == Hyperplane([2.0, 0.0], -1.0)
    assert canonical.norm == 2.0
    assert np.abs(canonical.score(X)).min() == 1.0


def test_the_widest_plane_is_canonical_already():
    assert WIDEST.canonical(X) == WIDEST
    assert WIDEST.norm == np.sqrt(2)


def test_margin_and_width_of_the_widest_plane():
    assert_allclose(WIDEST.margin(X, Y), 1 / np.sqrt(2), **ROUNDING)
    assert_allclose(WIDEST.width, np.sqrt(2), **ROUNDING)
    assert WIDEST.margin(X, Y) > RIVAL.margin(X, Y) == 0.5


def test_a_canonical_planes_width_is_twice_its_margin():
    for plane in (RIVAL.canonical(X), WIDEST):
        assert_allclose(plane.width, 2 * plane.margin(X, Y), **ROUNDING)


def test_scaling_the_data_scales_the_margin():
    scaled = Hyperplane(WIDEST.normal / 3, WIDEST.offset)
    assert_allclose(scaled.margin(3 * X, Y), 3 * WIDEST.margin(X, Y), **ROUNDING)


def test_score_distance_and_projection_of_a_point():
    plane = Hyperplane([3.0, 4.0], -5.0)
    assert_array_equal(plane.score([[3, 4], [0, 0]]), [20, -5])
    assert_array_equal(plane.signed_distance([[3, 4], [0, 0]]), [4, -1])
    assert_array_equal(plane.distance([[3, 4], [0, 0]]), [4, 1])
    assert_allclose(plane.project([[3, 4], [0, 0]]), [[0.6, 0.8], [0.6, 0.8]], **ROUNDING)


def test_a_line_in_the_plane_has_normal_m_and_minus_one():
    plane = Hyperplane.from_line(slope=2.0, intercept=3.0)
    assert plane == Hyperplane([2.0, -1.0], 3.0)
    assert plane.line() == (2.0, 3.0)
    assert plane.score([[1.0, 5.0]]) == 0.0


def test_the_line_does_not_depend_on_the_scale_of_the_normal():
    assert Hyperplane([-4.0, 2.0], -6.0).line() == (2.0, 3.0)


# ---------------------------------------------------------------------------------- properties


@given(planes_and_points())
def test_a_projection_lies_on_the_plane_and_is_as_far_as_the_distance_says(case):
    plane, points = case
    feet = plane.project(points)
    # Coordinates up to 100 in 5 dimensions, |b| at least 1e-3: b0 / |b| may reach 1e5, where a
    # float64 ends at about 1e-11; the bound leaves two digits for the sums.
    size = 1.0 + np.abs(plane.offset) / plane.norm + np.abs(points).max()
    assert_allclose(plane.signed_distance(feet), 0.0, atol=1e-13 * size)
    assert_allclose(
        np.linalg.norm(points - feet, axis=1), plane.distance(points), atol=1e-13 * size
    )


@given(planes_and_points(), st.floats(0.01, 100))
def test_rescaling_changes_scores_but_no_distance(case, factor):
    plane, points = case
    scaled = Hyperplane(factor * plane.normal, factor * plane.offset)
    size = 1.0 + np.abs(plane.offset) / plane.norm + np.abs(points).max()
    assert_allclose(
        scaled.signed_distance(points), plane.signed_distance(points), atol=1e-13 * size
    )
    assert_allclose(scaled.width, plane.width / factor, rtol=1e-14)


@given(planes_and_points())
def test_sparse_and_dense_points_have_the_same_geometry(case):
    plane, points = case
    for method in (plane.score, plane.signed_distance, plane.distance, plane.project):
        dense, sparse = method(points), method(sp.csr_array(points))
        # Sparse rows skip zeros, which may change the order of the sum.
        assert_allclose(sparse, dense, rtol=1e-12, atol=1e-12 * (1 + np.abs(dense).max()))


def test_a_tiny_normal_still_has_a_direction():
    plane = Hyperplane([3e-200, 4e-200], 0.0)  # its squares underflow
    assert_allclose(plane.unit_normal, [0.6, 0.8], **ROUNDING)
    assert_allclose(plane.distance([[3.0, 4.0]]), [5.0], **ROUNDING)


def test_single_precision_points_are_welcome():
    assert_array_equal(WIDEST.score(X.astype(np.float32)), WIDEST.score(X))


# ---------------------------------------------------------------- margins where it does not separate


def test_the_margin_of_a_misclassified_sample_is_minus_its_deepest_error():
    assert not WIDEST.separates(X, -Y)
    assert_allclose(WIDEST.margin(X, -Y), -3 / np.sqrt(2), **ROUNDING)


def test_a_point_on_the_plane_is_not_separated_and_leaves_no_margin():
    on_it = [[1.0, 0.0], [2.0, 2.0]]
    assert not WIDEST.separates(on_it, [1, 1])
    assert WIDEST.margin(on_it, [1, 1]) == 0.0
    assert WIDEST.margin(on_it, [-1, 1]) == 0.0


def test_functional_margins_are_signed_by_the_label():
    assert_array_equal(WIDEST.functional_margin(X, Y), [1, 3, 1, 2])
    assert_array_equal(WIDEST.functional_margin(X, -Y), [-1, -3, -1, -2])


# ------------------------------------------------------------------------------------- a value


def test_a_hyperplane_cannot_be_changed():
    normal = np.array([1.0, 2.0])
    plane = Hyperplane(normal, 3.0)
    normal[0] = 9.0
    assert plane.normal[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        plane.normal[0] = 9.0
    for name in ("normal", "offset", "norm", "unit_normal", "width"):
        with pytest.raises(AttributeError):
            setattr(plane, name, 1.0)


def test_equal_planes_are_equal_values():
    assert Hyperplane([1, 2], 3) == Hyperplane((1.0, 2.0), 3.0)
    assert hash(Hyperplane([1, 2], 3)) == hash(Hyperplane((1.0, 2.0), 3.0))
    assert Hyperplane([1, 2], 3) != Hyperplane([1, 2], 4)
    assert Hyperplane([1, 2], 3) != "a plane"


def test_a_hyperplane_shows_its_normal_and_offset():
    assert repr(Hyperplane([1, 2], 3)) == "Hyperplane([1., 2.], 3.0)"


# ----------------------------------------------------------------------------- planes of models


@pytest.mark.parametrize(
    "model",
    [Perceptron(), LogisticRegression(), LinearDiscriminantAnalysis(), SVC(kernel="linear")],
)
def test_the_plane_of_a_binary_model_scores_as_the_model_does(model):
    labels = np.where(Y > 0, "yes", "no")
    plane = Hyperplane.of(model.fit(X, labels))
    # Both are one inner product and one sum of numbers of the same size.
    assert_allclose(plane.score(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
    assert plane.separates(X, labels)
    assert plane.canonical(X).separates(X, labels)


def test_naming_the_first_of_two_classes_turns_the_plane_round():
    model = Perceptron().fit(X, np.where(Y > 0, "yes", "no"))
    assert_array_equal(Hyperplane.of(model, "no").score(X), -Hyperplane.of(model).score(X))
    assert Hyperplane.of(model, "no").separates(X, np.where(Y > 0, "yes", "no"))


def test_a_class_of_several_is_chosen_by_its_label():
    rows = np.array([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0]])
    labels = np.array(["a", "b", "c"])
    model = Perceptron().fit(rows, labels)
    for k, label in enumerate(labels):
        plane = Hyperplane.of(model, class_label=label)
        assert_allclose(plane.score(rows), model.decision_function(rows)[:, k], **ROUNDING)
        assert plane.separates(rows, labels)


def test_a_model_of_several_classes_asks_for_one():
    model = Perceptron().fit([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0]], ["a", "b", "c"])
    with pytest.raises(ParameterError, match=r"3 classes .*'a', 'b', 'c'.* with class_label="):
        Hyperplane.of(model)


def test_a_class_the_model_does_not_know_is_refused():
    model = Perceptron().fit(X, Y)
    with pytest.raises(ParameterError, match=r"class_label=7 is not a class of Perceptron"):
        Hyperplane.of(model, class_label=7)


def test_planes_between_pairs_of_classes_belong_to_no_class():
    model = SVC(kernel="linear").fit([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0]], ["a", "b", "c"])
    with pytest.raises(ParameterError, match="one-vs-one"):
        Hyperplane.of(model, class_label="a")


def test_a_regression_model_has_a_plane_without_labels():
    model = LinearRegression().fit(X, Y)
    plane = Hyperplane.of(model)
    assert_allclose(plane.score(X), model.predict(X), **ROUNDING)
    assert_allclose(plane.functional_margin(X, Y), Y * model.predict(X), **ROUNDING)


def test_several_regression_targets_are_several_planes():
    model = LinearRegression().fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(ParameterError, match="2 hyperplanes"):
        Hyperplane.of(model)


@pytest.mark.parametrize("model", [Perceptron(), SVC(), "no model"])
def test_what_has_no_plane_is_refused(model):
    with pytest.raises(ParameterError, match="has been fitted"):
        Hyperplane.of(model)


def test_sparse_coefficients_are_read():
    model = LogisticRegression().fit(X, Y)
    dense = Hyperplane.of(model)
    assert Hyperplane.of(model.sparsify()) == dense


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("normal", [[0.0, 0.0], []])
def test_a_zero_normal_is_refused(normal):
    with pytest.raises(ParameterError, match="zero vector"):
        Hyperplane(normal, 1.0)


@pytest.mark.parametrize("normal", [[1.0, np.nan], [[1.0, 2.0]], 3.0, ["a"], [[1.0], [1.0, 2.0]]])
def test_a_normal_that_is_no_vector_is_refused(normal):
    with pytest.raises(ParameterError, match=r"one .*number per feature"):
        Hyperplane(normal, 1.0)


@pytest.mark.parametrize("offset", [np.inf, np.nan, "b", None, [1.0, 2.0]])
def test_an_offset_that_is_no_number_is_refused(offset):
    with pytest.raises(ParameterError, match="offset"):
        Hyperplane([1.0], offset)


def test_a_point_on_the_plane_cannot_be_made_canonical():
    with pytest.raises(DataError, match="row 1 of X lies on the hyperplane"):
        WIDEST.canonical([[3.0, 3.0], [1.0, 0.0]])


def test_points_of_another_space_are_refused():
    with pytest.raises(DataError, match="X has 3 features but the hyperplane has 2 dimensions"):
        WIDEST.score([[1.0, 2.0, 3.0]])


def test_points_that_are_not_finite_are_refused():
    with pytest.raises(DataError, match="NaN at row 0, column 1"):
        WIDEST.score([[1.0, np.nan]])


@pytest.mark.parametrize("labels", [[0, 1, 1, 1], ["a", "b", "a", "b"]])
def test_labels_of_a_bare_plane_are_plus_and_minus_one(labels):
    with pytest.raises(DataError, match="the labels of the hyperplane are -1, 1"):
        WIDEST.functional_margin(X, labels)


def test_labels_must_be_as_many_as_the_points():
    with pytest.raises(DataError, match=r"shape \(2,\) but X has 4 rows"):
        WIDEST.separates(X, [1, -1])


def test_only_in_two_dimensions_is_a_plane_a_line():
    with pytest.raises(ParameterError, match="3 dimensions"):
        Hyperplane([1.0, 2.0, 3.0]).line()


def test_a_vertical_line_has_no_slope():
    with pytest.raises(ParameterError, match=r"vertical, x1 = 0\.5"):
        RIVAL.line()
