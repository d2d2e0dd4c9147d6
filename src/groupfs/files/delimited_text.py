"""csv and its relatives: encoding, separator, decimal sign and header are found out, not asked."""

import codecs
import contextlib
import csv
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, Any

from groupfs.files.column_values import as_number
from groupfs.files.file_content import Content, refuse_no_text
from groupfs.files.file_table import FileTable, TableError, numbered, refuse_duplicates
from groupfs.files.surveys import Header, around_answers, read_header

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
#: Words for a missing value. "None" is not among them: to people it is an answer.
MISSING_WORDS = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?", "."]
#: Lines that the header of an export of a survey may take.
MOST_LINES = 10_000
#: How pandas reads every file.
USUAL: dict[str, Any] = {"encoding_errors": "replace", "index_col": False, "low_memory": False}
USUAL |= {"na_values": MISSING_WORDS, "keep_default_na": False, "skipinitialspace": True}
DECIMAL_COMMA = re.compile(r"^\s*([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)\s*$")
#: Several answers in one cell, such as 1,3,4.
NUMBER_LIST = re.compile(r"\s*\d+(,\d+){2,}\s*")
#: Could as well be thousands.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True)
class Layout:
    """How a text file is to be read, as found from its first lines."""

    source: str
    encoding: str
    separator: str
    decimal: str
    header: Header

    @property
    def notes(self) -> list[str]:
        """Sentences on what was found."""
        notes, names = self.header.notes, self.header.names
        if not self.header.n_rows:
            notes.append(
                "The first line was taken for data, not for names, so the columns are called "
                f"{names[0]} to {names[-1]}."
            )
        if self.separator != ",":
            comma = " and decimals by commas" if self.decimal == "," else ""
            notes.append(f"Columns are separated by {SEPARATORS[self.separator]}{comma}.")
        return notes


def read_text(content: Content, header: bool | None) -> FileTable:
    """Read separated text; ``header=None`` takes a first line of numbers for data."""
    with content.open() as file:
        data = file.read()
    return parse(io.BytesIO(data), find_layout(io.BytesIO(data), content.source, header))


def find_layout(file: IO[bytes], source: str, header: bool | None, n_bytes: int = -1) -> Layout:
    """Find separator, decimal sign, header and names from the first lines of a file.

    Its encoding is found from so many bytes, or from all of them.
    """
    encoding = _find_encoding(file.read(n_bytes), source)
    file.seek(0)
    # newline="": some computers end lines with \r alone
    lines = io.TextIOWrapper(file, encoding, errors="replace", newline="")
    filled = (line for line in lines if line.strip())
    if not (sample := list(islice(filled, 50))):
        raise TableError(f"{source} holds nothing but blank lines.")
    try:
        separator = _separator(sample)
        rows = _split(sample, separator)
        if around_answers(rows[0])[0]:  # whose texts of questions may have many lines
            rows = _split([*sample, *islice(filled, MOST_LINES)], separator)
    except csv.Error as reason:
        raise TableError(f"{source} cannot be read as csv: {reason}.") from reason
    lines.detach()
    found = find_header(rows, header)
    refuse_duplicates(found.names, source)
    has_commas = separator != "," and _has_decimal_commas(rows[found.n_rows :], separator)
    return Layout(source, encoding, separator, "," if has_commas else ".", found)


def parse(file: IO[bytes], layout: Layout) -> FileTable:
    """Read a file by its layout.

    Decimal commas become points also in columns where a word stands among them, but not where
    commas separate answers.
    """
    import pandas as pd

    header = layout.header
    with refuse_unparsed(layout):
        frame = pd.read_csv(
            file,
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=header.n_rows - 1 if header.n_rows else None,
            names=header.names,
            decimal=layout.decimal,
            encoding=layout.encoding,
            **USUAL,
        )
    if layout.decimal == ",":
        words = frame.select_dtypes(object).columns
        words = [n for n in words if not any(map(NUMBER_LIST.fullmatch, map(str, frame[n])))]
        frame[words] = frame[words].replace(DECIMAL_COMMA, r"\1.\2", regex=True)
    named = header.n_rows > 0
    return FileTable(frame, header.names, layout.source, None, named, layout.notes, header.labels)


@contextlib.contextmanager
def refuse_unparsed(layout: Layout) -> Iterator[None]:
    """Turn what pandas says of a file that is no table into one sentence."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # pandas would cut lines that are too long, with a warning
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except pd.errors.ParserWarning as reason:
        raise TableError(
            f"{layout.source} is not a table: it has {len(layout.header.names)} names of columns, "
            "but longer lines below them."
        ) from reason
    except (ValueError, csv.Error) as reason:  # of pandas too
        why = str(reason).strip().rpartition("C error: ")[2].rstrip(".")
        if not (found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", why)):
            raise TableError(f"{layout.source} cannot be read as csv: {why}.") from reason
        expected, line, saw = found.groups()
        raise TableError(
            f"{layout.source} is not a table: line {line} has {saw} cells separated by "
            f"{SEPARATORS[layout.separator]}, the lines before it {expected}."
        ) from reason


def _find_encoding(data: bytes, source: str) -> str:
    """Find the encoding of a text, or of its beginning; refuse other files."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    refuse_no_text(data[:65536], source)
    try:
        codecs.utf_8_decode(data)  # the end may be in the middle of a letter
    except UnicodeDecodeError:  # the other encoding that spreadsheets write
        return "cp1252"
    return "utf-8-sig"


def _separator(lines: list[str]) -> str:
    """Return the separator that splits most lines alike, into the most columns if several do."""

    def quality(separator: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in _split(lines, separator)]
        usual = max(set(widths), key=lambda width: (widths.count(width), width))
        # a blank inside words and values splits many files, so it only serves if nothing else does
        share = widths.count(usual) / len(widths) * (usual > 1)
        return separator != " " and usual > 1, share, usual

    best = max(SEPARATORS, key=quality)
    if best == ",":  # decimal commas also split every line alike
        return next((s for s in SEPARATORS if s != "," and _leaves_decimals(lines, s)), best)
    return best


def _leaves_decimals(lines: list[str], separator: str) -> bool:
    """Tell whether lines split at a separator are a table whose commas are all decimal signs."""
    rows = _split(lines, separator)
    below = rows[1:] or rows
    cells = [cell for row in below for cell in row]
    return (
        len({len(row) for row in rows}) == 1 < len(rows[0])
        and all(DECIMAL_COMMA.fullmatch(cell) for cell in cells if "," in cell)
        and _has_decimal_commas(below, separator)
        and (separator != " " or None not in map(_as_number, cells))
    )


def _split(lines: list[str], separator: str) -> list[list[str]]:
    if separator == " ":
        return [line.split() for line in lines]
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows if row]


def _is_data(cells: list[str]) -> bool:
    """Tell whether a first line is numbers, and not those of columns that are counted."""
    known = [cell for cell in cells if cell == "" or cell not in MISSING_WORDS]
    values = [_as_number(cell) for cell in known]
    if not known or None in values:
        return False
    counted = any(values == list(range(first, first + len(cells))) for first in (0, 1))
    return not (counted and len(cells) > 1)


def _as_number(cell: str) -> float | None:
    return as_number(cell.replace(",", "."))


def find_header(rows: list[list[str]], asked: bool | None) -> Header:
    """Find the header of a table in its first rows, or number the columns where there is none."""
    export = None if asked is False else read_header(rows)
    if not export and (_is_data(rows[0]) if asked is None else not asked):
        return Header(numbered(len(rows[0])), 0)
    header = export or Header(rows[0], 1)
    names = [name or f"Unnamed: {index}" for index, name in enumerate(header.names)]
    below = rows[header.n_rows :]
    if below and all(len(row) == len(names) + 1 for row in below):
        if all(row[-1] == "" for row in below):  # a separator at the end of every line
            names.append(f"Unnamed: {len(names)}")
        else:  # R leaves the first column of its tables without a name
            names.insert(0, "row_name")
    return replace(header, names=names)


def _has_decimal_commas(rows: list[list[str]], separator: str) -> bool:
    cells = [cell for row in rows for cell in row]
    decimals = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    if separator != ";":  # those who write semicolons write no commas into thousands
        decimals = [cell for cell in decimals if not THOUSANDS.fullmatch(cell)]
    return bool(decimals) and not any(re.fullmatch(r"-?\d+\.\d+", cell) for cell in cells)
