"""Read files of many formats to a table with names, or say in one sentence why not.

``read_table`` does it all: ``file_content`` finds and decompresses a file; ``delimited_text`` (csv
and its relatives), ``named_columns`` (Excel, SPSS, parquet, feather) and ``matrices`` (numpy,
Matlab, h5ad) read their formats, and ``large_text`` a text that memory does not hold. ``columns``
decides which columns are used and as what: ``column_kinds`` looks at one, ``column_values`` at its
values, and ``answers`` knows scales in words. ``ColumnPreparer`` does the same in pipelines.
"""

from groupfs.files.column_preparer import ColumnPreparer
from groupfs.files.file_table import FileTable, TableError
from groupfs.files.read import read_table

__all__ = ["ColumnPreparer", "FileTable", "TableError", "read_table"]
