"""read_table: find out what a file is, and read it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hedgerow.data.io.csv_file import CsvRequest, read_csv
from hedgerow.data.io.libsvm_file import read_libsvm
from hedgerow.data.io.sniff import N_SAMPLED_LINES, check_format, is_libsvm
from hedgerow.data.io.source import Source
from hedgerow.data.io.table import Table

__all__ = ["read_table"]


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
        The file; "-" is standard input. A file is read more than once, so a pipe is refused.
    target : str or int, optional
        The column with the labels: its name, or its position from 0 (negative: from the end), which
        may be given as text. In a LIBSVM file the labels are at the start of each line; give none.
    format : {"auto", "csv", "libsvm"}
        The format of the file; "auto" infers it from the first lines.
    n_features : int, optional
        How many features a LIBSVM file has, in case its last columns are empty. In a CSV file
        without a header, with ``require_target=False``, it decides whether there is a target.
    text_columns : collection of str
        Columns, the target among them, to read as text even if every cell is a number.
    require_target : bool
        Whether a CSV file without the target column is an error; if it is not, ``y`` is None.

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
    check_format(format, "csv", "libsvm")
    source = Source(path)
    head = source.head(N_SAMPLED_LINES)
    if is_libsvm(source.path, head, format, target if require_target else None):
        return read_libsvm(source, n_features)
    request = CsvRequest(target, require_target, n_features, frozenset(text_columns))
    return read_csv(source, head, request)
