"""CSV files in blocks: by pyarrow where it is installed, else by the reader of whole tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.io.block import Block, RowColumns
from hedgerow.data.io.cells import MISSING, is_missing, is_number, numbers_of, shortened, text_array
from hedgerow.data.io.csv_file import (
    CsvRequest,
    column_names,
    csv_pieces,
    refuse_missing_target,
    target_position,
)
from hedgerow.data.io.sniff import sniff_layout
from hedgerow.data.io.source import DAMAGE, Source
from hedgerow.errors import FileFormatError

__all__ = ["CsvBlocks"]

_ENCODE = "encode the column as numbers first, or read the whole table and use fit"


class CsvBlocks:
    """The rows of a CSV file, one block at a time; every column but the target holds numbers."""

    def __init__(
        self,
        source: Source,
        head: list[bytes],
        target: str | int | None,
        weight: str | int | None = None,
    ) -> None:
        self.source = source
        self.path: Path = source.path
        self._layout = sniff_layout(source.path, head, target)
        names = column_names(source, self._layout)
        at_target = self._position(names, -1 if target is None else target)
        at_weight = None if weight is None else self._position(names, weight)
        if not self._layout.has_header:
            names = [f"column {i}" for i in range(len(names))]
        self._names, self._target = names, names[at_target]
        weight_name = None if at_weight is None else names[at_weight]
        self._rows = RowColumns.of(self.path, names, self._target, weight_name)

    def _position(self, names: list[str], column: str | int) -> int:
        """Return where a column is."""
        request = CsvRequest(column, True, None, frozenset())
        position = target_position(self.source, self._layout, names, request)
        assert position is not None
        return position

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, if the file has a header."""
        return self._rows.features if self._layout.has_header else None

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        """Yield the rows in blocks of about ``block_bytes`` bytes of text."""
        return self._by_arrow(block_bytes) if find_spec("pyarrow") else self._plain(block_bytes)

    def _by_arrow(self, block_bytes: int) -> Iterator[Block]:
        """Yield what pyarrow reads; where it fails, the plain reader continues, or names the error."""
        import pyarrow as pa

        n_before = 0
        with self.source.open() as stream:
            try:
                for batch in self._batches(stream, block_bytes):
                    numbers = partial(_arrow_numbers, batch)
                    labels = self._labels(batch.column(self._target), n_before)
                    block = self._rows.block(numbers, labels, n_before)
                    n_before += block.n_rows
                    yield block
            except pa.ArrowMemoryError:
                raise
            except (pa.ArrowException, *DAMAGE):
                yield from _after(n_before, self._plain(block_bytes))

    def _batches(self, stream: Any, block_bytes: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        types = dict.fromkeys(self._names, pa.float64())
        reader = csv.open_csv(
            stream,
            csv.ReadOptions(
                block_size=block_bytes,
                column_names=self._names,
                skip_rows=int(self._layout.has_header),
            ),
            csv.ParseOptions(delimiter=self._layout.delimiter),
            csv.ConvertOptions(
                column_types=types | {self._target: pa.string()}, null_values=sorted(MISSING)
            ),
        )
        return (batch for batch in reader if batch.num_rows)

    def _labels(self, column: Any, n_before: int) -> NDArray[Any]:
        """Return the labels of a batch as text, of which equal ones are made once."""
        from pyarrow import compute

        coded = compute.utf8_trim_whitespace(column).dictionary_encode()
        values = text_array(coded.dictionary.to_pylist())
        codes: NDArray[np.int32] = coded.indices.to_numpy()
        missing = [k for k, value in enumerate(values.tolist()) if is_missing(value)]
        wrong = np.flatnonzero(np.isin(codes, missing))
        if len(wrong):
            problem = f"row {n_before + wrong[0] + 1} has no target; fill it in or remove the row"
            raise FileFormatError(self.path, None, problem)
        return values[codes]

    def _plain(self, block_bytes: int) -> Iterator[Block]:
        """Yield what the reader of whole tables reads, piece by piece."""
        n_before = 0
        for lines, rows in csv_pieces(self.source, self._layout, len(self._names)):
            columns = dict(zip(self._names, zip(*rows, strict=True), strict=True))
            cells = columns[self._target]
            refuse_missing_target(self.source, lines, cells)
            labels = text_array([cell.strip() for cell in cells])
            whole = self._rows.block(partial(self._numbers, lines, columns), labels, n_before)
            n_before += whole.n_rows
            n_rows = max(1, block_bytes // (whole.n_bytes // whole.n_rows))
            for begin in range(0, whole.n_rows, n_rows):
                yield whole.some(slice(begin, begin + n_rows))

    def _numbers(
        self, lines: list[int], columns: dict[str, tuple[str, ...]], name: str
    ) -> NDArray[np.float64]:
        """Return the cells of a column as numbers."""
        numbers = numbers_of(columns[name])
        if numbers is None:
            raise self._no_number(lines, columns[name], name)
        return numbers

    def _no_number(self, lines: list[int], cells: tuple[str, ...], name: str) -> FileFormatError:
        """Return the error for the first cell of a column that is text."""
        for line, cell in zip(lines, cells, strict=True):
            text = cell.strip()
            if not (is_missing(text) or is_number(text)):
                problem = (
                    f"column {name!r} holds {shortened(text)!r}, which is not a number; {_ENCODE}"
                )
                return FileFormatError(self.path, line, problem)
        raise AssertionError(name)


def _arrow_numbers(batch: Any, name: str) -> NDArray[Any]:
    numbers: NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return numbers


def _after(n_rows: int, blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks without the first rows."""
    for block in blocks:
        if n_rows < block.n_rows:
            yield block.some(slice(n_rows, None))
        n_rows = max(n_rows - block.n_rows, 0)
