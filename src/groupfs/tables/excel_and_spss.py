"""Workbooks of Excel (xlsx) and files of SPSS (sav, zsav), read with packages that are extras."""

from typing import Any
from zipfile import BadZipFile

import numpy as np

from groupfs.tables.answer_scales import NO_ANSWER, plain_word
from groupfs.tables.child_process import parse_in_child
from groupfs.tables.delimited_text import MISSING_WORDS, cell_names, is_data
from groupfs.tables.file_content import Content, refuse_broken
from groupfs.tables.table import Table, TableError
from groupfs.utils.text import join_names

#: What a spreadsheet shows for values that it could not compute.
ERRORS = ("#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")


def read_excel(content: Content, header: bool | None) -> Table:
    """Read the largest sheet of a workbook."""
    imports = ["pandas", "openpyxl", "pyarrow.feather"]
    return _table(content, parse_in_child(parse_excel, content, imports, header=header))


def read_spss(content: Content) -> Table:
    """Read the variables of an SPSS file, with gaps where SPSS has missing values."""
    imports = ["pandas", "pyreadstat", "pyarrow.feather"]
    return _table(content, parse_in_child(parse_spss, content, imports))


def _table(content: Content, parts: dict[str, Any]) -> Table:
    with refuse_broken(content):
        frame = parts["table"].to_pandas()
        frame.columns = names = parts["names"].tolist()
        named = bool(parts["named"])
    return Table(frame, names, content.source, named=named, notes=parts["notes"].tolist())


def parse_excel(path: str, source: str, header: bool | None = None) -> dict[str, Any]:
    """Read the sheet with the most cells; rows and columns without a value are left out."""
    import openpyxl
    import pandas as pd

    with open(path, "rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except (BadZipFile, KeyError, OSError) as reason:  # no archive, or none of a workbook
            raise TableError(
                f"{source} is no xlsx workbook, or a damaged one; open it in the program that made "
                "it, and save it as xlsx or csv."
            ) from reason
        sheets = {}
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # some programs write that every sheet has one cell
            rows = list(sheet.iter_rows(values_only=True))
            sheets[sheet.title] = pd.DataFrame(rows, dtype=object)
    sheets = {title: _without_blanks(cells) for title, cells in sheets.items()}
    largest = max(sheets, key=lambda title: sheets[title].size, default="")
    if not largest or not sheets[largest].size:
        raise TableError(f"{source} is a workbook without a value; fill a sheet, or name another.")
    cells = sheets[largest]
    first = ["" if value is None else str(value).strip() for value in cells.iloc[0]]
    has_header = not is_data(first) if header is None else header
    names = cell_names([first], has_header)
    frame = (cells.iloc[1:] if has_header else cells).reset_index(drop=True)
    others = [title for title, other in sheets.items() if title != largest and other.size]
    notes = []
    if others:
        them = f"sheet {others[0]} was" if len(others) == 1 else f"{len(others)} other sheets were"
        notes.append(f"The table is the sheet {largest}; {them} not read.")
    return _parts(frame.apply(_typed), names, has_header, notes)


def _without_blanks(cells: Any) -> Any:
    """Leave out rows and columns without a value, and take words for a missing one for gaps."""
    words = {*MISSING_WORDS, *ERRORS}
    blank = cells.map(lambda v: v is None or isinstance(v, str) and v.strip() in words)
    cells = cells.mask(blank, None)
    there = cells.notna()
    return cells.loc[there.any(axis=1), there.any(axis=0)]


def _typed(column: Any) -> Any:
    """Return a column of cells as numbers, dates or text."""
    import pandas as pd

    present = column.dropna()
    if present.map(lambda v: isinstance(v, bool | int | float)).all():
        return pd.to_numeric(column)
    if present.map(lambda v: hasattr(v, "year")).all():
        # in nanoseconds, pandas has no year 9999, which stands for "no end"
        times = np.array(column.where(column.notna(), None).tolist(), dtype="datetime64[us]")
        return pd.Series(times, column.index)
    return column.map(str, na_action="ignore")


def parse_spss(path: str, source: str) -> dict[str, Any]:
    """Read the numbers of answers as they are; a nominal variable with labels is a category.

    Gaps are where SPSS has missing values, and where a label says that there is no answer.
    """
    import pyreadstat

    frame, meta = pyreadstat.read_sav(path, dates_as_pandas_datetime=True)
    said: dict[str, str] = {}
    for name, labels in meta.variable_value_labels.items():
        column = frame[name]
        words = {v: word for v, word in labels.items() if plain_word(str(word)) in NO_ANSWER}
        no_answer = column.isin(list(words))
        if no_answer.any():
            said[f"{name} ({no_answer.sum()})"] = ", ".join(set(words.values()))
            frame[name] = column = column.mask(no_answer)
        present = set(column.dropna())
        nominal = meta.variable_measure.get(name) == "nominal" and column.dtype.kind in "iuf"
        if nominal and len(present) > 2 and present <= set(labels):
            frame[name] = column.map(labels).astype("category")
    notes = []
    if said:
        notes.append(
            f"Took values that are labelled {join_names(sorted(set(said.values())), 3)} for gaps "
            f"(how many): {join_names(said, 12)}."
        )
    return _parts(frame, [str(name) for name in frame.columns], True, notes)


def _parts(frame: Any, names: list[str], named: bool, notes: list[str]) -> dict[str, Any]:
    """Return what goes back to the parent; columns go by number, as names may repeat."""
    import pyarrow as pa

    frame = frame.set_axis([str(i) for i in range(frame.shape[1])], axis=1)
    return {
        "table": pa.Table.from_pandas(frame, preserve_index=False),
        "names": np.array(names, dtype=str),
        "named": np.array(named),
        "notes": np.array(notes, dtype=str),
    }
