"""What all kernel machines share: from problems over rows to certified fitted attributes and scores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import (
    Rule,
    any_of,
    check_parameters,
    one_of,
    real_number,
    short_text,
    true_or_false,
    verbosity,
    whole_number,
)
from hedgerow._base.state.rules import (
    AttributeRule,
    instance_of,
    numbers,
    optional,
    rows,
    rows_or_objects,
    size,
    whole_numbers,
)
from hedgerow._engine import check_n_threads, in_threads, side_by_side
from hedgerow.data.items import are_items, as_kept
from hedgerow.data.rows import Rows
from hedgerow.data.scaling import SCALES, Scaling, warn_of_scales
from hedgerow.data.training_data import WeightedRows
from hedgerow.errors import (
    DataError,
    NotCertifiedWarning,
    NotSeparableError,
    warn_user,
)
from hedgerow.kernels import (
    Kernel,
    Linear,
    Precomputed,
    finite_number,
    gamma_rule,
    kernel_rule,
)
from hedgerow.kernels.gram import Gram
from hedgerow.monitor import CallbackSupport
from hedgerow.problems.base import worst_status
from hedgerow.problems.certificates import Certificate, worst
from hedgerow.problems.kernel import KernelProblem, KernelSolution
from hedgerow.problems.kernel_crammer_singer import KernelCrammerSingerProblem
from hedgerow.solvers.dual_qp.decomposition import SharedRows
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.linear_system import centred, has_negative_direction, is_semidefinite
from hedgerow.solvers.dual_qp.run import MEGABYTE, SMALL, KernelSettings
from hedgerow.svm._coefficients import Coefficients
from hedgerow.svm._fitted import FittedKernelMachine
from hedgerow.svm._space import KernelSpace, compiled
from hedgerow.svm._within_classes import WithinClasses
from hedgerow.svm.compress import Compression

__all__ = ["COMMON_RULES", "FITTED_RULES", "KernelMachine", "Part", "Result"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
Result: TypeAlias = tuple[KernelSolution, Certificate]

_log = logging.getLogger("hedgerow")

COMMON_RULES: Mapping[str, Rule] = {
    "kernel": kernel_rule,
    "degree": whole_number(0),
    "gamma": gamma_rule,
    "coef0": finite_number,
    "shrinking": true_or_false,
    "tol": real_number(0, open_low=True),
    "cache_size": real_number(0, 2.0**40, open_low=True),
    "verbose": verbosity,
    "max_iter": any_of(one_of(-1), whole_number(1)),
    "scale": one_of(*SCALES),
    "warm_start": true_or_false,
}
"""Rules of the parameters that every kernel machine has."""

FITTED_RULES: Mapping[str, AttributeRule] = {
    "kernel_": instance_of(Kernel),
    "scaling_": optional(instance_of(Scaling, features=lambda scaling: len(scaling.shift))),
    "support_": whole_numbers("support"),
    "n_features_in_": optional(size("features")),  # objects have none
    "support_vectors_": rows_or_objects("vectors", "features"),
    "dual_coef_": rows("lines", "support", only=np.float64),
    "intercept_": numbers("planes"),
    "certificate_": instance_of(Certificate),
    "status_": short_text,
    "shape_fit_": whole_numbers("dimensions"),
    "compression_": optional(
        instance_of(Compression, planes=lambda report: len(report.relative_errors))
    ),
}
"""Rules of the fitted attributes that every kernel machine has."""


@dataclass(frozen=True, eq=False)
class Part:
    """A problem over some of the rows.

    Attributes
    ----------
    points : ndarray of int64
        The rows that take part.
    problem : callable
        Makes the problem of the kernel values among them.
    start : ndarray or None
        A beta to begin at.
    classes : tuple of two ndarrays of int64, or None
        If the points are those of two classes, one after the other: the points of either.
    """

    points: Indices
    problem: Callable[[Gram], KernelProblem | KernelCrammerSingerProblem]
    start: Vector | None = None
    classes: tuple[Indices, Indices] | None = None


class KernelMachine(FittedKernelMachine, CallbackSupport, Estimator):
    """A machine whose fit solves kernel problems, one a plane, and certifies each.

    A class of its own gives the parameters and, in ``fit``, the problems.
    """

    _rules: ClassVar[Mapping[str, Rule]]
    _linear_machine: ClassVar[str | None] = (
        None  # which solves the same problem for the linear kernel
    )

    kernel: Any
    degree: int
    gamma: float | str
    coef0: float
    shrinking: bool
    tol: float
    cache_size: float
    verbose: int
    max_iter: int
    scale: str | None
    warm_start: bool

    @property
    def fit_status_(self) -> int:
        """0 if the tolerance was met, else 1."""
        return 0 if self.status_ == "optimal" else 1

    def _check(self) -> None:
        """Refuse parameters that cannot be."""
        check_parameters(self, self._rules)

    def _space(self, X: Rows, sample_weight: Vector) -> KernelSpace:
        """Bring the rows to scale and give the kernel its numbers, both kept as attributes."""
        kernel = self._kernel_as_given()
        self.shape_fit_ = np.array(X.shape, dtype=np.int64)
        self._refuse_table(kernel, X)
        if are_items(X) and self.scale is not None:
            msg = f"scale={self.scale!r} has no features to work on where rows are objects; leave it out"
            raise DataError(msg)
        if hasattr(self, "scaling_"):
            del self.scaling_
        if self.scale is not None:
            self.scaling_ = Scaling.of(X, sample_weight, self.scale)
            X = self.scaling_.apply(X)
        self.kernel_ = kernel.resolved(X, sample_weight)
        core = compiled(self.kernel_)
        if self.scale is None and core is not None and not core.is_given:
            warn_of_scales(X, getattr(self, "feature_names_in_", None))
        return KernelSpace(self.kernel_, X)

    def _refuse_table(self, kernel: Kernel, X: Rows) -> None:
        """Refuse what cannot be done with a table of given values."""
        if not kernel.is_precomputed:
            return
        if X.shape[0] != X.shape[1]:
            msg = (
                f"Precomputed matrix must be a square matrix: X has shape {X.shape}; give the kernel of each "
                "training row with each"
            )
            raise DataError(msg)
        if self.scale is not None:
            msg = f"scale={self.scale!r} has no features to work on with a precomputed kernel; leave it out"
            raise DataError(msg)

    def _item_rule(self, X: Any) -> Rule | None:
        """Return the rule that each row of X must meet if the kernel takes its rows for objects."""
        return None if isinstance(self.kernel, str) else self._kernel_as_given().item_rule(X)

    def _has_support(self, n_rows: int) -> bool:
        """Say whether every support vector of the fit before is one of so many rows."""
        return bool(np.all(self.support_ < n_rows))

    def _settings(self) -> KernelSettings:
        return KernelSettings(
            tol=float(self.tol),
            max_iter=None if self.max_iter == -1 else int(self.max_iter),
            cache_bytes=int(float(self.cache_size) * MEGABYTE),
            shrinking=bool(self.shrinking),
            n_threads=check_n_threads(self.n_jobs),
        )

    def _solve(self, space: KernelSpace, parts: Sequence[Part]) -> list[Result]:
        """Solve and certify every problem: over the same rows one after the other, else side by side."""
        n_threads = check_n_threads(self.n_jobs)
        settings = self._settings()
        if all(np.array_equal(part.points, parts[0].points) for part in parts):
            task = partial(_fit_part, space=space, settings=settings, shared=_Shared())
            return list(in_threads(task, parts, 1))
        within = WithinClasses.of(space, [part.classes for part in parts], settings)
        left = settings.cache_bytes - within.n_bytes
        alone = replace(settings, n_threads=1, cache_bytes=left // n_threads)
        task = partial(_fit_part, space=space, settings=alone, within=within)
        return list(side_by_side(task, parts, n_threads))

    def _keep_support(self, data: WeightedRows, support: Indices, coef: Coefficients) -> None:
        """Set the support vectors and their coefficients."""
        if hasattr(self, "compression_"):
            del self.compression_
        self.support_ = support
        is_table = isinstance(self.kernel_, Precomputed)
        self.support_vectors_ = as_kept(data.X[support[:0] if is_table else support])
        self.dual_coef_ = sp.csr_array(coef.values) if sp.issparse(data.X) else coef.values
        self.n_support_ = coef.n_support

    def _keep_report(self, results: Sequence[Result]) -> None:
        """Set how the solver fared, and warn if a certificate is missing."""
        self.certificate_ = worst(tuple(certificate for _, certificate in results))
        self.status_ = worst_status(solution.status for solution, _ in results)
        if self.verbose:
            n_steps = sum(solution.n_iter for solution, _ in results)
            _log.info("%s by decomposition in %d steps", self.certificate_, n_steps)
        if not self.certificate_.is_certified and not self._is_expected:
            warn_user(f"{self.certificate_} To get there, {self._advice}.", NotCertifiedWarning)

    @property
    def _advice(self) -> str:
        """What helps a fit that ended without a certificate."""
        if self.status_ == "no_margin":
            return "take a larger nu or another kernel"
        limits = {"max_iter": "raise max_iter", "time_limit": "raise max_time"}
        advice = [limits[self.status_]] if self.status_ in limits else []
        if self.scale is None and not self.kernel_.is_precomputed and not self._is_of_objects:
            advice.append("scale the features, for example by scale='standard'")
        if hasattr(self, "C"):
            advice.append("lower C")
        if isinstance(self.kernel_, Linear) and self._linear_machine is not None:
            advice.append(f"use {self._linear_machine}")
        return ", or ".join(advice or ["take a kernel of smaller values"])

    @property
    def _is_expected(self) -> bool:
        """Whether nobody needs to be told that there is no certificate.

        Who stopped the fit by hand or by a callback knows; and a kernel that is not positive
        semi-definite can have none, as nothing bounds the objective from below.
        """
        if self.status_ in ("interrupted", "stopped"):
            return True
        return self.certificate_.dual == -np.inf and self.status_ == "optimal"

    def __sklearn_tags__(self) -> Any:
        """Say what input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel) or isinstance(self.kernel, Kernel)
        tags.input_tags.pairwise = self.kernel == "precomputed" or (
            isinstance(self.kernel, Kernel) and self.kernel.is_precomputed
        )
        if isinstance(self.kernel, Kernel) and self.kernel.reads == {"objects"}:
            tags.input_tags.sparse = tags.input_tags.two_d_array = False
        return tags


@dataclass
class _Shared:
    """What problems over the same rows share while they are solved in one process."""

    gram: Gram | None = None
    rows: SharedRows = field(default_factory=SharedRows)

    def __reduce__(self) -> tuple[type[_Shared], tuple[()]]:
        return _Shared, ()


def _fit_part(
    part: Part,
    space: KernelSpace,
    settings: KernelSettings,
    shared: _Shared | None = None,
    within: WithinClasses | None = None,
) -> Result:
    """Solve and certify the problem of some rows."""
    shared = shared or _Shared()
    if shared.gram is None:
        known = None if within is None else within.of_pair(part.classes)
        shared.gram = space.gram(part.points, settings.n_threads, known)
    problem = part.problem(shared.gram)
    if not _is_convex(space.kernel, problem, settings):
        problem = replace(problem, is_convex=False)
    try:
        return fit_kernel(problem, settings, part.start, shared.rows)
    except NotSeparableError as error:
        rows = part.points[error.proof.rows]
        raise NotSeparableError(str(error), replace(error.proof, rows=rows)) from None


def _is_convex(
    kernel: Kernel, problem: KernelProblem | KernelCrammerSingerProblem, settings: KernelSettings
) -> bool:
    """Say whether a dual value bounds the objective; a table of values is looked at, as far as it is not too large."""
    of_differences = problem.sees_only_differences
    if kernel.is_precomputed and problem.gram.n_points > SMALL:
        return not has_negative_direction(problem.gram, of_differences=of_differences)
    if kernel.is_precomputed:
        everyone = np.arange(problem.gram.n_points, dtype=np.int64)
        values = problem.gram.block(everyone, everyone)
        values = centred(values)[0] if of_differences else values
        size = float(np.max(np.abs(values), initial=0.0))
        return is_semidefinite(np.ascontiguousarray(values), size, settings.n_threads)
    if kernel.is_positive_semidefinite:
        return True
    return of_differences and kernel.is_conditionally_positive_semidefinite
