"""Text files too large for memory: read in parts into a file of numbers, which is mapped.

Such a table holds numbers alone. Kinds of columns are decided from its first rows; categories of
more than two values are left out, and gaps are filled with the means of their columns, since blocks
of a table are compared without knowing the rest.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from groupfs.data.memory_plan import memory_budget
from groupfs.tables.columns import Preparation, learn_columns, no_such_column
from groupfs.tables.decisions import Column, ColumnsError
from groupfs.tables.delimited_text import (
    find_encoding,
    find_layout,
    import_pandas,
    parse,
    parse_parts,
    refuse_unparsed,
)
from groupfs.tables.file_content import find_path, open_unpacked, source_name
from groupfs.tables.number_file import NumberFile, needs_double
from groupfs.tables.table import Table
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray

#: Bytes of memory that reading takes at its peak for each byte of text, and bytes of text in each
#: byte of a packed file.
PER_BYTE, PACKED = 4, 4
#: Rows and bytes that kinds are decided from, at most; bytes that are read at a time, at most.
FIRST_ROWS, FIRST_BYTES, PART_BYTES = 20_000, 2**25, 2**25
#: A part may take this share of the memory: pandas holds a few copies of it.
PART_SHARE = 1 / 24
#: Words of notes that count what the first rows hold.
COUNTED = ("Found gaps", "No column holds", "(how many)")


def is_too_large(path: str | Path, max_memory: Any = None) -> bool:
    """Tell whether a file is text that memory does not hold as a whole."""
    if str(path) == "-":
        return False
    found, kind, packed = find_path(path)
    n_bytes = found.stat().st_size * (PACKED if packed else 1)
    return kind == "text" and PER_BYTE * n_bytes > memory_budget(max_memory)


def map_text(
    path: str | Path,
    folder: str | Path,
    *,
    header: bool | None = None,
    max_memory: Any = None,
    aside: Mapping[str, str] | None = None,
    **columns: Any,
) -> tuple[Table, Preparation]:
    """Write the numbers of a text file into a folder, and return the table that is mapped from it.

    Parameters
    ----------
    path, header
        As of :func:`groupfs.tables.read_table`.
    folder : str or Path
        Where the numbers go; whoever made it removes it.
    max_memory : int, str or None
        As of :class:`groupfs.GroupFS`.
    aside : mapping of str to str, or None
        Columns to keep as row metadata, under what they were asked for with, such as ``--label``.
    **columns
        What :func:`groupfs.tables.columns.learn_columns` takes.
    """
    found, _, packed = find_path(path)
    source = source_name(found)
    with open_unpacked(found) as file:
        encoding = find_encoding([file.read(2**22)], source)
    with open_unpacked(found) as file:
        layout = find_layout(file, source, encoding, header)
    as_text = _types_aside(aside or {}, layout.names)
    with open_unpacked(found) as file, refuse_unparsed(layout):
        row_bytes = _bytes_of_a_row(file)
    n_first = int(min(FIRST_ROWS, max(100, FIRST_BYTES // row_bytes)))
    with open_unpacked(found) as file, refuse_unparsed(layout):
        first = parse(file, layout, nrows=n_first, dtype=as_text)
    learned = learn_columns(first.drop(columns=list(as_text)), **columns)
    preparation, notes = _numbers_alone(learned)
    if len(preparation.names) < 2:
        raise ColumnsError(
            f"{source} has {len(preparation.names)} usable column(s) left, and a choice needs at "
            f"least 2: {' '.join(notes)}"
        )
    numbers = NumberFile(Path(folder, "numbers"), preparation.names)
    if needs_double(_as_numbers(preparation, first)):
        numbers.dtype = np.float64
    if not packed:
        numbers.refuse_too_small_disk(source, found.stat().st_size / row_bytes)
    part = max(FIRST_BYTES // 64, min(PART_BYTES, int(memory_budget(max_memory) * PART_SHARE)))
    kept: dict[str, list[Any]] = {name: [] for name in as_text}
    with open_unpacked(found) as file, refuse_unparsed(layout):
        # all columns, as pandas would not see lines that are too long if it were asked for some
        for frame in parse_parts(file, layout, max(1, part // row_bytes), first, dtype=as_text):
            numbers.add(_as_numbers(preparation, frame))
            for name, parts in kept.items():
                parts.append(frame[name].astype("category"))
    notes = [
        f"{source} is too large to be held in memory at once, so it was read in parts: kinds of "
        f"columns are those of its first {len(first):,} rows.",
        *layout.notes,
        *notes,
        *numbers.fill_gaps(),
    ]
    metadata = {name: _unite(parts) for name, parts in kept.items()}
    table = Table(
        numbers.map(),
        preparation.names,
        source,
        row_metadata=import_pandas().DataFrame(metadata) if kept else None,
        named=layout.has_header,
        notes=notes,
    )
    return table, replace(preparation, notes=tuple(notes), header=header)


def _types_aside(aside: Mapping[str, str], names: list[str]) -> dict[str, type]:
    """Have columns that are set aside read as text: one word makes text of numbers beside it."""
    for option, name in aside.items():
        if name not in names:
            raise ColumnsError(f"{option} {name}: {no_such_column(name, names)}")
    return dict.fromkeys(aside.values(), str)


def _bytes_of_a_row(file: IO[bytes]) -> int:
    lines = [line for _, line in zip(range(50), file, strict=False)]
    return max(1, sum(map(len, lines)) // max(1, len(lines)))


def _numbers_alone(learned: Preparation) -> tuple[Preparation, list[str]]:
    """Leave out columns that are no numbers; return the notes that stay true of all rows."""
    columns: list[Column] = []
    left_out = []
    for column in learned.columns:
        is_number = column.kind in ("number", "answers")
        if is_number or column.kind == "ignored" or len(column.values) == 2:
            columns.append(column)
        else:
            columns.append(Column(column.name, "ignored", why="category"))
            left_out.append(column.name)
    notes = [note for note in learned.notes if not any(words in note for words in COUNTED)]
    if left_out:
        notes.append(
            f"Left out {len(left_out)} column{'' if len(left_out) == 1 else 's'} that "
            f"{'is' if len(left_out) == 1 else 'are'} no numbers, as a table read in parts holds "
            f"numbers alone: {join_names(left_out, 12)}."
        )
    return replace(learned, columns=tuple(columns)), notes


def _as_numbers(preparation: Preparation, frame: Any) -> FloatArray:
    """Return the columns that are used as one array; of two categories the second is 1."""
    prepared = preparation.apply(frame)[0]
    for name in prepared.columns[prepared.dtypes == "category"]:
        codes = prepared[name].cat.codes.to_numpy(dtype=np.float64)
        prepared[name] = np.where(codes < 0, np.nan, codes)
    numbers: FloatArray = prepared.to_numpy(dtype=np.float64)
    return numbers


def _unite(parts: list[Any]) -> Any:
    """Return the parts of a column of text as one, of numbers if it is numbers in all of them."""
    pd = import_pandas()
    whole = pd.api.types.union_categoricals(parts)
    values = whole.categories.to_numpy(dtype=object)
    with contextlib.suppress(ValueError):
        values = pd.to_numeric(values)
    return pd.api.extensions.take(values, whole.codes, allow_fill=True)
