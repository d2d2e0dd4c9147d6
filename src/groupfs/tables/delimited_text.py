"""csv and its relatives: encoding, separator, decimal sign and header are found out, not asked."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from itertools import islice
from typing import Any

from groupfs.tables.file_content import Content
from groupfs.tables.table import Table, TableError, numbered, refuse_duplicates

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
#: Words for a missing value. "None" is not among them: to people it is an answer.
MISSING_WORDS = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?", "."]
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
#: Could as well be thousands.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def read_text(content: Content, header: bool | None) -> Table:
    """Read separated text; ``header=None`` takes a first line of numbers for data."""
    pd = import_pandas()
    text = _decoded(content)
    lines = io.StringIO(text, newline="")  # some computers end lines with \r alone
    sample = list(islice((line for line in lines if line.strip()), 50))
    if not sample:
        raise TableError(f"{content.source} holds nothing but blank lines.")
    try:
        separator = _separator(sample)
        rows = _split(sample, separator)
    except csv.Error as reason:
        raise TableError(f"{content.source} cannot be read as csv: {reason}.") from reason
    has_header = not _is_data(rows[0]) if header is None else header
    names = _names(rows, has_header)
    if has_header:
        refuse_duplicates(names, content.source)
    below = rows[1:] if has_header else rows
    decimal = "," if separator != "," and _has_decimal_commas(below, separator) else "."
    try:
        with warnings.catch_warnings():
            # pandas would cut lines that are too long, with a warning
            warnings.simplefilter("error", pd.errors.ParserWarning)
            values = pd.read_csv(
                io.StringIO(text),
                sep=r"\s+" if separator == " " else separator,
                header=0 if has_header else None,
                names=names,
                index_col=False,
                decimal=decimal,
                na_values=MISSING_WORDS,
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=False,
            )
    except pd.errors.ParserWarning as reason:
        raise TableError(
            f"{content.source} is not a table: it has {len(names)} names of columns, but longer "
            "lines below them."
        ) from reason
    except (ValueError, csv.Error) as reason:  # of pandas too
        raise TableError(_parser_sentence(content.source, str(reason), separator)) from reason
    notes = []
    if not has_header:
        notes.append(
            "The first line was taken for data, not for names, so the columns are called "
            f"{names[0]} to {names[-1]}."
        )
    if separator != ",":
        comma = " and decimals by commas" if decimal == "," else ""
        notes.append(f"Columns are separated by {SEPARATORS[separator]}{comma}.")
    return Table(values, names, content.source, named=has_header, notes=notes)


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError as reason:
        raise TableError(
            'Reading tables needs pandas; install it with pip install "groupfs[cli]".'
        ) from reason
    return pandas


def _decoded(content: Content) -> str:
    data = content.data
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    beginning = data[:65536]
    controls = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in beginning)
    if b"\0" in beginning or controls > 0.01 * len(beginning):
        raise TableError(
            f"{content.source} is binary data and not csv; name it by its kind (parquet, feather, "
            "npy, npz, mat, h5ad) or export it as csv."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # the other encoding that spreadsheets write
        return data.decode("cp1252", errors="replace")


def _separator(lines: list[str]) -> str:
    """Return the separator that splits most lines alike, into the most columns if several do."""

    def quality(separator: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in _split(lines, separator)]
        usual = max(set(widths), key=lambda width: (widths.count(width), width))
        # a blank inside words and values splits many files, so it only serves if nothing else does
        return (
            separator != " " and usual > 1,
            widths.count(usual) / len(widths) * (usual > 1),
            usual,
        )

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
        and (separator != " " or all(_as_number(cell) is not None for cell in cells))
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
    if not known or any(value is None for value in values):
        return False
    counted = any(values == [float(i) for i in range(s, len(cells) + s)] for s in (0, 1))
    return not (counted and len(cells) > 1)


def _as_number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _names(rows: list[list[str]], has_header: bool) -> list[str]:
    if not has_header:
        return numbered(len(rows[0]))
    names = [name or f"Unnamed: {index}" for index, name in enumerate(rows[0])]
    if len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows[1:]):
        if all(row[-1] == "" for row in rows[1:]):  # a separator at the end of every line
            return [*names, f"Unnamed: {len(names)}"]
        return ["row_name", *names]  # R leaves the first column of its tables without a name
    return names


def _has_decimal_commas(rows: list[list[str]], separator: str) -> bool:
    cells = [cell for row in rows for cell in row]
    decimals = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    if separator != ";":  # those who write semicolons write no commas into thousands
        decimals = [cell for cell in decimals if not THOUSANDS.fullmatch(cell)]
    return bool(decimals) and not any(re.fullmatch(r"-?\d+\.\d+", cell) for cell in cells)


def _parser_sentence(source: str, reason: str, separator: str) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", reason)
    if found:
        expected, line, saw = found.groups()
        return (
            f"{source} is not a table: line {line} has {saw} cells separated by "
            f"{SEPARATORS[separator]}, the lines before it {expected}."
        )
    return f"{source} cannot be read as csv: {reason.strip().rstrip('.')}."
