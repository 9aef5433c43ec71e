"""The statistics that are known by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import is_number
from hedgerow.errors import DataError, ParameterError
from hedgerow.resampling.plan import Counts
from hedgerow.resampling.statistics import (
    Auc,
    Correlation,
    GiniCoefficient,
    Mean,
    Quantile,
    Ratio,
    Regression,
    WeightedStatistic,
)

__all__ = ["Named", "is_named", "named_statistic", "needs_pairs"]

Tables: TypeAlias = Sequence[NDArray[np.float64]]
Named: TypeAlias = tuple[WeightedStatistic, WeightedStatistic | None]
"""A statistic and, where a formula is known, its standard error."""


def is_named(statistic: Any) -> bool:
    """Return whether the statistic is given by name, as "mean" or ("quantile", 0.9)."""
    return isinstance(statistic, str | tuple)


def needs_pairs(statistic: Any) -> bool:
    """Return whether the statistic is a named one of several columns."""
    return isinstance(statistic, str) and statistic in _OF_PAIRS


def named_statistic(statistic: Any, tables: Tables) -> Named:
    """Return the named statistic of the samples."""
    if isinstance(statistic, tuple):
        return _quantile(_probability(statistic), tables)
    if statistic in _OF_ONE or statistic in _OF_PAIRS:
        return ({**_OF_ONE, **_OF_PAIRS}[statistic])(tables)
    hint = {
        "gini": 'did you mean "gini_coefficient" (of one sample) or "gini_of_scores" (2 AUC - 1)?',
        "quantile": 'give ("quantile", 0.9)',
    }
    known = ", ".join(map(repr, (*_OF_ONE, *_OF_PAIRS)))
    msg = f"statistic={statistic!r} is not a known name; {hint.get(statistic, f'give a callable, one of {known}, or (quantile, probability)')}"
    raise ParameterError(msg)


def _probability(statistic: tuple[Any, ...]) -> float:
    kind, *arguments = statistic
    if kind == "quantile" and len(arguments) == 1:
        (probability,) = arguments
        if is_number(probability) and 0 <= probability <= 1:
            return float(probability)
    msg = f'statistic={statistic!r} is invalid; give ("quantile", p) with p between 0 and 1'
    raise ParameterError(msg)


class _OfVector:
    """A statistic of one column as a single number."""

    def __init__(self, of_columns: WeightedStatistic) -> None:
        self._of_columns = of_columns

    def __call__(self, counts: Counts) -> NDArray[np.float64]:
        return self._of_columns(counts)[:, 0]


def _mean(tables: Tables) -> Named:
    sample = _only(tables)
    mean = Mean(sample.reshape(len(sample), -1))
    if sample.ndim == 1:
        return _OfVector(mean), _OfVector(mean.standard_error)
    return mean, mean.standard_error


def _quantile(probability: float, tables: Tables) -> Named:
    sample = _only(tables)
    quantile = Quantile(sample.reshape(len(sample), -1), probability)
    return (_OfVector(quantile) if sample.ndim == 1 else quantile), None


def _gini_coefficient(tables: Tables) -> Named:
    sample = _only(tables)
    if sample.ndim != 1 or sample.min() < 0 or sample.max() == 0:
        msg = f"the Gini coefficient got a sample of shape {sample.shape} with values from {sample.min():g} to {sample.max():g}; give one column of non-negative values that are not all zero"
        raise DataError(msg)
    return GiniCoefficient(sample), None


def _ratio(tables: Tables) -> Named:
    ratio = Ratio(_two_columns(tables))
    return ratio, ratio.standard_error


def _correlation(tables: Tables) -> Named:
    return Correlation(_two_columns(tables)), None


def _regression(tables: Tables) -> Named:
    if len(tables) != 2 or tables[1].ndim != 1:
        msg = f"a regression needs the features and the target, but got {_shapes(tables)}; give data=(X, y)"
        raise DataError(msg)
    X, y = tables[0].reshape(len(tables[0]), -1), tables[1]
    constant = np.flatnonzero(X.std(axis=0) == 0)
    if len(constant):
        msg = f"column {constant[0]} of X is constant, like the intercept; remove it"
        raise DataError(msg)
    return Regression(X, y), None


def _auc(tables: Tables, gini: bool = False) -> Named:
    y, score = _two_columns(tables).T
    labels = np.unique(y)
    if len(labels) != 2:
        msg = f"the first column has {len(labels)} distinct value(s), but an AUC needs two classes; give data=(y, score)"
        raise DataError(msg)
    return Auc(y == labels[1], score, gini=gini), None


def _only(tables: Tables) -> NDArray[np.float64]:
    if len(tables) == 1:
        return tables[0]
    msg = f"this statistic takes one sample, but got {_shapes(tables)}; give one, or a callable of all"
    raise DataError(msg)


def _two_columns(tables: Tables) -> NDArray[np.float64]:
    columns = np.column_stack(tables)
    if columns.shape[1] != 2:
        msg = f"this statistic takes two columns, but got {_shapes(tables)}; give data=(first, second)"
        raise DataError(msg)
    return columns


def _shapes(tables: Tables) -> str:
    return " and ".join(f"a sample of shape {table.shape}" for table in tables)


_OF_ONE: dict[str, Callable[[Tables], Named]] = {
    "mean": _mean,
    "median": lambda tables: _quantile(0.5, tables),
    "gini_coefficient": _gini_coefficient,
}
_OF_PAIRS: dict[str, Callable[[Tables], Named]] = {
    "ratio": _ratio,
    "correlation": _correlation,
    "regression": _regression,
    "auc": _auc,
    "gini_of_scores": lambda tables: _auc(tables, gini=True),
}
