"""read_table: one function for every kind of file."""

from __future__ import annotations

from pathlib import Path

from groupfs.tables.file_content import Content, find_content
from groupfs.tables.table import Table, TableError, refuse_duplicates, refuse_no_values


def read_table(path: str | Path, *, header: bool | None = None) -> Table:
    """Read a table of samples (rows) and features (columns) from a file.

    Parameters
    ----------
    path : str or Path
        A file ending in csv, tsv, txt or data (any usual separator), parquet, feather, npy, npz,
        mat or h5ad, each also packed (gz, zip, bz2, xz); ``-`` reads csv from standard input.
    header : bool or None, default=None
        Whether a text file begins with the names of the columns. None finds out: a first line of
        numbers is taken for data.

    Returns
    -------
    table : Table
        The values as they are in the file, the names of the columns, what the file says of the rows
        beside the table (labels in mat and npz files, ``obs`` of h5ad files) and notes on reading.

    Raises
    ------
    TableError
        With one sentence, if the file is absent, broken or not a table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupfs.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;sex\\n31;f\\n28;m\\n")
    ...     table = read_table(path)
    >>> table.names, table.values.shape
    (['age', 'sex'], (2, 2))
    """
    content = find_content(path)
    try:
        table = _read(content, header)
    except MemoryError as reason:
        raise TableError(
            f"{content.source} does not fit into the memory of this machine; try fewer rows."
        ) from reason
    refuse_duplicates(table.names, table.source)
    refuse_no_values(table)
    return table


def _read(content: Content, header: bool | None) -> Table:
    """Ask the room for this kind; rooms are entered only when needed, as they import much."""
    if content.kind == "text":
        from groupfs.tables.delimited_text import read_text

        return read_text(content, header)
    if content.kind == "excel":
        raise TableError(
            f"{content.source} is a spreadsheet, which is not read here; save the sheet as csv."
        )
    from groupfs.tables import numpy_and_matlab as arrays
    from groupfs.tables import parquet_feather_h5ad as frames

    readers = {
        "npy": arrays.read_numpy,
        "npz": arrays.read_numpy,
        "mat": arrays.read_mat,
        "parquet": frames.read_parquet,
        "feather": frames.read_feather,
        "h5ad": frames.read_h5ad,
    }
    return readers[content.kind](content)
