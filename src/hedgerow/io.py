"""Tables and rows from files: the public names of ``hedgerow.data.io``."""

from hedgerow.data.io import Block, RowFiles, Table, read_table

__all__ = ["Block", "RowFiles", "Table", "read_table"]
