"""A machine of the reference in the package's own terms: as a problem, and as a fitted estimator."""

from __future__ import annotations

from itertools import product

import numpy as np

from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR
from hedgerow.data.rows import matrix_of
from hedgerow.losses import LOSSES, REGRESSION_LOSSES, loss_by_name, regression_loss
from hedgerow.penalties import PENALTIES
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import SOLVERS

INTERCEPTS = ("free", "penalized", "none")
PAIRS = [
    (name, loss, penalty)
    for name, solver in SOLVERS.items()
    if solver.is_exact
    for loss, penalty in product(solver.losses, solver.penalties)
    if loss in {*LOSSES, *REGRESSION_LOSSES}
]
"""Every exact solver with every loss and penalty that it takes; hard margins have judges of their own."""
KINDS = [
    *(("LinearSVC", loss, penalty) for loss, penalty in product(LOSSES, PENALTIES)),
    *(("LinearSVR", loss, penalty) for loss, penalty in product(REGRESSION_LOSSES, PENALTIES)),
    ("LinearOneClassSVM", "hinge", "l2"),
]
KINDS = [kind for kind in KINDS if any(kind[1:] == pair[1:] for pair in PAIRS)]
"""Every estimator with every loss and penalty that some exact solver takes."""
C = 0.5
"""What estimators are given; the weights of the rows hold the rest of a machine's c."""


def problem_of(machine, rows=None):
    """Return the package's problem for a machine; `rows` are its X in another format."""
    is_regression = machine.loss in REGRESSION_LOSSES
    loss = (
        regression_loss(machine.loss, machine.epsilon)
        if is_regression
        else loss_by_name(machine.loss)
    )
    has_targets = is_regression or machine.pull
    return LinearProblem(
        matrix=matrix_of(machine.X if rows is None else rows),
        y=machine.y,
        weight=machine.c,
        loss=loss,
        intercept=machine.intercept,
        intercept_scaling=machine.scaling,
        targets=machine.target if has_targets else None,
        pull=machine.pull,
        penalty=PENALTIES[machine.penalty],
    )


def fitted(kind, machine, rows=None, **parameters):
    """Return the fitted estimator that is this machine."""
    rows = machine.X if rows is None else rows
    parameters |= {"intercept_scaling": machine.scaling}
    parameters |= (
        {"fit_intercept": False}
        if machine.intercept == "none"
        else {"intercept": machine.intercept}
    )
    if kind == "LinearOneClassSVM":
        model = LinearOneClassSVM(nu=1.0 / machine.c.sum(), **parameters)
        return model.fit(rows, sample_weight=machine.c)
    parameters |= {"loss": machine.loss, "C": C, "penalty": machine.penalty}
    if kind == "LinearSVR":
        model, y = LinearSVR(epsilon=machine.epsilon, **parameters), machine.target
    else:
        model, y = LinearSVC(**parameters), machine.y
    return model.fit(rows, y, sample_weight=machine.c / C)


def plane_of(model):
    """Return w and b of a fitted estimator, as its machine has them."""
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return w, b if model.fit_intercept else 0.0  # a one-class machine's is then -1 for good
