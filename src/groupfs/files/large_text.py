"""Read text too large for memory in parts into a file of numbers, which is mapped.

Such a table holds numbers alone. Kinds of columns are decided from its first part; categories of
more than two values are left out, and gaps are filled with the means of their columns, since blocks
of a table are compared without knowing the rest.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.data.memory import memory_budget
from groupfs.files import columns as kinds
from groupfs.files.delimited_text import find_layout, parse, refuse_unparsed
from groupfs.files.file_content import find_content
from groupfs.files.file_table import FileTable, TableError
from groupfs.utils.text import count, join_names
from groupfs.utils.types import FloatArray

#: Bytes of memory that reading takes at its peak per byte of text, and of text per packed byte.
PER_BYTE, PACKED = 4, 4
#: Most rows of a part that is read at a time, and most cells of one with more than 100 rows.
PART_ROWS, PART_CELLS = 20_000, 2**21
#: Words of notes that count what the first part holds.
COUNTED = ("Found gaps", "No column holds", "(how many)")


def is_too_large(path: str | Path, max_memory: Any = None) -> bool:
    """Tell whether a file is text that memory does not hold as a whole."""
    content = find_content(path)
    if content.path is None or content.format != "text":
        return False
    n_bytes = content.path.stat().st_size * (PACKED if content.is_packed else 1)
    return PER_BYTE * n_bytes > memory_budget(max_memory)


def map_text(
    path: str | Path,
    folder: str | Path,
    header: bool | None = None,
    aside: Mapping[str, Any] | None = None,
    *,
    part_rows: int = PART_ROWS,
    **columns: Any,
) -> FileTable:
    """Write the numbers of a text file into a folder, and return the table that is mapped from it.

    Whoever made the folder removes it. Columns set ``aside``, named under what they were asked for
    with, such as ``--label``, are kept as row metadata. ``columns`` are what
    :func:`groupfs.files.columns.decide_columns` takes.
    """
    import pandas as pd

    content, aside = find_content(path), aside or {}
    with content.open() as file:
        layout = find_layout(file, content.source, header, n_bytes=2**22)
    for option, name in aside.items():
        if name not in layout.names:
            unknown = f"{option} {name}: {kinds.no_such_column(name, layout.names)}"
            raise kinds.ColumnsError(unknown)
    as_text = dict.fromkeys(aside.values(), str)  # one word makes text of numbers beside it
    n_rows = min(part_rows, max(100, PART_CELLS // len(layout.names)))
    numbers, kept, n_first = Path(folder, "numbers"), [], 0
    with content.open() as file, refuse_unparsed(layout):
        # all columns, as pandas would not see lines that are too long if it were asked for some
        for part in parse(file, layout, n_rows, dtype=as_text):
            if not n_first:
                n_first = len(part)
                decided = kinds.decide_columns(part.drop(columns=list(as_text)), **columns)
                preparation = _numbers_alone(decided)
                kinds.refuse_few(preparation.names, content.source, preparation.notes)
                sums, counts = np.zeros((2, len(preparation.names)))
            values = _as_numbers(preparation.apply(part)[0])
            _append(numbers, values)
            sums += np.nansum(values, axis=0)
            counts += np.isfinite(values).sum(axis=0)
            kept.append(part[list(as_text)])
    names, metadata = preparation.names, pd.concat(kept, ignore_index=True)
    table = np.memmap(numbers, np.float64, "r+", shape=(len(metadata), len(names)))
    gaps = {name: n for name, n in zip(names, len(table) - counts.astype(int), strict=True) if n}
    notes = [
        f"{content.source} is too large to be held in memory at once, so it was read in parts: "
        f"kinds of columns are those of its first {n_first:,} rows.",
        *layout.notes,
        *preparation.notes,
    ]
    if gaps:
        for start in range(0, len(table), n_rows):
            block = table[start : start + n_rows]
            np.copyto(block, sums / np.maximum(counts, 1), where=np.isnan(block))
        filled = join_names([f"{name} ({n})" for name, n in gaps.items()], 12)
        notes.append(
            f"Filled gaps in {count(len(gaps), 'column')} with the column's mean, as the table was "
            f"read in parts (how many): {filled}."
        )
    for name in metadata:
        with suppress(ValueError):  # of a column that is not numbers alone
            metadata[name] = pd.to_numeric(metadata[name])
    preparation = replace(preparation, notes=(), header=header)  # the table says them
    row_metadata = metadata if as_text else None
    return FileTable(
        table, names, content.source, row_metadata, layout.has_header, notes, preparation
    )


def _numbers_alone(decided: kinds.Preparation) -> kinds.Preparation:
    """Leave out columns that are no numbers, and notes that are not true of all rows."""
    columns, left_out = list(decided.columns), []
    for place, column in enumerate(columns):
        if column.kind in ("category", "ordered") and len(column.values) != 2:
            columns[place] = kinds.Column(column.name, "ignored", why="category")
            left_out.append(column.name)
    notes = [note for note in decided.notes if not any(words in note for words in COUNTED)]
    if left_out:
        notes.append(
            f"Left out {count(len(left_out), 'column')} that "
            f"{'is' if len(left_out) == 1 else 'are'} no numbers, as a table read in parts holds "
            f"numbers alone: {join_names(left_out, 12)}."
        )
    return replace(decided, columns=tuple(columns), notes=tuple(notes))


def _as_numbers(prepared: Any) -> FloatArray:
    """Return columns as one array; of two categories the second is 1, NaN is what is not finite."""
    for name in prepared.select_dtypes("category"):
        prepared[name] = prepared[name].cat.codes.replace(-1, np.nan)
    numbers: FloatArray = prepared.to_numpy(dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _append(path: Path, values: FloatArray) -> None:
    """Append rows to a file of numbers; the file that is read is not to blame if it is full."""
    try:
        with path.open("ab") as file:
            file.write(values.tobytes())
    except OSError as reason:
        raise TableError(
            f"The temporary folder {path.parent.parent} takes no more of the table "
            f"({reason.strerror or reason}); set TMPDIR to a folder with more room."
        ) from reason
