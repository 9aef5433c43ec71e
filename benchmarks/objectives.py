"""The judge of linear machines: objectives, bounds and scores of everybody by the same code.

Written from the formulas in NumPy, float64, and apart from ``hedgerow.problems``, so that a mistake
there cannot pass here. A machine separates class k from the rest by (coef[k], intercept[k]); two
classes are one problem, whose positive class is the larger label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from benchmarks.contest import Judge, Verdict
from benchmarks.datasets import Dataset

__all__ = ["LinearTask", "accuracy", "dual", "judge_against", "primal", "relative_gap"]

Array = NDArray[np.float64]
Result = Mapping[str, Array]


@dataclass(frozen=True)
class LinearTask:
    """Minimise 1/2 |w|^2 + 1/2 b^2 + C sum_i loss(m_i), m_i = y_i (<w, x_i> + b), one against the rest.

    The losses are max(0, 1 - m), its square, and log(1 + exp(-m)). The intercept b is penalised, as
    LIBLINEAR's; a free one has no term of its own.
    """

    loss: Literal["hinge", "squared_hinge", "logistic"]
    C: float
    intercept: Literal["penalized", "free"] = "penalized"


_LOSSES: Mapping[str, Callable[[Array], Array]] = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "squared_hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0.0, -m),
}

_GAINS: Mapping[str, Callable[[Array], Array]] = {
    "hinge": lambda share: share,
    "squared_hinge": lambda share: share - share**2 / 4.0,
    # The entropy: these two products are 0 where a factor is, and keep all digits near it.
    "logistic": lambda share: -xlogy(share, share) - xlog1py(1.0 - share, -share),
}
"""What a row adds to the dual over C, by its share alpha / C."""

_TOPS = {"hinge": 1.0, "squared_hinge": np.inf, "logistic": 1.0}
"""The largest share."""


def primal(task: LinearTask, X: Any, y: NDArray[np.int64], coef: Array, intercept: Array) -> float:
    """Return the objective, summed over the binary problems."""
    scores = X @ coef.T + intercept
    losses = _LOSSES[task.loss](_signs(y) * scores)
    penalty = np.sum(coef**2)
    if task.intercept == "penalized":
        penalty += np.sum(intercept**2)
    return float(0.5 * penalty + task.C * np.sum(losses))


def dual(task: LinearTask, X: Any, y: NDArray[np.int64], alpha: Array) -> float:
    """Return a value no objective can go below, from any alpha of shape (n_problems, n_samples).

    Whatever alpha is, it is brought to where weak duality holds: into the box, and, for a free
    intercept, to equal sums over both signs.
    """
    signs = _signs(y)
    shares = np.where(np.isfinite(alpha), alpha, 0.0).T / task.C
    shares = np.clip(shares, 0.0, _TOPS[task.loss])
    if task.intercept == "free":
        shares = _balanced(shares, signs)
    signed = task.C * shares * signs
    w, b = X.T @ signed, signed.sum(axis=0)
    penalty = np.sum(w**2)
    if task.intercept == "penalized":
        penalty += np.sum(b**2)
    return float(task.C * np.sum(_GAINS[task.loss](shares)) - 0.5 * penalty)


def _balanced(shares: Array, signs: Array) -> Array:
    """Return shares whose larger sum over a sign is scaled down to the other; none grows."""
    sums = {sign: np.sum(shares, axis=0, where=signs == sign) for sign in (1.0, -1.0)}
    smaller = np.minimum(sums[1.0], sums[-1.0])
    scales = {sign: smaller / np.where(total > 0, total, 1.0) for sign, total in sums.items()}
    return shares * np.where(signs > 0, scales[1.0], scales[-1.0])


def accuracy(X: Any, y: NDArray[np.int64], coef: Array, intercept: Array) -> float:
    """Return the share of rows whose label is predicted."""
    scores = X @ coef.T + intercept
    guesses = np.where(scores[:, 0] > 0, 1, -1) if len(coef) == 1 else scores.argmax(axis=1)
    return float(np.mean(guesses == y))


def relative_gap(objective: float, bound: float) -> float:
    """Return (objective - bound) / max(|objective|, |bound|); 0 when both are 0."""
    scale = max(abs(objective), abs(bound))
    return (objective - bound) / scale if scale > 0 else 0.0


def judge_against(task: LinearTask, data: Dataset, bound: float) -> Judge:
    """Return the judge whose figure is the relative gap to a lower bound of the objective."""

    def judge(result: Result) -> Verdict:
        plane = result["coef"], result["intercept"]
        objective = primal(task, data.X, data.y, *plane)
        details = {
            "objective": objective,
            "lower_bound": bound,
            "test_accuracy": accuracy(data.X_test, data.y_test, *plane),
        }
        return Verdict(relative_gap(objective, bound), details)

    return judge


def _signs(y: NDArray[np.int64]) -> Array:
    """Return +1 for the positive class of each problem and -1 for the rest, a column a problem."""
    labels = np.unique(y)
    positive = labels[1:] if len(labels) == 2 else labels
    return np.where(y[:, None] == positive, 1.0, -1.0)
