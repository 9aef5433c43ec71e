"""What becomes of a fitted kernel machine when support vectors are left out."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.parameters import whole_number
from hedgerow._engine import check_n_threads
from hedgerow.data.items import as_kept, as_rows
from hedgerow.data.rows import Rows, dense, read_rows
from hedgerow.data.scaling import Scaling
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.kernels import Kernel, Precomputed
from hedgerow.kernels.gram import Gram
from hedgerow.problems.certificates import Certificate
from hedgerow.svm._coefficients import Coefficients
from hedgerow.svm._space import KernelSpace, compiled
from hedgerow.svm.compress import Compressed, Compression, compressed

__all__ = ["Compressible", "without_proof"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


class Compressible:
    """A fitted kernel machine that can be had with fewer support vectors."""

    _keeps_sum: ClassVar[bool] = False
    """Whether the coefficients of a plane have a sum that they must keep."""

    n_jobs: int | None

    kernel_: Kernel
    scaling_: Scaling
    support_: Indices
    support_vectors_: Rows
    dual_coef_: Rows
    intercept_: Vector
    n_support_: Indices
    certificate_: Certificate
    status_: str
    shape_fit_: Indices
    compression_: Compression

    @abstractmethod
    def _coefficients(self) -> Coefficients:
        """Return the coefficients with their layout."""

    def compress(self, n_support: int, X: Any = None) -> Self:
        """Return a machine with fewer support vectors, close to this one and faster.

        Of the support vectors those stay that matter most, with the coefficients that bring every plane
        w' as close to w as they can, in the norm of the kernel. The intercepts stay: by these
        coefficients the scores of the support vectors that stay are what they were. (A ball's radius
        changes with its centre, for the same reason.)

        Parameters
        ----------
        n_support : int
            How many support vectors may stay. If there are no more, nothing changes.
        X : array of shape (n_samples, n_samples) or None
            With ``kernel="precomputed"`` the table that was fitted; else not used.

        Returns
        -------
        model
            A new one. Its ``compression_`` says how far planes and scores moved. It solves no problem any
            more: its ``status_`` is "compressed", and its certificate, not certified, keeps only the
            bound that no solution goes below.
        """
        check_fitted(self)
        expected = whole_number(1)(n_support)
        if expected is not None:
            msg = f"n_support={n_support!r} is no number of support vectors; give {expected}"
            raise ParameterError(msg)
        model = copy(self)
        if n_support >= len(self.support_):
            model.compression_ = Compression.none(len(self.support_), len(self.intercept_))
            return model
        coef, gram = self._coefficients(), self._support_gram(X)
        model._keep_compressed(compressed(gram, coef, int(n_support), keeps_sum=self._keeps_sum))
        return model

    def _support_gram(self, X: Any) -> Gram:
        """Return the kernel values among the support vectors."""
        if not self.kernel_.is_positive_semidefinite:
            msg = (
                f"compress measures planes in the norm of the kernel, and {self.kernel_!r} has none, as it is "
                "not positive semi-definite; take another kernel"
            )
            raise UnavailableError(msg)
        core, vectors = compiled(self.kernel_), as_rows(self.support_vectors_)
        if isinstance(self.kernel_, Precomputed):
            vectors = self._support_rows(X)
        if core is not None and core.is_given:
            vectors = np.ascontiguousarray(dense(vectors)[:, self.support_])
        elif hasattr(self, "scaling_"):
            vectors = self.scaling_.apply(vectors)
        everyone = np.arange(len(self.support_), dtype=np.int64)
        return KernelSpace(self.kernel_, vectors).gram(everyone, check_n_threads(self.n_jobs))

    def _support_rows(self, X: Any) -> Rows:
        """Return the rows of the support vectors in a given table."""
        if X is None:
            msg = "compress needs the table of a precomputed kernel; give the one that was fitted as X"
            raise UnavailableError(msg)
        table, _ = read_rows(X)
        if tuple(table.shape) != tuple(self.shape_fit_):
            msg = (
                f"X has shape {table.shape}, and the table that was fitted {tuple(self.shape_fit_.tolist())}; "
                "give that one"
            )
            raise DataError(msg)
        return table[self.support_]

    def _keep_compressed(self, found: Compressed) -> None:
        """Set what becomes of the fitted attributes."""
        coef = found.coef.values
        self.dual_coef_ = sp.csr_array(coef) if sp.issparse(self.dual_coef_) else coef
        self.n_support_ = found.coef.n_support
        self.support_ = self.support_[found.kept]
        vectors = as_rows(self.support_vectors_)
        if vectors.shape[0]:
            self.support_vectors_ = as_kept(vectors[found.kept])
        self.intercept_ = self.intercept_ - found.shift
        self.status_ = "compressed"
        self.certificate_ = without_proof(self.certificate_)
        self.compression_ = found.report


def without_proof(certificate: Certificate) -> Certificate:
    """Return what a certificate says of a model that is no longer its solution: the bound alone."""
    return replace(certificate, primal=np.inf, kkt_violation=np.inf, status="compressed")
