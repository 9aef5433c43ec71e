"""Stochastic subgradient descent at a constant rate, in two forms.

Problem: LinearProblem with the hinge loss. An epoch visits every row with weight once, in random order.
With l = 1 / sum_i c_i, which is 1 / (m C) for m rows of weight C, and s_i = m c_i / sum_i c_i, which is
then 1, a visit to row i does, if its functional margin is below 1,

    "constant_rate", a            w -= a (l w - s_i y_i x_i),  b += a s_i y_i       (free intercept or none)
    "convex_combination", g       w = (1 - g) w + g C' s_i y_i x_i,  C' = 1 / l     (penalised or none)

and else w -= a l w, or w = (1 - g) w. So g = a l is the same step by another name; the forms differ in what
they do with the intercept, which the second takes as one more feature, s. The last plane is returned.

Without a given ``rate`` it is a = 0.01 / the mean of |x_i|^2, the constant feature included, or g = a l,
at most 0.01: the steps then settle where the mean hinge is too large by about half a percent of its value
at w = 0.

Given: the problem. Offered: the last plane and the alpha of `epochs`. Approximate: it stays about as far
from the optimum as the rate is large, and needs more epochs the smaller it is.
Cost: a visit costs the features of its row; a measurement of the gap three passes over the data.
Paper: Bottou, Large-scale machine learning with stochastic gradient descent, COMPSTAT 2010; Shalev-Shwartz
and Ben-David, Understanding machine learning, 2014, ch. 14.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import any_of, none, one_of, real_number
from hedgerow._base.state import Json
from hedgerow.errors import ParameterError
from hedgerow.problems.base import Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.epochs import in_epochs, used_rows
from hedgerow.solvers.solver import LinearSolver, Option

__all__ = ["SGD"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

GENTLE = 0.01
"""The rate chosen, in units of 1 / the mean of |x_i|^2."""

FORM_FOR = {"free": "constant_rate", "penalized": "convex_combination"}
"""Which form knows what to do with an intercept."""


class _Steady:
    """The plane and the constants of its steps."""

    def __init__(self, problem: LinearProblem, seed: int, share: float) -> None:
        self.problem = problem
        self.seed = seed
        self.rows = used_rows(problem)
        self.push = (share * len(self.rows)) * problem.weight
        self.keep = 1.0 - share
        self.w, self.intercept = np.zeros(problem.shape[1]), 0.0

    def order(self, epoch: int) -> Rows:
        """Shuffle the rows."""
        return self.rows[_core.system.random_permutation(self.seed, epoch, len(self.rows))]

    def visit(self, order: Rows, violations: Rows) -> int:
        """Make a step for each row."""
        is_free = self.problem.intercept == "free"
        n_made, self.intercept = _core.solver.steady_steps(
            self.problem.matrix,
            self.problem.y,
            self.problem.target,
            self.push,
            order,
            self.keep,
            1.0 if is_free else self.keep,
            1.0 if is_free else self.problem.rho,
            self.w,
            self.intercept,
            violations,
        )
        return n_made

    def plane(self) -> tuple[Vector, float]:
        """Return the last plane."""
        return self.w, self.intercept

    def state(self) -> Json:
        """Return a copy of the plane."""
        return self.w.copy(), self.intercept

    def restore(self, state: Json) -> None:
        """Go on from such a plane."""
        w, self.intercept = state
        self.w = w.copy()


def sgd(run: LinearRun) -> Status:
    """Come near the solution, and say how near."""
    problem = run.problem
    _refuse_intercept(problem, run.option("form"))
    share = _share(problem, run.option("form"), run.option("rate"))
    return in_epochs(run, _Steady(problem, run.settings.seed, share))


def _refuse_intercept(problem: LinearProblem, form: str) -> None:
    """Raise if the form does not know the problem's intercept."""
    able = FORM_FOR.get(problem.intercept, form)
    if able != form:
        article = "a free" if problem.intercept == "free" else "a penalized"
        msg = f"solver='sgd' with form={form!r} cannot fit {article} intercept; form={able!r} can"
        raise ParameterError(msg)


def _share(problem: LinearProblem, form: str, rate: float | None) -> float:
    """Return g, the share of w that a step gives up."""
    total = float(np.sum(problem.weight))
    if rate is None:
        used = used_rows(problem)
        norms = _core.data.row_sq_norms(problem.matrix, problem.n_threads)[used]
        constant = 1.0 if problem.intercept == "free" else problem.rho
        mean = float(np.mean(norms)) + constant
        return min(GENTLE / (mean * total), GENTLE) if mean > 0.0 else GENTLE
    share = rate / total if form == "constant_rate" else rate
    if share >= 1.0:
        most = total if form == "constant_rate" else 1.0
        msg = f"the option rate={rate!r} of solver='sgd' must be below {most:g} for form={form!r} and these weights"
        raise ParameterError(msg)
    return share


SGD = LinearSolver(
    name="sgd",
    run=sgd,
    needs=("loss.has_step_slope",),
    is_exact=False,
    takes_pull=False,
    options={
        "form": Option(
            "constant_rate",
            one_of("constant_rate", "convex_combination"),
            "which form of the step: free intercept or none, penalized intercept or none",
        ),
        "rate": Option(
            None,
            any_of(none, real_number(0, open_low=True)),
            "a or g; None for 0.01 / the mean of |x|^2 and what that is in the other form",
        ),
    },
)
