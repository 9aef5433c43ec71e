"""Bootstrap resamples as counts."""

import numpy
from numpy.typing import NDArray


def multinomial_counts(seed: int, stream: int, size: int, n_resamples: int) -> NDArray[numpy.uint8]:
    """How often each unit is drawn in `size` draws, a row a resample."""

def drawn_rows(counts: NDArray[numpy.uint8]) -> NDArray[numpy.int64]:
    """The rows drawn, resample after resample, each as often as it is drawn."""

def count_sizes(counts: NDArray[numpy.uint8]) -> NDArray[numpy.float64]:
    """The number of rows drawn in each resample."""

def count_sums(counts: NDArray[numpy.uint8], columns: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """The sum of every row of `columns` in each resample."""

def count_quantiles(counts: NDArray[numpy.uint8], order: NDArray[numpy.int64], values: NDArray[numpy.float64], probability: float) -> NDArray[numpy.float64]:
    """
    The quantile of each resample; `order` sorts the rows, `values` are sorted.
    """

def count_gini_coefficients(counts: NDArray[numpy.uint8], order: NDArray[numpy.int64], values: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """
    The Gini coefficient of each resample; `order` sorts the rows, `values` are sorted.
    """

def count_auc(counts: NDArray[numpy.uint8], order: NDArray[numpy.int64], is_negative: NDArray[numpy.float64], is_tied: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """
    The AUC of each resample; `order` sorts the rows by score, and then negatives first.
    """
