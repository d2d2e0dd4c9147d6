"""read_table: one function for every kind of file."""

from pathlib import Path

from groupfs.tables.file_content import Content, beyond_memory, find_content
from groupfs.tables.table import Table, refuse_duplicates, refuse_no_values
from groupfs.utils.errors import ParameterError


def read_table(
    path: str | Path,
    *,
    header: bool | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
) -> Table:
    """Read a table of samples (rows) and features (columns) from a file.

    Parameters
    ----------
    path : str or Path
        A file ending in csv, tsv, txt or data (any usual separator), xlsx, sav (SPSS), parquet,
        feather, npy, npz, mat or h5ad, each also packed (gz, zip, bz2, xz); ``-`` reads csv from
        standard input.
    header : bool or None, default=None
        Whether a text file or a sheet begins with the names of the columns. None finds out: a first
        line of numbers is taken for data.
    layer : str or None, default=None
        The layer of an h5ad file to read in place of X.
    use_raw : bool, default=False
        Whether to read ``raw`` of an h5ad file in place of X.
    max_bytes : int or None, default=None
        Bytes of memory that reading may take; None allows three quarters of what is free.
    max_seconds : float or None, default=None
        Seconds that the parser of another package may take (all kinds but text, npy and npz); None
        allows a minute, and a second more for every megabyte.

    Returns
    -------
    table : Table
        The values as they are in the file, the names of the columns, what else the file says of the
        rows (labels in mat and npz files, ``obs`` of h5ad files) and notes on reading.

    Raises
    ------
    TableError
        With one sentence, if the file is absent, broken or not a table.
    ParameterError
        If ``layer`` or ``use_raw`` ask for what the file has not.
    ImportError
        If the package that reads such files is not installed.

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
    if layer is not None and use_raw:
        raise ParameterError("layer and use_raw are two choices; give one of them.", "layer")
    content = find_content(path, max_bytes, max_seconds)
    try:
        table = _read(content, header, layer, use_raw)
    except MemoryError as reason:
        raise beyond_memory(content.max_bytes, content.source) from reason
    refuse_duplicates(table.names, table.source)
    refuse_no_values(table)
    return table


def _read(content: Content, header: bool | None, layer: str | None, use_raw: bool) -> Table:
    # imported only now, as they import much
    from groupfs.tables import (
        delimited_text,
        excel_and_spss,
        h5ad,
        numpy_and_matlab,
        parquet_and_feather,
    )

    if content.kind == "h5ad":
        return h5ad.read_h5ad(content, layer, use_raw)
    refuse_h5ad_options(content.source, layer, use_raw)
    if content.kind == "text":
        return delimited_text.read_text(content, header)
    if content.kind == "xlsx":
        return excel_and_spss.read_excel(content, header)
    readers = {
        "npy": numpy_and_matlab.read_numpy,
        "npz": numpy_and_matlab.read_numpy,
        "mat": numpy_and_matlab.read_mat,
        "parquet": parquet_and_feather.read_frame,
        "feather": parquet_and_feather.read_frame,
        "sav": excel_and_spss.read_spss,
    }
    return readers[content.kind](content)


def refuse_h5ad_options(source: str, layer: str | None, use_raw: bool) -> None:
    """Refuse options for h5ad files where a file is none."""
    for parameter, given in (("layer", layer), ("use_raw", use_raw or None)):
        if given is not None:
            raise ParameterError(
                f"{parameter}={given!r}: only h5ad files have layers and raw values, and {source} "
                "is none; leave it out.",
                parameter,
            )
