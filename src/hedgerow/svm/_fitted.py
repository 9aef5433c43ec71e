"""What a fitted kernel machine is: whether its support vectors are sound, and the scores they give."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._engine import check_n_threads
from hedgerow.data.items import as_rows
from hedgerow.data.rows import Rows, dense, matrix_of
from hedgerow.data.training_data import check_prediction_rows
from hedgerow.errors import DataError, UnavailableError
from hedgerow.kernels import Kernel, Linear, Precomputed, as_kernel
from hedgerow.kernels.objects import objects_problem, rule_of_kept
from hedgerow.svm._coefficients import Coefficients, layout_problem
from hedgerow.svm._compressible import Compressible
from hedgerow.svm._scores import Scorer, scorer_of

__all__ = ["FittedKernelMachine"]

Vector = NDArray[np.float64]

WORTH_THREADS = 64
"""Rows from which on scores are computed by several threads."""

_kept_scorers: WeakKeyDictionary[FittedKernelMachine, tuple[tuple[Any, ...], Scorer]]
_kept_scorers = WeakKeyDictionary()
"""What each machine's predictions were last made by: beside it, as predicting must not change a machine."""


class FittedKernelMachine(Compressible):
    """The support vectors of a machine, their coefficients, and the scores that they give rows."""

    kernel: Any
    degree: int
    gamma: float | str
    coef0: float
    scale: str | None
    n_features_in_: int

    @property
    def coef_(self) -> Rows:
        """The normal vectors, a line a plane; with the linear kernel only. They cannot be written to."""
        if not isinstance(self._kernel_as_given(), Linear):
            msg = "coef_ is only available when using a linear kernel"
            raise UnavailableError(msg)
        if self.scale is not None:
            msg = f"coef_ is not available with scale={self.scale!r}: it would be of scaled features; take LinearSVC"
            raise UnavailableError(msg)
        coef = self._coefficients().planes() @ self.support_vectors_
        return _like(self.support_vectors_, np.asarray(coef, dtype=np.float64))

    def _kernel_as_given(self) -> Kernel:
        return as_kernel(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)

    @property
    def _is_of_pairs(self) -> bool:
        """Whether there is one plane for each pair of classes, whose coefficients share lines."""
        return False

    @property
    def _n_planes(self) -> int:
        """How many planes there must be."""
        return 1

    def _coefficients(self) -> Coefficients:
        """Return the coefficients with their layout."""
        coef = Coefficients(dense(self.dual_coef_), self.n_support_, self._is_of_pairs)
        if coef.n_planes != self._n_planes:
            msg = f"there are {coef.n_planes} planes where {self._n_planes} must be; fit the model again"
            raise DataError(msg)
        return coef

    def _state_problem(self) -> str | None:
        """Say why the support vectors and their coefficients could not score rows."""
        problem = layout_problem(self.dual_coef_.shape, self.n_support_, self._is_of_pairs)
        if problem is not None:
            return problem
        n_lines = len(self.n_support_) - 1 if self._is_of_pairs else self._n_planes
        if self.dual_coef_.shape[0] != n_lines or len(self.intercept_) != self._n_planes:
            return f"dual_coef_ and intercept_ are not those of {self._n_planes} planes"
        problem = self._rows_problem()
        if problem is not None:
            return problem
        if self.kernel_.is_precomputed and self.support_.max(initial=-1) >= self.n_features_in_:
            return f"support_ has a row beyond the {self.n_features_in_} of the kernel matrix"
        is_table = isinstance(self.kernel_, Precomputed)
        n_vectors = as_rows(self.support_vectors_).shape[0]
        if n_vectors != (0 if is_table else len(self.support_)):
            return f"there are {n_vectors} support_vectors_ of {len(self.support_)}"
        return None

    def _rows_problem(self) -> str | None:
        """Say why the support vectors are not rows that the kernel could have been fitted on."""
        if self._is_of_objects:
            problem = objects_problem(self.kernel_, self.support_vectors_)
        else:
            problem = None if hasattr(self, "n_features_in_") else "n_features_in_ is missing"
        is_shape = len(self.shape_fit_) == (1 if self._is_of_objects else 2)
        return problem or (None if is_shape else "shape_fit_ is not the shape of any rows")

    @property
    def _is_of_objects(self) -> bool:
        """Whether the fitted rows are objects, not vectors."""
        return isinstance(vars(self).get("support_vectors_"), list)

    def _rows_to_score(self, X: Any) -> tuple[Rows, Any]:
        """Return X as checked rows like those of the fit, and the core's view of them."""
        if not self._is_of_objects:
            return check_prediction_rows(self, X)
        item = rule_of_kept(self.kernel_, self.support_vectors_)
        return check_prediction_rows(self, X, item=item)

    def _scores(self, X: Any) -> Vector:
        """Return <w, phi(x)> + b for every row and plane."""
        return self._scores_of(*self._rows_to_score(X))

    def _scores_of(self, rows: Rows, matrix: Any) -> Vector:
        """Return the scores of rows that have been checked, of which the core has this view."""
        if hasattr(self, "scaling_"):
            rows = self.scaling_.apply(rows)
            matrix = matrix_of(rows)
        n_threads = check_n_threads(self.n_jobs, is_worthwhile=rows.shape[0] >= WORTH_THREADS)
        return self._scorer()(rows, matrix, n_threads) + self.intercept_

    def _scorer(self) -> Scorer:
        """Return what makes the sums of kernel values, made ready once for the fitted attributes."""
        made_of = (self.kernel_, self.support_vectors_, self.dual_coef_)
        kept = _kept_scorers.get(self)
        if kept is None or any(old is not new for old, new in zip(kept[0], made_of, strict=True)):
            vectors = as_rows(self.support_vectors_)
            if hasattr(self, "scaling_") and vectors.shape[0]:
                vectors = self.scaling_.apply(vectors)
            coef = self._coefficients()
            if len(self.intercept_) != coef.n_planes:
                msg = f"there are {len(self.intercept_)} intercepts for {coef.n_planes} planes; fit the model again"
                raise DataError(msg)
            n_features = getattr(self, "n_features_in_", 0)
            made = self.kernel_, self.support_, vectors, n_features, coef
            kept = _kept_scorers[self] = made_of, scorer_of(*made)
        return kept[1]


def _like(vectors: Rows, coef: Vector) -> Rows:
    """Return coefficients that cannot be written to, sparse if the support vectors are."""
    coef.flags.writeable = False
    if not sp.issparse(vectors):
        return coef
    sparse = sp.csr_array(coef)
    sparse.data.flags.writeable = False
    return sparse
