"""read_table: find out what a file is, and read it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hedgerow.data.io.csv_file import CsvRequest, read_csv
from hedgerow.data.io.libsvm_file import read_libsvm
from hedgerow.data.io.sniff import N_SAMPLED_LINES, looks_like_libsvm
from hedgerow.data.io.source import Source
from hedgerow.data.io.table import Table
from hedgerow.errors import ParameterError

__all__ = ["read_table"]

_FORMATS = ("auto", "csv", "libsvm")


def read_table(
    path: str | Path,
    *,
    target: str | int | None = None,
    format: str = "auto",  # noqa: A002 - the word a user would look for
    n_features: int | None = None,
    text_columns: Collection[str] = (),
    require_target: bool = True,
) -> Table:
    """Read a CSV or LIBSVM file, plain or compressed by gzip or bzip2.

    Parameters
    ----------
    path : str or Path
        The file; "-" is standard input. It is read more than once, so that a pipe is refused.
    target : str or int, optional
        The column with the labels: its name, or its position from 0 (negative: from the end), also
        written as text. In a LIBSVM file the labels are where they are, and none is given.
    format : {"auto", "csv", "libsvm"}
        "auto" looks at the first lines.
    n_features : int, optional
        How many features a LIBSVM file has, where its last columns may be empty. In a CSV file
        without a header it tells, with ``require_target=False``, whether the target is there.
    text_columns : collection of str
        Columns, the target among them, to read as text even if every cell is a number.
    require_target : bool
        Whether a CSV file without the target column is an error; if not, ``y`` is None.

    Returns
    -------
    Table
        Features, labels, and notes about what was inferred.

    Raises
    ------
    FileAccessError
        The file cannot be opened.
    FileFormatError
        A line of it cannot be understood; the message names the line.

    Notes
    -----
    CSV: cells are separated by comma, semicolon or tab, whichever fits the first lines, may be
    quoted, and lose the white space around them. Empty cells and NA, N/A, nan, NaN, null and ? are
    missing values. A column is numeric if every other cell is a number, else text. Encoding: UTF-8.
    There are at most 1,048,576 columns. Labels of more than 64 characters are in an array of objects,
    others in one of fixed width.
    LIBSVM: indices count from 1, or from 0 if an index 0 is found.
    """
    if format not in _FORMATS:
        msg = f"format={format!r} is not known; choose one of {', '.join(map(repr, _FORMATS))}"
        raise ParameterError(msg)
    source = Source(path)
    head = source.head(N_SAMPLED_LINES)
    if format == "libsvm" or (format == "auto" and looks_like_libsvm(head)):
        if target is not None and require_target:
            msg = (
                f"target={target!r} cannot be chosen in {source.path}: a LIBSVM file has its "
                "labels at the start of each line; leave target out"
            )
            raise ParameterError(msg)
        return read_libsvm(source, n_features)
    request = CsvRequest(target, require_target, n_features, frozenset(text_columns))
    return read_csv(source, head, request)
