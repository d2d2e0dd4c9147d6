"""Reading tables: whatever kind of file people have, to a table with names, or one clear sentence.

``read_table`` does it all: ``file_content`` finds and decompresses a file; ``delimited_text`` (csv
and its relatives), ``numpy_and_matlab`` and ``parquet_feather_h5ad`` read their kinds, some of them
in a ``child_process``; ``columns`` decides which columns are used and as what.
"""

from groupfs.tables.read import read_table
from groupfs.tables.table import Table, TableError

__all__ = ["Table", "TableError", "read_table"]
