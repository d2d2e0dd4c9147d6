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
        Bytes of memory that reading may take; None allows three quarters of what is free.
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
    content = find_content(path, max_bytes, max_seconds)
    try:
        table = _read(content, header)
    except MemoryError as reason:
        raise beyond_memory(content.max_bytes, content.source) from reason
    refuse_duplicates(table.names, table.source)
    refuse_no_values(table)
    return table


def _read(content: Content, header: bool | None) -> Table:
    if content.kind == "excel":
        raise TableError(
            f"{content.source} is a spreadsheet, which is not read here; save the sheet as csv."
        )
    # imported only now, as they import much
    from groupfs.tables import delimited_text, numpy_and_matlab, parquet_feather_h5ad

    if content.kind == "text":
        return delimited_text.read_text(content, header)
    readers = {
        "npy": numpy_and_matlab.read_numpy,
        "npz": numpy_and_matlab.read_numpy,
        "mat": numpy_and_matlab.read_mat,
        "parquet": parquet_feather_h5ad.read_frame,
        "feather": parquet_feather_h5ad.read_frame,
        "h5ad": parquet_feather_h5ad.read_h5ad,
    }
    return readers[content.kind](content)
