"""What all linear machines share: from problems to certified fitted attributes."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import (
    Rule,
    any_of,
    check_parameters,
    is_whole,
    mapping,
    none,
    one_of,
    positive_number,
    real_number,
    repeatable_seed,
    short_text,
    true_or_false,
    verbosity,
    whole_number,
)
from hedgerow._base.state.rules import AttributeRule, instance_of
from hedgerow._engine import check_n_threads, is_in_this_process, side_by_side
from hedgerow.data.rows import by_use, compact, rows_of
from hedgerow.data.sparse_coef import planes_of_model
from hedgerow.data.training_data import WeightedRows, check_fitted, check_prediction_data
from hedgerow.errors import (
    NotCertifiedWarning,
    NotSeparableError,
    ParameterError,
    UnavailableError,
    warn_user,
)
from hedgerow.linear.point_groups import PointGroups
from hedgerow.losses import groups_points
from hedgerow.monitor import CallbackSupport, current
from hedgerow.problems.base import worst_status
from hedgerow.problems.certificates import (
    Certificate,
    SeparationProblem,
    certify,
    not_separable,
    worst,
)
from hedgerow.problems.hard_margin import Overlap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import SOLVERS, Settings, Solution
from hedgerow.solvers.together import in_groups, is_swept, solve_together

__all__ = [
    "COMMON_RULES",
    "FITTED_BY_SOLVER",
    "SUPERVISED_RULES",
    "LinearMachine",
    "SupervisedMachine",
]

Vector = NDArray[np.float64]
Result: TypeAlias = tuple[Solution, Certificate]

_log = logging.getLogger("hedgerow")

FEWEST_TOGETHER = 4
"""Problems from which there are two groups of several that can share passes over the data."""

WORTH_A_COPY = 0.8
"""Share of rows with weight up to which these are copied, and the others never read."""

COMMON_RULES: Mapping[str, Rule] = {
    "tol": real_number(0, open_low=True),
    "fit_intercept": true_or_false,
    "intercept_scaling": positive_number(),
    "verbose": verbosity,
    "max_iter": whole_number(1),
    "intercept": one_of("free", "penalized"),
    "solver": one_of("auto", *SOLVERS),
    "solver_options": any_of(none, mapping),
}
"""Rules of the parameters that every linear machine has."""

SUPERVISED_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    "C": positive_number(),
    "reg_lambda": any_of(none, positive_number()),
    "dual": any_of(one_of("auto"), true_or_false),
}
"""The same for machines that learn labels or values."""

FITTED_BY_SOLVER: Mapping[str, AttributeRule] = {
    "n_iter_": whole_number(0),
    "status_": short_text,
    "solver_": short_text,
    "certificate_": instance_of(Certificate),
}
"""Rules of the fitted attributes that tell how the solver fared."""


class LinearMachine(CallbackSupport, Estimator):
    """A machine whose fit minimises linear problems, one a plane, and certifies each.

    A class of its own gives the parameters and, in ``fit``, the problems.
    """

    _rules: ClassVar[Mapping[str, Rule]]
    _ways_out: ClassVar[str] = "or scale the features"

    tol: float
    fit_intercept: bool
    intercept_scaling: float
    intercept: str
    verbose: int
    random_state: Any
    max_iter: int
    solver: str
    solver_options: Mapping[str, Any] | None
    n_jobs: int | None

    coef_: Vector
    intercept_: Vector
    alpha_: Vector
    at_bound_: NDArray[np.bool_]
    certificate_: Certificate
    n_iter_: int
    status_: str
    solver_: str

    @property
    def support_(self) -> NDArray[np.int64]:
        """The support vectors: rows of the training data with an alpha other than 0 for any plane."""
        self._refuse_without_groups()
        return np.flatnonzero(np.any(np.atleast_2d(self.alpha_) != 0.0, axis=0))

    def point_groups(self, plane: int = 0) -> PointGroups:
        """Return the training rows by their alpha: at 0, between, or at the bound.

        Parameters
        ----------
        plane : int, default=0
            The row of ``alpha_``, for a machine with several planes.

        Returns
        -------
        PointGroups
            What alpha says of each row.

        Raises
        ------
        UnavailableError
            For the logistic loss, which has no groups: every alpha lies strictly between its bounds.
        """
        check_fitted(self)
        self._refuse_without_groups()
        alpha, at_bound = np.atleast_2d(self.alpha_), np.atleast_2d(self.at_bound_)
        if not is_whole(plane) or not 0 <= plane < len(alpha):
            msg = f"plane={plane!r} is not there; this {type(self).__name__} has {len(alpha)}, counted from 0"
            raise ParameterError(msg)
        return PointGroups.of(alpha[plane], at_bound[plane])

    def _refuse_without_groups(self) -> None:
        """Raise if the alphas of the model do not group its rows."""
        loss = getattr(self, "loss", None)
        if loss is not None and not groups_points(loss):
            msg = f"loss={loss!r} groups no points: every row has an alpha strictly between 0 and its bound; use alpha_"
            raise UnavailableError(msg)
        if hasattr(self, "coef_") and not hasattr(self, "alpha_"):
            msg = "fit_files kept no alpha_, which the points are grouped by: it was stopped, or alpha_ takes more than 8 blocks; raise block_bytes"
            raise UnavailableError(msg)
        if hasattr(self, "alpha_") and not hasattr(self, "at_bound_"):
            msg = "this model was saved by a version that did not keep at_bound_; fit it again to group its points"
            raise UnavailableError(msg)

    def _check(self) -> None:
        """Refuse parameters that cannot be."""
        check_parameters(self, self._rules)

    def _matrix(self, data: WeightedRows) -> _core.data.Matrix:
        """Return the checked rows as the solvers read them fastest."""
        return compact(data.matrix, check_n_threads(self.n_jobs))

    def _problem(self, matrix: _core.data.Matrix, **parts: Any) -> LinearProblem:
        """Return a problem with the intercept and the threads that the parameters ask for."""
        common: dict[str, Any] = {
            "intercept": self.intercept if self.fit_intercept else "none",
            "intercept_scaling": float(self.intercept_scaling),
            "n_threads": check_n_threads(self.n_jobs),
        }
        return LinearProblem(matrix=matrix, **common | parts)

    def _solve(
        self,
        problems: list[LinearProblem],
        model_at: Callable[[tuple[Vector, float]], dict[str, Any]],
    ) -> list[Result]:
        """Solve and certify every problem; several problems run side by side.

        ``model_at`` turns the (w, b) of a single problem into the attributes that predict, for
        callbacks.
        """
        settings = Settings(
            float(self.tol),
            int(self.max_iter),
            repeatable_seed(self.random_state),
            dict(self.solver_options or {}),
        )
        if len(problems) == 1:
            current().model_at = model_at
        task = partial(_solve_and_certify, settings=settings, solver=self.solver)
        groups, places = [[problem] for problem in problems], None
        shares_rows = len(problems) >= FEWEST_TOGETHER and all(map(_uses_most_rows, problems))
        if shares_rows and is_swept(problems, settings, self.solver):
            matrix, places = by_use(problems[0].matrix)
            problems = [replace(problem, matrix=matrix) for problem in problems]
            groups = in_groups(problems, multiple_of=2)
        if len(groups) > 1 and not is_in_this_process():
            groups = [[replace(problem, n_threads=1) for problem in group] for group in groups]
        found = side_by_side(
            task, groups, check_n_threads(self.n_jobs), shared=(problems[0].matrix,)
        )
        results = [result for results in found for result in results]
        if places is None:
            return results
        return [(replace(solution, w=solution.w[places]), proof) for solution, proof in results]

    def _keep(self, problems: list[LinearProblem], results: list[Result]) -> None:
        """Set the fitted attributes, and warn if a certificate is missing."""
        solutions = [solution for solution, _ in results]
        self._keep_planes(problems, solutions)
        self.certificate_ = worst(tuple(certificate for _, certificate in results))
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.status_ = worst_status(solution.status for solution in solutions)
        self.solver_ = "+".join(sorted({solution.solver for solution in solutions} - {"constant"}))
        if self.verbose:
            _log.info("%s by %s in %d iterations", self.certificate_, self.solver_, self.n_iter_)
        # Whoever stopped the fit by hand or by a callback needs no telling.
        if not self.certificate_.is_certified and self.status_ not in ("interrupted", "stopped"):
            advice = self._advice(problems[0])
            warn_user(f"{self.certificate_} To close the gap, {advice}.", NotCertifiedWarning)

    def _keep_planes(self, problems: list[LinearProblem], solutions: list[Solution]) -> None:
        """Set what each plane is and what its alphas are, one row per plane."""
        pairs = zip(problems, solutions, strict=True)
        planes = [problem.hyperplanes(solution) for problem, solution in pairs]
        self.coef_ = np.concatenate([each.coef for each in planes])
        self.intercept_ = np.concatenate([each.intercept for each in planes])
        self.alpha_ = np.concatenate([each.alpha for each in planes])
        self.at_bound_ = np.concatenate([each.at_bound for each in planes])

    def _advice(self, problem: LinearProblem) -> str:
        """Say what to do about a gap that the solver left."""
        if self.status_ == "approximate":
            able = [s for s in SOLVERS.values() if s.is_exact and s.what_it_lacks(problem) is None]
            return f"take solver='auto' or an exact one, {' or '.join(repr(s.name) for s in able)}"
        more = "max_time" if self.status_ == "time_limit" else "max_iter"
        return f"raise {more} or tol, {self._ways_out}"

    def _scores(self, X: Any, intercepts: Vector | None = None) -> Vector:
        """Return <w, x> + b for every row and plane, b being the fitted intercept if none is given."""
        matrix, planes = check_prediction_data(self, X), planes_of_model(self)
        intercepts = self.intercept_ if intercepts is None else intercepts
        return _core.data.scores(matrix, planes, intercepts, check_n_threads(self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SupervisedMachine(LinearMachine):
    """A linear machine that learns labels or values: C or reg_lambda weighs the losses."""

    _ways_out = "lower C, or scale the features"

    C: float
    reg_lambda: float | None

    def _check(self) -> None:
        """Refuse parameters that cannot be."""
        super()._check()
        if self.reg_lambda is not None and self.C != 1.0:
            msg = f"C={self.C} and reg_lambda={self.reg_lambda} say the same thing twice; give one of them"
            raise ParameterError(msg)

    def _row_weights(self, sample_weight: Vector) -> Vector:
        """Return c_i: C, or what reg_lambda makes of it, times the weight of the row."""
        return self._cost_of_losses(float(np.sum(sample_weight))) * sample_weight

    def _cost_of_losses(self, total_weight: float) -> float:
        """Return C, or what reg_lambda makes of it where the rows weigh so much together."""
        if self.reg_lambda is not None:
            return 1.0 / (2.0 * self.reg_lambda * total_weight)
        return (
            float(self.C) if math.isfinite(self.C) else 1.0
        )  # a hard margin has no weights, only rows


@dataclass(frozen=True, eq=False)
class _UsedRows:
    """The rows of a problem that have weight, as a problem of their own, or all rows.

    Attributes
    ----------
    problem : LinearProblem
        Of these rows alone.
    rows : ndarray of int64 or None
        Which they are; None for all.
    n_rows : int
        Of the whole.
    """

    problem: LinearProblem
    rows: NDArray[np.int64] | None
    n_rows: int

    @classmethod
    def of(cls, problem: LinearProblem) -> _UsedRows:
        """Return the rows with weight, copied where that saves reading many others."""
        n_rows = len(problem.weight)
        if problem.loss.compares_classes or _uses_most_rows(problem):
            return cls(problem, None, n_rows)
        rows = np.flatnonzero(problem.weight)
        lean = replace(
            problem,
            matrix=rows_of(problem.matrix, rows),
            y=problem.y[rows],
            weight=problem.weight[rows],
            targets=None if problem.targets is None else problem.targets[rows],
        )
        return cls(lean, rows, n_rows)

    def whole(self, solution: Solution) -> Solution:
        """Return the solution with an alpha for all rows, 0 for those without weight."""
        if self.rows is None:
            return solution
        alpha = np.zeros(self.n_rows)
        alpha[self.rows] = solution.alpha
        return replace(solution, alpha=alpha)

    def whole_overlap(self, overlap: Overlap) -> Overlap:
        """Return the overlap in rows of the whole."""
        return overlap if self.rows is None else replace(overlap, rows=self.rows[overlap.rows])


def _uses_most_rows(problem: LinearProblem) -> bool:
    """Say whether all rows are read for the problem, as few or all have no weight."""
    n_used = np.count_nonzero(problem.weight)
    return n_used == 0 or bool(n_used > WORTH_A_COPY * len(problem.weight))


def _solve_and_certify(
    problems: list[LinearProblem], settings: Settings, solver: str
) -> list[Result]:
    """Solve a group of problems on their rows with weight; return solutions for all rows, certified."""
    parts = [_UsedRows.of(problem) for problem in problems]
    try:
        solutions = solve_together([part.problem for part in parts], settings, solver)
    except NotSeparableError as error:
        (problem,), (part,) = problems, parts  # hard margins are no group
        overlap = part.whole_overlap(error.proof)
        raise not_separable(cast(SeparationProblem, problem), overlap) from None
    return [
        (part.whole(solution), certify(part.problem, solution, settings.tol))
        for part, solution in zip(parts, solutions, strict=True)
    ]
