"""The geometry of a hyperplane H = {x : <b, x> + b0 = 0}.

Three terms with distinct meanings:

functional margin
    y * score: positive if the point is on its correct side. It changes if b is rescaled.
margin
    a distance: of a point, its distance to H; of a sample, that of its closest point.
width
    2 / |b|: the distance between the hyperplanes of score +1 and -1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import _core
from hedgerow._base.sparse import checked_sparse
from hedgerow.data.rows import dense, matrix_of, read_rows, refuse_masked
from hedgerow.errors import DataError, ParameterError

__all__ = ["Hyperplane"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class _Labels:
    """The labels of the two sides of a model's hyperplane: one class against the others."""

    positive: Any
    all: tuple[Any, ...]


class Hyperplane:
    """An immutable hyperplane in normal form.

    Parameters
    ----------
    normal : array-like of shape (n_features,)
        The normal vector b; not zero.
    offset : float, default=0.0
        The number b0 of <b, x> + b0 = 0.

    Examples
    --------
    >>> from hedgerow.linear import Hyperplane
    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> plane.score([[3.0, 4.0]]), plane.signed_distance([[3.0, 4.0]])
    (array([20.]), array([4.]))
    >>> plane.project([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """

    _labels: _Labels | None = None

    def __init__(self, normal: ArrayLike, offset: float = 0.0) -> None:
        self._normal = _checked_normal(normal)
        self._offset = _checked_offset(offset)

    @classmethod
    def from_line(cls, slope: float, intercept: float) -> Hyperplane:
        """Return the line x2 = slope * x1 + intercept: b = (slope, -1), b0 = intercept.

        Parameters
        ----------
        slope : float
            The slope of the line.
        intercept : float
            The value of x2 at x1 = 0.

        Returns
        -------
        Hyperplane
            The line as a hyperplane in two dimensions.
        """
        return cls((slope, -1.0), intercept)

    @classmethod
    def of(cls, model: Any, class_label: Any = None) -> Hyperplane:
        """Return the hyperplane of a fitted linear model.

        Parameters
        ----------
        model : object with ``coef_`` and ``intercept_``
            A fitted linear model, Hedgerow's or scikit-learn's.
        class_label : label, optional
            The class whose one-vs-rest hyperplane is returned; required with more than two classes.
            With two classes the positive side is the second class, unless the first is given here.

        Returns
        -------
        Hyperplane
            If the model is a classifier, the methods that take ``y`` expect the model's labels.
        """
        coef, intercept = _hyperplanes_of(model)
        classes = getattr(model, "classes_", None)
        if classes is None:
            return cls(*_only_hyperplane(model, coef, intercept))
        row, sign = _row_of_class(model, classes, class_label, len(coef))
        plane = cls(sign * coef[row], sign * intercept[row])
        positive = classes[1] if class_label is None else class_label
        plane._labels = _Labels(positive, tuple(classes.tolist()))
        return plane

    @property
    def normal(self) -> Vector:
        """The normal vector b, read-only."""
        return self._normal

    @property
    def offset(self) -> float:
        """The number b0."""
        return self._offset

    @property
    def norm(self) -> float:
        """The length |b| of the normal vector."""
        return math.hypot(*self._normal)

    @property
    def unit_normal(self) -> Vector:
        """The normal vector of length 1, read-only."""
        return _read_only(self._normal / self.norm)

    @property
    def width(self) -> float:
        """The distance 2 / |b| between the hyperplanes of score +1 and -1."""
        return 2.0 / self.norm

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyperplane):
            return NotImplemented
        return self._offset == other._offset and np.array_equal(self._normal, other._normal)

    def __hash__(self) -> int:
        return hash((tuple(self._normal.tolist()), self._offset))

    def __repr__(self) -> str:
        normal = np.array2string(self._normal, separator=", ", threshold=8)
        return f"Hyperplane({normal}, {self._offset!r})"

    def score(self, X: Any) -> Vector:
        """Return <b, x> + b0 for every row x.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        matrix = matrix_of(self._rows(X))
        return _core.data.scores(matrix, self._normal[None, :], np.array([self._offset]), 1)[:, 0]

    def functional_margin(self, X: Any, y: ArrayLike) -> Vector:
        """Return y * score for every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their sides: the labels of the model that the hyperplane was made :meth:`of`, otherwise
            +1 and -1.

        Returns
        -------
        ndarray of shape (n_samples,)
            The functional margins.
        """
        scores = self.score(X)
        return self._signs(y, len(scores)) * scores

    def signed_distance(self, X: Any) -> Vector:
        """Return (<b, x> + b0) / |b| for every row, positive on the side that b points to.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The signed distances.
        """
        return self.score(X) / self.norm

    def distance(self, X: Any) -> Vector:
        """Return the distance of every row to the hyperplane: the margin of that point.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The distances.
        """
        return np.abs(self.signed_distance(X))

    def project(self, X: Any) -> Vector:
        """Return the point of the hyperplane closest to each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The projections, as a dense array.
        """
        rows = self._rows(X)
        return dense(rows) - self.signed_distance(rows)[:, None] * self.unit_normal

    def separates(self, X: Any, y: ArrayLike) -> bool:
        """Return whether every point lies strictly on its side: all functional margins are positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their sides: the labels of the model that the hyperplane was made :meth:`of`, otherwise
            +1 and -1.

        Returns
        -------
        bool
            True if the hyperplane separates the sample.
        """
        return bool((self.functional_margin(X, y) > 0).all())

    def margin(self, X: Any, y: ArrayLike) -> float:
        """Return the margin of the sample: the distance of its closest point.

        If the hyperplane does not separate the sample, the result is minus the distance of the
        point that lies deepest on the wrong side (0 if that point lies on the hyperplane).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their sides: the labels of the model that the hyperplane was made :meth:`of`, otherwise
            +1 and -1.

        Returns
        -------
        float
            The smallest y * signed distance.
        """
        return float(self.functional_margin(X, y).min()) / self.norm

    def canonical(self, X: Any) -> Hyperplane:
        """Return the same hyperplane, rescaled so that the points closest to it have score +1 or -1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        Hyperplane
            The canonical form for these points.
        """
        scores = np.abs(self.score(X))
        closest = int(scores.argmin())
        if scores[closest] == 0:
            msg = (
                f"row {closest} of X lies on the hyperplane, so no rescaling gives it a score of 1; "
                "remove such points"
            )
            raise DataError(msg)
        plane = Hyperplane(self._normal / scores[closest], self._offset / scores[closest])
        plane._labels = self._labels
        return plane

    def line(self) -> tuple[float, float]:
        """Return the slope and intercept of the line x2 = slope * x1 + intercept, in two dimensions.

        Returns
        -------
        tuple of float
            The slope and the intercept.
        """
        if len(self._normal) != 2:
            msg = (
                f"the hyperplane has {len(self._normal)} dimensions, but only with 2 is it a line; "
                "choose two features"
            )
            raise ParameterError(msg)
        b1, b2 = self._normal.tolist()
        if b2 == 0:
            msg = (
                f"the line is vertical, x1 = {-self._offset / b1:g}, and has no slope; "
                "use its normal and offset"
            )
            raise ParameterError(msg)
        return -b1 / b2, -self._offset / b2

    def _rows(self, X: Any) -> Any:
        """Return X as rows; refuse a wrong number of features."""
        rows, _ = read_rows(X)
        if rows.shape[1] != len(self._normal):
            msg = (
                f"X has {rows.shape[1]} features but the hyperplane has {len(self._normal)} "
                "dimensions; give the features of the hyperplane"
            )
            raise DataError(msg)
        return rows

    def _signs(self, y: ArrayLike, n_rows: int) -> Vector:
        """Return +1 or -1 for every label."""
        refuse_masked(y, "y")
        labels = np.asarray(y)
        if labels.shape != (n_rows,):
            msg = f"y has shape {labels.shape} but X has {n_rows} rows; give one label per row"
            raise DataError(msg)
        known = (-1, 1) if self._labels is None else self._labels.all
        strange = [label for label in np.unique(labels).tolist() if label not in known]
        if strange:
            expected = ", ".join(repr(label) for label in known)
            msg = f"y contains {strange[0]!r}, but the labels of the hyperplane are {expected}; convert y"
            raise DataError(msg)
        positive = 1 if self._labels is None else self._labels.positive
        return np.where(labels == positive, 1.0, -1.0)


def _read_only(array: Vector) -> Vector:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def _checked_normal(normal: ArrayLike) -> Vector:
    """Return the normal as a read-only vector of finite numbers, not all zero."""
    try:
        vector = np.array(normal, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = (
            f"the normal {normal!r} cannot be read as numbers: {error}; give one number per feature"
        )
        raise ParameterError(msg) from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        msg = (
            f"the normal is an array of shape {vector.shape}, {vector}; "
            "give one finite number per feature"
        )
        raise ParameterError(msg)
    if not vector.any():
        msg = (
            f"the normal is the zero vector of length {len(vector)}, which defines no hyperplane; "
            "give a non-zero vector"
        )
        raise ParameterError(msg)
    return _read_only(vector)


def _checked_offset(offset: Any) -> float:
    """Return the offset as a finite float."""
    try:
        number = float(offset)
    except (TypeError, ValueError) as error:
        msg = f"the offset {offset!r} is not a number: {error}; give a single number"
        raise ParameterError(msg) from error
    if not math.isfinite(number):
        msg = f"the offset is {number}; give a finite number"
        raise ParameterError(msg)
    return number


def _hyperplanes_of(model: Any) -> tuple[Vector, Vector]:
    """Return the coefficients, one hyperplane per row, and the intercepts of a fitted linear model."""
    name = type(model).__name__
    try:
        coef, intercept = model.coef_, model.intercept_
    except AttributeError:
        msg = f"{name} has no coef_ and intercept_; give a linear model that has been fitted"
        raise ParameterError(msg) from None
    coef = checked_sparse(coef, "coef_").toarray() if hasattr(coef, "toarray") else coef
    coef = np.atleast_2d(np.asarray(coef, np.float64))
    intercept = np.asarray(intercept, np.float64).ravel()
    return coef, np.broadcast_to(intercept, len(coef))


def _only_hyperplane(model: Any, coef: Vector, intercept: Vector) -> tuple[Vector, float]:
    """Return the hyperplane of a model without classes, which must have only one."""
    if len(coef) != 1:
        msg = (
            f"{type(model).__name__} has {len(coef)} hyperplanes and no classes_; "
            "pass the coefficients and intercept of one of them to Hyperplane"
        )
        raise ParameterError(msg)
    return coef[0], float(intercept[0])


def _row_of_class(model: Any, classes: Any, class_label: Any, n_planes: int) -> tuple[int, float]:
    """Return the class's row of ``coef_`` and the sign that puts the class on the positive side."""
    name, known = type(model).__name__, classes.tolist()
    if class_label is not None and class_label not in known:
        msg = f"class_label={class_label!r} is not a class of {name}; its classes are {known}"
        raise ParameterError(msg)
    if len(known) == 2:
        return 0, -1.0 if class_label is not None and class_label == known[0] else 1.0
    if hasattr(model, "decision_function_shape") or n_planes != len(known):
        msg = (
            f"{name} separates its {len(known)} classes one-vs-one; "
            "pass the coefficients and intercept of one pair to Hyperplane"
        )
        raise ParameterError(msg)
    if class_label is None:
        msg = (
            f"{name} has {len(known)} classes and a hyperplane for each; "
            f"choose one of {known} with class_label="
        )
        raise ParameterError(msg)
    return known.index(class_label), 1.0
