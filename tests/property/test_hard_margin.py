"""A hard margin ends with the widest plane or with a proof, and a linear program agrees which."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from hedgerow import LinearSVC, NotSeparableError

KINDS = {
    "free": {},
    "penalized": {"intercept": "penalized"},
    "none": {"fit_intercept": False},
}


@st.composite
def small_integer_tables(draw):
    """Few rows of few small integers: classes that touch, repeat, or lie in a line are common."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    entry = st.integers(-3, 3)
    rows = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n))
    signs = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n))
    return np.array(rows, dtype=float), np.array([1.0, -1.0, *signs[2:]])


def augmented(X, kind):
    return X if kind == "none" else np.hstack([X, np.ones((len(X), 1))])


def separating_plane(X, y, kind):
    """Some plane with functional margins of at least 1, or None."""
    A = augmented(X, kind) * y[:, None]
    found = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(y)), bounds=(None, None))
    return found.x if found.status == 0 else None


def widest(X, y, kind, start):
    """The least 1/2 |w|^2, b included if it is penalised, by a general method (SLSQP)."""
    A = augmented(X, kind) * y[:, None]
    priced = np.ones(A.shape[1])
    if kind == "free":
        priced[-1] = 0.0
    found = minimize(
        lambda p: 0.5 * (priced * p) @ p,
        start,
        jac=lambda p: priced * p,
        constraints={"type": "ineq", "fun": lambda p: A @ p - 1.0, "jac": lambda _: A},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun


@settings(max_examples=200)
@given(small_integer_tables(), st.sampled_from(list(KINDS)))
def test_a_fit_succeeds_exactly_if_a_linear_program_finds_a_plane(table, kind):
    X, y = table
    plane = separating_plane(X, y, kind)
    try:
        model = LinearSVC(C=np.inf, **KINDS[kind]).fit(X, y)
    except NotSeparableError as error:
        assert plane is None
        check_proof(error.proof, X, y, kind)
        return
    assert plane is not None
    assert model.certificate_.relative_gap < 1e-9
    margins = y * model.decision_function(X)
    np.testing.assert_allclose(margins.min(), 1.0, rtol=1e-9)
    # SLSQP stops at differences of 1e-14 in the objective; it is good to their root.
    best = widest(X, y, kind, plane)
    np.testing.assert_allclose(model.certificate_.primal, best, rtol=1e-6)


def check_proof(proof, X, y, kind):
    """The weights are convex in each class, or overall, and what they combine is one point."""
    assert proof.is_certified
    signs = y[proof.rows]
    assert np.all(proof.weights > 0)
    sums = [proof.weights[signs > 0].sum(), proof.weights[signs < 0].sum()]
    np.testing.assert_allclose(sums if kind != "none" else [sum(sums)], 1.0, atol=1e-12)
    apart = (proof.weights * signs) @ X[proof.rows]
    np.testing.assert_allclose(apart, 0.0, atol=1e-12)
    assert len(proof.rows) <= X.shape[1] + 2
