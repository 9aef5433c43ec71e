"""Reading tables from files: CSV and LIBSVM, plain or compressed."""

from hedgerow.io.read import read_table
from hedgerow.io.table import Table

__all__ = ["Table", "read_table"]
