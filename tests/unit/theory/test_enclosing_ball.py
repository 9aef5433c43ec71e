"""The smallest enclosing ball: known balls, a brute-force judge, kernels, and its proof."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import DataError, NotCertifiedWarning, ParameterError
from hedgerow.kernels import RBF, Linear, Sigmoid
from hedgerow.theory import _ball_solvers, enclosing_ball

CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
EXACT = 1e-12
"""What rounding leaves of a relative gap on points of moderate size, at most."""


@pytest.mark.parametrize(
    ("points", "center", "radius"),
    [
        ([[7.0, 1.0]], [7.0, 1.0], 0.0),
        ([[0.0, 0.0], [0.0, 6.0]], [0.0, 3.0], 3.0),
        (CORNERS, [2.0, 1.5], 2.5),  # a right angle: the sphere of Thales
        ([[0.0, 0.0], [10.0, 0.0], [5.0, 1.0]], [5.0, 0.0], 5.0),  # obtuse: only two count
        (
            [[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]],
            [0.5, math.sqrt(1 / 12)],
            1 / math.sqrt(3),
        ),
        (np.array(np.meshgrid(*[range(4)] * 3)).reshape(3, -1).T, [1.5] * 3, math.sqrt(27) / 2),
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] * 3, [0.0, 0.0], 1.0),
    ],
)
def test_known_balls_come_out(points, center, radius):
    ball = enclosing_ball(points)
    assert ball.radius == pytest.approx(radius, abs=EXACT)
    np.testing.assert_allclose(ball.center, center, atol=1e-9)
    assert ball.is_certified
    assert ball.relative_gap <= EXACT
    assert ball.weights.sum() == pytest.approx(1.0, rel=1e-15)


def smallest_by_trying(points):
    """The smallest of all balls through at most d + 1 of the points that hold the others."""
    best = math.inf
    for k in range(1, points.shape[1] + 2):
        for few in combinations(points, k):
            first, *others = map(np.asarray, few)
            sides = np.array([other - first for other in others]).reshape(k - 1, points.shape[1])
            shift = (
                np.linalg.lstsq(2 * sides, np.sum(sides**2, axis=1))[0] if k > 1 else 0.0 * first
            )
            squares = np.sum((points - first - shift) ** 2, axis=1)
            if squares.max() <= squares[np.all(points == first, axis=1)].max() * (1 + 1e-9):
                best = min(best, math.sqrt(squares.max()))
    return best


@st.composite
def clouds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = rng.normal(size=(draw(st.integers(1, 9)), draw(st.integers(1, 3))))
    return points.round(draw(st.integers(0, 6)))  # rounded ones repeat, and lie on lines


@settings(deadline=None)
@given(clouds())
def test_no_ball_through_a_few_points_is_smaller(points):
    ball = enclosing_ball(points)
    assert ball.relative_gap <= EXACT
    assert ball.radius == pytest.approx(smallest_by_trying(points), rel=1e-8, abs=1e-12)


@settings(deadline=None)
@given(clouds(), st.floats(0.01, 100.0), st.integers(-1000, 1000))
def test_the_ball_moves_and_grows_with_the_points(points, factor, shift):
    ball, other = enclosing_ball(points), enclosing_ball(factor * points + shift)
    # The shift costs the points themselves digits.
    room = 1e-12 * (abs(shift) + factor * (1.0 + ball.radius))
    assert other.radius == pytest.approx(factor * ball.radius, abs=10 * room)
    np.testing.assert_allclose(other.center, factor * ball.center + shift, atol=1e6 * room)


@settings(deadline=None)
@given(clouds())
def test_the_space_of_the_linear_kernel_is_that_of_the_points(points):
    ball = enclosing_ball(points)
    gram = Linear()(points - points.mean(axis=0))
    for other in (
        enclosing_ball(points - points.mean(axis=0), kernel="linear"),
        enclosing_ball(gram, kernel="precomputed"),
    ):
        assert other.center is None
        assert other.radius == pytest.approx(ball.radius, rel=1e-7, abs=1e-7)


def test_sparse_points_have_the_ball_of_dense_ones():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    dense, sparse = enclosing_ball(X), enclosing_ball(sp.csr_array(X))
    assert sparse.radius == pytest.approx(dense.radius, rel=1e-12)
    np.testing.assert_allclose(sparse.center, dense.center, atol=1e-9)


def test_points_far_away_keep_their_digits():
    X = np.random.default_rng(2).normal(size=(500, 6))
    shift = 2.0**24
    far = (X + shift) - shift  # the bits that the shift leaves
    assert enclosing_ball(far + shift).radius == pytest.approx(
        enclosing_ball(far).radius, rel=1e-12
    )


def test_two_images_under_a_gaussian_kernel_are_as_far_apart_as_it_says():
    radius = enclosing_ball([[0.0], [3.0]], kernel=RBF(sigma=3.0)).radius
    assert radius == pytest.approx(math.sqrt((1 - math.exp(-0.5)) / 2), rel=1e-14)


@pytest.fixture
def few_active(monkeypatch):
    """Hands over to the pairs early, as it would with more than 300 points on the sphere."""
    monkeypatch.setattr(_ball_solvers, "_MOST_ACTIVE", 5)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_what_has_many_points_on_its_sphere_is_certified_to_the_tolerance(kernel, few_active):
    X = np.random.default_rng(3).normal(size=(300, 12))
    ball = enclosing_ball(X, kernel=kernel, tol=1e-7)
    assert EXACT < ball.relative_gap <= 1e-7
    _ball_solvers._MOST_ACTIVE = 300
    exact = enclosing_ball(X, kernel=kernel)
    assert exact.relative_gap <= EXACT
    assert ball.least_radius <= exact.radius * (1 + EXACT)
    assert ball.radius >= exact.radius * (1 - EXACT)


def test_a_ball_that_is_not_certified_says_so(few_active):
    X = np.random.default_rng(3).normal(size=(300, 12))
    with pytest.warns(NotCertifiedWarning, match=r"Not certified: a ball of radius .* max_iter=2"):
        ball = enclosing_ball(X, max_iter=2)
    assert not ball.is_certified
    assert np.linalg.norm(X - ball.center, axis=1).max() == pytest.approx(ball.radius, rel=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="is indefinite"):
        enclosing_ball(CORNERS, kernel=Sigmoid(gamma=1.0))
    with pytest.raises(ParameterError, match="tol=0 is not allowed"):
        enclosing_ball(CORNERS, tol=0)
    with pytest.raises(DataError, match="NaN at row 1"):
        enclosing_ball([[0.0], [math.nan]])
