"""read_table: one function for every kind of file."""

from __future__ import annotations

from pathlib import Path

from groupfs.tables.file_content import Content, beyond_memory, find_content
from groupfs.tables.table import Table, TableError, refuse_duplicates, refuse_no_values


def read_table(
    path: str | Path,
    *,
    header: bool | None = None,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
) -> Table:
    """Read a table of samples (rows) and features (columns) from a file.

    Parameters
    ----------
    path : str or Path
        A file ending in csv, tsv, txt or data (any usual separator), parquet, feather, npy, npz,
        mat or h5ad, each also packed (gz, zip, bz2, xz); ``-`` reads csv from standard input.
    header : bool or None, default=None
        Whether a text file begins with the names of the columns. None finds out: a first line of
        numbers is taken for data.
    max_bytes : int or None, default=None
        Bytes of memory that reading may take; None takes what is free.
    max_seconds : float or None, default=None
        Seconds that reading a mat, h5ad, feather or parquet file may take; None allows a minute,
        and a second more for every megabyte.

    Returns
    -------
    table : Table
        The values as they are in the file, the names of the columns, what else the file says of the
        rows (labels in mat and npz files, ``obs`` of h5ad files) and notes on reading.

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
    content = find_content(path, max_bytes)
    try:
        table = _read(content, header, max_seconds)
    except MemoryError as reason:
        raise beyond_memory(content.max_bytes, content.source) from reason
    refuse_duplicates(table.names, table.source)
    refuse_no_values(table)
    return table


def _read(content: Content, header: bool | None, max_seconds: float | None) -> Table:
    """Read a file by the module for its kind, imported only now, as they import much."""
    if content.kind == "text":
        from groupfs.tables.delimited_text import read_text

        return read_text(content, header)
    if content.kind == "excel":
        raise TableError(
            f"{content.source} is a spreadsheet, which is not read here; save the sheet as csv."
        )
    if content.kind in ("npy", "npz"):
        from groupfs.tables.numpy_and_matlab import read_numpy

        return read_numpy(content)
    if content.kind == "mat":
        from groupfs.tables.numpy_and_matlab import read_mat

        return read_mat(content, max_seconds)
    from groupfs.tables.parquet_feather_h5ad import read_frame, read_h5ad

    return (read_h5ad if content.kind == "h5ad" else read_frame)(content, max_seconds)
