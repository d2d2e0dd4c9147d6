"""Read text too large for memory in parts into a file of numbers, which is mapped.

Such a table holds numbers alone. Kinds of columns are decided from its first rows; categories of
more than two values are left out, and gaps are filled with the means of their columns, since blocks
of a table are compared without knowing the rest.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.data.memory import memory_budget
from groupfs.files.column_kinds import Column
from groupfs.files.column_values import ColumnsError
from groupfs.files.columns import Preparation, decide_columns, no_such_column
from groupfs.files.delimited_text import (
    find_encoding,
    find_layout,
    parse,
    parse_parts,
    refuse_unparsed,
)
from groupfs.files.file_content import find_path, open_unpacked, source_name
from groupfs.files.file_table import FileTable, TableError
from groupfs.utils.text import count, join_names
from groupfs.utils.types import FloatArray

#: Bytes of memory that reading takes at its peak for each byte of text, and bytes of text in each
#: byte of a packed file.
PER_BYTE, PACKED = 4, 4
#: Rows that kinds are decided from, at most, and bytes of a part that is read at a time.
FIRST_ROWS, PART_BYTES = 20_000, 2**25
#: A part may take this share of the memory: pandas holds a few copies of it.
PART_SHARE = 1 / 24
#: Words of notes that count what the first rows hold.
COUNTED = ("Found gaps", "No column holds", "(how many)")


def is_too_large(path: str | Path, max_memory: Any = None) -> bool:
    """Tell whether a file is text that memory does not hold as a whole."""
    if str(path) == "-":
        return False
    path, file_format, packed = find_path(path)
    n_bytes = path.stat().st_size * (PACKED if packed else 1)
    return file_format == "text" and PER_BYTE * n_bytes > memory_budget(max_memory)


def map_text(
    path: str | Path,
    folder: str | Path,
    *,
    header: bool | None = None,
    max_memory: Any = None,
    aside: Mapping[str, str] | None = None,
    part_bytes: int = PART_BYTES,
    **columns: Any,
) -> tuple[FileTable, Preparation]:
    """Write the numbers of a text file into a folder, and return the table that is mapped from it.

    Parameters
    ----------
    path, header
        As of :func:`groupfs.files.read_table`.
    folder : str or Path
        Where the numbers go; whoever made it removes it.
    max_memory : int, str or None
        As of :class:`groupfs.FeatureGroups`.
    aside : mapping of str to str, or None
        Columns to keep as row metadata, under what they were asked for with, such as ``--label``.
    part_bytes : int
        Bytes that are read at a time, at most.
    **columns
        What :func:`groupfs.files.columns.decide_columns` takes.
    """
    import pandas as pd

    path = find_path(path)[0]
    source = source_name(path)
    with open_unpacked(path) as file:
        encoding = find_encoding(file.read(2**22), source)
        file.seek(0)
        layout = find_layout(file, source, encoding, header)
        file.seek(0)
        row_bytes = max(1, int(np.mean([len(line) for line in islice(file, 50)])))
    as_text = _types_aside(aside or {}, layout.names)
    n_first = int(min(FIRST_ROWS, max(100, part_bytes // row_bytes)))
    with open_unpacked(path) as file, refuse_unparsed(layout):
        first = parse(file, layout, nrows=n_first, dtype=as_text)
    preparation, notes = _numbers_alone(
        decide_columns(first.drop(columns=list(as_text)), **columns)
    )
    names = preparation.names
    if len(names) < 2:
        raise ColumnsError(
            f"{source} has {len(names)} usable column(s) left, and a choice needs at "
            f"least 2: {' '.join(notes)}"
        )
    share = int(memory_budget(max_memory) * PART_SHARE)
    n_rows = max(1, max(part_bytes // 64, min(part_bytes, share)) // row_bytes)
    numbers, sums, counts = Path(folder, "numbers"), np.zeros(len(names)), np.zeros(len(names), int)
    total, kept = 0, []
    with open_unpacked(path) as file, refuse_unparsed(layout):
        # all columns, as pandas would not see lines that are too long if it were asked for some
        for frame in parse_parts(file, layout, n_rows, first, dtype=as_text):
            values = _as_numbers(preparation, frame)
            _append(numbers, values)
            sums += np.nansum(values, axis=0)
            counts += (~np.isnan(values)).sum(axis=0)
            total += len(values)
            kept.append(frame[list(as_text)])
    table = np.memmap(numbers, np.float64, "r+", shape=(total, len(names)))
    notes = [
        f"{source} is too large to be held in memory at once, so it was read in parts: kinds of "
        f"columns are those of its first {len(first):,} rows.",
        *layout.notes,
        *notes,
        *_fill_gaps(table, sums / np.maximum(counts, 1), total - counts, names, part_bytes),
    ]
    metadata = pd.concat(kept, ignore_index=True).apply(_plain) if as_text else None
    mapped = np.memmap(numbers, np.float64, "r", shape=table.shape)
    read = FileTable(mapped, names, source, metadata, layout.has_header, notes)
    return read, replace(preparation, notes=tuple(notes), header=header)


def _types_aside(aside: Mapping[str, str], names: list[str]) -> dict[str, type]:
    """Have columns that are set aside read as text: one word makes text of numbers beside it."""
    for option, name in aside.items():
        if name not in names:
            raise ColumnsError(f"{option} {name}: {no_such_column(name, names)}")
    return dict.fromkeys(aside.values(), str)


def _numbers_alone(decided: Preparation) -> tuple[Preparation, list[str]]:
    """Leave out columns that are no numbers; return the notes that stay true of all rows."""
    left_out = [
        column.name
        for column in decided.columns
        if column.kind in ("category", "ordered") and len(column.values) != 2
    ]
    columns = tuple(
        Column(column.name, "ignored", why="category") if column.name in left_out else column
        for column in decided.columns
    )
    notes = [note for note in decided.notes if not any(words in note for words in COUNTED)]
    if left_out:
        notes.append(
            f"Left out {count(len(left_out), 'column')} that "
            f"{'is' if len(left_out) == 1 else 'are'} no numbers, as a table read in parts holds "
            f"numbers alone: {join_names(left_out, 12)}."
        )
    return replace(decided, columns=columns), notes


def _as_numbers(preparation: Preparation, frame: Any) -> FloatArray:
    """Return the columns that are used as one array, NaN for what is not finite.

    Of two categories the second is 1.
    """
    prepared = preparation.apply(frame)[0]
    for name in prepared.columns[prepared.dtypes == "category"]:
        codes = prepared[name].cat.codes.to_numpy(dtype=np.float64)
        prepared[name] = np.where(codes < 0, np.nan, codes)
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


def _fill_gaps(
    table: Any, means: FloatArray, n_gaps: Any, names: list[str], part_bytes: int
) -> list[str]:
    """Fill gaps with the means of their columns, some rows at a time, and say so."""
    gappy = [f"{name} ({n})" for name, n in zip(names, n_gaps, strict=True) if n]
    if not gappy:
        return []
    size = max(1, part_bytes // (8 * len(names)))
    for start in range(0, len(table), size):
        block = table[start : start + size]
        np.copyto(block, means, where=np.isnan(block))
    return [
        f"Filled gaps in {count(len(gappy), 'column')} with the column's "
        f"mean, as the table was read in parts (how many): {join_names(gappy, 12)}."
    ]


def _plain(column: Any) -> Any:
    """Return a column of text as numbers if it is nothing else."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except ValueError:
        return column
