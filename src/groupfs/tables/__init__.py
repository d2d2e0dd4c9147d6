"""Reading tables: whatever kind of file people have, to a table with names, or one clear sentence.

``read_table`` does it all: ``file_content`` finds and decompresses a file, ``foreign_files``
refuses those of other programs; ``delimited_text`` (csv and its relatives), ``numpy_and_matlab``,
``parquet_and_feather``, ``excel_and_spss`` and ``h5ad`` read their kinds, most of them in a
``child_process``, and ``large_text`` a text that memory does not hold. ``columns`` decides which
columns are used and as what, with ``missing_codes`` and ``answer_scales``; ``ColumnPreparer`` does
the same in pipelines.
"""

from typing import TYPE_CHECKING, Any

from groupfs.tables.read import read_table
from groupfs.tables.table import Table, TableError

if TYPE_CHECKING:
    from groupfs.tables.column_preparer import ColumnPreparer

__all__ = ["ColumnPreparer", "Table", "TableError", "read_table"]


def __getattr__(name: str) -> Any:
    if name != "ColumnPreparer":  # it alone needs scikit-learn
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from groupfs.tables.column_preparer import ColumnPreparer

    return ColumnPreparer
