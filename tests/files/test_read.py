"""Reading tables: what text, arrays and frames in files become."""

import gzip
import io
import re
import zipfile
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from groupfs.files import read_table


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.standard_normal((6, 3)), columns=["a", "b", "c"])


def read_text(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path)


@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_labels_in_files_of_arrays_are_row_metadata(ending, frame, tmp_path):
    arrays = {"X": frame.to_numpy(), "Y": np.arange(6)}
    path = tmp_path / f"t.{ending}"
    np.savez(path, **arrays) if ending == "npz" else scipy.io.savemat(path, arrays)
    table = read_table(path)
    assert table.names == ["x0", "x1", "x2"]
    assert table.row_metadata["Y"].tolist() == list(range(6))
    assert table.notes == [f"The table of {path} is its array X."]


def test_names_in_an_npz_are_used(frame, tmp_path):
    names = np.array([b"a", b"b", "ü".encode()])
    np.savez(tmp_path / "t.npz", data=frame.to_numpy(), feature_names=names)
    table = read_table(tmp_path / "t.npz")
    assert table.names == ["a", "b", "ü"] and table.named and table.row_metadata is None


def test_a_sparse_matrix_stays_sparse(tmp_path):
    matrix = sp.random_array((20, 5), density=0.2, rng=0, format="csr")
    sp.save_npz(tmp_path / "t.npz", matrix)
    scipy.io.savemat(tmp_path / "t.mat", {"X": matrix, "cells": np.array(["u", [1]], dtype=object)})
    for name in ("t.npz", "t.mat"):
        table = read_table(tmp_path / name)
        assert sp.issparse(table.values) and abs(table.values - matrix).sum() == 0
        np.testing.assert_array_equal(table.frame(["x3"])["x3"], matrix.toarray()[:, 3])


def test_a_packed_h5ad_file_gives_its_variables_and_what_is_known_of_cells(frame, tmp_path):
    obs = pd.DataFrame({"kind": list("uvuvuv")}, index=[f"c{i}" for i in range(6)])
    cells = pytest.importorskip("anndata").AnnData(sp.csr_matrix(frame.to_numpy()), obs=obs)
    cells.write_h5ad(tmp_path / "t.h5ad")
    packed = gzip.compress((tmp_path / "t.h5ad").read_bytes())
    table = read_text(tmp_path, "t.h5ad.gz", packed)
    assert sp.issparse(table.values) and table.names == ["0", "1", "2"]
    assert table.row_metadata["kind"].tolist() == list("uvuvuv")


def test_frames_come_with_their_types_and_index(tmp_path):
    columns = {
        "number": [1.5, None, 3.0],
        "code": pd.Categorical(["u", "v", "u"]),
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
        "text": ["x", None, "z"],
    }
    frame = pd.DataFrame(columns, index=pd.Index(["r1", "r2", "r3"], name="patient"))
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == ["patient", *columns]
    pd.testing.assert_frame_equal(table.values, frame.reset_index())


def test_a_sheet_is_read_whatever_size_it_says_it_has_and_dates_have_all_years(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["a", "until"], [1, datetime(9999, 12, 31)], [2, datetime(2024, 5, 1, 12)], [3]):
        book.active.append(row)
    book.save(buffer := io.BytesIO())
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as new:
        for name in old.namelist():
            sized = re.sub(rb'<dimension ref="[^"]+"', b'<dimension ref="A1"', old.read(name))
            new.writestr(name, sized)
    values = read_table(tmp_path / "t.xlsx").values
    assert values["a"].tolist() == [1, 2, 3]
    assert values["until"].dt.year.tolist()[:2] == [9999, 2024] and values["until"].isna()[2]


def test_standard_input_is_csv_packed_or_not(monkeypatch):
    class Pipe:
        buffer = io.BytesIO(gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0))

    monkeypatch.setattr("sys.stdin", Pipe)
    assert read_table("-").values.to_numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("header", ["", "a b c\n"])
@pytest.mark.parametrize(
    ("separator", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (" ", "blanks")]
)
def test_decimal_commas_are_found_out_with_every_separator(separator, words, header, tmp_path):
    lines = header + "1,0 -2,5 0,125\n2,5 3,0 1,5e-05\n"
    table = read_text(tmp_path, "t.txt", lines.replace(" ", separator))
    assert table.values.to_numpy().tolist() == [[1, -2.5, 0.125], [2.5, 3, 1.5e-5]]
    assert table.named == bool(header)
    assert table.notes[-1] == f"Columns are separated by {words} and decimals by commas."


@pytest.mark.parametrize("word", ["none", "True"])
def test_one_word_leaves_decimal_commas_what_they_are(word, tmp_path):
    lines = f"a;b;c\n1,5;1,3;True\n-2,5e-1;1,3,4;\n{word};2,3;False\n"
    values = read_text(tmp_path, "t.csv", lines).values
    assert values["a"].tolist() == ["1.5", "-2.5e-1", word]
    assert values["b"].tolist() == ["1,3", "1,3,4", "2,3"]  # several answers in a cell
    assert values["c"].dropna().tolist() == [True, False]


def test_none_is_an_answer_and_not_a_gap(tmp_path):
    values = read_text(tmp_path, "t.csv", "a,b\nNone,1\nLow,NA\n,3\n?,4\n").values
    assert values["a"].isna().tolist() == [False, False, True, True]
    assert values["b"].isna().tolist() == [False, True, False, False]


@pytest.mark.parametrize("lines", ["63.0,1.0,6.0\n67.0,1.0,?\n", "63.0,1.0,?\n67.0,1.0,NA\n"])
def test_a_first_line_of_numbers_is_data_also_with_gaps(lines, tmp_path):
    table = read_text(tmp_path, "t.data", lines)
    assert table.names == ["x0", "x1", "x2"] and not table.named
    assert table.values.shape == (2, 3) and table.values["x2"].isna().tolist()[1]
    assert "taken for data" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("0,1\n0.5,0.1\n", {"0": [0.5], "1": [0.1]}),  # counted columns
        ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),  # lines of old computers
        ("a,b\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),  # a separator at the end
        ('a,b\n"r1",1,2\n"r2",3,4\n', {"row_name": ["r1", "r2"], "a": [1, 3], "b": [2, 4]}),
        ('a;b\n"x, y, z";1\n"u, v, w";2\n', {"a": ["x, y, z", "u, v, w"], "b": [1, 2]}),
        ("a\tb\n1,250\t3\n12,500\t4\n", {"a": ["1,250", "12,500"], "b": [3, 4]}),  # thousands
        ("a,b,c\n1,2,x y\n1,2,x y\n", {"a": [1, 1], "b": [2, 2], "c": ["x y", "x y"]}),
        ("a,b\n10,5 kg\n10,3 kg\n", {"a": [10, 10], "b": ["5 kg", "3 kg"]}),
        ("a,b,c\n3,1;2,5.5\n4,1;2,5.5\n", {"a": [3, 4], "b": ["1;2", "1;2"], "c": [5.5, 5.5]}),
    ],
)
def test_names_and_separators_are_found_out(text, columns, tmp_path):
    table = read_text(tmp_path, "t.csv", text)
    found = table.values.dropna(axis=1).to_dict("list")
    assert found == columns and table.names[: len(columns)] == list(columns)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_spreadsheets_are_read(encoding, tmp_path):
    assert read_text(tmp_path, "t.csv", "größe,b\n1,2\n".encode(encoding)).names == ["größe", "b"]
