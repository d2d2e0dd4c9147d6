"""Finding a file, unpacking it if it is packed, and telling its kind."""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from groupfs.tables.table import TableError
from groupfs.utils.text import join_names

#: Endings of names and the kind of file they stand for; every other ending is taken for text.
KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
    ".h5ad": "h5ad",
    ".xlsx": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
#: How packed files begin, and what unpacks them.
PACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lambda file: _Unxz(file),
}
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")
#: Files may unpack to this many times their size, and in any case to this many bytes.
MOST_TIMES, MOST_BYTES = 200, 2**30
#: What unpacking xz may take beside; its strongest preset takes an eighth.
XZ_MEMORY = 2**29


@dataclass(frozen=True)
class Content:
    """A file that is there: what to call it, its kind, and its bytes or where they are."""

    source: str
    kind: str
    path: Path | None = None  #: where it lies as it is; None if it was unpacked or piped
    data: bytes | None = None

    def bytes(self) -> bytes:
        return self.data if self.data is not None else _read_bytes(self._place())

    def size(self) -> int:
        return len(self.data) if self.data is not None else self._place().stat().st_size

    def open(self) -> IO[Any]:
        return io.BytesIO(self.data) if self.data is not None else self._place().open("rb")

    def file(self) -> str | io.BytesIO:
        """What a reader can open; files of many gigabytes are not read into memory twice."""
        return str(self.path) if self.data is None else io.BytesIO(self.data)

    def _place(self) -> Path:
        assert self.path is not None
        return self.path


def find_content(path: str | Path) -> Content:
    """The file, unpacked; ``-`` is csv from standard input."""
    if str(path) == "-":
        return _from_stdin()
    path = Path(path)
    _refuse_absent(path)
    kind = _kind(path.name)
    packed = path.suffix.lower() in PACKED_ENDINGS
    if kind != "text" and not packed:
        if path.is_file() and path.stat().st_size == 0:
            raise TableError(f"{path} is empty (0 bytes).")
        return Content(printable(path), kind, path=path)
    data = _read_bytes(path)
    if not data:
        raise TableError(f"{path} is empty (0 bytes).")
    return Content(printable(path), kind, data=unpacked(data, path))


def unpacked(data: bytes, path: Path) -> bytes:
    """The bytes of a packed file; others as they are."""
    try:
        if path.suffix.lower() == ".zip":
            return _only_member(data, path)
        for beginning, opened in PACKERS.items():
            if data.startswith(beginning):
                with opened(io.BytesIO(data)) as file:
                    return _all_of(file, len(data), path)
    except (TableError, MemoryError):
        raise
    except Exception as e:  # what is damaged may fail in any way
        raise TableError(f"{path} cannot be unpacked ({e}); it may be cut off.") from e
    return data


def refuse_bomb(archive: zipfile.ZipFile, packed: int, source: str) -> None:
    """Refuse an archive that was made to fill the memory, before anything in it is read."""
    if sum(member.file_size for member in archive.infolist()) > most_bytes(packed):
        raise TableError(_bomb(source, packed))


def refuse_larger(n_bytes: int, packed: int, source: str) -> None:
    """Refuse a table by the size that its file announces, before anything is set aside for it."""
    if n_bytes > most_bytes(packed):
        raise TableError(_bomb(source, packed))
    memory = _memory()
    if memory is not None and n_bytes > memory:
        raise TableError(
            f"{source} holds {n_bytes / 1e9:.1f} GB unpacked, but this machine has "
            f"{memory / 1e9:.1f} GB of memory; give it fewer rows or columns."
        )


def most_bytes(packed: int) -> int:
    """What a file of that size may unpack to."""
    return MOST_TIMES * packed + MOST_BYTES


@contextlib.contextmanager
def refusing(content: Content) -> Iterator[None]:
    """Turn whatever a library makes of a damaged file into one sentence."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as reason:  # what is damaged may fail in any way
        lines = str(reason).strip().splitlines() or [type(reason).__name__]
        raise TableError(
            f"{content.source} is broken or no {content.kind} file ({lines[0].rstrip('.')})."
        ) from reason


def printable(path: str | Path) -> str:
    """A path as text that every file and terminal takes, also if it is no Unicode."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _from_stdin() -> Content:
    data = sys.stdin.buffer.read()
    if not data:
        raise TableError(
            "Nothing came in on standard input; pipe a csv into it, e.g. "
            "groupfs select - < data.csv."
        )
    return Content("standard input", "text", data=unpacked(data, Path("standard input")))


def _kind(name: str) -> str:
    path = Path(name.lower())
    if path.suffix in PACKED_ENDINGS:
        path = path.with_suffix("")
    return KINDS.get(path.suffix, "text")


def _refuse_absent(path: Path) -> None:
    try:
        if path.is_dir():
            raise TableError(f"{path} is a folder; name the file in it.")
        if path.exists():
            return
        neighbours = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError as reason:
        raise TableError(f"{path} cannot be opened: {reason.strerror}.") from reason
    close = difflib.get_close_matches(path.name, neighbours, n=1)
    hint = f"; did you mean {path.parent / close[0]}?" if close else "; check the spelling."
    raise TableError(f"There is no file {path}{hint}")


def _memory() -> int | None:
    """Bytes of memory of this machine, where it can be asked."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not everywhere
        return None


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise TableError(f"{path} cannot be read: {reason.strerror}.") from reason


class _Unxz(io.RawIOBase):
    """Unpacks xz with a bound on the memory that the file may ask for, which Python's has not."""

    def __init__(self, file: IO[bytes]) -> None:
        self.data = file.read()
        self.engine = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def read(self, size: int = -1) -> bytes:
        while not self.engine.eof or self._has_more():
            piece = self.engine.decompress(self.data, size)
            self.data = b""
            if piece:
                return piece
            if not self.engine.eof:
                raise EOFError("it ends too early")
        return b""

    def _has_more(self) -> bool:
        """Files one after the other are one file."""
        self.data = self.engine.unused_data.lstrip(b"\0")
        if self.data:
            self.engine = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
        return bool(self.data)


def _all_of(file: IO[bytes], packed: int, path: Path) -> bytes:
    """Read piece by piece, since only reading tells how much there is."""
    unpacked = io.BytesIO()
    while piece := file.read(2**24):
        if unpacked.tell() + len(piece) > most_bytes(packed):
            raise TableError(_bomb(str(path), packed))
        unpacked.write(piece)
    return unpacked.getvalue()


def _bomb(source: str, packed: int) -> str:
    return (
        f"{source} has {packed} bytes but would unpack to more than {most_bytes(packed)}, so it "
        "was not unpacked; it may have been made to fill the memory."
    )


def _only_member(data: bytes, path: Path) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not name.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            raise TableError(
                f"{path} holds {len(members)} files ({join_names(members, 3) or 'none'}); unpack "
                "it "
                "and name the one you mean."
            )
        with archive.open(members[0]) as file:
            return _all_of(file, len(data), path)
