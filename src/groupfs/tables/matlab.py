"""A look over a Matlab file before it is read: every part in its place, none larger than the file.

scipy takes lengths, dimensions and types for true: it sets memory aside for what a few bytes ask
for, and ends the whole process at some wrong types. Here only these are read; values are skipped.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import IO, Protocol

INT8, INT32, UINT32, MATRIX, COMPRESSED, UTF8 = 1, 5, 6, 14, 15, 16
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13)
LETTERS = (1, 2, 4, 16, 17, 18)
WORDS = (INT8, UTF8)
#: Numbers that tell what a variable is.
CELL, STRUCT, OBJECT, CHAR, SPARSE, FUNCTION, OPAQUE = 1, 2, 3, 4, 5, 16, 17
COMPLEX = 0x800
#: Cells in cells in cells; beyond it the reader's own stack would overflow.
DEEPEST = 30
#: Bytes that are unpacked at once.
PIECE = 2**20
#: Bytes per number of the older format, by the digit that tells the type.
OLDER_SIZES = (8, 4, 4, 2, 2, 1)


def check_mat(file: IO[bytes], size: int, most: int) -> None:
    """Refuse a file with lengths that are not true, or one that unpacks to too much.

    Parameters
    ----------
    file : binary file
        At its beginning; files of Matlab 7.3 are not looked at.
    size : int
        Its bytes.
    most : int
        Bytes that it may unpack to.

    Raises
    ------
    ValueError
        With what is wrong, as the end of a sentence.

    Examples
    --------
    >>> import io
    >>> from groupfs.tables.matlab import check_mat
    >>> check_mat(io.BytesIO(bytes(20) + b"cut"), 23, 10**6)
    Traceback (most recent call last):
        ...
    ValueError: a variable without a name
    """
    head = file.read(128)
    if len(head) < 20:
        raise ValueError("it is cut off")
    if 0 in head[:4]:  # the older format has no header of its own
        file.seek(0)
        _check_older(file, size)
        return
    if len(head) < 128:
        raise ValueError("it is cut off")
    order = ">" if head[126:128] == b"MI" else "<"
    if head[125 if order == "<" else 124] != 1:  # 7.3 is another format, and has its own refusal
        return
    plain = _Plain(file, size - 128)
    unpacked = 0
    while plain.left >= 8:
        kind, length = struct.unpack(f"{order}II", plain.read(8))
        if length > plain.left:
            raise ValueError("it is cut off")
        if kind == COMPRESSED:
            packed = _Packed(file, length, most - unpacked)
            inner_kind, inner = struct.unpack(f"{order}II", packed.read(8))
            _check_variable(packed, inner_kind, inner, order)
            unpacked += packed.unpacked
            plain.left -= length
            file.seek(size - plain.left)
        else:
            _check_variable(plain, kind, length, order)


class _Bytes(Protocol):
    def read(self, n: int) -> bytes: ...

    def skip(self, n: int) -> None: ...


class _Plain:
    """Bytes of a file, skipped where nobody looks at them."""

    def __init__(self, file: IO[bytes], left: int) -> None:
        self.file, self.left = file, left

    def read(self, n: int) -> bytes:
        if n > self.left:
            raise ValueError("it is cut off")
        self.left -= n
        return self.file.read(n)

    def skip(self, n: int) -> None:
        if n > self.left:
            raise ValueError("it is cut off")
        self.left -= n
        self.file.seek(n, 1)


class _Packed:
    """Bytes of a packed variable; no more than a piece of them is ever there at once."""

    def __init__(self, file: IO[bytes], packed: int, most: int) -> None:
        self.file, self.packed, self.most = file, packed, most
        self.unpacked = 0
        self.waiting = b""
        self.engine = zlib.decompressobj()

    def read(self, n: int) -> bytes:
        while len(self.waiting) < n:
            self.waiting += self._next_piece()
        found, self.waiting = self.waiting[:n], self.waiting[n:]
        return found

    def skip(self, n: int) -> None:
        while len(self.waiting) < n:
            n -= len(self.waiting)
            self.waiting = self._next_piece()
        self.waiting = self.waiting[n:]

    def _next_piece(self) -> bytes:
        data = self.engine.unconsumed_tail
        if not data:
            data = self.file.read(min(PIECE, self.packed))
            self.packed -= len(data)
        piece = self.engine.decompress(data, PIECE)
        self.unpacked += len(piece)
        if self.unpacked > self.most:
            raise ValueError("it unpacks to more than a file of its size may")
        if not piece and (self.engine.eof or not data):
            raise ValueError("it is cut off")
        return piece


def _check_variable(stream: _Bytes, kind: int, length: int, order: str, depth: int = 0) -> None:
    """Walk over the parts of a variable, those of its cells and fields too."""
    if kind != MATRIX:
        raise ValueError("something else in place of a variable")
    if depth > DEEPEST:
        raise ValueError(f"its cells are nested more than {DEEPEST} deep")
    if length == 0 and depth:  # an empty cell
        return
    parts = _Parts(stream, length, order)
    flags = parts.integers((UINT32,))
    if len(flags) != 2:
        raise ValueError("a variable without a type")
    what = flags[0] & 255
    if what == OPAQUE:
        for _ in range(3):
            parts.next(WORDS)
        n_inside = 1
    else:
        n_values = _n_values(parts.integers((INT32,)), length, what)
        parts.next(WORDS)
        n_inside = _rest_of_head(parts, what, n_values, bool(flags[0] & COMPLEX))
    for _ in range(n_inside):
        _check_variable(stream, MATRIX, parts.next((MATRIX,)), order, depth + 1)


def _n_values(dimensions: tuple[int, ...], length: int, what: int) -> int:
    n_values = math.prod(dimensions)
    if len(dimensions) < 2 or min(dimensions) < 0 or (n_values > length and what != SPARSE):
        raise ValueError(f"a variable of dimensions {dimensions[:5]} in {length} bytes")
    return n_values


def _rest_of_head(parts: _Parts, what: int, n_values: int, is_complex: bool) -> int:
    """Pass what comes before the variables inside a variable, and tell how many these are."""
    if what in (STRUCT, OBJECT):
        if what == OBJECT:
            parts.next(WORDS)
        widths = parts.integers((INT32,))
        names = parts.next(WORDS)
        if len(widths) != 1 or widths[0] <= 0:
            raise ValueError("fields without names")
        return n_values * (names // widths[0])
    if what in (CELL, FUNCTION):
        return n_values if what == CELL else 1
    if what == CHAR:
        parts.next(LETTERS)
        return 0
    if not SPARSE <= what < FUNCTION:
        raise ValueError(f"a variable of type {what}")
    for _ in range((3 if what == SPARSE else 1) + is_complex):
        parts.next(NUMBERS)
    return 0


class _Parts:
    """The parts of one variable, one after the other."""

    def __init__(self, stream: _Bytes, left: int, order: str) -> None:
        self.stream, self.left, self.order = stream, left, order

    def next(self, kinds: tuple[int, ...]) -> int:
        """The length of the next part, which is of one of these kinds; values are skipped."""
        size, _, used = self._start(kinds)
        self.stream.skip(used)
        return size

    def integers(self, kinds: tuple[int, ...]) -> tuple[int, ...]:
        """The values of the next part, which are few."""
        size, small, used = self._start(kinds)
        if size > 256 or size % 4:
            raise ValueError("a part with a wrong length")
        values = small or self.stream.read(used)[:size]
        return struct.unpack(f"{self.order}{size // 4}i", values)

    def _start(self, kinds: tuple[int, ...]) -> tuple[int, bytes, int]:
        """Length, values if they stand in the tag itself, and bytes that follow."""
        if self.left < 8:
            raise ValueError("it is cut off")
        tag = self.stream.read(8)
        kind, size = struct.unpack(f"{self.order}II", tag)
        is_small = bool(kind >> 16)
        if is_small:
            kind, size = kind & 0xFFFF, kind >> 16
        if kind not in kinds or (is_small and size > 4):
            raise ValueError("a part of a wrong type or length")
        self.left -= 8
        if is_small:
            return size, tag[4 : 4 + size], 0
        if size > self.left:
            raise ValueError("it is cut off")
        used = size if kind == MATRIX else min(self.left, size + -size % 8)
        self.left -= used
        return size, b"", 0 if kind == MATRIX else used


def _check_older(file: IO[bytes], size: int) -> None:
    """Matrices one after the other: five numbers, a name, and the values."""
    order = "<"
    while (place := file.tell()) < size:
        head = file.read(20)
        if len(head) < 20:
            raise ValueError("it is cut off")
        if place == 0:  # the type is below 10,000 if its bytes are in the right order
            order = "<" if 0 <= struct.unpack("<i", head[:4])[0] <= 5000 else ">"
        kind, rows, columns, imaginary, name = struct.unpack(f"{order}5i", head)
        number = kind // 10 % 10
        if min(kind, rows, columns) < 0 or number >= len(OLDER_SIZES):
            raise ValueError("a variable without a type or dimensions")
        if name <= 0:
            raise ValueError("a variable without a name")
        values = rows * columns * OLDER_SIZES[number] * (2 if imaginary == 1 else 1)
        if name + values > size - file.tell():
            raise ValueError("it is cut off")
        file.seek(name + values, 1)
