"""The judge of linear machines: objectives, bounds and scores of everybody by the same code.

Written from the formulas in NumPy, float64, and apart from ``hedgerow.problems``, so that a mistake
there cannot pass here. A machine separates class k from the rest by (coef[k], intercept[k]); two
classes are one problem, whose positive class is the larger label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Judge, Verdict
from benchmarks.datasets import Dataset

__all__ = ["LinearTask", "accuracy", "dual", "judge_against", "primal", "relative_gap"]

Array = NDArray[np.float64]
Result = Mapping[str, Array]


@dataclass(frozen=True)
class LinearTask:
    """Minimise 1/2 |w|^2 + 1/2 b^2 + C sum_i loss(y_i (<w, x_i> + b)), one against the rest.

    The intercept is penalised, as LIBLINEAR's; losses are max(0, 1 - m) and its square.
    """

    loss: str
    C: float


def primal(task: LinearTask, X: Any, y: NDArray[np.int64], coef: Array, intercept: Array) -> float:
    """Return the objective, summed over the binary problems."""
    scores = X @ coef.T + intercept
    slack = np.maximum(0.0, 1.0 - _signs(y) * scores)
    losses = slack if task.loss == "hinge" else slack**2
    return float(0.5 * np.sum(coef**2) + 0.5 * np.sum(intercept**2) + task.C * np.sum(losses))


def dual(task: LinearTask, X: Any, y: NDArray[np.int64], alpha: Array) -> float:
    """Return a value no objective can go below, from any alpha of shape (n_problems, n_samples).

    Whatever alpha is, it is brought into the box first, where weak duality holds.
    """
    top = task.C if task.loss == "hinge" else np.inf
    inside = np.clip(np.where(np.isfinite(alpha), alpha, 0.0), 0.0, top)
    signed = inside.T * _signs(y)
    gain = inside if task.loss == "hinge" else inside - inside**2 / (4.0 * task.C)
    w, b = X.T @ signed, signed.sum(axis=0)
    return float(np.sum(gain) - 0.5 * np.sum(w**2) - 0.5 * np.sum(b**2))


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
