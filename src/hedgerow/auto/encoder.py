"""A table as a matrix of numbers: scaled columns, and one column of 0 and 1 for each text value."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import HUGE, Rule, check_parameters, one_of, true_or_false
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import flags, numbers, several, texts
from hedgerow.auto.columns import Columns, as_columns
from hedgerow.auto.matching import match_columns, unused_note
from hedgerow.data.rows import dense, some
from hedgerow.data.scaling import FilledScaling
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, ParameterError

__all__ = ["RULES", "TableEncoder"]

_SPARSE_WIDTH = 64
_SPARSE_SHARE = 0.25
_TOO_LARGE = (
    f"values beyond {HUGE:g} overflow when they are squared: scale the column, or drop the row"
)
_TOO_FAR = f"on the scale of the training rows it is beyond {HUGE:g}: correct it, or drop the row"


RULES: dict[str, Rule] = {"scale": one_of("auto", "standard", "maxabs", None)}


@stateful(
    RULES,
    is_text_=flags("features", true="text columns", false="columns of numbers"),
    fill_=numbers("columns of numbers"),
    center_=numbers("columns of numbers"),
    spread_=numbers("columns of numbers", low=0.0, open_low=True),
    categories_=several(list, "text columns", texts("values[]")),
    scaling_=one_of("standard", "maxabs", None),
    sparse_output_=true_or_false,
)
class TableEncoder(TransformerMixin, Estimator):
    """Turn a table of numbers and text into a matrix that a linear machine can use.

    Missing numbers become the mean of their column. Text becomes one column of 0 and 1 for each
    value seen in fit; a missing value, or one not seen in fit, is 0 in all of them.

    Parameters
    ----------
    scale : {"auto", "standard", "maxabs", None}, default="auto"
        "standard" gives columns of numbers mean 0 and standard deviation 1; "maxabs" divides them
        by their largest absolute value, which keeps zeros; None leaves them. "auto" is "maxabs"
        for a sparse matrix and "standard" otherwise. A constant column is never divided by 0.

    Attributes
    ----------
    is_text_ : ndarray of bool
        For every input column whether it is text.
    fill_, center_, spread_ : ndarray of float64
        For every column of numbers: what replaces a missing value, what is subtracted, and the
        divisor.
    categories_ : list of ndarray
        For every column of text the values seen, sorted.
    scaling_ : str or None
        The scaling that "auto" chose, or the one asked for.
    sparse_output_ : bool
        Whether the matrix is CSR: if the input is, or if text makes it wide and mostly zero.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import TableEncoder
    >>> table = {"size": [1.0, 3.0], "colour": ["red", "blue"]}
    >>> TableEncoder().fit_transform(table)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """

    def __init__(self, scale: str | None = "auto") -> None:
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn means, spreads and text values.

        Parameters
        ----------
        X : Table, mapping, dataframe, 2-D array or sparse matrix
            The rows.
        y : None
            Not used.

        Returns
        -------
        TableEncoder
            Itself.
        """
        check_parameters(self, RULES)
        columns = as_columns(X)
        _refuse_huge(columns.numbers, columns, _TOO_LARGE)
        self._remember(columns)
        self.scaling_ = self._choose_scaling(columns)
        scaling = FilledScaling.of(columns.numbers, self.scaling_)
        self.fill_, self.center_, self.spread_ = scaling.fill, scaling.center, scaling.spread
        self.categories_ = [_sorted_values(text) for text in columns.texts]
        self.sparse_output_ = columns.is_sparse or self._is_mostly_zero()
        return self

    def transform(self, X: Any) -> Any:
        """Return the matrix of a table with the columns of fit, in any order.

        Parameters
        ----------
        X : Table, mapping, dataframe, 2-D array or sparse matrix
            The rows; columns that fit did not see are left out.

        Returns
        -------
        ndarray or csr_matrix of float64
            First the columns of numbers, then those that encode text.
        """
        check_fitted(self)
        columns = self._matched(as_columns(X))
        numbers = self._scaled(columns.numbers)
        _refuse_huge(numbers, columns, _TOO_FAR)
        rows, places = self._ones(columns)
        n_rows, n_numbers = numbers.shape
        if self.sparse_output_:
            shape = (n_rows, self._width() - n_numbers)
            ones = sp.csr_matrix((np.ones(len(rows)), (rows, places)), shape=shape)
            return sp.csr_matrix(sp.hstack([sp.csr_matrix(numbers), ones], format="csr"))
        matrix = np.zeros((n_rows, self._width()))
        matrix[:, :n_numbers] = numbers
        matrix[rows, n_numbers + places] = 1.0
        return matrix

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the encoded columns; text columns give ``column=value``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names to use instead of those seen in fit.

        Returns
        -------
        ndarray of object
            The names.
        """
        check_fitted(self)
        names = self._names() if input_features is None else tuple(map(str, input_features))
        labels = names or [f"x{j}" for j in range(self.n_features_in_)]
        numbers = [label for label, text in zip(labels, self.is_text_, strict=True) if not text]
        texts = [label for label, text in zip(labels, self.is_text_, strict=True) if text]
        made = [
            f"{label}={value}"
            for label, values in zip(texts, self.categories_, strict=True)
            for value in values
        ]
        return np.array([*numbers, *made], dtype=object)

    def notes(self, X: Any) -> tuple[str, ...]:
        """Return sentences about values that :meth:`transform` will ignore.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        tuple of str
            The notes.
        """
        check_fitted(self)
        columns = as_columns(X)
        matched = self._matched(columns)
        labels = [matched.label(int(j)) for j in np.flatnonzero(self.is_text_)]
        parts = zip(labels, matched.texts, self.categories_, strict=True)
        unseen = [_unseen_note(label, text, known) for label, text, known in parts]
        return tuple(note for note in (unused_note(columns, matched), *unseen) if note)

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input, text and missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------------------------- fit

    def _remember(self, columns: Columns) -> None:
        """Keep what identifies the columns in later tables."""
        self.is_text_ = columns.is_text
        self.n_features_in_ = columns.shape[1]
        if columns.names is not None:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _choose_scaling(self, columns: Columns) -> str | None:
        if self.scale == "auto":
            return "maxabs" if columns.is_sparse else "standard"
        if self.scale == "standard" and columns.is_sparse:
            msg = "scale='standard' would fill the zeros of a sparse matrix; use scale='maxabs'"
            raise ParameterError(msg)
        return self.scale

    def _is_mostly_zero(self) -> bool:
        width = self._width()
        share = self.n_features_in_ / max(width, 1)
        return width >= _SPARSE_WIDTH and share < _SPARSE_SHARE

    def _width(self) -> int:
        return len(self.fill_) + sum(len(values) for values in self.categories_)

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    # ------------------------------------------------------------------------------- transform

    def _matched(self, columns: Columns) -> Columns:
        return match_columns(columns, self._names(), self.is_text_)

    def _scaled(self, numbers: Any) -> Any:
        """Return the columns of numbers filled and scaled, CSR if they are and may stay so."""
        scaling = FilledScaling(self.fill_, self.center_, self.spread_)
        with np.errstate(over="ignore"):
            if sp.issparse(numbers) and self.sparse_output_:
                return scaling.apply_sparse(numbers)
            return scaling.apply(dense(numbers))

    def _ones(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return row and column of every 1 in the part of the matrix that encodes text."""
        rows, places, offset = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for text, known in zip(columns.texts, self.categories_, strict=True):
            codes = _codes(text, known)
            seen = np.flatnonzero(codes >= 0)
            rows.append(seen)
            places.append(offset + codes[seen])
            offset += len(known)
        return np.concatenate(rows), np.concatenate(places)


def _refuse_huge(numbers: Any, columns: Columns, why: str) -> None:
    """Refuse numbers that are too large to compute with, naming the cell of the table."""
    if not (np.abs(numbers.data if sp.issparse(numbers) else numbers) > HUGE).any():
        return
    rows, places = (abs(numbers) > HUGE).nonzero()
    column = columns.label(int(np.flatnonzero(~columns.is_text)[places[0]]))
    msg = f"X contains {columns.numbers[rows[0], places[0]]} at row {rows[0]}, column {column!r}; {why}"
    raise DataError(msg)


def _sorted_values(text: NDArray[np.object_]) -> NDArray[np.object_]:
    return np.array(sorted({value for value in text if value is not None}), dtype=object)


def _codes(text: NDArray[np.object_], known: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the position of each value among the known ones, -1 for none of them."""
    position = {value: code for code, value in enumerate(known)}
    return np.fromiter((position.get(value, -1) for value in text), np.int64, len(text))


def _unseen_note(label: str, text: NDArray[np.object_], known: NDArray[np.object_]) -> str | None:
    seen = {None, *known}
    unseen = [value for value in text if value not in seen]
    if not unseen:
        return None
    examples = some(sorted(set(unseen)), 3)
    cells = "1 cell" if len(unseen) == 1 else f"{len(unseen)} cells"
    return f"Column {label!r} has {cells} with text not seen in training, taken as missing: {examples}."
