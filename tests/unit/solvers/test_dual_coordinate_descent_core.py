"""Dual coordinate descent in the core: every loss, intercept and order, by the gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import _core
from tests.reference.linear_duality import LOSSES, dual, primal

pytestmark = pytest.mark.sanitize

EPSILON = 0.1
ORDERS = ["shuffled", "cyclic", "stochastic"]
INTERCEPTS = {
    "none": {"rho": 0.0, "free_intercept": False},
    "penalized": {"rho": 2.25, "free_intercept": False},
    "free": {"rho": 1.0, "free_intercept": True},
}


def rows(loss, n=60, d=7):
    """X, y, target and weight."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    score = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    weight = rng.uniform(0.1, 1.0, size=n)
    if loss.endswith("insensitive"):
        return X, np.ones(n), score, weight
    target = np.zeros(n) if loss == "logistic" else np.ones(n)
    return X, np.where(score > 0, 1.0, -1.0), target, weight


def matrix(X, kind):
    if kind == "csr":
        X = sp.csr_array(X)
        return _core.data.Matrix.csr(X.data, X.indices, X.indptr, X.shape[1])
    return _core.data.Matrix.dense(X)


def solver(loss, *, kind="dense", intercept="penalized", seed=2, **options):
    X, *parts = rows(loss)
    return _core.solver.DualCoordinateDescent(
        matrix(X, kind),
        *parts,
        loss=loss,
        epsilon=EPSILON,
        seed=seed,
        **INTERCEPTS[intercept],
        **options,
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("shrinking", [True, False])
def test_primal_and_dual_meet(loss, intercept, order, kind, shrinking):
    core = solver(loss, kind=kind, intercept=intercept, order=order, shrinking=shrinking)
    sweeps, violation = core.run(20_000, 1e-9)
    assert sweeps < 20_000
    assert violation <= 1e-9
    data = rows(loss)
    terms = {"loss": loss, "epsilon": EPSILON, "scaling": 1.5 if intercept == "penalized" else None}
    # A row's part of the gap is at most its violation times its alpha: 60 rows, alphas of order 1.
    assert primal(*data, core.w, core.intercept, **terms) - dual(*data, core.alpha, **terms) < 1e-7
    if intercept == "free":
        assert abs(core.alpha @ data[1]) < 1e-8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_the_constraint_may_have_another_right_side(loss, intercept):
    core = solver(loss, intercept=intercept, balance=0.75)
    core.run(20_000, 1e-9)
    data = rows(loss)
    scaling = 1.5 if intercept == "penalized" else None
    terms = {"loss": loss, "epsilon": EPSILON, "scaling": scaling, "q": 0.75}
    assert primal(*data, core.w, core.intercept, **terms) - dual(*data, core.alpha, **terms) < 1e-7
    excess = core.alpha @ data[1] - 0.75
    if intercept == "free":
        assert abs(excess) < 1e-8
    else:
        assert core.intercept == pytest.approx(2.25 * excess, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", ORDERS)
def test_a_state_goes_on_to_the_last_bit(loss, order):
    through, anew = (solver(loss, intercept="free", order=order, kind="csr") for _ in range(2))
    through.run(3, 0.0)
    anew.restore(*through.state())
    assert through.run(4, 0.0) == anew.run(4, 0.0)
    assert all(np.array_equal(a, b) for a, b in zip(through.state(), anew.state(), strict=True))


def test_names_that_mean_nothing_are_refused_with_those_that_do():
    with pytest.raises(ValueError, match="loss is 'hinges': give one of 'hinge', 'squared_hinge'"):
        _core.solver.DualCoordinateDescent(
            _core.data.Matrix.dense(np.ones((1, 1))), *np.ones((3, 1)), loss="hinges", seed=0
        )
    with pytest.raises(ValueError, match="order is 'sorted': give one of 'shuffled', 'cyclic'"):
        solver("hinge", order="sorted")


@pytest.mark.parametrize("name", ["y", "target", "weight"])
def test_a_length_that_does_not_fit_the_rows_is_refused(name):
    parts = {part: np.ones(3 if part == name else 2) for part in ("y", "target", "weight")}
    with pytest.raises(ValueError, match=f"{name} has 3 values, but 2 are wanted"):
        _core.solver.DualCoordinateDescent(
            _core.data.Matrix.dense(np.ones((2, 2))), **parts, loss="hinge", seed=0
        )
