"""Rows of numbers that are appended to a temporary file, and the array that is mapped from it."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.tables.table import TableError
from groupfs.utils.text import format_bytes, join_names
from groupfs.utils.types import FloatArray

#: Bytes of the file that are in memory at a time.
BLOCK_BYTES = 2**25
#: Means this many times the deviation leave too few digits in single precision; so does a number
#: beyond 2 ** 24, up to which it has every whole one.
FAR_FROM_ZERO, MOST_WHOLE = 1e3, 2.0**24


def needs_double(values: FloatArray) -> bool:
    """Tell whether single precision would take digits that tell rows apart."""
    known = np.isfinite(values)
    large = values[known & (np.abs(values) > MOST_WHOLE)]
    with np.errstate(over="ignore"):
        if (large.astype(np.float32) != large).any():
            return True
        counts = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, values, 0).sum(axis=0) / counts
        deviation = np.sqrt((np.where(known, values - mean, 0) ** 2).sum(axis=0) / counts)
    return bool(((deviation > 0) & (np.abs(mean) > FAR_FROM_ZERO * deviation)).any())


@dataclass
class NumberFile:
    """A table that is written part by part; gaps are filled at the end.

    It is of single precision until a part needs more.
    """

    path: Path
    names: list[str]
    dtype: Any = np.float32
    n_rows: int = 0
    sums: Any = 0.0
    counts: Any = 0

    def add(self, values: FloatArray) -> None:
        """Append rows; what is not finite is a gap."""
        if self.dtype == np.float32 and needs_double(values):
            self._widen()
        known = np.isfinite(values)
        self.sums = self.sums + np.where(known, values, 0).sum(axis=0)
        self.counts = self.counts + known.sum(axis=0)
        self.n_rows += len(values)
        with self._refuse_full(), self.path.open("ab") as file:
            file.write(np.where(known, values, np.nan).astype(self.dtype).tobytes())

    def map(self) -> Any:
        """Return the table, mapped from the file."""
        return np.memmap(self.path, dtype=self.dtype, mode="r", shape=self._shape)

    def fill_gaps(self) -> list[str]:
        """Fill gaps with the means of their columns, and say so."""
        n_gaps = self.n_rows - self.counts
        gappy = np.flatnonzero(n_gaps)
        if not len(gappy):
            return []
        means = self.sums / np.maximum(self.counts, 1)
        with self._refuse_full(), self.path.open("r+b") as file:
            for block in self._blocks():
                filled = np.where(np.isnan(block), means, block).astype(self.dtype)
                file.write(filled.tobytes())
        names = [f"{self.names[i]} ({n_gaps[i]})" for i in gappy]
        return [
            f"Filled gaps in {len(gappy)} column{'' if len(gappy) == 1 else 's'} with the column's "
            f"mean, as the table was read in parts (how many): {join_names(names, 12)}."
        ]

    def refuse_too_small_disk(self, source: str, n_rows: float) -> None:
        """Refuse to begin where the disk has no room for so many rows."""
        needed = n_rows * len(self.names) * np.dtype(self.dtype).itemsize
        free = shutil.disk_usage(self.path.parent).free
        if needed > free:
            raise TableError(
                f"{source} needs about {format_bytes(needed)} in the temporary folder "
                f"{self.path.parent.parent}, which has {format_bytes(free)} left; set TMPDIR to a "
                "folder with more room."
            )

    @property
    def _shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.names)

    def _blocks(self) -> Iterator[FloatArray]:
        """Read the rows from the beginning."""
        size = max(1, BLOCK_BYTES // (np.dtype(self.dtype).itemsize * len(self.names)))
        with self.path.open("rb") as file:
            for start in range(0, self.n_rows, size):
                n_values = min(size, self.n_rows - start) * len(self.names)
                block = np.fromfile(file, dtype=self.dtype, count=n_values)
                yield block.reshape(-1, len(self.names))

    def _widen(self) -> None:
        """Write the rows so far again, in double precision."""
        wide = self.path.with_name(f"{self.path.name}-double")
        with self._refuse_full(), wide.open("wb") as file:
            for block in self._blocks() if self.n_rows else ():
                file.write(block.astype(np.float64).tobytes())
        wide.replace(self.path)
        self.dtype = np.float64

    @contextlib.contextmanager
    def _refuse_full(self) -> Iterator[None]:
        """Name the temporary folder if it cannot be written to; the file that is read is sound."""
        try:
            yield
        except OSError as reason:
            raise TableError(
                f"The temporary folder {self.path.parent.parent} takes no more of the table "
                f"({reason.strerror or reason}); set TMPDIR to a folder with more room."
            ) from reason
