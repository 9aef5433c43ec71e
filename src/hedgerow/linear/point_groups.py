"""Training rows of a support vector machine, grouped by their alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PointGroups"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PointGroups:
    """Training rows, grouped by their alpha; every row is in exactly one group.

    What the groups mean, by loss:

    ============================  =====================  ===================  ====================
    group                         hinge                  squared losses       epsilon-insensitive
    ============================  =====================  ===================  ====================
    ``zero``, alpha = 0           outside the margin,    the same             inside the tube, or
                                  or on it                                    on its edge
    ``between``, strictly         on the margin          inside the margin    on the edge
    between 0 and the bound                              (outside the tube)
    ``at_bound``, abs(alpha)      inside the margin,     there is no bound:   outside the tube, or
    = C times the weight          or on it               empty                on its edge
    ============================  =====================  ===================  ====================

    A row of weight 0 has alpha = 0 wherever it lies.

    Attributes
    ----------
    alpha : ndarray of float64
        The dual variables of the hyperplane, one per row.
    zero, between, at_bound : ndarray of int64
        The rows of each group, in ascending order.

    Examples
    --------
    >>> from hedgerow import LinearSVC
    >>> model = LinearSVC(loss="hinge", C=5 / 16)
    >>> model = model.fit([[1, 2], [-1, 2], [-1, -2], [3, 1]], [-1, -1, 1, 1])
    >>> groups = model.point_groups()
    >>> groups.zero, groups.between, groups.at_bound
    (array([1]), array([2, 3]), array([0]))
    >>> print(groups)
    Of 4 rows 1 has alpha = 0, 2 lie between 0 and the bound, 1 is at the bound.
    """

    alpha: NDArray[np.float64]
    zero: Rows
    between: Rows
    at_bound: Rows

    @classmethod
    def of(cls, alpha: NDArray[np.float64], at_bound: NDArray[np.bool_]) -> PointGroups:
        """Return the groups of rows with the given alphas.

        Parameters
        ----------
        alpha : ndarray of shape (n_samples,)
            The dual variables.
        at_bound : ndarray of bool of shape (n_samples,)
            Which of them are at their bound.

        Returns
        -------
        PointGroups
            The groups.
        """
        zero = alpha == 0.0
        return cls(
            alpha=alpha,
            zero=np.flatnonzero(zero),
            between=np.flatnonzero(~zero & ~at_bound),
            at_bound=np.flatnonzero(at_bound),
        )

    @property
    def support(self) -> Rows:
        """The support vectors: rows with alpha other than 0."""
        return np.flatnonzero(self.alpha != 0.0)

    @property
    def above(self) -> Rows:
        """Rows with alpha > 0; in regression those whose target is above the tube or on its edge."""
        return np.flatnonzero(self.alpha > 0.0)

    @property
    def below(self) -> Rows:
        """Rows with alpha < 0, in regression only: below the tube or on its edge."""
        return np.flatnonzero(self.alpha < 0.0)

    def __str__(self) -> str:
        zero, between, at_bound = map(len, (self.zero, self.between, self.at_bound))
        return (
            f"Of {len(self.alpha):,} rows {zero:,} {'has' if zero == 1 else 'have'} alpha = 0, "
            f"{between:,} {'lies' if between == 1 else 'lie'} between 0 and the bound, "
            f"{at_bound:,} {'is' if at_bound == 1 else 'are'} at the bound."
        )
