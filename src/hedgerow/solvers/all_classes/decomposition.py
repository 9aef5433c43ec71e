"""Decomposition for all classes at once: large working sets, of which all betas of a point move together.

Problem: KernelCrammerSingerProblem, with intercepts or without. The core (`cpp solver/class_qp.hpp`) sweeps over the
points that violate the optimality conditions most, minimising over all betas of one at a time, and asks
for rows of kernel values of those that moved, which serve all classes. Its betas sum to 0 over
the points, as free intercepts ask for, only in the limit, and its scores are sums of float32 values. When
it has met the tolerance the betas are made feasible and their scores computed again in float64 from
the data; if these do not agree, it goes on from them to a tighter tolerance of its own. Where that
does not get there, the free betas are solved for exactly (`free_set.py`); if that does not help
either, the status is "stalled".

Given: the problem, a tolerance for the largest violation, a budget of bytes. Returned: beta and b.
Cost: kernel values of the support vectors with all points, some times over. Memory: the budget, and some
numbers per point and class.
Papers: those of class_qp.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import Status
from hedgerow.problems.kernel import KernelSolution
from hedgerow.problems.kernel_crammer_singer import ClassPoint, KernelCrammerSingerProblem
from hedgerow.solvers.all_classes.free_set import free_class_steps
from hedgerow.solvers.dual_qp.run import KernelRun, KernelSettings, block_bytes, check_budget

__all__ = ["decompose_classes"]

Vector = NDArray[np.float64]

SAFE = 0.9
"""Part of the tolerance that the core is to reach, so that exact scores agree."""
TIGHTER = 0.3
"""What its tolerance is multiplied with when they do not."""
STIFFNESS = 1.0
"""Weight of the sums in the method of multipliers, in units of the mean K(x, x)."""


def decompose_classes(
    problem: KernelCrammerSingerProblem, settings: KernelSettings, start: Vector | None = None
) -> KernelSolution:
    """Solve a problem of all classes at once.

    Parameters
    ----------
    problem : KernelCrammerSingerProblem
        What to solve.
    settings : KernelSettings
        When to stop; a step moves all betas of a point.
    start : ndarray of shape (n_points, n_classes) or None
        A beta to begin at, such as the solution of a similar problem.

    Returns
    -------
    KernelSolution
        The best beta found; for a certificate see ``certify``.
    """
    n_places = min(settings.working_set, problem.gram.n_points)
    check_budget(problem.gram, n_places, settings)
    return _Run(problem, settings, start).solution()


class _Run(KernelRun[ClassPoint]):
    """One run of the method.

    ``goal`` is the violation that is wanted of the core.
    """

    name = "class_decomposition"
    kept = (*KernelRun.kept, "goal")
    worthwhile = 0.7

    problem: KernelCrammerSingerProblem

    def __init__(
        self, problem: KernelCrammerSingerProblem, settings: KernelSettings, start: Vector | None
    ) -> None:
        origin = np.zeros((problem.gram.n_points, problem.n_classes))
        beta = origin if start is None else problem.classes.feasible(start)
        super().__init__(problem, settings, beta)
        self.goal = SAFE * settings.tol

    def solve(self) -> Status:
        """Run until exact scores meet the tolerance, or no more can be done."""
        core = self._begin()
        while True:
            if not self.advance(core, self.goal):
                return "max_iter"
            point = self.problem.point(self.beta)
            if not self.is_worth_refining(point):
                return self.finished(point)
            core.set_point(point.beta, point.products, point.intercept)
            self.goal = min(TIGHTER * self.goal, SAFE * self.tol)

    def exact_steps(self, point: ClassPoint, tol: float) -> Iterator[ClassPoint]:
        """Solve for the free betas, from a point."""
        return free_class_steps(self.problem, point, tol, self.settings.n_threads)

    def _begin(self) -> _core.solver.ClassQp:
        """Return the core's solver, at the first point or where a run that was broken off left it."""
        left = self.resume()
        if left is None:
            point = self._first_point()
            self.before = point.violation
            return self._core_solver(point.beta, point.products, point.intercept)
        table = self.beta.shape
        core = self._core_solver(
            left["beta"].reshape(table), left["scores"].reshape(table), left["intercept"]
        )
        core.set_state(**left)
        self.beta = core.beta
        return core

    def _first_point(self) -> ClassPoint:
        if np.any(self.beta):
            return self.problem.point(self.beta)
        nothing = np.zeros_like(self.beta)
        return self.problem.point_of(self.beta, nothing, nothing)

    def _core_solver(
        self, beta: Vector, products: Vector, intercept: Vector
    ) -> _core.solver.ClassQp:
        """Return the core's solver."""
        problem, settings = self.problem, self.settings
        n_places = min(settings.working_set, problem.gram.n_points)
        stiffness = STIFFNESS * float(np.mean(np.abs(problem.gram.diagonal))) or 1.0
        return _core.solver.ClassQp(
            problem.gram.source,
            label=problem.y,
            weight=problem.weight,
            diagonal=problem.gram.diagonal,
            rho=stiffness if problem.has_intercept else 0.0,
            beta=beta,
            scores=products,
            intercept=intercept,
            n_bytes=settings.cache_bytes - block_bytes(problem.gram, n_places),
            working_set=n_places,
            n_threads=settings.n_threads,
        )
