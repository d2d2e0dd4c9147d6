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
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file (h5ad, if it holds cells)",
    b"%%MatrixMarket": "a Matrix Market file",
    b"<": "a web page or XML",
    b"{": "JSON",
    b"[{": "JSON",
}


@dataclass(frozen=True)
class Content:
    """A file that exists: what to call it, its format, and where it is."""

    source: str
    format: str
    path: Path | None = None  #: None for standard input
    is_packed: bool = False

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file to be read from its beginning, decompressed if it is compressed."""
        if self.path and self.format != "text" and not self.is_packed:
            with self.path.open("rb") as file:
                yield file
            return
        raw: IO[bytes] = self.path.open("rb") if self.path else io.BytesIO(sys.stdin.buffer.read())
        try:
            with raw, _unpacked(raw, self.source) as opened:
                # those who read other formats look for the end first
                yield opened if self.format == "text" else io.BytesIO(opened.read())
        except CUT_OFF as reason:
            why = getattr(reason, "strerror", None) or reason
            sentence = f"{self.source} cannot be read ({why}); it may be cut off."
            raise TableError(sentence) from reason

    @contextlib.contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give the path of the file, of a temporary one if it is packed, to who asks for paths."""
        if self.path and not self.is_packed:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="groupfs-") as folder, self.open() as file:
            path = Path(folder, f"unpacked.{self.format}")
            path.write_bytes(file.read())
            yield path


def find_content(path: str | Path) -> Content:
    """Find a file, and its format by its name; ``-`` is standard input."""
    if str(path) == "-":
        return Content("standard input", "text")
    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder; name the file in it.")
    if not path.exists():
        raise TableError(f"There is no file {path}; {_meant(path)}")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty (0 bytes).")
    is_packed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zip")
    ending = Path(path.stem).suffix if is_packed else path.suffix
    source = os.fsencode(path).decode("utf-8", errors="backslashreplace")  # not all are Unicode
    return Content(source, FORMATS.get(ending.lower()[1:], "text"), path, is_packed)


def refuse_no_text(beginning: bytes, source: str) -> None:
    """Refuse a file that is no text by its first bytes, with what it seems to be."""
    controls = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in beginning)
    is_binary = b"\0" in beginning or controls > 0.01 * len(beginning)
    what = next((what for start, what in NO_TEXT.items() if beginning.startswith(start)), "")
    if what or is_binary:
        raise TableError(
            f"{source} is not csv: by its first bytes it seems to be {what or 'binary data'}; "
            "tables are read from csv, tsv, txt, data, xlsx, sav, parquet, feather, npy, npz, mat "
            "and h5ad files with these endings, so save it as one of them in the program that "
            "wrote it, or rename it if it is one."
        )


def _unpacked(file: IO[bytes], source: str) -> IO[bytes]:
    """Open a file decompressed if its first bytes tell that it is compressed."""
    if source.lower().endswith(".zip"):  # the beginning is that of an npz file too
        archive = zipfile.ZipFile(file)
        members = [name for name in archive.namelist() if not name.endswith("/")]
        names = [name for name in members if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise TableError(
                f"{source} holds {len(names)} files ({join_names(names, 3) or 'none'}); unpack it "
                "and name the one you mean."
            )
        return archive.open(names[0])
    beginning = file.read(6)
    file.seek(0)
    known = [unpack for start, unpack in DECOMPRESSORS.items() if beginning.startswith(start)]
    return known[0](file) if known else file


def _meant(path: Path) -> str:
    """Write the end of a sentence on a file that is not there, with the one of the closest name."""
    stems = {file.stem: file for file in path.parent.glob("*")}  # endings alone make names close
    close = difflib.get_close_matches(path.stem, stems, n=1)
    return f"did you mean {stems[close[0]]}?" if close else "check the spelling."
