"""Text files too large for memory: read in parts into a file of numbers, which is mapped.

Such a table holds numbers alone. Kinds of columns are decided from its first rows; categories of
more than two values are left out, and gaps are filled with the means of their columns, since blocks
of a table are compared without knowing the rest.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from groupfs.data.memory_plan import memory_budget
from groupfs.tables.columns import Preparation, learn_columns
from groupfs.tables.decisions import Column, ColumnsError
from groupfs.tables.delimited_text import (
    find_encoding,
    find_layout,
    import_pandas,
    parse,
    refuse_unparsed,
)
from groupfs.tables.file_content import find_path, open_unpacked, source_name
from groupfs.tables.table import Table, TableError
from groupfs.utils.text import format_bytes, join_names

#: Bytes of memory that reading takes at its peak for each byte of text, and bytes of text in each
#: byte of a packed file.
PER_BYTE, PACKED = 4, 4
#: Rows and bytes that kinds are decided from, at most; bytes that are read at a time, at most.
FIRST_ROWS, FIRST_BYTES, PART_BYTES = 20_000, 2**25, 2**25
#: A part may take this share of the memory: pandas holds a few copies of it.
PART_SHARE = 1 / 24
#: Means this many times the deviation leave too few digits in single precision.
FAR_FROM_ZERO = 1e3


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
    aside: Sequence[str] = (),
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
    aside : sequence of str
        Columns to keep as row metadata, such as labels.
    **columns
        What :func:`groupfs.tables.columns.learn_columns` takes.
    """
    found, _, packed = find_path(path)
    source = source_name(found)
    with open_unpacked(found) as file:
        encoding = find_encoding([file.read(2**22)], source)
    with open_unpacked(found) as file:
        layout = find_layout(file, source, encoding, header)
    with open_unpacked(found) as file, refuse_unparsed(layout):
        row_bytes = _bytes_of_a_row(file)
    n_first = int(min(FIRST_ROWS, max(100, FIRST_BYTES // row_bytes)))
    with open_unpacked(found) as file, refuse_unparsed(layout):
        first = parse(file, layout, nrows=n_first)
    aside = [name for name in aside if name in layout.names]
    learned = learn_columns(first.drop(columns=aside), **columns)
    preparation, notes = _numbers_alone(learned)
    if len(preparation.names) < 2:
        raise ColumnsError(
            f"{source} has {len(preparation.names)} usable column(s) left, and a choice needs at "
            f"least 2: {' '.join(notes)}"
        )
    writer = _Writer(Path(folder, "numbers"), preparation, _precision(preparation, first), aside)
    if not packed:
        _refuse_full_disk(found, row_bytes, writer)
    part = max(FIRST_BYTES // 64, min(PART_BYTES, int(memory_budget(max_memory) * PART_SHARE)))
    with open_unpacked(found) as file, refuse_unparsed(layout):
        # all columns, as pandas would not see lines that are too long if it were asked for some
        for frame in parse(file, layout, chunksize=max(1, part // row_bytes)):
            writer.add(frame)
    notes = [
        f"{source} is too large to be held in memory at once, so it was read in parts: kinds of "
        f"columns are those of its first {len(first):,} rows.",
        *layout.notes,
        *notes,
        *writer.fill_gaps(),
    ]
    table = Table(
        writer.map(),
        preparation.names,
        source,
        row_metadata=writer.row_metadata(),
        named=layout.has_header,
        notes=notes,
    )
    return table, replace(preparation, notes=tuple(notes), header=header)


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
    notes = [note for note in learned.notes if not note.startswith("Found gaps")]
    if left_out:
        notes.append(
            f"Left out {len(left_out)} column{'' if len(left_out) == 1 else 's'} that "
            f"{'is' if len(left_out) == 1 else 'are'} no numbers, as a table read in parts holds "
            f"numbers alone: {join_names(left_out, 12)}."
        )
    return replace(learned, columns=tuple(columns)), notes


def _precision(preparation: Preparation, first: Any) -> Any:
    """Choose double precision where some column is far from zero for its spread."""
    frame = _as_numbers(preparation, first)[0]
    mean, deviation = np.nanmean(frame, axis=0), np.nanstd(frame, axis=0)
    far = (deviation > 0) & (np.abs(mean) > FAR_FROM_ZERO * deviation)
    return np.float64 if far.any() else np.float32


def _as_numbers(preparation: Preparation, frame: Any) -> tuple[Any, list[str]]:
    """Return the columns that are used as one array; of two categories the second is 1."""
    prepared, notes = preparation.apply(frame)
    for name in prepared.columns[prepared.dtypes == "category"]:
        codes = prepared[name].cat.codes.to_numpy(dtype=np.float64)
        prepared[name] = np.where(codes < 0, np.nan, codes)
    return prepared.to_numpy(dtype=np.float64), notes


@dataclass
class _Writer:
    """Rows of numbers appended to a file, and what is to be known of them afterwards."""

    path: Path
    preparation: Preparation
    dtype: Any
    aside: Sequence[str]
    n_rows: int = 0
    sums: Any = 0.0
    counts: Any = 0
    kept: list[Any] = field(default_factory=list)

    def add(self, frame: Any) -> None:
        values = _as_numbers(self.preparation, frame)[0]
        known = np.isfinite(values)
        self.sums = self.sums + np.where(known, values, 0).sum(axis=0)
        self.counts = self.counts + known.sum(axis=0)
        self.n_rows += len(values)
        self.kept.append(frame[list(self.aside)].astype("category") if self.aside else None)
        with self.path.open("ab") as file:
            np.where(known, values, np.nan).astype(self.dtype).tofile(file)

    def map(self, mode: Any = "r") -> Any:
        shape = (self.n_rows, len(self.preparation.names))
        return np.memmap(self.path, dtype=self.dtype, mode=mode, shape=shape)

    def fill_gaps(self) -> list[str]:
        """Fill gaps with the means of their columns, and say so."""
        n_gaps = self.n_rows - self.counts
        gappy = np.flatnonzero(n_gaps)
        if not len(gappy):
            return []
        means = self.sums / np.maximum(self.counts, 1)
        row_bytes = np.dtype(self.dtype).itemsize * len(self.preparation.names)
        size = max(1, PART_BYTES // row_bytes)
        with self.path.open("r+b") as file:
            for start in range(0, self.n_rows, size):
                file.seek(start * row_bytes)
                n_values = min(size, self.n_rows - start) * len(self.preparation.names)
                block = np.fromfile(file, dtype=self.dtype, count=n_values)
                block = block.reshape(-1, len(self.preparation.names))
                block = np.where(np.isnan(block), means, block).astype(self.dtype)
                file.seek(start * row_bytes)
                block.tofile(file)
        names = [f"{self.preparation.names[i]} ({n_gaps[i]})" for i in gappy]
        return [
            f"Filled gaps in {len(gappy)} column{'' if len(gappy) == 1 else 's'} with the column's "
            f"mean, as the table was read in parts (how many): {join_names(names, 12)}."
        ]

    def row_metadata(self) -> Any:
        """Return the columns set aside, as they were in the file."""
        if not self.aside:
            return None
        pd = import_pandas()
        columns = {}
        for name in self.aside:
            parts = [part[name].astype(part[name].cat.categories.dtype) for part in self.kept]
            columns[name] = pd.concat(parts, ignore_index=True)
        return pd.DataFrame(columns)


def _refuse_full_disk(path: Path, row_bytes: int, writer: _Writer) -> None:
    n_rows = path.stat().st_size / row_bytes
    needed = n_rows * len(writer.preparation.names) * np.dtype(writer.dtype).itemsize
    free = shutil.disk_usage(writer.path.parent).free
    if needed > free:
        raise TableError(
            f"{path} needs about {format_bytes(needed)} in the temporary folder "
            f"{writer.path.parent.parent}, which has {format_bytes(free)} left; set TMPDIR to a "
            "folder with more room."
        )
