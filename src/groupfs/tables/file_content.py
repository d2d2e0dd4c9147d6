"""Find a file, tell its kind by its name, and decompress it if it is compressed."""

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from groupfs.data.memory_plan import memory_budget
from groupfs.tables.foreign_files import refuse_foreign
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
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".sav": "sav",
    ".zsav": "sav",
}
#: First bytes of compressed files, and what decompresses them.
DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


@dataclass(frozen=True)
class Content:
    """A file that exists: what to call it, its kind, and its bytes or where they are."""

    source: str
    kind: str
    path: Path | None = None  #: of a file to be read as it is; None if it was decompressed or piped
    data: bytes = b""  #: of a file without a path
    max_bytes: int = sys.maxsize  #: that its table may take
    max_seconds: float | None = None  #: that a parser may take

    def open(self) -> IO[bytes]:
        return self.path.open("rb") if self.path else io.BytesIO(self.data)


def find_content(
    path: str | Path, max_bytes: int | None = None, max_seconds: float | None = None
) -> Content:
    """Find a file and decompress it if it is compressed; parameters as of ``read_table``."""
    max_bytes = memory_budget(None) if max_bytes is None else max_bytes
    if str(path) == "-":
        source, kind, data = "standard input", "text", sys.stdin.buffer.read()
        if not data:
            raise TableError(
                "Nothing came in on standard input; pipe a csv into it, e.g. "
                "groupfs select - < data.csv."
            )
        return Content(source, kind, None, _decompressed(data, source, max_bytes), max_bytes)
    path, kind, compressed = find_path(path)
    source = source_name(path)
    if kind != "text" and not compressed:
        return Content(source, kind, path, b"", max_bytes, max_seconds)
    try:
        data = path.read_bytes()
    except OSError as reason:
        raise TableError(f"{path} cannot be read: {reason.strerror}.") from reason
    return Content(
        source, kind, None, _decompressed(data, source, max_bytes), max_bytes, max_seconds
    )


def find_path(path: str | Path) -> tuple[Path, str, bool]:
    """Find a file, its kind by its name, and whether it is compressed."""
    path = Path(path)
    _refuse_absent(path)
    compressed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zip")
    unpacked = path.with_name(path.stem) if compressed else path
    refuse_foreign(unpacked)
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty (0 bytes).")
    return path, KINDS.get(unpacked.suffix.lower(), "text"), compressed


def source_name(path: Path) -> str:
    """Return what to call a file; not all names are Unicode."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


@contextlib.contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to be read from its beginning, decompressed if it is compressed."""
    source = source_name(path)
    try:
        with path.open("rb") as file:
            unpacked = _unpacked(file, source)
            with contextlib.nullcontext(file) if unpacked is None else unpacked as opened:
                yield opened
    except OSError as reason:
        what = reason.strerror or str(reason)
        raise TableError(f"{path} cannot be read: {what}.") from reason
    except (EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as reason:
        raise _cut_off(source, reason) from reason


def beyond_memory(max_bytes: int, source: str) -> TableError:
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
    first_line = reason.strip().partition("\n")[0].rstrip(".")
    return TableError(f"{content.source} is broken or no {content.kind} file ({first_line}).")


def _refuse_absent(path: Path) -> None:
    try:
        if path.is_dir():
            raise TableError(f"{path} is a folder; name the file in it.")
        if path.exists():
            return
        neighbours = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError as reason:
        raise TableError(f"{path} cannot be opened: {reason.strerror}.") from reason
    # the whole names alone would be close for their endings
    stems = difflib.get_close_matches(path.stem, [Path(name).stem for name in neighbours])
    likely = [name for name in neighbours if Path(name).stem in stems]
    close = difflib.get_close_matches(path.name, likely, n=1)
    hint = f"; did you mean {path.parent / close[0]}?" if close else "; check the spelling."
    raise TableError(f"There is no file {path}{hint}")


def _decompressed(data: bytes, source: str, max_bytes: int) -> bytes:
    """Return the bytes of a compressed file; those of others as they are."""
    whole = io.BytesIO()
    try:
        unpacked = _unpacked(io.BytesIO(data), source)
        if unpacked is None:
            return data
        with unpacked as file:
            while chunk := file.read(2**24):  # only reading tells how much there is
                whole.write(chunk)
                if whole.tell() > max_bytes:
                    raise beyond_memory(max_bytes, source)
    except (TableError, MemoryError):
        raise
    except Exception as reason:  # a damaged file may fail in any way
        raise _cut_off(source, reason) from reason
    return whole.getvalue()


def _unpacked(file: IO[bytes], source: str) -> Any:
    """Return what decompresses a file, by its first bytes; None if it is not compressed."""
    beginning = file.read(6)
    file.seek(0)
    if source.lower().endswith(".zip"):  # the beginning is that of an npz file too
        return _only_member(file, source)
    starts = (start for start in DECOMPRESSORS if beginning.startswith(start))
    decompress = DECOMPRESSORS.get(next(starts, b""))
    return None if decompress is None else decompress(file)


def _cut_off(source: str, reason: Exception) -> TableError:
    return TableError(f"{source} cannot be unpacked ({reason}); it may be cut off.")


def _only_member(file: IO[bytes], source: str) -> IO[bytes]:
    archive = zipfile.ZipFile(file)
    names = [n for n in archive.namelist() if not n.endswith("/") and not n.startswith("__MACOSX/")]
    if len(names) != 1:
        raise TableError(
            f"{source} holds {len(names)} files ({join_names(names, 3) or 'none'}); unpack it and "
            "name the one you mean."
        )
    return archive.open(names[0])
