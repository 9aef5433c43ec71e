"""Parquet files in blocks, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.data.io.block import Block, RowColumns
from hedgerow.data.io.cells import position_of, text_array
from hedgerow.data.rows import some
from hedgerow.errors import FileFormatError, HedgerowError, ParameterError

__all__ = ["ParquetBlocks"]

_MOST_SHOWN = 200
"""Characters that a message shows of what pyarrow says."""


class ParquetBlocks:
    """The rows of a Parquet file, one block at a time; every column but the target holds numbers."""

    feature_names: list[str] | None

    def __init__(
        self, path: Path, target: str | int | None, weight: str | int | None = None
    ) -> None:
        if find_spec("pyarrow") is None:
            msg = f"{path} is a Parquet file, which only pyarrow can read; install hedgerow[io]"
            raise ParameterError(msg)
        self.path = path
        with self._reading(), self._open() as file:
            schema = file.schema_arrow
            names = schema.names
        if len(set(names)) < len(names):
            problem = "two columns have the same name; give every column a different name"
            raise FileFormatError(self.path, None, problem)
        self._target = self._column(names, -1 if target is None else target, "target")
        weighing = None if weight is None else self._column(names, weight, "weight")
        self._rows = RowColumns.of(path, names, self._target, weighing)
        self.feature_names = self._rows.features
        for name in [*self.feature_names, *([] if weighing is None else [weighing])]:
            self._refuse_unless_numbers(name, schema.field(name).type)
        self._refuse_nested(schema.field(self._target).type)

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        """Yield the rows in blocks of about ``block_bytes`` bytes in memory."""
        n_before, n_rows = 0, max(1, block_bytes // (8 * len(self._rows.features) + 8))
        with self._reading(), self._open() as file:
            for batch in file.iter_batches(batch_size=n_rows):
                block = self._block(batch, n_before)
                n_before += block.n_rows
                yield block

    def _block(self, batch: Any, n_before: int) -> Block:
        """Return the rows of a batch, which ``n_before`` rows precede."""
        batch.validate(full=True)  # lengths and offsets may be wrong in a damaged file
        labels = self._labels(batch.column(self._target), n_before)
        return replace(
            self._rows.block(partial(_numbers, batch), labels, n_before), n_bytes=batch.nbytes
        )

    def _open(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self.path, page_checksum_verification=True)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn whatever pyarrow raises into an error that names the file."""
        import pyarrow as pa

        try:
            yield
        except (HedgerowError, pa.ArrowMemoryError):
            raise
        except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
            reason = " ".join(str(error).split())[:_MOST_SHOWN]
            problem = f"it is not a Parquet file that pyarrow can read ({reason}); write it again"
            raise FileFormatError(self.path, None, problem) from error

    def _labels(self, column: Any, n_before: int) -> Any:
        """Return the labels of a batch, none of which may be missing."""
        if column.null_count:
            row = n_before + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))) + 1
            problem = f"row {row} has no target; fill it in or remove the row"
            raise FileFormatError(self.path, None, problem)
        if hasattr(column, "dictionary_decode"):
            column = column.dictionary_decode()
        labels = column.to_numpy(zero_copy_only=False)
        if labels.dtype == object:
            return text_array([_text(label) for label in labels.tolist()])
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            wrong = np.flatnonzero(~np.isfinite(labels))[0]
            problem = f"row {n_before + wrong + 1} has the target {labels[wrong]}; fill it in or remove the row"
            raise FileFormatError(self.path, None, problem)
        return labels

    def _column(self, names: list[str], wanted: str | int, role: str) -> str:
        """Return the name of a column that is given by name or position."""
        if wanted in names:
            return str(wanted)
        position = position_of(wanted, len(names))
        if position is None:
            problem = f"there is no column {wanted!r}; choose the {role} among {some(names, 12)}"
            raise FileFormatError(self.path, None, problem)
        return names[position]

    def _refuse_nested(self, kind: Any) -> None:
        from pyarrow import types

        if types.is_nested(kind):
            problem = f"the target holds {kind} values; give a column of numbers or text"
            raise FileFormatError(self.path, None, problem)

    def _refuse_unless_numbers(self, name: str, kind: Any) -> None:
        from pyarrow import types

        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            problem = (
                f"column {name!r} holds {kind} values, not numbers; encode it first, or read the "
                "whole table and use fit"
            )
            raise FileFormatError(self.path, None, problem)


def _text(label: Any) -> str:
    """Return a label as text."""
    return label.decode("utf-8") if isinstance(label, bytes) else str(label)


def _numbers(batch: Any, name: str) -> Any:
    """Return a column as an array of numbers."""
    return batch.column(name).cast("float64", safe=False).to_numpy(zero_copy_only=False)
