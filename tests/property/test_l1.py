"""No small problem with the l1 penalty, however awkward, ends without a tight certificate."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name, regression_loss
from hedgerow.penalties import PENALTIES
from hedgerow.problems.certificates import certify
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import Settings, solve


@st.composite
def problems(draw):
    """Duplicated, constant and zero columns, zero rows, odd scales, more columns than rows."""
    tall = st.tuples(st.integers(2, 30), st.integers(1, 10))
    wide = st.tuples(st.integers(2, 10), st.integers(11, 30))
    n, d = draw(st.one_of(tall, wide))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if draw(st.booleans()):
        X[:, rng.integers(d)] = draw(st.sampled_from([0.0, 1.0]))
    if draw(st.booleans()):
        X[rng.integers(n)] = 0.0
    X *= 10.0 ** rng.integers(-draw(st.integers(0, 3)), 1 + draw(st.integers(0, 3)), size=d)
    weight = rng.integers(0, 4, size=n) * 1.0 if draw(st.booleans()) else np.ones(n)
    weight[:2] = 1.0
    return X, rng.normal(size=n), weight


@settings(max_examples=300)
@given(
    problems(),
    st.sampled_from(["squared_hinge", "logistic", "squared_epsilon_insensitive"]),
    st.sampled_from(["free", "penalized", "none"]),
    st.floats(-5, 5).map(lambda e: 10.0**e),
)
def test_every_small_problem_ends_certified_to_ten_digits(problem, loss, intercept, C):
    X, numbers, weight = problem
    signs = np.where(numbers > 0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    rest = {"intercept": intercept, "intercept_scaling": 2.0, "penalty": PENALTIES["l1"]}
    if loss == "squared_epsilon_insensitive":
        ones, loss_object = np.ones(len(numbers)), regression_loss(loss, 0.1)
        task = LinearProblem(matrix_of(X), ones, C * weight, loss_object, targets=numbers, **rest)
    else:
        task = LinearProblem(matrix_of(X), signs, C * weight, loss_by_name(loss), **rest)
    solution = solve(task, Settings(tol=1e-10))
    certificate = certify(task, solution, 1e-10)
    assert certificate.is_certified, str(certificate)
