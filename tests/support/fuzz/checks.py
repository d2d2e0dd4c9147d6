"""What reading may come to: something sound, or a refusal in one sentence; all else is a finding.

Each function reads one file and raises what its room raises, or ``Unsound``.
"""

import numpy as np
import scipy.sparse as sp

#: Sentences longer than this are no clear refusal.
LONGEST_SENTENCE = 2000


class Unsound(Exception):
    """Something was accepted, or refused, in a way that does not keep what is promised."""


class Refused(Exception):
    """A command that ended with a code that says whose fault it was."""


def check_sentence(refusal):
    sentence, cause = str(refusal), refusal
    if not sentence.isprintable() or not sentence.rstrip().endswith((".", "?")):
        raise Unsound(f"no clear sentence: {sentence[:300]!r}") from refusal
    if len(sentence) > LONGEST_SENTENCE:
        raise Unsound(f"a sentence of {len(sentence)} letters") from refusal
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise Unsound("refused for want of memory only") from refusal
        cause = cause.__cause__ or cause.__context__


def table(path):
    from groupfs.tables import read_table

    table = read_table(path)
    names, values = table.names, table.values
    if not all(type(name) is str for name in names) or len(set(names)) != len(names):
        raise Unsound(f"names {names[:5]}")
    if not (values.ndim == 2 and values.shape[1] == len(names) > 0 < values.shape[0]):
        raise Unsound(f"shape {values.shape} of {len(names)} names")
    if table.beside is not None and len(table.beside) != values.shape[0]:
        raise Unsound(f"{len(table.beside)} rows beside {values.shape[0]}")
    if sp.issparse(values):
        values.check_format(full_check=True)
        if values.format != "csr" or values.dtype.kind not in "biuf":
            raise Unsound(f"{values.format} of {values.dtype}")
        values.sum(axis=0)
    else:
        _check_frame(values, names, path)


def _check_frame(values, names, path):
    from groupfs.tables.columns import ColumnsError, learn_columns

    if list(values.columns) != names:
        raise Unsound(f"columns {list(values.columns)[:5]} are not {names[:5]}")
    nested = path.suffix in (".parquet", ".feather", ".arrow")
    for name in names[:50] if not nested else ():
        column = values[name]
        if column.dtype.kind not in "biuf" and not _is_text(column):
            raise Unsound(f"a column of {column.dtype}: {column.head(3).tolist()!r}")
    if values.size <= 10_000:
        try:
            preparation = learn_columns(values)
            preparation.apply(values)
        except ColumnsError:
            return


def _is_text(column):
    """Text, with gaps or among numbers as csv files have it."""
    return column.dtype == object and all(
        isinstance(value, str | int | float | np.number) or value is None for value in column
    )


def model(path):
    from groupfs import persistence

    selector, preparation = persistence.load_model(path)
    support = selector.get_support()
    if support.dtype != bool or support.shape != (selector.n_features_in_,):
        raise Unsound(f"a support of {support.dtype} {support.shape}")
    if preparation is not None and not all(type(name) is str for name in preparation.names):
        raise Unsound(f"names {preparation.names[:5]}")
    selected = selector.transform(np.zeros((2, selector.n_features_in_)))
    if selected.shape != (2, support.sum()):
        raise Unsound(f"{selected.shape} of {support.sum()} features")
    repr(selector)


def result(path):
    from groupfs.cli import report
    from groupfs.report import read

    read(path)
    if len(path.read_bytes()) % 3 == 0:  # drawing the page takes far longer than reading
        writing = report.write_file
        report.write_file = lambda out, write: None
        try:
            report.write_report(path, path.with_name("page.html"), True)
        finally:
            report.write_file = writing


def with_reader(reader, *arguments):
    def read(path):
        from groupfs.datasets import readers
        from groupfs.datasets.published_files import Content

        content = Content(path.name, path.read_bytes(), "")
        found = getattr(readers, reader)(content, *arguments)
        if reader == "read_csv":
            found = readers.read_numbers(content, found[1:])
        values = found[0] if isinstance(found, tuple) else found
        finite = isinstance(values, np.ndarray) and values.dtype.kind in "biuf"
        if not finite or not np.isfinite(values).all():
            raise Unsound(f"values {type(values)} {getattr(values, 'dtype', '')}")

    return read


def options(path):
    from tests.support.fuzz.commands import run_command

    run_command(path)
