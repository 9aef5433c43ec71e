"""How a linear machine changes with C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hedgerow import _core
from hedgerow._base.parameters import repeatable_seed
from hedgerow._engine import check_n_threads
from hedgerow.data.rows import by_use
from hedgerow.data.training_data import (
    check_classification_data,
    check_prediction_data,
    check_regression_data,
)
from hedgerow.errors import ParameterError
from hedgerow.linear._c_path import c_values, grid
from hedgerow.linear.svc import LinearSVC
from hedgerow.linear.svr import LinearSVR
from hedgerow.monitor import monitored
from hedgerow.problems.base import worst_status
from hedgerow.problems.certificates import Certificate, certify
from hedgerow.problems.linear import LinearProblem
from hedgerow.reduction import labels_from_scores
from hedgerow.solvers import Settings
from hedgerow.solvers.path import solve_path, solve_paths
from hedgerow.solvers.together import in_groups, is_swept

__all__ = ["RegularizationPath", "predictions_along", "regularization_path"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """A machine for each of several C, in ascending order.

    Attributes
    ----------
    Cs : ndarray of shape (n_values,)
        The values of C.
    coefs : ndarray of shape (n_values, n_planes, n_features)
        The normal vectors.
    intercepts : ndarray of shape (n_values, n_planes)
        The intercepts.
    margins : ndarray of shape (n_values, n_planes)
        1 / |w|, the distance from the plane to where scores are 1; infinite for w = 0.
    train_error : ndarray of shape (n_values,)
        The share of training rows with another label, or the mean squared error of a regressor.
    validation_error : ndarray of shape (n_values,) or None
        The same for the validation rows, if there are any.
    certificates : tuple of tuple of Certificate
        The proof of quality of each plane, value by value.
    """

    Cs: Vector
    coefs: Vector
    intercepts: Vector
    margins: Vector
    train_error: Vector
    validation_error: Vector | None
    certificates: tuple[tuple[Certificate, ...], ...]


@monitored("regularization_path")
def regularization_path(
    model: LinearSVC | LinearSVR,
    X: Any,
    y: Any,
    *,
    Cs: int | Sequence[float] = 20,
    sample_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
) -> RegularizationPath:
    """Fit a linear machine for many values of C, each from the solution for the one before.

    Parameters
    ----------
    model : LinearSVC or LinearSVR
        The machine; its C is not used, and it is not changed.
    X, y, sample_weight
        As for its ``fit``.
    Cs : int or sequence of float, default=20
        The values of C; a number of them is spread over six decades around 1 over the mean squared
        length of the rows.
    validation : tuple (X, y) or None
        Rows to measure the error on as well.

    Returns
    -------
    RegularizationPath
        Planes, margins, errors and certificates along C.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from hedgerow import LinearSVC, regularization_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = regularization_path(LinearSVC(), scale(X), y, Cs=[0.01, 0.1, 1.0])
    >>> path.margins[:, 0].round(2), path.train_error.round(3)
    (array([1.55, 0.81, 0.34]), array([0.018, 0.012, 0.012]))
    """
    expected = grid(Cs)
    if expected is not None:
        msg = f"Cs={Cs!r} is not what it has to be; give {expected}"
        raise ParameterError(msg)
    if getattr(model, "multi_class", "ovr") != "ovr":
        msg = f"a path goes along planes of one class against the rest, got multi_class={model.multi_class!r}; use 'ovr'"
        raise ParameterError(msg)
    machine = clone(model).set_params(C=1.0, reg_lambda=None)
    machine._check()
    task = _Task.of(machine, X, y, sample_weight)
    values = c_values(Cs, task.problems[0])
    planes = [_along(problem, values, machine) for problem in task.problems]
    coefs = np.stack([of_plane for of_plane, _, _ in planes], axis=1)
    intercepts = np.stack([of_plane for _, of_plane, _ in planes], axis=1)
    with np.errstate(divide="ignore"):
        margins = 1.0 / np.linalg.norm(coefs, axis=2)
    return RegularizationPath(
        values,
        coefs,
        intercepts,
        margins,
        task.errors(task.problems[0].matrix, task.truth, coefs, intercepts),
        None if validation is None else task.validate(*validation, coefs, intercepts),
        tuple(zip(*(proofs for _, _, proofs in planes), strict=True)),
    )


def predictions_along(
    machine: LinearSVC, X: Any, y: Any, Cs: Sequence[float], others: Any
) -> Iterator[tuple[NDArray[Any], str]]:
    """Yield the labels of other rows for each C, ascending, and how the solvers ended.

    Each solution is where the next one begins. The data are read at once, the problems are solved one
    by one as they are asked for, and nothing is kept of one but what the next begins with.
    """
    machine = clone(machine).set_params(C=1.0, reg_lambda=None)
    machine._check()
    task = _Task.of(machine, X, y, None)
    assert task.classes is not None
    return task.predictions(check_prediction_data(machine, others), Cs, task.classes)


def _settings(machine: LinearSVC | LinearSVR) -> Settings:
    """Return what the machine asks of its solver."""
    seed, options = repeatable_seed(machine.random_state), dict(machine.solver_options or {})
    return Settings(float(machine.tol), int(machine.max_iter), seed, options)


def _along(
    problem: LinearProblem, Cs: Vector, machine: LinearSVC | LinearSVR
) -> tuple[Vector, Vector, list[Certificate]]:
    """Return the normal vectors, the intercepts and the certificates of one plane."""
    settings = _settings(machine)
    coefs, intercepts, proofs = np.empty((len(Cs), problem.shape[1])), np.empty(len(Cs)), []
    path = solve_path(problem, Cs.tolist(), settings, machine.solver)
    for k, (current, solution) in enumerate(path):
        coefs[k], intercepts[k] = solution.w, solution.intercept
        proofs.append(certify(current, solution, settings.tol))
    return coefs, intercepts, proofs


@dataclass(frozen=True, eq=False)
class _Task:
    """What is learnt: the problems, and how far predictions are from the truth."""

    machine: LinearSVC | LinearSVR
    problems: list[LinearProblem]
    truth: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, machine: LinearSVC | LinearSVR, X: Any, y: Any, sample_weight: Any) -> _Task:
        """Read the training data."""
        if isinstance(machine, LinearSVR):
            values = check_regression_data(machine, X, y, sample_weight)
            return cls(machine, [machine._regression(values)], values.targets, None)
        data = check_classification_data(machine, X, y, sample_weight, machine.class_weight)
        problems, classes = machine._problems(data)
        return cls(machine, problems, np.take(classes, data.y), classes)

    def validate(self, X: Any, y: Any, coefs: Vector, intercepts: Vector) -> Vector:
        """Return the errors on other rows."""
        return self.errors(check_prediction_data(self.machine, X), np.asarray(y), coefs, intercepts)

    def predictions(
        self, matrix: _core.data.Matrix, Cs: Sequence[float], classes: NDArray[Any]
    ) -> Iterator[tuple[NDArray[Any], str]]:
        """Yield the labels of some rows for each C, and the worst status of the planes."""
        settings, solver, places = _settings(self.machine), self.machine.solver, None
        problems = self.problems
        middle = [replace(each, weight=Cs[len(Cs) // 2] * each.weight) for each in problems]
        groups = [[problem] for problem in problems]
        if is_swept(middle, settings, solver):
            rows, places = by_use(problems[0].matrix)
            groups = in_groups([replace(problem, matrix=rows) for problem in problems])
        paths = [solve_paths(group, Cs, settings, solver) for group in groups]
        for found in zip(*paths, strict=True):
            solutions = [solution for of_group in found for _, solution in of_group]
            w = np.array([solution.w for solution in solutions])
            w = w if places is None else np.ascontiguousarray(w[:, places])
            b = np.array([solution.intercept for solution in solutions])
            scores = _core.data.scores(matrix, w, b, problems[0].n_threads)
            status = worst_status(solution.status for solution in solutions)
            yield labels_from_scores(scores, classes), status

    def errors(
        self, matrix: _core.data.Matrix, truth: NDArray[Any], coefs: Vector, intercepts: Vector
    ) -> Vector:
        """Return the error for each C."""
        n_threads = check_n_threads(self.machine.n_jobs)
        errors = np.empty(len(coefs))
        for k, (w, intercept) in enumerate(zip(coefs, intercepts, strict=True)):
            scores = _core.data.scores(matrix, w, intercept, n_threads)
            if self.classes is None:
                errors[k] = np.mean((scores[:, 0] - truth) ** 2)
            else:
                errors[k] = np.mean(labels_from_scores(scores, self.classes) != truth)
        return errors
