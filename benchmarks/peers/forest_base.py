"""What the adapters of forests share: seeds, predictions of the test rows, columns for those who know no categories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.forest_scores import ForestTask

__all__ = ["Forest", "Grown", "OneHot", "category_columns"]


@dataclass(frozen=True)
class Grown:
    """A fitted forest, the rows it will be tested on, what turns rows into what it takes, its threads."""

    model: Any
    X_test: Any
    encoder: Any = None
    n_threads: int = 1


class Forest(ABC):
    """A contestant; every fit has the next seed, so that scores show what is chance."""

    name: str
    packages: tuple[str, ...]
    is_ours = False
    n_fits = 0

    def threads(self, allowed: int) -> int:
        """All of them."""
        return allowed

    def ladder(self, task: ForestTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """One rung: a forest has no tolerance."""
        return (0.0,)

    def fit(self, task: ForestTask, data: Dataset, tolerance: float, n_threads: int) -> Grown:  # noqa: ARG002
        """Grow the forest."""
        self.n_fits += 1
        return self.grow(task, data, self.n_fits, n_threads)

    def result(self, fitted: Grown) -> Mapping[str, NDArray[np.float64]]:
        """Return the predictions of the test rows."""
        return {"predicted": self.predict(fitted, fitted.X_test).astype(np.float64)}

    @abstractmethod
    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:
        """Grow the forest of the task with this seed."""

    @abstractmethod
    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows."""

    @abstractmethod
    def ran(self, fitted: Grown) -> str:
        """Return what was grown; raise FellBackError if another library did it."""


class OneHot:
    """A table as float32 columns: one a category, a missing one being a category of its own.

    Parameters
    ----------
    fills : bool
        Whether missing numbers become the column's median, for those who cannot take them.
    """

    def __init__(self, *, fills: bool) -> None:
        self._fills = fills

    def fit_transform(self, X: Any) -> NDArray[np.float32]:
        """Learn the categories of the rows, and return their columns."""
        from sklearn.compose import make_column_transformer
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder

        one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
        numbers = SimpleImputer(strategy="median") if self._fills else "passthrough"
        steps = (one_hot, category_columns(X))
        self._columns = make_column_transformer(steps, remainder=numbers)
        return np.asarray(self._columns.fit_transform(X), dtype=np.float32)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the columns of new rows; of a category not seen before all are 0."""
        return np.asarray(self._columns.transform(X), dtype=np.float32)


def category_columns(X: Any) -> list[str]:
    """Return the names of a table's columns of categories."""
    return [name for name, column in X.items() if column.dtype == "category"]
