"""Dual coordinate descent for several problems over the same rows: one pass serves them all.

Problem: several LinearProblems with the same rows, loss and intercept, each with labels and weights of
its own: the classes of one machine, or one class in several folds. The core keeps the weights of a
feature side by side and visits a row for all problems that it is active for.

Given: a run each. Offered: as by dual coordinate descent, until the problem is solved, or most rows
rest for most problems, from where each goes on faster alone.
Cost: a pass over the rows' non-zeros a sweep, for all of them about as much as for three alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.dual_coordinate_descent import (
    FIRST_BURST,
    FIRST_MARK,
    LONGEST_BURST,
    next_mark,
    offer_point,
    weight_of_intercept,
)

__all__ = ["descend_together", "is_alike"]

Vector = NDArray[np.float64]

WORTH_IT = 2.5
"""Visits of problems in one visit of a row from which that is faster than one each."""


def is_alike(a: LinearProblem, b: LinearProblem) -> bool:
    """Say whether two problems can be swept over together."""
    same = (
        a.matrix is b.matrix and a.loss == b.loss and (a.intercept, a.rho) == (b.intercept, b.rho)
    )
    return same and all(
        problem.loss.core_rule is not None
        and not problem.loss.is_two_sided
        and problem.targets is None
        and not (problem.pull or problem.penalty.bounds_dual)
        for problem in (a, b)
    )


def descend_together(runs: Sequence[LinearRun]) -> None:
    """Sweep over alike problems as long as that is worth it; each run says where it stands."""
    descent = _JointDescent(runs)
    for k, run in enumerate(runs):
        run.when_stopped = lambda k=k: descent.offer(k, descent.points(), thoroughly=True)
    while descent.live and descent.burst_pays():
        pass
    descent.leave()


class _JointDescent:
    """The sweeps under way."""

    def __init__(self, runs: Sequence[LinearRun]) -> None:
        first = runs[0]
        problems = [run.problem for run in runs]
        self.runs = runs
        self.live = list(range(len(runs)))
        self.marks = np.array([FIRST_MARK * problem.unit for problem in problems])
        self.burst = FIRST_BURST
        self.core = _core.solver.JointDescent(
            first.problem.matrix,
            np.array([problem.y * problem.weight for problem in problems]),
            loss=str(first.problem.loss.core_rule),
            target=float(first.problem.target[0]),
            rho=max(map(weight_of_intercept, problems)),
            free_intercept=first.problem.intercept == "free",
            shrinking=first.option("shrinking"),
            seed=first.settings.seed,
            n_threads=first.problem.n_threads,
        )
        self._start()

    def _start(self) -> None:
        """Begin where solutions are thought to be, if that is known of any."""
        starts = [run.start for run in self.runs]
        if any(start is not None for start in starts):
            alpha = [
                np.zeros(len(run.problem.weight))
                if start is None
                else run.problem.boxed(start.alpha)
                for run, start in zip(self.runs, starts, strict=True)
            ]
            intercept = [0.0 if start is None else start.intercept for start in starts]
            self.core.set_alpha(np.array(alpha), np.array(intercept, dtype=np.float64))

    def burst_pays(self) -> bool:
        """Make some sweeps and offer what they found; say whether more of them are worth it."""
        live = [self.runs[k] for k in self.live]
        left = min(run.settings.max_iter - run.n_iter for run in live)
        sweeps, violations, n_visits, n_rows = self.core.run(min(self.burst, left), self.marks)
        points = self.points()
        for k in tuple(self.live):
            run = self.runs[k]
            run.n_iter += math.ceil(sweeps[k])
            is_last = run.n_iter >= run.settings.max_iter
            gap = self.offer(k, points, thoroughly=is_last)
            if run.measure() or is_last:
                self.core.retire(k)
                self.live.remove(k)
            elif violations[k] <= self.marks[k]:
                self.marks[k] = next_mark(run, self.marks[k], gap)
        self.burst = min(2 * self.burst, LONGEST_BURST)
        return bool(n_visits >= WORTH_IT * n_rows)

    def points(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Return planes, intercepts, alphas and scores, a line each."""
        return self.core.w, self.core.intercept, self.core.alpha, self.core.scores

    def offer(
        self, k: int, points: tuple[Vector, Vector, Vector, Vector], *, thoroughly: bool
    ) -> float:
        """Offer where problem k stands; return about its relative gap."""
        w, b, alpha, scores = (part[k] for part in points)
        return offer_point(self.runs[k], w, float(b), alpha, scores, thoroughly=thoroughly)

    def leave(self) -> None:
        """Tell those that are not solved where to go on."""
        w, intercept, alpha, _ = self.points() if self.live else ((),) * 4
        for k in self.live:
            run, excess = self.runs[k], float(self.core.excess[k])
            shift = float(intercept[k]) - weight_of_intercept(run.problem) * excess
            core = alpha[k], w[k], shift, excess, int(self.core.n_swept), True
            run.begun = {"mark": float(self.marks[k]), "burst": self.burst, "core": core}
