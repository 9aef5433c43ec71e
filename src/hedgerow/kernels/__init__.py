"""Kernels as objects: computed in blocks, combined by + and *, cloned and compared by parameters."""

from hedgerow.kernels.base import CoreForm, Kernel
from hedgerow.kernels.combine import KernelProduct, KernelSum, ScaledKernel
from hedgerow.kernels.custom import FunctionKernel, Precomputed, RowsKernel, RowSource
from hedgerow.kernels.distances import RBF, Laplacian, Wavelet
from hedgerow.kernels.dot_products import Cosine, Linear, Polynomial, Sigmoid
from hedgerow.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection
from hedgerow.kernels.names import KERNELS, as_kernel, kernel_rule
from hedgerow.kernels.objects import ObjectKernel
from hedgerow.kernels.vectors import finite_number, gamma_of, gamma_rule

__all__ = [
    "KERNELS",
    "RBF",
    "AdditiveChiSquared",
    "ChiSquared",
    "CoreForm",
    "Cosine",
    "FunctionKernel",
    "HistogramIntersection",
    "Kernel",
    "KernelProduct",
    "KernelSum",
    "Laplacian",
    "Linear",
    "ObjectKernel",
    "Polynomial",
    "Precomputed",
    "RowSource",
    "RowsKernel",
    "ScaledKernel",
    "Sigmoid",
    "Wavelet",
    "as_kernel",
    "finite_number",
    "gamma_of",
    "gamma_rule",
    "kernel_rule",
]
