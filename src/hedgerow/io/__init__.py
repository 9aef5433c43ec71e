"""Reading tables from files: CSV and LIBSVM, plain or compressed; and rows in blocks, Parquet too."""

from hedgerow.io.ahead import read_ahead
from hedgerow.io.block import Block
from hedgerow.io.read import read_table
from hedgerow.io.row_files import RowFiles
from hedgerow.io.spool import RowNumbers, Spool
from hedgerow.io.table import Table

__all__ = ["Block", "RowFiles", "RowNumbers", "Spool", "Table", "read_ahead", "read_table"]
