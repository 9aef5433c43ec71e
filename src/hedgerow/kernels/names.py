"""From what a user may give as a kernel to a kernel."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import ParameterError
from hedgerow.kernels.base import Kernel
from hedgerow.kernels.custom import FunctionKernel, Precomputed, RowsKernel
from hedgerow.kernels.distances import RBF, Laplacian, Wavelet
from hedgerow.kernels.dot_products import Cosine, Linear, Polynomial, Sigmoid
from hedgerow.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection

__all__ = ["KERNELS", "as_kernel", "kernel_rule"]

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "laplacian": Laplacian,
    "cosine": Cosine,
    "chi2": ChiSquared,
    "additive_chi2": AdditiveChiSquared,
    "histogram_intersection": HistogramIntersection,
    "wavelet": Wavelet,
    "precomputed": Precomputed,
}
"""Kernels by name; the names are scikit-learn's where it has the kernel."""


def kernel_rule(value: Any) -> str | None:
    """Check a value for the parameter ``kernel``.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str or None
        What is expected, or None if :func:`as_kernel` accepts the value.
    """
    if isinstance(value, str):
        known = ", ".join(map(repr, KERNELS))
        return None if value in KERNELS else f"one of {known}, or a kernel"
    fine = callable(value) or callable(getattr(value, "rows", None))
    return (
        None if fine else "a name, a kernel, a function (X, Y), or an object with rows(X, indices)"
    )


def as_kernel(kernel: Any, **parameters: Any) -> Kernel:
    """Return a kernel object.

    Parameters
    ----------
    kernel : str, Kernel, callable or object with ``rows(X, indices)``
        A name such as "rbf"; a kernel, which is returned as it is; a function of two blocks of rows; or an
        object that computes rows of the kernel matrix.
    **parameters
        For a name: gamma, degree, coef0 and so on. Parameters that the kernel does not have are ignored, as
        an estimator has the parameters of all kernels.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from hedgerow.kernels import as_kernel
    >>> as_kernel("poly", degree=2, gamma=1.0, coef0=1.0)
    Polynomial(coef0=1.0, degree=2, gamma=1.0)
    """
    expected = kernel_rule(kernel)
    if expected is not None:
        msg = f"kernel={kernel!r} is no kernel: it must be {expected}"
        raise ParameterError(msg)
    if isinstance(kernel, str):
        cls = KERNELS[kernel]
        known = set(cls._get_param_names())
        return cls(**{name: value for name, value in parameters.items() if name in known})
    if isinstance(kernel, Kernel):
        return kernel
    return RowsKernel(kernel) if hasattr(kernel, "rows") else FunctionKernel(kernel)
