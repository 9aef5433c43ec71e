"""Laws of linear machines: change the data so, and the optimum changes so.

A law turns a machine into another one, and a point of the first into a point of the second. The point
that was fitted to the first must then be as good for the second as the one that is fitted to it: both
objectives are the optimum, each up to the tolerance. (Where 1/2 |w|^2 is the penalty this ties the
points themselves: |w - w'|^2 / 2 is at most what the objectives differ by.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.losses import REGRESSION_LOSSES
from tests.machines import INTERCEPTS, KINDS, fitted, plane_of
from tests.reference.conic import Machine

TOL = 1e-9


def random_machine(rng, kind, loss, penalty, intercept):
    """A small machine with ties, rows that repeat, and whole-number weights, some of them 0."""
    n, d = int(rng.integers(4, 16)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)).round(int(rng.integers(0, 4)))
    X[rng.integers(n)] = X[rng.integers(n)]
    X = X.astype(np.float32).astype(np.float64)
    y, times = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.integers(0, 4, size=n)
    y[:2], times[:2] = (1.0, -1.0), 1
    rest = {"intercept": intercept, "penalty": penalty, "scaling": float(rng.uniform(0.5, 3.0))}
    ones = np.ones(n)
    if kind == "LinearOneClassSVM":
        nu, is_fixed = rng.uniform(0.1, 0.9), float(intercept == "none")
        X = (X + rng.integers(3)).astype(np.float32).astype(np.float64)
        c = times / (nu * times.sum())
        return Machine(X, ones, c, loss, is_fixed * ones, pull=1.0 - is_fixed, **rest), times
    c = 10.0 ** rng.uniform(-2, 1.5) * times
    if loss in REGRESSION_LOSSES:
        targets, rest["epsilon"] = 2.0 * rng.normal(size=n) + 1.0, float(rng.choice([0.0, 0.2]))
        return Machine(X, ones, c, loss, targets, **rest), times
    return Machine(X, y, c, loss, 0.0 * ones if loss == "logistic" else ones, **rest), times


def rows_of(machine, picked, c=None):
    """The machine of some of its rows, in some order."""
    parts = {name: getattr(machine, name)[picked] for name in ("X", "y", "c", "target")}
    return replace(machine, **parts | ({} if c is None else {"c": c}))


def same(w, b):
    return w, b


def repeated_rows(machine, times, rng):
    """A weight of 2 is the same as giving the row twice."""
    unit = (machine.c[times > 0] / times[times > 0])[0]
    return rows_of(
        machine, np.repeat(np.arange(len(times)), times), np.full(times.sum(), unit)
    ), same


def permuted_rows(machine, times, rng):
    """The order of the rows does not matter."""
    return rows_of(machine, rng.permutation(len(times))), same


def permuted_columns(machine, times, rng):
    """The order of the columns is the order of w."""
    order = rng.permutation(machine.X.shape[1])
    return replace(machine, X=machine.X[:, order]), lambda w, b: (w[order], b)


def doubled_data(machine, times, rng):
    """All rows twice with half the C is the same."""
    both = np.tile(np.arange(len(times)), 2)
    return rows_of(machine, both, machine.c[both] / 2), same


def scaled_features(machine, times, rng):
    """X times s, C over s^2 (l1: over s) and a penalised intercept's scaling times s: w over s."""
    s = float(2.0 ** rng.integers(-3, 4))
    power = 1 if machine.penalty == "l1" else 2
    larger = {"X": s * machine.X, "c": machine.c / s**power, "scaling": s * machine.scaling}
    return replace(machine, **larger), lambda w, b: (w / s, b)


def scaled_one_class(machine, times, rng):
    """X, and a penalised intercept's scaling, times s: w times s, and the intercept times s^2."""
    s = float(2.0 ** rng.integers(-3, 4))
    larger = {"X": s * machine.X, "scaling": s * machine.scaling}
    return replace(machine, **larger), lambda w, b: (s * w, s**2 * b)


def flipped_signs(machine, times, rng):
    """Other labels, or values of the other sign: the other side of the plane."""
    if machine.loss in REGRESSION_LOSSES:
        return replace(machine, target=-machine.target), lambda w, b: (-w, -b)
    return replace(machine, y=-machine.y), lambda w, b: (-w, -b)


def shifted_values(machine, times, rng):
    """Values that are larger by a number: a free intercept larger by it."""
    a = float(rng.integers(-9, 10))
    return replace(machine, target=machine.target + a), lambda w, b: (w, b + a)


def shifted_features(machine, times, rng):
    """A constant added to the features moves a free intercept alone."""
    a = rng.integers(-3, 4, size=machine.X.shape[1])
    return replace(machine, X=machine.X + a), lambda w, b: (w, b - float(w @ a))


CLASSIFIERS, REGRESSORS, ONE_CLASS = "LinearSVC", "LinearSVR", "LinearOneClassSVM"
SUPERVISED = (CLASSIFIERS, REGRESSORS)
LAWS = [
    (repeated_rows, (*SUPERVISED, ONE_CLASS), INTERCEPTS),
    (permuted_rows, (*SUPERVISED, ONE_CLASS), INTERCEPTS),
    (permuted_columns, (*SUPERVISED, ONE_CLASS), INTERCEPTS),
    (doubled_data, (*SUPERVISED, ONE_CLASS), INTERCEPTS),
    (scaled_features, SUPERVISED, INTERCEPTS),
    (scaled_one_class, (ONE_CLASS,), ("free", "penalized")),
    (flipped_signs, SUPERVISED, INTERCEPTS),
    (shifted_values, (REGRESSORS,), ("free",)),
    (shifted_features, SUPERVISED, ("free",)),
]
CASES = [
    pytest.param(law, kind, intercepts, id="-".join((law.__name__, *kind)))
    for law, estimators, intercepts in LAWS
    for kind in KINDS
    if kind[0] in estimators
]


def check_as_good(machine, point, model):
    """Hold the objective at a point against that of the model fitted to the machine."""
    best = model.certificate_.primal
    assert model.certificate_.is_certified
    assert abs(machine.objective(*point) - best) <= 3 * TOL * machine.scale(best)


@pytest.mark.parametrize(("law", "kind", "intercepts"), CASES)
@settings(max_examples=20)
@given(data=st.data())
def test_the_law_holds(law, kind, intercepts, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    intercept = data.draw(st.sampled_from(intercepts))
    machine, times = random_machine(rng, *kind, intercept)
    other, moved = law(machine, times, rng)
    point = moved(*plane_of(fitted(kind[0], machine, tol=TOL)))
    check_as_good(other, point, fitted(kind[0], other, tol=TOL))


FORMATS = {
    "sparse": sp.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "sparse float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@settings(max_examples=20)
@given(data=st.data())
def test_the_format_of_the_same_numbers_does_not_matter(kind, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    machine, _ = random_machine(rng, *kind, data.draw(st.sampled_from(INTERCEPTS)))
    plain = fitted(kind[0], machine, tol=TOL)
    for convert in FORMATS.values():
        other = fitted(kind[0], machine, convert(machine.X), tol=TOL)
        check_as_good(machine, plane_of(plain), other)
        check_as_good(machine, plane_of(other), plain)
