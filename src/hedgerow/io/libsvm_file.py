"""LIBSVM (svmlight) files: scikit-learn reads them; if it fails, a scan finds the line."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from hedgerow.errors import FileFormatError
from hedgerow.io.cells import whole_where_possible
from hedgerow.io.source import DAMAGE, Source
from hedgerow.io.table import Table

__all__ = ["read_libsvm"]


def read_libsvm(source: Source, n_features: int | None) -> Table:
    """Read a LIBSVM file as a CSR matrix with ``n_features`` columns, or as many as it shows."""
    try:
        X, y, counted_from = _load(source)
    except (ValueError, IndexError, OverflowError) as error:
        raise _explain(source, error) from error
    except DAMAGE as error:
        raise source.damaged(_n_whole_lines(source) + 1) from error
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise _explain(source, ValueError("a value is not finite"))
    if not len(y):
        raise FileFormatError(source.path, None, "the file is empty; give a table with rows")
    X = _widened(source, X, n_features)
    return Table(
        X, whole_where_possible(y), notes=(f"LIBSVM, features counted from {counted_from}.",)
    )


def _load(source: Source) -> tuple[sp.csr_matrix, NDArray[np.float64], int]:
    """Return features, labels and the number the file calls its first feature."""
    with source.open() as stream:
        X, y = load_svmlight_file(stream, zero_based=True)
    counted_from = 0 if (X.indices == 0).any() else 1
    n_features = max(X.shape[1] - counted_from, 0)
    return _csr(X, X.indices - counted_from, n_features), y, counted_from


def _widened(source: Source, X: sp.csr_matrix, n_features: int | None) -> sp.csr_matrix:
    """Return X with the columns asked for; none that holds values may be cut off."""
    if n_features is None or n_features == X.shape[1]:
        return X
    if X.shape[1] > n_features:
        problem = (
            f"the file has features up to number {X.shape[1]} where {n_features} are expected; "
            "give the features of the training file"
        )
        raise FileFormatError(source.path, None, problem)
    return _csr(X, X.indices, n_features)


def _csr(X: sp.csr_matrix, indices: NDArray[Any], n_features: int) -> sp.csr_matrix:
    return sp.csr_matrix((X.data, indices, X.indptr), shape=(X.shape[0], n_features))


# ------------------------------------------------------------------------- finding the bad line


def _explain(source: Source, error: Exception) -> FileFormatError:
    """Return the error that names the first line that cannot be understood."""
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            problem = _problem(line.split(b"#", 1)[0].split())
            if problem is not None:
                return FileFormatError(source.path, number, problem)
    return FileFormatError(source.path, None, f"the file is no LIBSVM file: {error}")


def _problem(tokens: list[bytes]) -> str | None:
    """Say what is wrong with the tokens of a line, if anything is."""
    if not tokens:
        return None
    label, pairs = tokens[0], tokens[1:]
    if not _is_finite(label):
        return f"the label {_quoted(label)} is no number; a line is: label index:value ..."
    indices = []
    for pair in pairs:
        index, colon, value = pair.partition(b":")
        if index == b"qid":
            continue
        if not colon or not index.isdigit() or not _is_finite(value):
            return f"{_quoted(pair)} is no index:value pair of finite numbers; correct or remove it"
        indices.append(int(index))
    if any(a >= b for a, b in pairwise(indices)):
        return "the indices do not increase; sort the pairs of the line and keep each index once"
    return None


def _is_finite(token: bytes) -> bool:
    try:
        return isfinite(float(token))
    except ValueError:
        return False


def _quoted(token: bytes) -> str:
    return repr(token.decode("utf-8", errors="replace"))


def _n_whole_lines(source: Source) -> int:
    """Count the lines before the compressed data break off."""
    n_lines = 0
    with source.open() as stream:
        try:
            for _ in stream:
                n_lines += 1
        except DAMAGE:
            return n_lines
    return n_lines
