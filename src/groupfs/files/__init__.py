"""Read files of many formats to a table with names, or say in one sentence why not."""

from groupfs.files.column_preparer import ColumnPreparer
from groupfs.files.file_table import FileTable, TableError
from groupfs.files.read import read_table

__all__ = ["ColumnPreparer", "FileTable", "TableError", "read_table"]
