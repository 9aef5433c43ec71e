"""CSV files in blocks: by pyarrow where it is installed, else by the reader of whole tables."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import FileFormatError
from hedgerow.io.block import Block, refuse_what_is_not_finite
from hedgerow.io.cells import MISSING, is_missing, is_number, numbers_of
from hedgerow.io.csv_file import CsvRequest, column_names, csv_pieces, target_position
from hedgerow.io.sniff import sniff_layout
from hedgerow.io.source import DAMAGE, Source

__all__ = ["CsvBlocks"]

_ENCODE = "encode the column as numbers first, or read the whole table and use fit"


class CsvBlocks:
    """The rows of a CSV file, a block at a time; every column but the target is numbers."""

    def __init__(self, source: Source, head: list[bytes], target: str | int | None) -> None:
        self.source = source
        self.path: Path = source.path
        self._layout = sniff_layout(head, target)
        wish = CsvRequest(-1 if target is None else target, True, None, frozenset())
        names = column_names(source, self._layout)
        position = target_position(source, self._layout, names, wish)
        assert position is not None
        self._position: int = position
        if not self._layout.has_header:
            names = [f"column {i}" for i in range(len(names))]
        self._names = names
        self._features = [*names[:position], *names[position + 1 :]]

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, if the file has a header."""
        return self._features if self._layout.has_header else None

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        """Yield the rows in blocks of about so many bytes of text."""
        return self._by_arrow(block_bytes) if find_spec("pyarrow") else self._plain(block_bytes)

    def _by_arrow(self, block_bytes: int) -> Iterator[Block]:
        """Yield what pyarrow reads; if it cannot, the plain reader says which line is wrong."""
        import pyarrow as pa

        n_before = 0
        with self.source.open() as stream:
            try:
                for batch in self._batches(stream, block_bytes):
                    X = np.empty((batch.num_rows, len(self._features)))
                    for j, name in enumerate(self._features):
                        X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
                    labels = self._labels(batch.column(self._names[self._position]), n_before)
                    refuse_what_is_not_finite(self.path, self._features, X, n_before)
                    n_before += len(X)
                    yield Block((X,), labels, X.nbytes)
            except (pa.ArrowInvalid, *DAMAGE) as error:
                for _ in self._plain(block_bytes):
                    pass
                raise FileFormatError(
                    self.path, None, f"pyarrow cannot read it: {error}"
                ) from error

    def _batches(self, stream: Any, block_bytes: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        target = self._names[self._position]
        types = dict.fromkeys(self._features, pa.float64())
        reader = csv.open_csv(
            stream,
            csv.ReadOptions(
                block_size=block_bytes,
                column_names=self._names,
                skip_rows=int(self._layout.has_header),
            ),
            csv.ParseOptions(delimiter=self._layout.delimiter),
            csv.ConvertOptions(
                column_types=types | {target: pa.string()}, null_values=sorted(MISSING)
            ),
        )
        return (batch for batch in reader if batch.num_rows)

    def _labels(self, column: Any, n_before: int) -> NDArray[np.str_]:
        """Return the labels of a batch as text, looked up so that equal ones are made once."""
        from pyarrow import compute

        coded = compute.utf8_trim_whitespace(column).dictionary_encode()
        values = np.array(coded.dictionary.to_pylist(), dtype=np.str_)
        codes: NDArray[np.int32] = coded.indices.to_numpy()
        missing = [k for k, value in enumerate(values.tolist()) if is_missing(value)]
        wrong = np.flatnonzero(np.isin(codes, missing))
        if len(wrong):
            problem = f"row {n_before + wrong[0] + 1} has no target; fill it in or remove the row"
            raise FileFormatError(self.path, None, problem)
        return values[codes]

    def _plain(self, block_bytes: int) -> Iterator[Block]:
        """Yield what the reader of whole tables makes of a piece after the other."""
        n_before = 0
        for lines, rows in csv_pieces(self.source, self._layout, len(self._names)):
            columns = list(zip(*rows, strict=True))
            labels = np.array([cell.strip() for cell in columns.pop(self._position)], dtype=np.str_)
            self._refuse_missing_labels(lines, labels)
            X = np.empty((len(rows), len(columns)))
            for j, cells in enumerate(columns):
                numbers = numbers_of(cells)
                if numbers is None:
                    raise self._no_number(lines, cells, self._features[j])
                X[:, j] = numbers
            refuse_what_is_not_finite(self.path, self._features, X, n_before)
            n_before += len(rows)
            n_rows = max(1, block_bytes // max(X.itemsize * X.shape[1], 1))
            for begin in range(0, len(X), n_rows):
                part = np.ascontiguousarray(X[begin : begin + n_rows])
                yield Block((part,), labels[begin : begin + n_rows], part.nbytes)

    def _refuse_missing_labels(self, lines: list[int], labels: NDArray[np.str_]) -> None:
        for line, label in zip(lines, labels.tolist(), strict=True):
            if is_missing(label):
                problem = f"the target is missing ({label!r}); fill it in or remove the row"
                raise FileFormatError(self.path, line, problem)

    def _no_number(self, lines: list[int], cells: tuple[str, ...], name: str) -> FileFormatError:
        """Return the error for the first cell of a column that is text."""
        for line, cell in zip(lines, cells, strict=True):
            text = cell.strip()
            if not (is_missing(text) or is_number(text)):
                problem = f"column {name!r} holds {text!r}, which is no number; {_ENCODE}"
                return FileFormatError(self.path, line, problem)
        raise AssertionError(name)
