"""Find a file, tell its kind by its name, and decompress it if it is compressed."""

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

import psutil

from groupfs.tables.table import TableError
from groupfs.utils.text import format_bytes, join_names

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
#: First bytes of compressed files, and what decompresses them.
DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")
#: Bytes that are decompressed at a time.
CHUNK = 2**24


@dataclass(frozen=True)
class Content:
    """A file that exists: what to call it, its kind, and its bytes or where they are."""

    source: str
    kind: str
    path: Path | None = None  #: of a file to be read as it is; None if it was decompressed or piped
    data: bytes = b""  #: of a file without a path
    max_bytes: int = sys.maxsize  #: that its table may take

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path else len(self.data)

    def open(self) -> IO[bytes]:
        return self.path.open("rb") if self.path else io.BytesIO(self.data)


def find_content(path: str | Path, max_bytes: int | None = None) -> Content:
    """Find a file and decompress it if it is compressed; ``-`` is csv from standard input.

    Parameters
    ----------
    path : str or Path
    max_bytes : int or None, default=None
        Bytes that it may decompress to; None takes what is free.
    """
    max_bytes = psutil.virtual_memory().available if max_bytes is None else max_bytes
    if str(path) == "-":
        return Content("standard input", "text", data=_from_stdin(max_bytes), max_bytes=max_bytes)
    path = Path(path)
    _refuse_absent(path)
    compressed = path.suffix.lower() in COMPRESSED_ENDINGS
    kind = KINDS.get(Path(path.stem if compressed else path.name).suffix.lower(), "text")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty (0 bytes).")
    if kind != "text" and not compressed:
        return Content(printable(path), kind, path=path, max_bytes=max_bytes)
    try:
        data = path.read_bytes()
    except OSError as reason:
        raise TableError(f"{path} cannot be read: {reason.strerror}.") from reason
    data = _decompressed(data, path, max_bytes)
    return Content(printable(path), kind, data=data, max_bytes=max_bytes)


def beyond_memory(max_bytes: int, source: str) -> TableError:
    """Return the error that says of a file that it needs more memory than it may take."""
    return TableError(
        f"{source} would need more than {format_bytes(max_bytes)} of memory, which is all that it "
        "may take; give it fewer rows or columns."
    )


@contextlib.contextmanager
def refuse_broken(content: Content) -> Iterator[None]:
    """Turn whatever a library raises at a damaged file into one sentence."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as reason:  # a damaged file may fail in any way
        raise broken(content, str(reason) or type(reason).__name__) from reason


def broken(content: Content, reason: str) -> TableError:
    """Return the error that says of a damaged file what its reader said."""
    first_line = reason.strip().partition("\n")[0].rstrip(".")
    return TableError(f"{content.source} is broken or no {content.kind} file ({first_line}).")


def printable(path: str | Path) -> str:
    """Return a path as text that every file and terminal takes, also if it is no Unicode."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _from_stdin(max_bytes: int) -> bytes:
    data = sys.stdin.buffer.read()
    if not data:
        raise TableError(
            "Nothing came in on standard input; pipe a csv into it, e.g. "
            "groupfs select - < data.csv."
        )
    return _decompressed(data, Path("standard input"), max_bytes)


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


def _decompressed(data: bytes, path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a compressed file; those of others as they are."""
    try:
        if path.suffix.lower() == ".zip":
            archive = zipfile.ZipFile(io.BytesIO(data))
            with archive.open(_only_member(archive, path)) as file:
                return _read_all(file, path, max_bytes)
        for beginning, decompressor in DECOMPRESSORS.items():
            if data.startswith(beginning):
                with decompressor(io.BytesIO(data)) as file:
                    return _read_all(file, path, max_bytes)
    except (TableError, MemoryError):
        raise
    except Exception as reason:  # a damaged file may fail in any way
        raise TableError(f"{path} cannot be unpacked ({reason}); it may be cut off.") from reason
    return data


def _read_all(file: IO[bytes], path: Path, max_bytes: int) -> bytes:
    """Read in chunks, since only reading tells how much there is."""
    whole = io.BytesIO()
    while chunk := file.read(CHUNK):
        whole.write(chunk)
        if whole.tell() > max_bytes:
            raise beyond_memory(max_bytes, str(path))
    return whole.getvalue()


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    members = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise TableError(
            f"{path} holds {len(members)} files ({join_names(members, 3) or 'none'}); unpack it "
            "and name the one you mean."
        )
    return members[0]
