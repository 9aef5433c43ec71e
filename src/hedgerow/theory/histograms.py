"""Histograms of the distances of rows to a hyperplane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.rows import refuse_masked
from hedgerow.errors import DataError, UnavailableError
from hedgerow.linear import Hyperplane
from hedgerow.theory._numbers import check_count

__all__ = ["DistanceHistogram", "distance_histogram", "margin_histogram"]


@dataclass(frozen=True, eq=False)
class DistanceHistogram:
    """Counts of rows by distance.

    Attributes
    ----------
    quantity : str
        The quantity on the horizontal axis.
    edges : ndarray of shape (n_bins + 1,)
        The edges of the bins; 0 is one of them.
    counts : mapping of label to ndarray of shape (n_bins,)
        The number of rows in each bin, by class.
    """

    quantity: str
    edges: NDArray[np.float64]
    counts: Mapping[Any, NDArray[np.int64]]

    def plot(self, ax: Any = None) -> Any:
        """Draw a stacked bar chart of the classes with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default a new figure.

        Returns
        -------
        matplotlib axes
            The axes with the bars.
        """
        axes = _new_axes() if ax is None else ax
        below = np.zeros(len(self.edges) - 1)
        for label, counts in self.counts.items():
            axes.bar(
                self.edges[:-1], counts, np.diff(self.edges), below, align="edge", label=str(label)
            )
            below = below + counts
        axes.axvline(0.0, color="black", linewidth=1.0)
        axes.set(xlabel=self.quantity, ylabel="rows")
        axes.legend()
        return axes


def distance_histogram(
    model: Any, X: Any, y: ArrayLike, *, bins: int = 20, class_label: Any = None
) -> DistanceHistogram:
    """Count the rows of each class by their signed distance to the hyperplane of a linear model.

    Parameters
    ----------
    model : object with ``coef_`` and ``intercept_``
        A fitted linear model.
    X, y : array-like
        The rows and their labels.
    bins : int, default=20
        The approximate number of bins.
    class_label : label, optional
        With more than two classes, the class whose hyperplane is used.

    Returns
    -------
    DistanceHistogram
        The counts by class.

    Examples
    --------
    >>> from hedgerow import LinearSVC
    >>> from hedgerow.theory import distance_histogram
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    >>> histogram = distance_histogram(LinearSVC(C=float("inf")).fit(X, y), X, y, bins=4)
    >>> histogram.edges, histogram.counts["b"]
    (array([-2., -1.,  0.,  1.,  2.]), array([0, 0, 0, 2]))
    """
    plane = Hyperplane.of(model, class_label)
    return _counted("signed distance to the hyperplane", plane.signed_distance(X), y, bins)


def margin_histogram(
    model: Any, X: Any, y: ArrayLike, *, bins: int = 20, class_label: Any = None
) -> DistanceHistogram:
    """Count the rows of each class by their margin: the distance, negative on the wrong side.

    Parameters
    ----------
    model, X, y, bins, class_label : see :func:`distance_histogram`
        As in :func:`distance_histogram`.

    Returns
    -------
    DistanceHistogram
        The counts by class.
    """
    plane = Hyperplane.of(model, class_label)
    return _counted("margin", plane.functional_margin(X, y) / plane.norm, y, bins)


def _counted(
    quantity: str, values: NDArray[np.float64], y: ArrayLike, bins: int
) -> DistanceHistogram:
    """Count values into bins of equal width with an edge at 0."""
    check_count("bins", bins)
    refuse_masked(y, "y")
    labels = np.asarray(y)
    if labels.shape != values.shape:
        msg = f"y has shape {labels.shape} but X has {len(values)} rows; give one label per row"
        raise DataError(msg)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    width = (high - low) / bins if high > low else 1.0
    first, last = int(np.floor(low / width)), int(np.ceil(high / width))
    edges = width * np.arange(first, max(last, first + 1) + 1, dtype=np.float64)
    counts = {
        label: np.histogram(values[labels == label], edges)[0]
        for label in np.unique(labels).tolist()
    }
    return DistanceHistogram(quantity, edges, counts)


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = "plot needs matplotlib, which is not installed; pip install hedgerow[plot]"
        raise UnavailableError(msg) from error
    return Figure(layout="constrained").subplots()
