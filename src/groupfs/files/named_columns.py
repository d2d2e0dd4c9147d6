"""Files with named columns: of Excel (xlsx), SPSS (sav, zsav), parquet and feather."""

from typing import Any

import numpy as np

from groupfs.files.answers import NO_ANSWER, plain_word
from groupfs.files.delimited_text import MISSING_WORDS, find_header
from groupfs.files.file_content import Content
from groupfs.files.file_table import FileTable, TableError
from groupfs.utils.text import count, join_names

#: What feather files begin with, whatever their name ends in.
FEATHER = (b"ARRO", b"FEA1")
#: What a spreadsheet shows for values that it could not compute.
ERRORS = ("#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")


def read_excel(content: Content, header: bool | None) -> FileTable:
    """Read the sheet with the most cells; rows and columns without a value are left out."""
    import openpyxl
    import pandas as pd

    with content.open() as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        gaps = {"na_values": [*MISSING_WORDS, *ERRORS], "keep_default_na": False}
        every = pd.read_excel(book, None, header=None, dtype=object, engine="openpyxl", **gaps)
    sheets = {
        title: cells.dropna(how="all").dropna(axis=1, how="all") for title, cells in every.items()
    }
    largest = max(sheets, key=lambda title: sheets[title].size)
    cells = sheets[largest]
    if not cells.size:
        raise TableError(
            f"{content.source} is a workbook without a value; fill a sheet, or name another."
        )
    rows = [["" if pd.isna(v) else str(v).strip() for v in row] for row in cells.head(3).to_numpy()]
    found = find_header(rows, header)
    frame = cells.iloc[found.n_rows :].reset_index(drop=True).apply(_typed)
    frame.columns = found.names
    others = [title for title, other in sheets.items() if title != largest and other.size]
    them = f"sheet {others[0]} was" if len(others) == 1 else f"{len(others)} other sheets were"
    notes = [f"The table is the sheet {largest}; {them} not read."] if others else []
    about: dict[str, Any] = {"notes": notes + found.notes, "labels": found.labels}
    return FileTable(frame, found.names, content.source, named=found.n_rows > 0, **about)


def read_spss(content: Content) -> FileTable:
    """Read the numbers of answers as they are; a nominal variable with labels is a category.

    Gaps are where SPSS has missing values, and where a label says that there is no answer.
    """
    import pyreadstat

    with content.on_disk() as path:
        frame, meta = pyreadstat.read_sav(str(path), dates_as_pandas_datetime=True)
        every = pyreadstat.read_sav(str(path), metadataonly=True, user_missing=True)[1]
        coded = list(every.missing_ranges)
        kept = pyreadstat.read_sav(str(path), usecols=coded, user_missing=True)[0] if coded else {}
    gaps = {name: kept[name].notna().sum() - frame[name].notna().sum() for name in coded}
    of, notes = [f"{name} ({n})" for name, n in gaps.items() if n], list[str]()
    if of:
        where = f"{count(len(of), 'column')} (how many): {join_names(of, 12)}"
        notes.append(f"Took user-missing values of SPSS for gaps in {where}.")
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
    if said:
        notes.append(
            f"Took values that are labelled {join_names(sorted(set(said.values())), 3)} for gaps "
            f"(how many): {join_names(said, 12)}."
        )
    names = [str(name) for name in frame.columns]
    wording = {name: text for name, text in meta.column_names_to_labels.items() if text}
    return FileTable(frame, names, content.source, notes=notes, labels=wording)


def read_frame(content: Content) -> FileTable:
    """Read the columns of a parquet or feather file, and its index if it has one of its own."""
    import pandas as pd
    from pyarrow.feather import read_table
    from pyarrow.parquet import ParquetFile

    with content.open() as file:
        magic = file.read(4)
        is_parquet = magic == b"PAR1" or (content.format == "parquet" and magic not in FEATHER)
        file.seek(0)
        stored = ParquetFile(file).read() if is_parquet else read_table(file, memory_map=False)
    # offsets of texts and codes come from the file, and Arrow would follow them anywhere
    stored.validate(full=True)
    frame = stored.to_pandas()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = names = [str(name) for name in frame.columns]
    return FileTable(frame, names, content.source)


def _typed(column: Any) -> Any:
    import pandas as pd

    present = column.dropna()
    if present.map(lambda v: isinstance(v, bool | int | float)).all():
        return pd.to_numeric(column)
    if present.map(lambda v: hasattr(v, "year")).all():
        # in nanoseconds, pandas has no year 9999, which stands for "no end"
        times = np.array(column.where(column.notna(), None).tolist(), dtype="datetime64[us]")
        return pd.Series(times, column.index)
    return column.map(str, na_action="ignore")
