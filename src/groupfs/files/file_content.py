"""Find a file, tell its format by its name, and decompress it if it is compressed."""

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from groupfs.files.file_table import TableError
from groupfs.utils.text import join_names

#: Formats by the endings of names; every other ending is taken for text.
FORMATS = {
    name: name for name in ("xlsx", "sav", "parquet", "feather", "npy", "npz", "mat", "h5ad")
}
FORMATS |= {"xlsm": "xlsx", "zsav": "sav", "pq": "parquet", "arrow": "feather"}
#: First bytes of compressed files, and what decompresses them.
DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
#: What these raise at files that are cut off or damaged, or that need a password.
CUT_OFF = (OSError, EOFError, RuntimeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)
#: First bytes of files that are no table in text, whatever their name says.
NO_TEXT = {
    b"PK\x03\x04": "an Office document (xlsx) or an archive",
    b"\xd0\xcf\x11\xe0": "an Office document of before 2007",
    b"$FL": "an SPSS file (sav)",
    b"<stata_dta>": "a Stata file",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file (h5ad, if it holds cells)",
    b"%%MatrixMarket": "a Matrix Market file",
    b"PAR1": "a parquet file",
    b"ARROW1": "a feather file",
    b"\x93NUMPY": "a numpy file (npy)",
    b"MATLAB 5": "a Matlab file (mat)",
    b"<": "a web page or XML",
    b"{": "JSON",
    b"[{": "JSON",
}


@dataclass(frozen=True)
class Content:
    """A file that exists: what to call it, its format, and its bytes or where they are."""

    source: str
    format: str
    path: Path | None = None  #: of a file to be read as it is; None if it was decompressed or piped
    data: bytes = b""  #: of a file without a path

    def open(self) -> IO[bytes]:
        """Open the file, or its bytes, to be read."""
        return self.path.open("rb") if self.path else io.BytesIO(self.data)

    @contextlib.contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give the path of the file, of a temporary one if it has none, to who asks for paths."""
        if self.path:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="groupfs-") as folder:
            path = Path(folder, f"unpacked.{self.format}")
            path.write_bytes(self.data)
            yield path


def find_content(path: str | Path) -> Content:
    """Find a file and decompress it if it is compressed; ``-`` is standard input."""
    if str(path) == "-":
        data = sys.stdin.buffer.read()
        if not data:
            raise TableError(
                "Nothing came in on standard input; pipe a csv into it, e.g. "
                "groupfs select - < data.csv."
            )
        with _unpacked(io.BytesIO(data), "standard input") as file:
            return Content("standard input", "text", data=file.read())
    path, file_format, compressed = find_path(path)
    if file_format != "text" and not compressed:
        return Content(source_name(path), file_format, path)
    with open_unpacked(path) as file:
        return Content(source_name(path), file_format, data=file.read())


def find_path(path: str | Path) -> tuple[Path, str, bool]:
    """Find a file, its format by its name, and whether it is compressed."""
    path = Path(path)
    _refuse_absent(path)
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty (0 bytes).")
    compressed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zip")
    ending = Path(path.stem).suffix if compressed else path.suffix
    return path, FORMATS.get(ending.lower()[1:], "text"), compressed


def source_name(path: Path) -> str:
    """Return what to call a file; not all names are Unicode."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


@contextlib.contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to be read from its beginning, decompressed if it is compressed."""
    source = source_name(path)
    try:
        file = path.open("rb")
    except OSError as reason:
        raise TableError(f"{source} cannot be read: {reason.strerror}.") from reason
    with file, _unpacked(file, source) as opened:
        yield opened


def refuse_no_text(beginning: bytes, source: str) -> None:
    """Refuse a file that is no text by its first bytes, with what it seems to be."""
    controls = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in beginning)
    is_binary = b"\0" in beginning or controls > 0.01 * len(beginning)
    what = next((what for start, what in NO_TEXT.items() if beginning.startswith(start)), "")
    if what or is_binary:
        raise TableError(
            f"{source} is not csv: by its first bytes it seems to be {what or 'binary data'}; "
            "tables are read from csv, tsv, txt, data, xlsx, sav, parquet, feather, npy, npz, mat "
            "and h5ad files with these endings, so rename it, or save it as one of them."
        )


@contextlib.contextmanager
def _unpacked(file: IO[bytes], source: str) -> Iterator[IO[bytes]]:
    """Read a file decompressed if its first bytes tell that it is compressed."""
    try:
        beginning = file.read(6)
        file.seek(0)
        opened = file
        if source.lower().endswith(".zip"):  # the beginning is that of an npz file too
            opened = _only_member(file, source)
        for start, decompress in DECOMPRESSORS.items():
            if beginning.startswith(start):
                opened = decompress(file)
        with opened:
            yield opened
    except CUT_OFF as reason:
        why = getattr(reason, "strerror", None) or reason
        raise TableError(f"{source} cannot be read ({why}); it may be cut off.") from reason


def _only_member(file: IO[bytes], source: str) -> IO[bytes]:
    archive = zipfile.ZipFile(file)
    names = [n for n in archive.namelist() if not n.endswith("/") and not n.startswith("__MACOSX/")]
    if len(names) != 1:
        raise TableError(
            f"{source} holds {len(names)} files ({join_names(names, 3) or 'none'}); unpack it and "
            "name the one you mean."
        )
    return archive.open(names[0])


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
