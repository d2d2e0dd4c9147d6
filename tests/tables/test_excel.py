"""Workbooks as other programs write them."""

import re
import zipfile
from datetime import datetime

import pytest

from groupfs.tables import TableError, read_table

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", "until"], [1, datetime(9999, 12, 31)], [2, datetime(2024, 5, 1, 12)], [3]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_a_sheet_is_read_whatever_size_it_says_it_has_and_dates_have_all_years(workbook, tmp_path):
    with zipfile.ZipFile(workbook) as old, zipfile.ZipFile(tmp_path / "u.xlsx", "w") as new:
        for name in old.namelist():
            sized = re.sub(rb'<dimension ref="[^"]+"', b'<dimension ref="A1"', old.read(name))
            new.writestr(name, sized)
    values = read_table(tmp_path / "u.xlsx").values
    assert values["a"].tolist() == [1, 2, 3]
    assert values["until"].dt.year.tolist()[:2] == [9999, 2024] and values["until"].isna()[2]


@pytest.mark.parametrize("kind", ["text", "archive", "cut off"])
def test_what_is_no_workbook_is_refused_with_what_to_do(kind, workbook):
    whole = workbook.read_bytes()
    if kind == "archive":
        with zipfile.ZipFile(workbook, "w") as archive:
            archive.writestr("a.csv", "a,b\n1,2\n")
    else:
        workbook.write_bytes(b"a,b\n1,2\n" if kind == "text" else whole[:-100])
    with pytest.raises(TableError, match=r"is no xlsx workbook.*save it as xlsx or csv\.$"):
        read_table(workbook)
