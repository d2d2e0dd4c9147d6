"""What a feather file announces, read from its own list of contents before Arrow unpacks it.

The list is a flatbuffer: tables of places at which fields stand, if they are there at all.
"""

from __future__ import annotations

import struct
from typing import IO, Any

MAGIC = b"ARROW1"
#: Kinds of messages.
WORDS, ROWS = 2, 3


def announced_bytes(file: IO[bytes], size: int) -> int:
    """Bytes that the columns of a feather file take once they are unpacked.

    Parameters
    ----------
    file : binary file
    size : int
        Its bytes.

    Raises
    ------
    ValueError
        If it is no feather file; ``struct.error`` if it is damaged.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from groupfs.tables.arrow import announced_bytes
    >>> file = io.BytesIO()
    >>> pd.DataFrame({"a": [0.0] * 1000}).to_feather(file, compression="zstd")
    >>> len(file.getvalue()) < 2000, announced_bytes(file, len(file.getvalue()))
    (True, 8000)
    """
    file.seek(0)
    if file.read(6) != MAGIC:
        raise ValueError("it does not begin as one of version 2")
    file.seek(max(0, size - 10))
    (length,) = struct.unpack("<i", file.read(4))
    contents = _root(_read(file, size - 10 - length, length, size))
    blocks = [
        block
        for place in (2, 3)
        for block in contents.structs(place, "<qi4xq")  # words of categories, then rows
    ]
    return sum(_unpacked(file, start, length, size) for start, length, _ in blocks)


def _unpacked(file: IO[bytes], start: int, length: int, size: int) -> int:
    """Bytes of one block of rows: what its buffers unpack to, or what its values take at least."""
    data = _read(file, start, length, size)
    # older files have no mark before the length
    skipped = 8 if data[:4] == b"\xff\xff\xff\xff" else 4
    message = _root(data[skipped:])
    kind = message.number(1, "<B")
    rows = message.table(2)
    if kind == WORDS:
        rows = rows and rows.table(1)
    if kind not in (WORDS, ROWS) or rows is None:
        raise ValueError("a block of something else than rows")
    n_values = sum(max(0, n) for n, _ in rows.structs(1, "<qq"))
    if rows.table(3) is None:  # not packed
        return 8 * n_values
    n_bytes = 0
    for place, taken in rows.structs(2, "<qq"):
        if taken:
            unpacked = struct.unpack("<q", _read(file, start + length + place, 8, size))[0]
            n_bytes += taken if unpacked == -1 else abs(unpacked)
    return max(n_bytes, 8 * n_values)


def _read(file: IO[bytes], start: int, length: int, size: int) -> bytes:
    if not 0 <= start <= start + length <= size:
        raise ValueError("it is cut off")
    file.seek(start)
    return file.read(length)


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, place: int) -> None:
        self.data, self.place = data, place
        self.fields = place - self._unpack("<i", place)
        self.n_fields = (self._unpack("<H", self.fields) - 4) // 2

    def number(self, field: int, kind: str) -> int:
        place = self._field(field)
        return 0 if place is None else self._unpack(kind, place)

    def table(self, field: int) -> _Table | None:
        place = self._field(field)
        return None if place is None else _Table(self.data, place + self._unpack("<I", place))

    def structs(self, field: int, kind: str) -> list[Any]:
        """The records of a list."""
        place = self._field(field)
        if place is None:
            return []
        start = place + self._unpack("<I", place)
        step = struct.calcsize(kind)
        stop = start + 4 + step * self._unpack("<I", start)
        if stop > len(self.data):
            raise ValueError("it is cut off")
        return list(struct.iter_unpack(kind, self.data[start + 4 : stop]))

    def _field(self, field: int) -> int | None:
        if field >= self.n_fields:
            return None
        offset = self._unpack("<H", self.fields + 4 + 2 * field)
        return self.place + offset if offset else None

    def _unpack(self, kind: str, place: int) -> int:
        if place < 0:
            raise ValueError("it is damaged")
        return int(struct.unpack_from(kind, self.data, place)[0])


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data)[0])
