"""Files of rows, one after the other, in blocks: data that need not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

from hedgerow.data.io.block import Block, BlockReader
from hedgerow.data.io.csv_blocks import CsvBlocks
from hedgerow.data.io.libsvm_file import LibsvmBlocks
from hedgerow.data.io.parquet_file import ParquetBlocks
from hedgerow.data.io.sniff import N_SAMPLED_LINES, check_format, is_libsvm
from hedgerow.data.io.source import Source
from hedgerow.errors import DataError, FileAccessError, FileFormatError, ParameterError

__all__ = ["RowFiles"]

_PARQUET = b"PAR1"


class RowFiles:
    """The rows of one or more files of the same kind.

    Parameters
    ----------
    paths : str, Path, or several
        The files; a path with ``*``, ``?`` or ``[`` is a pattern for all that match, sorted.
    target : str, int or None
        The column with the labels, as in :func:`read_table`; None is the last column. In a LIBSVM
        file the labels are at the start of each line.
    weight : str, int or None
        The column with the weights of the rows, if there is one.
    format : {"auto", "csv", "libsvm", "parquet"}
        The format of the files; "auto" infers it from the first bytes.
    block_bytes : int
        About how many bytes a block takes: of text, or of numbers in memory for Parquet.

    Attributes
    ----------
    paths : list of Path
        The files found.
    block_bytes : int
        As it was given.
    feature_names : list of str or None
        The names of the columns but the target and the weights, if they have names.
    """

    def __init__(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        target: str | int | None = None,
        weight: str | int | None = None,
        format: str = "auto",  # noqa: A002 - the word a user would look for
        block_bytes: int = 1 << 24,
    ) -> None:
        check_format(format, "csv", "libsvm", "parquet")
        self.paths = _found(paths)
        self.block_bytes = block_bytes
        self._columns = target, weight
        self._readers = [_reader(path, target, weight, format) for path in self.paths]
        self.feature_names = self._readers[0].feature_names
        for reader in self._readers:
            _refuse_other_columns(reader, self._readers[0])

    @property
    def identity(self) -> tuple[Any, ...]:
        """What identifies these blocks: paths, sizes and times of the files, columns and block size."""
        facts = [(path, path.stat()) for path in self.paths]
        files = [(str(path.resolve()), fact.st_size, fact.st_mtime_ns) for path, fact in facts]
        return files, self._columns, self.block_bytes

    def blocks(self) -> Iterator[Block]:
        """Yield all rows, a block at a time, from the first of the first file on."""
        width: int | None = None
        for reader in self._readers:
            for block in reader.blocks(self.block_bytes):
                found = None if block.is_sparse else block.parts[0].shape[1]
                if width is not None and found != width:
                    problem = f"it has {found} features where the first file has {width}; give files of the same columns"
                    raise FileFormatError(reader.path, None, problem)
                width = found
                yield block


def _found(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return the files, with patterns resolved."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for each in given:
        is_pattern = any(sign in str(each) for sign in "*?[") and not Path(each).exists()
        matches = sorted(glob(str(each))) if is_pattern else [str(each)]
        if not matches:
            msg = f"no file matches {str(each)!r}; check the pattern and the folder"
            raise FileAccessError(msg)
        found += map(Path, matches)
    if not found:
        raise ParameterError("paths names no file; give at least one")
    return found


def _reader(
    path: Path, target: str | int | None, weight: str | int | None, file_format: str
) -> BlockReader:
    """Return the reader for the format of a file."""
    source = Source(path)
    source.open().close()
    if file_format == "parquet" or (file_format == "auto" and source.starts_with(_PARQUET)):
        return ParquetBlocks(path, target, weight)
    head = source.head(N_SAMPLED_LINES)
    if is_libsvm(path, head, file_format, target):
        if weight is not None:
            msg = (
                f"weight={weight!r} cannot be chosen in {path}: a LIBSVM file has no column for it; "
                "give the weights as an array, by sample_weight"
            )
            raise ParameterError(msg)
        return LibsvmBlocks(source)
    return CsvBlocks(source, head, target, weight)


def _refuse_other_columns(reader: BlockReader, first: BlockReader) -> None:
    """Refuse a file whose columns have other names than those of the first, or another order."""
    if reader.feature_names != first.feature_names:
        msg = (
            f"{reader.path} has other columns than {first.path}; give files with the same columns "
            "in the same order"
        )
        raise DataError(msg)
