"""Reading tables from files: CSV and LIBSVM, plain or compressed; and rows in blocks, Parquet too."""

from hedgerow.data.io.block import Block
from hedgerow.data.io.read import read_table
from hedgerow.data.io.row_files import RowFiles
from hedgerow.data.io.table import Table

__all__ = ["Block", "RowFiles", "Table", "read_table"]
