"""Read a table from a file of any format: one function for all of them."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from groupfs.files.delimited_text import read_text
from groupfs.files.file_content import Content, find_content
from groupfs.files.file_table import FileTable, TableError, refuse_duplicates
from groupfs.files.matrices import read_h5ad, read_mat, read_numpy
from groupfs.files.named_columns import read_excel, read_frame, read_spss
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import count, join_names

#: The extra of groupfs that brings what reads a format, where that is not "cli".
EXTRAS = {"xlsx": "excel", "sav": "spss", "h5ad": "anndata"}


def read_table(
    path: str | Path, *, header: bool | None = None, layer: str | None = None, use_raw: bool = False
) -> FileTable:
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

    Returns
    -------
    table : FileTable
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
    >>> from groupfs.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;sex\\n31;f\\n28;m\\n")
    ...     table = read_table(path)
    >>> table.names, table.values.shape
    (['age', 'sex'], (2, 2))
    """
    if layer is not None and use_raw:
        raise ParameterError("layer and use_raw are two choices; give one of them.", "layer")
    content = find_content(path)
    if content.format != "h5ad" and (layer is not None or use_raw):
        given = "use_raw=True" if use_raw else f"layer={layer!r}"
        raise ParameterError(
            f"{given}: only h5ad files have layers and raw values, and {content.source} is none; "
            "leave it out.",
            given.partition("=")[0],
        )
    readers: dict[str, Callable[..., FileTable]] = {"sav": read_spss, "mat": read_mat}
    readers |= {"parquet": read_frame, "feather": read_frame, "npy": read_numpy, "npz": read_numpy}
    readers |= {"text": read_text, "xlsx": read_excel, "h5ad": read_h5ad}
    asked = {"text": (header,), "xlsx": (header,), "h5ad": (layer, use_raw)}
    with refuse_broken(content), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages, on layouts and styles
        table = readers[content.format](content, *asked.get(content.format, ()))
    refuse_duplicates(table.names, table.source)
    if table.n_rows == 0:
        raise TableError(
            f"{table.source} has {count(len(table.names), 'column')} ({join_names(table.names)}) "
            "but not one row."
        )
    return table


@contextlib.contextmanager
def refuse_broken(content: Content) -> Iterator[None]:
    """Turn whatever a package raises at a damaged file into one sentence."""
    source = content.source
    try:
        yield
    except (TableError, ParameterError):
        raise
    except ImportError as reason:
        package, extra = str(reason.name).partition(".")[0], EXTRAS.get(content.format, "cli")
        raise ImportError(
            f'Reading {source} needs {package}; install it with pip install "groupfs[{extra}]".'
        ) from reason
    except MemoryError as reason:
        raise TableError(
            f"{source} needs more memory than there is; give it fewer rows or columns."
        ) from reason
    except Exception as reason:  # a damaged file may fail in any way
        why = (str(reason) or type(reason).__name__).strip().partition("\n")[0].rstrip(".")
        raise TableError(
            f"{source} is broken or no {content.format} file ({why}); open it in the program that "
            "wrote it and save it again, or as csv."
        ) from reason
