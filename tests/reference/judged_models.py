"""Fitted models of the package brought before the judge: each binary problem with its own certificate."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from tests.reference.exact_all_classes import AllClassesTask
from tests.reference.exact_kernels import CONTEXT, ONE, ZERO, exact, table
from tests.reference.exact_machines import (
    BallTask,
    ClassesTask,
    NuClassesTask,
    NuTubeTask,
    OneClassTask,
    Point,
    TubeTask,
    centred,
)
from tests.reference.high_precision import Verdict, is_indefinite, judge, kernel_claim

NEEDS_A_LOOK = ("Sigmoid", "AdditiveChiSquared", "Polynomial", "Precomputed")
"""Kernels whose tables may be indefinite, alone or as parts of others."""

OF_HISTOGRAMS = ("ChiSquared", "HistogramIntersection")
"""Kernels of rows without negative numbers."""


def verdicts_on(model, X, y=None, weight=None):
    """Return a verdict for each certificate that says it is one; the others have None."""
    with localcontext(CONTEXT):
        judged = _JUDGES[type(model).__name__](_Fitted(model, X, y, weight))
        return list(judged)


class _Fitted:
    """A model with exact numbers: the table of its kernel, its weights and its coefficients."""

    def __init__(self, model, X, y, weight):
        self.model = model
        n = X.shape[0]
        if hasattr(model, "scaling_"):
            X = model.scaling_.apply(X)
        self.weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.y = y
        self.K = table(model.kernel_, exact(X)) if hasattr(model, "kernel_") else None
        self.X = exact(X)

    def coefficients(self, line):
        """The coefficient of every row in a plane."""
        found = np.zeros(self.X.shape[0])
        found[self.model.support_] = line
        return exact(found)

    @property
    def planes(self):
        coef = self.model.dual_coef_
        return coef.toarray() if sp.issparse(coef) else coef

    @property
    def may_be_indefinite(self):
        return any(name in repr(self.model.kernel_) for name in NEEDS_A_LOOK)

    def refused(self, task):
        """Return the verdict on a certificate that no table like this one can have, else None."""
        verdict = Verdict(ZERO)
        of_histograms = any(name in repr(self.model.kernel_) for name in OF_HISTOGRAMS)
        if of_histograms and any(value < 0 for value in self.X.ravel()):
            verdict.faults["negative histogram"] = 1.0
        elif self.may_be_indefinite and is_indefinite(task.K):
            verdict.faults["indefinite"] = 1.0
        return verdict if verdict.faults else None


def _verdict(fitted, task, rows, coefficients, readings, certificate, unit=ONE):
    """Judge one problem over some rows; `readings` are scalars of the model, or points.

    `unit` is the score of the model in units of the task's.
    """
    if not certificate.is_certified:
        return None
    refused = fitted.refused(task)
    if refused is not None:
        return refused
    points, x = readings, task.variables(coefficients)
    violation = task.violation(x)
    if not isinstance(readings[0], Point):
        K = fitted.K[np.ix_(rows, rows)]
        products = K @ coefficients
        space = task.K @ coefficients if fitted.may_be_indefinite else products
        points = [Point(products, coefficients @ space, scalars) for scalars in readings]
        if violation > unit * Decimal(certificate.tolerance):
            # Sums that are 0 but for rounding count as such: the slopes are those of the true scores.
            violation = min(violation, replace(task, K=K).violation_as_given(x))
    return judge(task, points, x, kernel_claim(certificate), violation / unit)


def _binary_problems(fitted):
    """Yield rows, signs, coefficients, intercept and certificate of each plane of a classifier."""
    model, classes = fitted.model, fitted.model.classes_
    lines = list(fitted.planes)
    everyone = np.flatnonzero(fitted.weight > 0)
    if len(classes) == 2:
        pairs = [(everyone, np.where(fitted.y[everyone] == classes[1], 1.0, -1.0), lines[0])]
    elif model.multi_class == "ovr":
        pairs = [
            (everyone, np.where(fitted.y[everyone] == label, 1.0, -1.0), line)
            for label, line in zip(classes, lines, strict=True)
        ]
    else:
        pairs = list(_pairs_of_classes(fitted, everyone))
    together = zip(pairs, model.intercept_, model.certificates_, strict=True)
    for (rows, signs, line), intercept, certificate in together:
        coefficients = fitted.coefficients(line)[rows]
        yield rows, exact(signs), coefficients, Decimal(float(intercept)), certificate


def _pairs_of_classes(fitted, everyone):
    """Yield each pair of classes, with the lines of ``dual_coef_`` as scikit-learn lays them out."""
    model = fitted.model
    of_support = np.searchsorted(model.classes_, fitted.y[model.support_])
    for i, j in combinations(range(len(model.classes_)), 2):
        line = np.where(of_support == i, fitted.planes[j - 1], 0.0)
        line = np.where(of_support == j, fitted.planes[i], line)
        labels = np.searchsorted(model.classes_, fitted.y[everyone])
        rows = everyone[(labels == i) | (labels == j)]
        yield rows, np.where(fitted.y[rows] == model.classes_[i], 1.0, -1.0), line


def _classes(fitted):
    model = fitted.model
    if model.multi_class == "crammer_singer" and len(model.classes_) > 2:
        yield _all_classes(fitted)
        return
    factor = 2.0 if model.multi_class == "crammer_singer" else 1.0
    for rows, signs, coefficients, b, certificate in _binary_problems(fitted):
        cost = np.full(len(rows), np.inf)
        if np.isfinite(model.C):
            cost = factor * model.C * fitted.weight[rows]
        K = fitted.K[np.ix_(rows, rows)]
        is_squared = model.loss == "squared_hinge" and np.isfinite(model.C)
        task = ClassesTask(
            centred(K) if model.fit_intercept else K,
            exact(cost),
            y=signs,
            squared=is_squared,
            intercept=bool(model.fit_intercept),
        )
        yield _verdict(fitted, task, rows, coefficients, [(b,)], certificate)


def _all_classes(fitted):
    model, rows = fitted.model, np.flatnonzero(fitted.weight > 0)
    if not model.certificate_.is_certified:
        return None
    K = fitted.K[np.ix_(rows, rows)]
    task = AllClassesTask(
        centred(K) if model.fit_intercept else K,
        exact(model.C * fitted.weight[rows]),
        y=np.searchsorted(model.classes_, fitted.y[rows]),
        n_classes=len(model.classes_),
        intercept=bool(model.fit_intercept),
    )
    refused = fitted.refused(task)
    if refused is not None:
        return refused
    beta = np.stack([fitted.coefficients(line)[rows] for line in fitted.planes], axis=1)
    point = replace(task, K=K).point(beta, (exact(model.intercept_),))
    violation = task.violation_with(beta, point)
    claim = kernel_claim(model.certificate_)
    return judge(task, [point], task.variables(beta), claim, violation)


def _nu_classes(fitted):
    nu = Decimal(float(fitted.model.nu))
    for rows, signs, coefficients, b, certificate in _binary_problems(fitted):
        if not certificate.is_certified:
            yield None
            continue
        K, cost = fitted.K[np.ix_(rows, rows)], exact(fitted.weight[rows])
        task = NuClassesTask(centred(K), cost, y=signs, nu=nu)
        total = sum(map(abs, coefficients), ZERO)
        rho = task.total / total if total else ONE
        scaled = rho * coefficients
        verdict = _verdict(fitted, task, rows, scaled, [(rho * b, rho)], certificate, rho)
        if "gap" in verdict.faults:  # the same classifier may be worth more at another scale
            products = K @ scaled
            best = task.best_scaled(Point(products, scaled @ products, (rho * b, rho)))
            x = task.variables(scaled)
            verdict = judge(task, [best], x, kernel_claim(certificate), verdict.violation)
        yield verdict


def _tube(fitted):
    model, rows = fitted.model, np.flatnonzero(fitted.weight > 0)
    K = fitted.K[np.ix_(rows, rows)]
    task = TubeTask(
        centred(K) if model.fit_intercept else K,
        exact(model.C * fitted.weight[rows]),
        target=exact(fitted.y[rows]),
        epsilon=Decimal(float(model.epsilon)),
        intercept=bool(model.fit_intercept),
    )
    readings = [(Decimal(float(model.intercept_[0])),)]
    coefficients = fitted.coefficients(fitted.planes[0])[rows]
    yield _verdict(fitted, task, rows, coefficients, readings, model.certificate_)


def _nu_tube(fitted):
    model, rows = fitted.model, np.flatnonzero(fitted.weight > 0)
    task = NuTubeTask(
        centred(fitted.K[np.ix_(rows, rows)]),
        exact(model.C * fitted.weight[rows]),
        target=exact(fitted.y[rows]),
        epsilon=ZERO,
        nu=Decimal(float(model.nu)),
    )
    readings = [(Decimal(float(model.intercept_[0])), Decimal(float(model.epsilon_)))]
    coefficients = fitted.coefficients(fitted.planes[0])[rows]
    verdict = _verdict(fitted, task, rows, coefficients, readings, model.certificate_)
    used = sum(map(abs, coefficients), ZERO)
    if verdict is not None and used < task.total * Decimal("0.999999999"):
        verdict.faults.pop(
            "violation", None
        )  # the two variables of a point cannot be told from their sum
    yield verdict


def _one_class(fitted):
    model, rows = fitted.model, np.flatnonzero(fitted.weight > 0)
    cost = exact(fitted.weight[rows])
    total = Decimal(float(model.nu)) * sum(cost, ZERO)
    task = OneClassTask(fitted.K[np.ix_(rows, rows)], cost, total=total)
    readings = [(-Decimal(float(model.intercept_[0])),)]
    coefficients = fitted.coefficients(fitted.planes[0])[rows]
    yield _verdict(fitted, task, rows, coefficients, readings, model.certificate_)


def _ball(fitted):
    model, rows = fitted.model, np.flatnonzero(fitted.weight > 0)
    cost = model.C
    if model.nu is not None:
        cost = 1.0 / (model.nu * float(np.sum(fitted.weight[rows])))
    K = fitted.K[np.ix_(rows, rows)]
    task = BallTask(K, exact(cost * fitted.weight[rows]))
    coefficients = fitted.coefficients(fitted.planes[0])[rows]
    if not model.certificate_.is_certified:
        yield None
        return
    sq_norm = coefficients @ (K @ coefficients)
    by_offset = max(ZERO, 2 * Decimal(float(model.intercept_[0])) + sq_norm)
    radii = [Decimal(model.radius_) ** 2, by_offset]
    readings = [replace(task.model(coefficients), scalars=(radius,)) for radius in radii]
    yield _verdict(fitted, task, rows, coefficients, readings, model.certificate_)


_JUDGES = {
    "SVC": _classes,
    "NuSVC": _nu_classes,
    "SVR": _tube,
    "NuSVR": _nu_tube,
    "OneClassSVM": _one_class,
    "SVDD": _ball,
}
