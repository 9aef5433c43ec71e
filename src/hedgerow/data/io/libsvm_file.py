"""LIBSVM (svmlight) files, parsed by the core in pieces; an error says what is wrong with a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.io.block import Block
from hedgerow.data.io.cells import shortened, whole_where_possible
from hedgerow.data.io.source import DAMAGE, LONGEST_LINE, Source
from hedgerow.data.io.table import Table
from hedgerow.errors import FileFormatError

__all__ = ["LibsvmBlocks", "read_libsvm"]

_PIECE_BYTES = 1 << 24
_MOST_INDEX = 2**31 - 2


class LibsvmBlocks:
    """The rows of a LIBSVM file, one block at a time, with indices as they are written."""

    feature_names: list[str] | None = None

    def __init__(self, source: Source) -> None:
        self.source = source
        self.path: Path = source.path

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        """Yield the rows in blocks of about ``block_bytes`` bytes of text."""
        n_before = 0
        for text in self._pieces(block_bytes):
            labels, values, indices, bounds, n_lines, is_whole = _core.data.parse_libsvm(text)
            if not is_whole:
                line = text.split(b"\n", n_lines + 1)[n_lines]
                raise FileFormatError(self.path, n_before + n_lines + 1, _problem(line))
            n_before += n_lines
            if len(labels):
                yield Block((values, indices, bounds), labels, len(text))

    def _pieces(self, n_bytes: int) -> Iterator[bytes]:
        """Yield the text in pieces of whole lines."""
        n_before = 0
        with self.source.open() as stream:
            while True:
                try:
                    text = stream.read(n_bytes)
                    rest = stream.readline(LONGEST_LINE) if text else b""
                except DAMAGE as error:
                    raise self.source.damaged(_n_whole_lines(self.source) + 1) from error
                if not text:
                    return
                text += rest
                n_before += text.count(b"\n")
                if len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
                    raise self.source.too_long(n_before + 1)
                yield text


def read_libsvm(source: Source, n_features: int | None) -> Table:
    """Read a LIBSVM file as a CSR matrix with ``n_features`` columns, or as many as it shows."""
    blocks = list(LibsvmBlocks(source).blocks(_PIECE_BYTES))
    if not blocks:
        raise FileFormatError(source.path, None, "the file is empty; give a table with rows")
    values, indices, indptr = _joined(blocks)
    counted_from = 0 if (indices == 0).any() else 1
    indices -= counted_from
    width = int(indices.max(initial=-1)) + 1
    X = sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width))
    y = whole_where_possible(np.concatenate([block.labels for block in blocks]))
    notes = (f"LIBSVM, features counted from {counted_from}.",)
    return Table(_widened(source, X, n_features), y, notes=notes)


def _joined(blocks: list[Block]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the values, indices and row bounds of all blocks."""
    values, indices, bounds = zip(*(block.parts for block in blocks), strict=True)
    lengths = np.concatenate([np.diff(each) for each in bounds])
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return np.concatenate(values), np.concatenate(indices), indptr


def _widened(source: Source, X: sp.csr_matrix, n_features: int | None) -> sp.csr_matrix:
    """Return X with the number of columns asked for; refuse fewer than hold values."""
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


# ------------------------------------------------------------------------- what is wrong with a line


def _problem(line: bytes) -> str:
    """Say what is wrong with a line that the core cannot read."""
    label, *pairs = line.split(b"#", 1)[0].split()
    if not _is_finite(label):
        return f"the label {_quoted(label)} is not a number; a line is: label index:value ..."
    indices: list[bytes] = []  # digits, as Python refuses to convert very many
    for pair in pairs:
        index, colon, value = pair.partition(b":")
        if index == b"qid":
            continue
        if not colon or not index.isdigit() or not _is_finite(value):
            return f"{_quoted(pair)} is not an index:value pair of finite numbers; correct or remove it"
        indices.append(index.lstrip(b"0"))
    if any((len(a), a) >= (len(b), b) for a, b in pairwise(indices)):
        return "the indices do not increase; sort the pairs of the line and keep each index once"
    largest = indices[-1].decode() if indices else "0"
    return f"the index {shortened(largest)} is too large; number the features up to {_MOST_INDEX}"


def _is_finite(token: bytes) -> bool:
    try:
        return isfinite(float(token)) and b"_" not in token
    except ValueError:
        return False


def _quoted(token: bytes) -> str:
    return repr(shortened(token.decode("utf-8", errors="replace")))


def _n_whole_lines(source: Source) -> int:
    """Count the whole lines before the damage in compressed data."""
    n_lines = 0
    with source.open() as stream:
        try:
            for _ in stream:
                n_lines += 1
        except DAMAGE:
            return n_lines
    return n_lines
