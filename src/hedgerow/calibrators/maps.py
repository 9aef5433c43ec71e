r"""Monotone maps from scores to probabilities.

Both methods are fitted to Platt's targets instead of labels 0 and 1: with :math:`N_+` and :math:`N_-`
the total weight of the rows of a class and of the others,

.. math:: t_+ = (N_+ + 1) / (N_+ + 2), \qquad t_- = 1 / (N_- + 2).

``"sigmoid"`` minimises the log loss of :math:`1 / (1 + e^{-(a s + b)})` over :math:`a \ge 0` and b.
``"isotonic"`` minimises the squared error over all non-decreasing maps, and interpolates linearly
between the ends of the steps. No probability is 0 or 1, so every log loss is finite.

Platt (2000), "Probabilistic outputs for support vector machines"; the Newton method is that of Lin,
Lin, Weng (2007), "A note on Platt's probabilistic outputs for support vector machines", Machine
Learning 68.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import any_number, check_parameters, one_of, real_number
from hedgerow._base.state import record, stateful
from hedgerow._base.state.rules import instance_of, labels, numbers, several
from hedgerow.data.training_data import check_fitted, check_labels, check_weights, refuse_one_class
from hedgerow.errors import DataError
from hedgerow.reduction import one_vs_rest_signs

__all__ = [
    "METHODS",
    "IsotonicMap",
    "ScoreCalibrator",
    "ScoreMap",
    "SigmoidMap",
    "fit_maps",
    "maps_problem",
    "most_probable",
    "probabilities",
]

Values: TypeAlias = NDArray[np.float64]

_LEAST = float(np.finfo(np.float64).eps)
"""No probability is below this or above 1 minus this, so that 1 - p is not 0 either."""
_MOST_STEPS = 100
_FLAT = 1e-13
"""The gradient, for weights of sum 1 and scores within [-1, 1], at which Newton's method ends."""
_RIDGE = 1e-12
_LEAST_STEP = 1e-10
_ROUNDING = 4 * _LEAST
"""A step may raise the loss, which is about 1, by this much: the effect of the last steps is below rounding."""


class ScoreMap(ABC):
    """A map from the scores of one class to its probabilities."""

    @abstractmethod
    def __call__(self, scores: Values) -> Values:
        """Return the probability for every score; it never decreases with the score."""


@record(slope=real_number(0.0), center=any_number, offset=any_number)
@dataclass(frozen=True)
class SigmoidMap(ScoreMap):
    """1 / (1 + exp(-(slope (score - center) + offset)))."""

    slope: float
    center: float
    offset: float

    def __call__(self, scores: Values) -> Values:
        """Return the probabilities."""
        with np.errstate(over="ignore"):  # beyond all numbers the probability is at its limit
            value: Values = expit(self.slope * (scores - self.center) + self.offset)
        return np.clip(value, _LEAST, 1.0 - _LEAST)


@record(scores=numbers("knots+"), values=numbers("knots+", low=0.0))
@dataclass(frozen=True, eq=False)
class IsotonicMap(ScoreMap):
    """A piecewise linear map between knots, constant beyond the first and the last."""

    scores: Values
    values: Values

    def __call__(self, scores: Values) -> Values:
        """Return the probabilities."""
        following = np.searchsorted(self.scores, scores, side="right")
        highest = self.values[np.minimum(following, len(self.values) - 1)]
        # Rounding may put the end of a segment above its knot, which would break monotonicity.
        lines = np.minimum(np.interp(scores, self.scores, self.values), highest)
        return np.clip(lines, _LEAST, 1.0 - _LEAST)


def fit_maps(
    scores: Values, codes: NDArray[np.int64], n_classes: int, weight: Values, method: str
) -> tuple[ScoreMap, ...]:
    """Return a map for the second of two classes, or one per class; scores are as classifiers return them."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    counted = np.flatnonzero(weight > 0)
    signs = one_vs_rest_signs(codes[counted], n_classes)
    return tuple(
        METHODS[method](columns[counted, k], sign > 0, weight[counted])
        for k, sign in enumerate(signs)
    )


def maps_problem(maps: tuple[ScoreMap, ...], n_classes: int) -> str | None:
    """Describe the problem if there is not one map per class, or one for two classes."""
    if len(maps) == (1 if n_classes == 2 else n_classes):
        return None
    return f"there are {len(maps)} probability_maps_ for {n_classes} classes"


def probabilities(maps: Sequence[ScoreMap], scores: Values) -> Values:
    """Return the probability of every class, with one row per row of scores; each row sums to 1."""
    if len(maps) == 1:
        positive = maps[0](scores)
        return np.column_stack([1.0 - positive, positive])
    each = np.column_stack([one(column) for one, column in zip(maps, scores.T, strict=True)])
    shares: Values = each / each.sum(axis=1, keepdims=True)
    return shares


def most_probable(classes: NDArray[Any], shares: Values) -> NDArray[Any]:
    """Return the label of the largest probability in every row, the first of equal ones."""
    chosen: NDArray[Any] = classes[shares.argmax(axis=1)]
    return chosen


# --------------------------------------------------------------------------------------- methods


def _targets(is_positive: NDArray[np.bool_], weight: Values) -> Values:
    """Return Platt's targets."""
    n_positive, n_negative = weight[is_positive].sum(), weight[~is_positive].sum()
    high, low = float((n_positive + 1) / (n_positive + 2)), float(1 / (n_negative + 2))
    return np.where(is_positive, high, low)


def _fit_sigmoid(scores: Values, is_positive: NDArray[np.bool_], weight: Values) -> SigmoidMap:
    """Return the non-decreasing sigmoid of least log loss."""
    targets, share = _targets(is_positive, weight), weight / weight.sum()
    center = float(np.sum(share * scores))
    scale = float(np.abs(scores - center).max())
    if scale > 0:
        slope, offset = _newton((scores - center) / scale, targets, share)
        if slope > 0 and np.isfinite(slope / scale):
            return SigmoidMap(slope / scale, center, offset)
    # The loss is convex: if the best slope is negative, the best admissible one is 0.
    return SigmoidMap(0.0, center, float(logit(np.sum(share * targets))))


def _newton(scores: Values, targets: Values, share: Values) -> tuple[float, float]:
    """Return slope and offset of least log loss, by Newton's method with backtracking."""
    point = np.array([0.0, float(logit(np.sum(share * targets)))])

    def loss(at: Values) -> float:
        z = at[0] * scores + at[1]
        return float(np.sum(share * (np.logaddexp(0.0, z) - targets * z)))

    value = loss(point)
    for _ in range(_MOST_STEPS):
        p = expit(point[0] * scores + point[1])
        error, curvature = share * (p - targets), share * p * (1.0 - p)
        gradient = np.array([np.sum(error * scores), np.sum(error)])
        if np.abs(gradient).max() <= _FLAT:
            break
        mixed = np.sum(curvature * scores)
        upper, lower = np.sum(curvature * scores * scores) + _RIDGE, np.sum(curvature) + _RIDGE
        direction = -_solved(upper, mixed, lower, gradient)
        found = _backtracked(loss, value, point, direction, float(np.sum(gradient * direction)))
        if found is None:  # no step lowers the loss by more than rounding
            break
        point, value = found
    return float(point[0]), float(point[1])


def _solved(upper: float, mixed: float, lower: float, right: Values) -> Values:
    """Return the solution of a symmetric system of two equations."""
    determinant = upper * lower - mixed * mixed
    first = lower * right[0] - mixed * right[1]
    second = upper * right[1] - mixed * right[0]
    return np.array([first, second]) / determinant


def _backtracked(
    loss: Callable[[Values], float], value: float, point: Values, direction: Values, decline: float
) -> tuple[Values, float] | None:
    """Return the first of a series of halved steps that lowers the loss enough, and its loss."""
    step = 1.0
    while step >= _LEAST_STEP:
        tried = point + step * direction
        at_tried = loss(tried)
        if at_tried <= value + 1e-4 * step * decline + _ROUNDING:
            return tried, at_tried
        step /= 2
    return None


def _fit_isotonic(scores: Values, is_positive: NDArray[np.bool_], weight: Values) -> IsotonicMap:
    """Return the non-decreasing least-squares fit."""
    from scipy.optimize import isotonic_regression

    knots, place = np.unique(scores, return_inverse=True)
    total = np.bincount(place, weight)
    mean = np.bincount(place, weight * _targets(is_positive, weight)) / total
    values = np.maximum.accumulate(isotonic_regression(mean, weights=total).x)
    # Only the two ends of a step matter.
    rises = np.diff(values) > 0
    is_end = np.concatenate([[True], rises]) | np.concatenate([rises, [True]])
    return IsotonicMap(knots[is_end], values[is_end])


METHODS: dict[str, Callable[[Values, NDArray[np.bool_], Values], ScoreMap]] = {
    "sigmoid": _fit_sigmoid,
    "isotonic": _fit_isotonic,
}
"""Calibration methods by name: functions of scores, whether each row is of the class, and weights."""


# ------------------------------------------------------------------------------------- on its own

_RULES = {"method": one_of(*METHODS)}


@stateful(
    _RULES,
    classes_=labels("classes", one_vs_rest="features"),
    probability_maps_=several(tuple, "features", instance_of(ScoreMap)),
)
class ScoreCalibrator(Estimator):
    """Calibrated probabilities from the scores of any classifier.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Platt's sigmoid, with two parameters per class, for any number of rows; or isotonic regression,
        which fits any non-decreasing map and needs several thousand rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    probability_maps_ : tuple of ScoreMap
        The maps from scores to probabilities: one for the second of two classes, or one per class.
    n_features_in_ : int
        The number of columns of scores.

    Examples
    --------
    >>> from hedgerow import ScoreCalibrator
    >>> scores, y = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], ["no", "no", "yes", "no", "yes", "yes"]
    >>> ScoreCalibrator().fit(scores, y).predict_proba([-1.0, 0.0, 1.0]).round(2)
    array([[0.65, 0.35],
           [0.5 , 0.5 ],
           [0.35, 0.65]])
    """

    def __init__(self, method: str = "sigmoid") -> None:
        self.method = method

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the maps to scores of rows that the classifier has not seen.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes the scores of the second; otherwise one column per class, in order.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        ScoreCalibrator
            The fitted calibrator itself.
        """
        check_parameters(self, _RULES)
        values = _finite(scores)
        classes, codes = check_labels(y, len(values))
        weight = check_weights(sample_weight, len(values))
        refuse_one_class(classes, codes, weight)
        _check_columns(values, len(classes))
        self.probability_maps_ = fit_maps(values, codes, len(classes), weight, self.method)
        self.classes_, self.n_features_in_ = classes, len(self.probability_maps_)
        return self

    def predict_proba(self, scores: Any) -> Values:
        """Return the probability of every class for each row of scores.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes the scores of the second; otherwise one column per class, in order.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        check_fitted(self)
        values = _finite(scores)
        _check_columns(values, len(self.classes_))
        return probabilities(self.probability_maps_, values)

    def predict(self, scores: Any) -> NDArray[Any]:
        """Return the most probable label for each row of scores.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes the scores of the second; otherwise one column per class, in order.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; the first of equally probable ones.
        """
        shares = self.predict_proba(scores)
        return most_probable(self.classes_, shares)


def _finite(scores: Any) -> Values:
    """Return scores as finite numbers."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"scores cannot be read as numbers: {error}; give one per row") from error
    if values.ndim == 0:
        raise DataError(f"scores={scores!r} is a single number; give one per row")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        msg = f"scores are not finite at row {wrong[0][0]}; remove such rows"
        raise DataError(msg)
    return values


def _check_columns(scores: Values, n_classes: int) -> None:
    """Refuse scores of a wrong shape."""
    expected = (len(scores),) if n_classes == 2 else (len(scores), n_classes)
    if scores.shape != expected:
        msg = (
            f"scores have shape {scores.shape} but {n_classes} classes need {expected}; "
            "give the output of decision_function"
        )
        raise DataError(msg)
