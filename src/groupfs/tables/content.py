"""Finding a file, unpacking it if it is packed, and telling its kind."""

from __future__ import annotations

import bz2
import difflib
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from groupfs.tables._table import TableError, listed

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
PACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")


@dataclass(frozen=True)
class Content:
    """A file that is there: what to call it, its kind, and its bytes or where they are."""

    source: str
    kind: str
    path: Path | None = None  #: where it lies as it is; None if it was unpacked or piped
    data: bytes | None = None

    def bytes(self) -> bytes:
        return self.data if self.data is not None else _read_bytes(self._place())

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
        return Content(str(path), kind, path=path)
    data = _read_bytes(path)
    if not data:
        raise TableError(f"{path} is empty (0 bytes).")
    return Content(str(path), kind, data=_unpacked(data, path))


def _from_stdin() -> Content:
    data = sys.stdin.buffer.read()
    if not data:
        raise TableError(
            "Nothing came in on standard input; pipe a csv into it, e.g. "
            "groupfs select - < data.csv."
        )
    return Content("standard input", "text", data=_unpacked(data, Path("standard input")))


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


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise TableError(f"{path} cannot be read: {reason.strerror}.") from reason


def _unpacked(data: bytes, path: Path) -> bytes:
    try:
        if path.suffix.lower() == ".zip":
            return _only_member(data, path)
        for beginning, unpack in PACKERS.items():
            if data.startswith(beginning):
                return unpack(data)
    except (EOFError, OSError, RuntimeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as e:
        raise TableError(f"{path} cannot be unpacked ({e}); it may be cut off.") from e
    return data


def _only_member(data: bytes, path: Path) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not name.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            raise TableError(
                f"{path} holds {len(members)} files ({listed(members, 3) or 'none'}); unpack it "
                "and name the one you mean."
            )
        return archive.read(members[0])
