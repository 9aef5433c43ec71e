"""Laws of kernel machines: change the data so, and the scores change so.

Each machine is solved to a violation of 1e-10, and small ones to the last bits, so that scores of the same
machine made in two ways differ by rounding, times what the kernel values are worth.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hedgerow import RBF, SVC, SVDD, SVR, Linear, NuSVC, NuSVR, OneClassSVM, Polynomial

TOL = 1e-10
MACHINES = {
    "SVC": SVC(),
    "SVC-squared": SVC(loss="squared_hinge"),
    "SVC-no-intercept": SVC(fit_intercept=False),
    "NuSVC": NuSVC(nu=0.3),
    "SVR": SVR(epsilon=0.1),
    "NuSVR": NuSVR(nu=0.4),
    "OneClassSVM": OneClassSVM(nu=0.4),
    "SVDD": SVDD(nu=0.4),
}
WITH_C = ["SVC", "SVC-squared", "SVC-no-intercept", "SVR"]
NEAR = 1e-6


def made(name, kernel, c):
    """Return a machine, which is given C if that is what it has.

    Where few features let the classes' hulls meet, a machine with nu has no plane.
    """
    assume(name != "NuSVC" or isinstance(kernel, RBF))
    cost = {"C": c} if name in (*WITH_C, "NuSVR") else {}
    return clone(MACHINES[name]).set_params(kernel=kernel, tol=TOL, **cost)


def data(rng):
    """Return rows without ties, sides of equal weight, values, and whole-number weights."""
    n = 2 * int(rng.integers(8, 20))
    X = rng.normal(size=(n, 2))
    sides = np.where(np.arange(n) % 2 == 0, 1, -1)
    times = np.repeat(rng.integers(1, 4, size=n // 2), 2)
    return X, sides, X[:, 0] + rng.normal(size=n), times


def target(name, sides, values):
    return values if "SVR" in name else sides


def scores(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


def check_same(ours, other, rows, others=None):
    """Hold the scores, and the objectives, of two models against each other."""
    expected = scores(other, rows if others is None else others)
    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(scores(ours, rows), expected, atol=NEAR * size)
    assert ours.certificate_.is_certified
    assert other.certificate_.is_certified


@st.composite
def generators(draw):
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


kernels = st.sampled_from(
    [RBF(gamma=0.5), RBF(gamma=2.0), Polynomial(degree=2, gamma=1.0, coef0=1.0)]
)
costs = st.sampled_from([0.1, 1.0, 10.0])


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_a_weight_is_a_row_given_so_many_times(name, rng, kernel, c):
    X, sides, values, times = data(rng)
    y = target(name, sides, values)
    weighted = made(name, kernel, c).fit(X, y, sample_weight=times)
    repeated = made(name, kernel, c).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    check_same(weighted, repeated, X)


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_the_order_of_the_rows_does_not_matter(name, rng, kernel, c):
    X, sides, values, times = data(rng)
    y, order = target(name, sides, values), rng.permutation(len(X))
    plain = made(name, kernel, c).fit(X, y, sample_weight=times)
    other = made(name, kernel, c).fit(X[order], y[order], sample_weight=times[order])
    check_same(plain, other, X)


@pytest.mark.parametrize("name", WITH_C)
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_weights_times_a_number_are_C_times_it(name, rng, kernel, c):
    X, sides, values, times = data(rng)
    y = target(name, sides, values)
    heavier = made(name, kernel, c).fit(X, y, sample_weight=3.0 * times)
    dearer = made(name, kernel, 3.0 * c).fit(X, y, sample_weight=times)
    check_same(heavier, dearer, X)


@pytest.mark.parametrize("name", ["NuSVC", "OneClassSVM", "SVDD"])
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels)
def test_weights_times_a_number_do_not_matter_to_nu(name, rng, kernel):
    X, sides, _, times = data(rng)
    plain = made(name, kernel, 1.0).fit(X, sides, sample_weight=times)
    heavier = made(name, kernel, 1.0).fit(X, sides, sample_weight=3.0 * times)
    factor = 3.0 if name == "OneClassSVM" else 1.0  # whose alphas sum to nu W
    expected = factor * scores(plain, X)
    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(scores(heavier, X), expected, atol=NEAR * size)


@pytest.mark.parametrize("name", WITH_C)
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_a_kernel_times_a_number_is_C_times_it(name, rng, kernel, c):
    X, sides, values, times = data(rng)
    y = target(name, sides, values)
    larger = made(name, 4.0 * kernel, c).fit(X, y, sample_weight=times)
    dearer = made(name, kernel, 4.0 * c).fit(X, y, sample_weight=times)
    check_same(larger, dearer, X)


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=10)
@given(rng=generators(), c=costs)
def test_rows_moved_and_scaled_with_gamma_are_the_same_to_rbf(name, rng, c):
    X, sides, values, _ = data(rng)
    y = target(name, sides, values)
    plain = made(name, RBF(gamma=0.5), c).fit(X, y)
    moved = made(name, RBF(gamma=0.125), c).fit(2.0 * X + 3.0, y)
    check_same(plain, moved, X, 2.0 * X + 3.0)


@pytest.mark.parametrize(
    "name", ["SVC", "SVC-squared", "SVC-no-intercept", "NuSVC", "SVR", "NuSVR"]
)
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_the_other_sign_gives_scores_of_the_other_sign(name, rng, kernel, c):
    X, sides, values, times = data(rng)
    y = target(name, sides, values)
    plain = made(name, kernel, c).fit(X, y, sample_weight=times)
    other = made(name, kernel, c).fit(X, -y, sample_weight=times)
    size = 1.0 + np.abs(scores(plain, X)).max()
    np.testing.assert_allclose(scores(other, X), -scores(plain, X), atol=NEAR * size)


@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
@settings(max_examples=10)
@given(rng=generators(), kernel=kernels, c=costs)
def test_values_larger_by_a_number_move_the_predictions_by_it(name, rng, kernel, c):
    X, _, values, times = data(rng)
    plain = made(name, kernel, c).fit(X, values, sample_weight=times)
    moved = made(name, kernel, c).fit(X, values + 7.0, sample_weight=times)
    np.testing.assert_allclose(moved.predict(X), plain.predict(X) + 7.0, atol=20 * NEAR)


@settings(max_examples=10)
@given(rng=generators(), c=costs)
def test_a_constant_added_to_a_kernel_moves_the_intercept_alone(rng, c):
    """sum_i beta_i = 0, so that a constant adds nothing to a score."""
    X, sides, _, _ = data(rng)
    plain = SVC(kernel=Linear(), C=c, tol=TOL).fit(X, sides)
    more = SVC(kernel=Polynomial(degree=1, gamma=1.0, coef0=5.0), C=c, tol=TOL).fit(X, sides)
    check_same(plain, more, X)
