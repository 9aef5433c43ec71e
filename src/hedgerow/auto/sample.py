"""Rows and labels as they come, and their division into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.auto.columns import Columns, as_columns
from hedgerow.auto.judge import refuse_unknown_labels
from hedgerow.data.io import Table
from hedgerow.data.targets import encode_labels
from hedgerow.data.training_data import check_labels, refuse_one_class
from hedgerow.errors import DataError

__all__ = ["Sample", "held_out_mask", "series_name", "train_and_test", "training_sample"]


@dataclass(frozen=True)
class Sample:
    """Rows and their labels.

    Attributes
    ----------
    X : Columns
        The rows.
    y : ndarray
        One label per row.
    target : str, int or None
        The column the labels came from, if that is known.
    """

    X: Columns
    y: NDArray[Any]
    target: str | int | None = None

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """Return the rows with the given numbers."""
        return Sample(self.X.take(rows), self.y[rows], self.target)


def training_sample(X: Any, y: Any) -> Sample:
    """Return rows and labels to learn from: at least two classes."""
    sample = _sample(X, y)
    classes, codes = encode_labels(sample.y)
    refuse_one_class(classes, codes, np.ones(len(codes)))
    return sample


def train_and_test(
    sample: Sample, test: Any, test_size: float, generator: np.random.Generator
) -> tuple[Sample, Sample]:
    """Return training rows and test rows, which are the ones given or some kept apart."""
    if test is None:
        held_out = held_out_mask(encode_labels(sample.y)[1], test_size, generator)
        return sample.take(np.flatnonzero(~held_out)), sample.take(np.flatnonzero(held_out))
    held = _sample(test, None) if isinstance(test, Table) else _sample(*test)
    refuse_unknown_labels(held.y, np.unique(sample.y), "the test rows", "the training rows")
    return sample, held


def held_out_mask(
    codes: NDArray[np.int64], share: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows to keep apart: the share of every class, but never all of a class.

    Written here because scikit-learn's splitters refuse or warn where a class has a row or two, and real
    tables have such classes.
    """
    held_out = np.zeros(len(codes), np.bool_)
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        held_out[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    if not held_out.any():
        msg = (
            f"a share of {share:g} of {len(codes)} rows leaves none for the test; "
            "give more rows or a larger share"
        )
        raise DataError(msg)
    return held_out


def series_name(y: Any) -> str | None:
    """Return the name of a dataframe's column of labels, if y is one and has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def _sample(X: Any, y: Any) -> Sample:
    """Return rows and labels by the rules of every classifier."""
    target: str | int | None = series_name(y)
    if isinstance(X, Table) and y is None:
        y, target = X.y, X.target
    if y is None:
        raise DataError("there are no labels; give y, or read the table with a target")
    columns = as_columns(X)
    classes, codes = check_labels(y, columns.shape[0])
    return Sample(columns, classes[codes], target)
