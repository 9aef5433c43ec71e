"""Coefficients that can be kept as a sparse matrix, as scikit-learn's linear classifiers keep them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.rows import dense
from hedgerow.data.training_data import check_fitted

__all__ = ["SparseCoef", "planes_of_model"]


class SparseCoef:
    """A linear classifier whose ``coef_`` can be dense or sparse."""

    coef_: Any

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a CSR matrix, in memory and in files; predictions stay the same.

        It is worth it if most coefficients are 0, as with ``penalty="l1"``. A new fit makes them dense.

        Returns
        -------
        Self
            Itself.
        """
        check_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array, as ``fit`` does.

        Returns
        -------
        Self
            Itself.
        """
        check_fitted(self)
        self.coef_ = dense(self.coef_)
        return self


def planes_of_model(model: Any) -> NDArray[np.float64]:
    """Return the normal vectors of a fitted linear model as an array, a row a plane."""
    return np.atleast_2d(dense(model.coef_))
