"""No small problem, however awkward, ends without a certificate."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import LinearSVC
from tests.reference import linear_svm


@st.composite
def problems(draw):
    """Small tables: duplicates, contradicting labels, zero rows, constant columns, odd scales."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[rng.integers(n)] = X[rng.integers(n)]
    if draw(st.booleans()):
        X[rng.integers(n)] = 0.0
    if draw(st.booleans()):
        X[:, rng.integers(d)] = 1.0
    X *= 10.0 ** rng.integers(-draw(st.integers(0, 3)), 1 + draw(st.integers(0, 3)), size=d)
    y = np.where(rng.random(n) < draw(st.floats(0.1, 0.9)), 1, -1)
    y[:2] = 1, -1
    weight = rng.integers(0, 4, size=n) * 1.0 if draw(st.booleans()) else np.ones(n)
    weight[:2] = 1.0
    return X, y, weight


@settings(max_examples=300)
@given(
    problems(),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from(["free", "penalized", "none"]),
    st.floats(-4, 4).map(lambda e: 10.0**e),
    st.sampled_from([1e-4, 1e-6]),
)
def test_every_small_problem_ends_certified(problem, loss, intercept, C, tol):
    X, y, weight = problem
    kind = {"fit_intercept": False} if intercept == "none" else {"intercept": intercept}
    model = LinearSVC(loss=loss, C=C, tol=tol, **kind).fit(X, y, weight)
    assert model.certificate_.is_certified, str(model.certificate_)
    used = weight > 0
    value = linear_svm.primal(
        X[used],
        y[used],
        C * weight[used],
        model.coef_[0],
        model.intercept_[0],
        loss=loss,
        intercept=intercept,
    )
    np.testing.assert_allclose(value, model.certificate_.primal, rtol=1e-9)


@settings(max_examples=60)
@given(problems(), st.sampled_from(["hinge", "squared_hinge"]), st.floats(0.01, 10))
def test_weights_are_repetitions(problem, loss, C):
    X, y, weight = problem
    weighted = LinearSVC(loss=loss, C=C).fit(X, y, weight)
    times = weight.astype(int)
    repeated = LinearSVC(loss=loss, C=C).fit(X.repeat(times, axis=0), y.repeat(times))
    scale = np.abs(repeated.coef_).max() + 1e-3
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-6 * scale)
