"""Small problems of several classes at once end certified, if their columns are of one scale.

With columns of very different scales and classes far apart the objective may be so small that float64
cannot tell C times a loss on the margin from 0; then the certificate is refused, and a warning says so.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import LinearSVC
from tests.reference import crammer_singer


@st.composite
def problems(draw):
    """Small tables of one scale: duplicates, zero rows, constant columns."""
    n_classes = draw(st.integers(3, 5))
    n, d = draw(st.integers(n_classes + 1, 30)), draw(st.integers(1, 7))
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
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    weight = rng.integers(0, 4, size=n) * 1.0 if draw(st.booleans()) else np.ones(n)
    weight[:n_classes] = 1.0
    return X, y, weight


@settings(max_examples=100, deadline=None)
@given(
    problems(),
    st.sampled_from(["free", "penalized", "none"]),
    st.floats(-4, 3).map(lambda e: 10.0**e),
)
def test_every_small_problem_of_one_scale_ends_certified(problem, intercept, C):
    X, y, weight = problem
    kind = {"fit_intercept": False} if intercept == "none" else {"intercept": intercept}
    model = LinearSVC(multi_class="crammer_singer", C=C, random_state=0, **kind).fit(X, y, weight)
    assert model.certificate_.is_certified, str(model.certificate_)
    value = crammer_singer.objective(
        X, y, C * weight, model.coef_, model.intercept_, penalized=intercept == "penalized"
    )
    np.testing.assert_allclose(value, model.certificate_.primal, rtol=1e-9)
