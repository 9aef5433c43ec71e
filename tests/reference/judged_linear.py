"""Fitted linear models of the package brought before the judge."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np

from tests.reference.exact_all_classes import AllClassesTask
from tests.reference.exact_kernels import CONTEXT, ONE, ZERO, exact
from tests.reference.exact_linear import LinearTask
from tests.reference.exact_machines import (
    ClassesTask,
    OneClassTask,
    Point,
    PulledTask,
    TubeTask,
    centred,
)
from tests.reference.high_precision import judge, linear_claim


def linear_verdicts_on(model, X, y=None, weight=None):
    """Return a verdict for each certificate that says it is one; the others have None."""
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    with localcontext(CONTEXT):
        return list(_JUDGES[type(model).__name__](model, exact(X), y, weight))


def _intercept(model):
    return model.intercept if model.fit_intercept else "none"


def _cost(model, weight):
    """c_i of every row."""
    if model.reg_lambda is not None:
        return 1.0 / (2.0 * model.reg_lambda * float(np.sum(weight))) * weight
    return model.C * weight if np.isfinite(model.C) else np.where(weight > 0, np.inf, 0.0)


def _table(model, X):
    """The products of rows, with the constant feature of a penalised intercept, or centred."""
    K = X @ X.T
    if _intercept(model) == "penalized":
        return K + Decimal(float(model.intercept_scaling)) ** 2
    return centred(K) if _intercept(model) == "free" else K


def _point(model, X, w, b):
    """The plane as a model in the space of the table."""
    products, sq_norm = X @ w, w @ w
    if _intercept(model) == "penalized":
        scaling = Decimal(float(model.intercept_scaling))
        return Point(products + b, sq_norm + (b / scaling) ** 2, (ZERO,))
    return Point(products, sq_norm, (b,))


def _judged(model, task, X, plane, alpha, certificate):
    """Judge a plane with its alphas, for a task over the same rows."""
    w, b = plane
    if isinstance(task, LinearTask):
        task = replace(task, start=plane)
        points = [task.model(w, b)]
        better = task.feasible(task.at_residuals(points[0]))
        x = max((task.feasible(alpha), better), key=task.dual)
    else:
        points = [_point(model, X, w, b)]
        x = task.variables(alpha * getattr(task, "y", ONE))
    return judge(task, points, x, linear_claim(certificate))


def _binary(model, y):
    """Yield which rows each plane is of, and which are on its positive side."""
    classes = model.classes_
    if len(classes) == 2:
        yield np.full(len(y), True), y == classes[1]
    elif model.multi_class == "ovr":
        for label in classes:
            yield np.full(len(y), True), y == label
    else:
        for i, j in combinations(classes, 2):
            yield (y == i) | (y == j), y == j


def _classifier(model, X, y, weight):
    if model.multi_class == "crammer_singer" and len(model.classes_) > 2:
        yield _all_classes(model, X, y, weight)
        return
    factor = 2.0 if model.multi_class == "crammer_singer" else 1.0
    cost = factor * _cost(model, weight)
    planes = zip(model.coef_, model.intercept_, model.alpha_, model.certificates_, strict=True)
    splits = _binary(model, y)
    for (taking_part, positive), (w, b, alpha, certificate) in zip(splits, planes, strict=True):
        if not certificate.is_certified:
            yield None
            continue
        rows = np.flatnonzero(taking_part & (weight > 0))
        signs = exact(np.where(positive[rows], 1.0, -1.0))
        task = _classes_task(model, X[rows], signs, exact(cost[rows]))
        plane = exact(w), Decimal(float(b))
        yield _judged(model, task, X[rows], plane, exact(alpha[rows]), certificate)


def _classes_task(model, X, y, cost):
    loss = "hinge" if model.multi_class == "crammer_singer" else model.loss
    if model.penalty == "l1" or loss == "logistic":
        target = exact(np.full(len(y), 0.0 if loss == "logistic" else 1.0))
        return LinearTask(X, cost, y, target, loss, penalty=model.penalty, **_offset(model))
    return ClassesTask(
        _table(model, X),
        cost,
        y=y,
        squared=loss == "squared_hinge" and np.isfinite(model.C),
        intercept=_intercept(model) == "free",
    )


def _offset(model):
    scaling = Decimal(float(model.intercept_scaling))
    return {"intercept": _intercept(model), "scaling": scaling}


def _all_classes(model, X, y, weight):
    if not model.certificate_.is_certified:
        return None
    rows = np.flatnonzero(weight > 0)
    labels = np.searchsorted(model.classes_, y[rows])
    task = AllClassesTask(
        _table(model, X[rows]),
        exact(_cost(model, weight)[rows]),
        y=labels,
        n_classes=len(model.classes_),
        intercept=_intercept(model) == "free",
    )
    w, b = exact(model.coef_), exact(model.intercept_)
    products, sq_norm = X[rows] @ w.T, np.sum(w * w)
    if _intercept(model) == "penalized":
        scaled = b / Decimal(float(model.intercept_scaling))
        products, sq_norm, b = products + b, sq_norm + scaled @ scaled, b * 0
    alpha = exact(model.alpha_[:, rows].T)
    own = np.arange(len(model.classes_)) == labels[:, None]
    x = task.variables(np.where(own, alpha, -alpha))
    return judge(task, [Point(products, sq_norm, (b,))], x, linear_claim(model.certificate_))


def _regressor(model, X, y, weight):
    if not model.certificate_.is_certified:
        yield None
        return
    rows = np.flatnonzero(weight > 0)
    X, target, cost = X[rows], exact(y[rows]), exact(_cost(model, weight)[rows])
    epsilon = Decimal(float(model.epsilon))
    if model.penalty == "l1":
        task = LinearTask(X, cost, cost * 0 + 1, target, model.loss, epsilon, **_offset(model))
    else:
        task = TubeTask(
            _table(model, X),
            cost,
            target=target,
            epsilon=epsilon,
            squared=model.loss.startswith("squared"),
            intercept=_intercept(model) == "free",
        )
    plane = exact(model.coef_), Decimal(float(model.intercept_[0]))
    yield _judged(model, task, X, plane, exact(model.alpha_[rows]), model.certificate_)


def _one_class(model, X, y, weight):
    if not model.certificate_.is_certified:
        yield None
        return
    rows = np.flatnonzero(weight > 0)
    X = X[rows]
    cost = exact((weight / (model.nu * float(np.sum(weight))))[rows])
    w, alpha = exact(model.coef_[0]), exact(model.alpha_[0][rows])
    rho = Decimal(float(model.offset_[0]))
    K, claim = X @ X.T, linear_claim(model.certificate_)
    if not model.fit_intercept:
        task = ClassesTask(K, cost, y=cost * 0 + 1, intercept=False)
        rho = ZERO
    elif model.intercept == "free":
        task = OneClassTask(K, cost, total=ONE)
    else:
        task = PulledTask(K, cost, scaling=Decimal(float(model.intercept_scaling)))
    yield judge(task, [Point(X @ w, w @ w, (rho,))], alpha, claim)


_JUDGES = {
    "LinearSVC": _classifier,
    "LinearSVR": _regressor,
    "LinearOneClassSVM": _one_class,
}
