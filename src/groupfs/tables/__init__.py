"""Reading tables: whatever kind of file people have, to a table with names, or one clear sentence.

``read_table`` is the door; ``content`` finds and unpacks a file, and one room reads each family of
kinds: ``text`` (csv and its relatives), ``arrays`` (npy, npz, mat), ``frames`` (parquet, feather,
h5ad).
"""

from groupfs.tables.read import read_table
from groupfs.tables.table import Table, TableError

__all__ = ["Table", "TableError", "read_table"]
