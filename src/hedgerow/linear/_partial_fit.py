"""``partial_fit``: online learning from rows that are not kept.

A call is a block of dual coordinate descent: the alphas of its rows change, those of all earlier
rows stay fixed in w. The objective counts every row given so far once. Its dual value at all these
alphas is known and bounds the optimum from below; the losses of earlier rows are not known.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from hedgerow import _core
from hedgerow._base.parameters import repeatable_seed
from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers
from hedgerow._engine import check_n_threads, in_threads
from hedgerow.data.sparse_coef import planes_of_model
from hedgerow.data.training_data import check_batch, check_regression_batch
from hedgerow.errors import UnavailableError
from hedgerow.linear._from_files import (
    ClassifierFromFiles,
    MachineFromFiles,
    RegressorFromFiles,
)
from hedgerow.losses import loss_by_name, regression_loss
from hedgerow.monitor import current, monitored_fit
from hedgerow.problems.base import inner
from hedgerow.problems.certificates import Certificate, uncertified, worst
from hedgerow.problems.linear import LinearProblem
from hedgerow.reduction import one_vs_rest_signs
from hedgerow.solvers import SOLVERS
from hedgerow.solvers.linear.dual_coordinate_descent import core_solver, stiffness
from hedgerow.solvers.streamed.solve import DESCENT, FINE

__all__ = ["ClassifierByParts", "PartialSums", "RegressorByParts"]

Vector = NDArray[np.float64]

SWEEPS = 10
"""The maximum number of sweeps over the rows of a call."""


@record(
    v=numbers("planes", "sides", "features"),
    balance=numbers("planes", "sides"),
    gain=numbers("planes", "sides"),
    shift=numbers("planes"),
    counts=numbers("three"),
)
@dataclass(frozen=True, eq=False)
class PartialSums:
    """Sums over all rows given so far, separately for positive and negative alpha_i y_i.

    Attributes
    ----------
    v : ndarray of shape (n_planes, 2, n_features)
        sum_i alpha_i y_i x_i.
    balance : ndarray of shape (n_planes, 2)
        sum_i alpha_i y_i.
    gain : ndarray of shape (n_planes, 2)
        The contribution of the rows to the dual.
    shift : ndarray of shape (n_planes,)
        The multiplier of a free intercept.
    counts : ndarray of shape (3,)
        Rows, calls, and the sum of the rows' squared norms.
    """

    v: Vector
    balance: Vector
    gain: Vector
    shift: Vector
    counts: Vector

    @classmethod
    def none(cls, n_planes: int, n_features: int) -> PartialSums:
        """Return the sums of no rows."""
        balance, gain = np.zeros((2, n_planes, 2))
        v = np.zeros((n_planes, 2, n_features))
        return cls(v, balance, gain, np.zeros(n_planes), np.zeros(3))

    @property
    def w(self) -> Vector:
        """The normal vectors, one row per hyperplane."""
        w: Vector = np.sum(self.v, axis=1)
        return w

    def with_rows(
        self,
        problems: list[LinearProblem],
        alphas: tuple[Vector, ...],
        shift: Vector,
        counts: Vector,
    ) -> PartialSums:
        """Return the sums with those of more rows added, one problem and alpha per hyperplane."""
        v, balance, gain = self.v.copy(), self.balance.copy(), self.gain.copy()
        for k, (problem, alpha) in enumerate(zip(problems, alphas, strict=True)):
            for side, sign in enumerate((1.0, -1.0)):
                part = np.where(sign * problem.y * alpha > 0.0, alpha, 0.0)
                v[k, side] += problem.combine(part)
                balance[k, side] += inner(problem.y, part)
                gain[k, side] += problem.gain(part)
        return PartialSums(v, balance, gain, shift, counts)

    def bound(self, k: int, problem: LinearProblem) -> float:
        """Return what no solution of a hyperplane's problem over all rows can go below."""
        return problem.bound_by_sides(self.gain[k, None], self.v[k, None], self.balance[k, None])


def _takes_parts(machine: MachineFromFiles) -> bool:
    """Raise, with what to do, if a machine needs all rows at once."""
    reasons = {
        "loss": getattr(machine.loss, "core_rule", "its name") is None,
        "penalty": machine.penalty != "l2",
        "C": math.isinf(machine.C),
        "solver": machine.solver not in ("auto", DESCENT),
        "reg_lambda": machine.reg_lambda is not None,
        "class_weight": isinstance(getattr(machine, "class_weight", None), str),
        "multi_class": getattr(machine, "multi_class", "ovr") != "ovr",
        "calibrate": getattr(machine, "calibrate", None) is not None,
    }
    for name, is_reason in reasons.items():
        if is_reason:
            msg = f"{name}={getattr(machine, name)!r} needs all rows at once, which partial_fit does not have; change it or use fit"
            raise UnavailableError(msg)
    return True


class MachineByParts(MachineFromFiles):
    """The common part of classifiers and regressors with ``partial_fit``."""

    partial_sums_: PartialSums

    def _learn(self, problems: list[LinearProblem]) -> list[Certificate]:
        """Move the alphas of a call's rows, add them to the sums and set the fitted attributes."""
        norms = _core.data.row_sq_norms(problems[0].matrix, problems[0].n_threads)
        before = self._sums_so_far(len(problems), problems[0].shape[1])
        counts = np.add(before.counts, (len(norms), 1.0, float(np.sum(norms))))
        visit = partial(self._visit, problems=problems, sums=before, counts=counts)
        n_threads = check_n_threads(self.n_jobs)
        found = in_threads(visit, range(len(problems)), n_threads)
        alphas, intercepts, shifts = zip(*found, strict=True)
        sums = before.with_rows(problems, alphas, np.array(shifts), counts)
        self.partial_sums_, self.coef_ = sums, sums.w
        self.intercept_ = np.array(intercepts)
        self.alpha_ = np.array(alphas)
        bounds = np.array([problem.upper for problem in problems])
        self.at_bound_ = (self.alpha_ != 0.0) & (np.abs(self.alpha_) >= bounds)
        self.n_iter_, self.solver_ = SWEEPS, DESCENT
        self.status_ = current().reason or "approximate"
        bounds_below = [sums.bound(k, problem) for k, problem in enumerate(problems)]
        proofs = [uncertified(bound, float(self.tol), self.status_) for bound in bounds_below]
        self.certificate_ = worst(tuple(proofs))
        return proofs

    def _sums_so_far(self, n_planes: int, n_features: int) -> PartialSums:
        """Return the sums of earlier calls; a fit in between has made them void."""
        sums: PartialSums | None = getattr(self, "partial_sums_", None)
        if sums is None or not np.array_equal(sums.w, planes_of_model(self)):
            return PartialSums.none(n_planes, n_features)
        return sums

    def _visit(
        self, k: int, problems: list[LinearProblem], sums: PartialSums, counts: Vector
    ) -> tuple[Vector, float, float]:
        """Return the alphas of a call's rows for one hyperplane, b, and where the multiplier goes."""
        problem, (n_rows, n_calls, squares) = problems[k], counts.tolist()
        is_free = problem.intercept == "free"
        rho = problem.rho
        if is_free:
            rho = stiffness(problem.loss, squares / n_rows, problem.weight, int(n_rows))
        options = SOLVERS[DESCENT].settle(self.solver_options or {})
        seed = repeatable_seed(self.random_state)
        core = core_solver(problem, rho, seed, options, moves_shift=False)
        excess, shift = float(np.sum(sums.balance[k])), float(sums.shift[k])
        n_swept = SWEEPS * int(n_calls)  # so that no two calls draw the same orders
        core.restore(np.zeros(problem.shape[0]), sums.w[k], shift, excess, n_swept, False)
        with current().guard(), suppress(_core.system.Stopped):
            core.run(SWEEPS, FINE * float(self.tol) * problem.unit)
        alpha = core.alpha
        pull = rho * (excess + inner(problem.y, alpha))
        # Only the rows of this call answer to the multiplier, so that it moves by their share.
        step = pull * len(alpha) / n_rows if is_free else 0.0
        return alpha, shift + pull, shift + step


class ClassifierByParts(ClassifierFromFiles, MachineByParts):
    """A classifier with ``partial_fit``."""

    @available_if(_takes_parts)  # type: ignore[untyped-decorator]
    @monitored_fit
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with rows that need not be given again.

        The objective counts every row given so far once, in whatever call. ``certificate_.dual`` is
        a lower bound on the objective over all of them. The objective of the model itself is not
        known, as the losses of earlier rows cannot be computed, so nothing is certified and
        ``status_`` is "approximate". ``alpha_`` belongs to the rows of this call.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows of this call.
        y : array of shape (n_samples,)
            The labels, which need not include every class.
        classes : array or None
            All labels that will ever occur; needed only in the first call.
        sample_weight : array of shape (n_samples,) or None
            Sample weights.

        Returns
        -------
        Self
            The model itself.
        """
        self._check()
        data = check_batch(self, X, y, classes, sample_weight)
        matrix, signs = self._matrix(data), one_vs_rest_signs(data.y, len(data.classes))
        parts = {
            "weight": self._row_weights(data.sample_weight),
            "loss": loss_by_name(self.loss),
        }
        if len(signs) > 1:
            parts["n_threads"] = 1
        self._forget_what_other_fits_left()
        self.classes_ = data.classes
        proofs = self._learn([self._problem(matrix, y=sign, **parts) for sign in signs])
        self.certificates_ = tuple(proofs)
        return self


class RegressorByParts(RegressorFromFiles, MachineByParts):
    """A regressor with ``partial_fit``."""

    @available_if(_takes_parts)  # type: ignore[untyped-decorator]
    @monitored_fit
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the model with rows that need not be given again.

        See ``LinearSVC.partial_fit`` for the objective and the certificate.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows of this call.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,) or None
            Sample weights.

        Returns
        -------
        Self
            The model itself.
        """
        self._check()
        data = check_regression_batch(self, X, y, sample_weight)
        problem = self._problem(
            self._matrix(data),
            y=np.ones(len(data.targets)),
            targets=data.targets,
            weight=self._row_weights(data.sample_weight),
            loss=regression_loss(self.loss, float(self.epsilon)),
        )
        self._learn([problem])
        self.coef_, self.alpha_, self.at_bound_ = self.coef_[0], self.alpha_[0], self.at_bound_[0]
        return self
