"""The data of a bootstrap: one sample or several, arrays or frames, rows first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import dense, read_rows
from hedgerow.errors import DataError, ParameterError
from hedgerow.resampling.plan import Counts, Plan, make_plan

__all__ = ["Called", "Samples", "drawn_rows", "read_samples", "take_rows"]

DRAWN_ROWS_AT_ONCE = 1 << 16
"""A callable sees so many rows at a time: few enough that their copies stay in the cache."""


@dataclass(frozen=True)
class Samples:
    """Samples whose first axis is the rows.

    Attributes
    ----------
    parts : tuple
        One array or frame a sample.
    sizes : tuple of int
        The number of rows of each.
    paired : bool
        Whether row i of one sample belongs to row i of every other.
    """

    parts: tuple[Any, ...]
    sizes: tuple[int, ...]
    paired: bool

    def plan(self, strata: Any = None, groups: Any = None) -> Plan:
        """Return how the rows are drawn; independent samples are drawn each for itself."""
        if self.paired:
            return make_plan(self.sizes[0], strata, groups)
        if strata is not None or groups is not None:
            msg = (
                f"strata and groups label the rows of one table, but there are {len(self.parts)} "
                "independent samples; put them into one table or set paired=True"
            )
            raise ParameterError(msg)
        return make_plan(sum(self.sizes), np.repeat(np.arange(len(self.sizes)), self.sizes))

    def drawn(self, counts: Counts) -> list[Any]:
        """Return each sample's drawn rows, of one resample or of a block of equally long ones."""
        if self.paired:
            rows = _rows_of(counts)
            return [take_rows(part, rows) for part in self.parts]
        of_sample = np.split(counts, np.cumsum(self.sizes)[:-1], axis=-1)
        return [
            take_rows(part, _rows_of(each))
            for part, each in zip(self.parts, of_sample, strict=True)
        ]

    def numbers(self) -> list[NDArray[np.float64]]:
        """Return every sample as an array of finite numbers, of one or two dimensions."""
        return [_numbers(part, f"sample {i}") for i, part in enumerate(self.parts)]


def read_samples(data: Any, axis: int = 0, paired: bool = False) -> Samples:
    """Return the samples of ``data``: a tuple holds several, anything else is one."""
    given = data if isinstance(data, tuple) else (data,)
    if not given:
        raise DataError("data is an empty tuple; give at least one sample")
    parts = tuple(_rows_first(part, axis, i) for i, part in enumerate(given))
    sizes = tuple(len(part) for part in parts)
    if min(sizes) < 2:
        msg = f"sample {sizes.index(min(sizes))} has {min(sizes)} row(s); a bootstrap needs at least 2"
        raise DataError(msg)
    if paired and len(set(sizes)) > 1:
        msg = f"paired samples have {', '.join(map(str, sizes))} rows; give samples with the same number of rows"
        raise DataError(msg)
    return Samples(parts, sizes, paired or len(parts) == 1)


def _is_frame(part: Any) -> bool:
    return nw.dependencies.is_into_dataframe(part) or nw.dependencies.is_into_series(part)


def _rows_first(part: Any, axis: int, i: int) -> Any:
    if _is_frame(part):
        return part
    try:
        array = np.asarray(part)
        return np.moveaxis(array, axis, 0)
    except ValueError as error:
        msg = f"sample {i} has no axis {axis} to draw rows from ({error}); give an array or a data frame with rows"
        raise DataError(msg) from error


def _numbers(part: Any, name: str) -> NDArray[np.float64]:
    if nw.dependencies.is_into_dataframe(part):
        numbers = dense(read_rows(part)[0])
    else:
        try:
            numbers = np.asarray(part, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"{name} is not numeric ({error}); encode it first, or give a callable that accepts it"
            raise DataError(msg) from error
    if numbers.ndim > 2:
        msg = f"{name} has {numbers.ndim} dimensions; give one column or a table"
        raise DataError(msg)
    astray = np.argwhere(~np.isfinite(numbers))
    if len(astray):
        value = numbers[tuple(astray[0])]
        msg = f"{name} holds {value} at row {astray[0][0]}; remove the row or impute the value"
        raise DataError(msg)
    return numbers.astype(np.float64, copy=False)


class Called:
    """Any callable of the samples, called on the rows of each resample in their original order."""

    def __init__(
        self, function: Callable[..., Any], samples: Samples, plan: Plan, vectorized: bool | None
    ) -> None:
        are_arrays = not any(_is_frame(part) for part in samples.parts)
        if vectorized is None:
            vectorized = are_arrays and _takes_axis(function)
        elif vectorized and not are_arrays:
            msg = "vectorized=True needs arrays, but a sample is a data frame; set vectorized=False or give arrays"
            raise ParameterError(msg)
        self._function = function
        self._samples = samples
        self._along_axis = vectorized
        self._in_blocks = vectorized and plan.keeps_size

    def __call__(self, counts: Counts) -> NDArray[np.float64]:
        """Return what the callable returns for every resample."""
        if self._in_blocks and len(np.unique(_core.resample.count_sizes(counts))) == 1:
            step = max(1, DRAWN_ROWS_AT_ONCE // counts.shape[1])
            blocks = (counts[start : start + step] for start in range(0, len(counts), step))
            return np.concatenate([self._numbers(self._value(block)) for block in blocks])
        values = [self._value(resample) for resample in counts]
        try:
            return np.stack([self._numbers(value) for value in values])
        except ValueError as error:
            msg = f"the statistic does not have the same shape in all resamples ({error}); always return the same shape"
            raise DataError(msg) from error

    def _value(self, counts: Counts) -> Any:
        """Call the function on the rows of one resample, or of a block of equally long ones."""
        parts = self._samples.drawn(counts)
        if not self._along_axis:
            return self._function(*parts)
        rows_axis = counts.ndim - 1
        return self._function(*(np.moveaxis(part, rows_axis, -1) for part in parts), axis=-1)

    def _numbers(self, value: Any) -> NDArray[np.float64]:
        try:
            return np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"the statistic returned {value!r:.80}, not a number or an array of them; return a number"
            raise DataError(msg) from error


def _takes_axis(function: Callable[..., Any]) -> bool:
    try:
        return "axis" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing about themselves
        return False


def _rows_of(counts: Counts) -> NDArray[np.int64]:
    """Return the rows drawn in one resample, or in each of a block of equally long ones."""
    rows = drawn_rows(counts)
    return rows if counts.ndim == 1 else rows.reshape(len(counts), -1)


def drawn_rows(counts: Counts) -> NDArray[np.int64]:
    """Return the rows drawn, resample after resample."""
    return _core.resample.drawn_rows(np.ascontiguousarray(np.atleast_2d(counts)))


def take_rows(part: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a sparse matrix or a frame, of the same kind."""
    if isinstance(part, np.ndarray):
        return part.take(rows, axis=0)
    if not _is_frame(part):
        return part[rows]
    frame = nw.from_native(part, eager_only=True, allow_series=True)
    return frame[rows].to_native()
