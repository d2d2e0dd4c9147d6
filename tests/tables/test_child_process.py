"""Files that crash, hang or bloat their parsers end in one sentence, not in the end of Python."""

import os
import struct
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import psutil
import pytest
import scipy.io
import scipy.sparse as sp

from groupfs.tables import TableError, h5ad, numpy_and_matlab, read_table

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
GB = 10**9
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds all memory")


def endless(path):
    """A pipe that nobody writes to: whoever opens it waits."""
    os.mkfifo(path)


def crashing(path):
    """A mat file with letters of a type that there is not, at which scipy reads anywhere."""

    def part(kind, values):
        return struct.pack("<II", kind, len(values)) + values + bytes(-len(values) % 8)

    flags, shape = struct.pack("<II", 4, 0), struct.pack("<2i", 1, 4)
    inside = part(6, flags) + part(5, shape) + part(1, b"X") + part(14, bytes(56))
    path.write_bytes(b" " * 124 + b"\x00\x01IM" + struct.pack("<II", 14, len(inside)) + inside)


def endless_h5ad(path):
    anndata.AnnData(np.eye(3)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        how = {"dtype": "f8", "chunks": (1000, 1000), "compression": "gzip"}
        X = file.create_dataset("X", (200_000, 100_000), **how)
        X.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def endless_feather(path):
    column = pa.Array.from_buffers(pa.null(), 2**60, [None])
    options = pa.ipc.IpcWriteOptions(allow_64bit=True)
    with pa.ipc.new_file(path, pa.schema({"a": pa.null()}), options=options) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([column], ["a"]))


def pointing_outside(path):
    offsets = pa.py_buffer(np.array([0, 1, 2**30, 3], dtype=np.int32))
    column = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"xyz")])
    with pa.ipc.new_file(path, pa.schema({"a": pa.string()})) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([column], ["a"]))


def zeros(path):
    """A small file of many values, for every kind."""
    frame = pd.DataFrame(np.zeros((3_000_000, 4)), columns=list("abcd"))
    if path.suffix == ".mat":
        scipy.io.savemat(path, {"X": frame.to_numpy()}, do_compression=True)
    else:
        frame.to_parquet(path, compression="zstd")


FILES = [
    ("t.mat", crashing, {}, "crashed its parser"),
    ("t.mat", endless, {"max_seconds": 1.5}, "took longer than 1.5 s to read"),
    ("t.h5ad", endless_h5ad, {"max_bytes": 2 * GB}, "would need more than 2.0 GB of memory"),
    ("t.feather", endless_feather, {"max_bytes": GB}, "would need more than 1.0 GB of memory"),
    ("t.feather", pointing_outside, {}, "is broken or no feather file"),
    ("t.mat", zeros, {"max_bytes": 10**8}, "would need more than 100.0 MB of memory"),
    ("t.parquet", zeros, {"max_bytes": 10**8}, "would need more than 100.0 MB of memory"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write", "limits", "says"), FILES)
def test_the_end_of_a_parser_is_one_sentence(name, write, limits, says, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    write(tmp_path / name)
    children = psutil.Process().children()
    before, start = psutil.Process().memory_info().rss, time.monotonic()
    with pytest.raises(TableError, match=says) as caught:
        read_table(tmp_path / name, **limits)
    assert str(caught.value).startswith(str(tmp_path / name)) and str(caught.value).isprintable()
    assert time.monotonic() - start < 30
    assert psutil.Process().memory_info().rss - before < 2e8
    assert psutil.Process().children() == children and not os.listdir(tmp_path / "temporary")


@pytest.mark.slow
def test_a_module_beside_the_data_is_not_imported(tmp_path, monkeypatch):
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.eye(3)})
    (tmp_path / "json.py").write_text("open('sprung', 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert read_table("t.mat").values.shape == (3, 3) and not os.path.exists("sprung")


@pytest.mark.slow
def test_what_a_missing_package_would_have_read_names_it(tmp_path):
    from groupfs.tables.child_process import parse_in_child
    from groupfs.tables.file_content import find_content

    scipy.io.savemat(tmp_path / "t.mat", {"X": np.eye(3)})
    with pytest.raises(ImportError, match="needs absent; install it with pip install absent"):
        parse_in_child(numpy_and_matlab.parse_mat, find_content(tmp_path / "t.mat"), ["absent"])


@pytest.mark.slow
def test_frames_come_back_with_their_types_and_index(tmp_path):
    frame = pd.DataFrame(
        {
            "number": [1.5, None, 3.0],
            "code": pd.Categorical(["u", "v", "u"]),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
            "text": ["x", None, "z"],
            "flag": [True, False, True],
        },
        index=pd.Index(["r1", "r2", "r3"], name="patient"),
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == ["patient", *frame.columns]
    pd.testing.assert_frame_equal(table.values, frame.reset_index())


# What the child does, in this process


def test_variables_of_a_mat_file_that_are_no_arrays_are_left_out(tmp_path):
    path = str(tmp_path / "t.mat")
    cells = np.array(["u", [1, 2]], dtype=object)
    scipy.io.savemat(path, {"X": sp.csc_array(np.eye(3)), "cells": cells, "names": list("abc")})
    found = numpy_and_matlab.parse_mat(path, "t.mat")
    assert found["X"].format == "csr" and set(found) == {"X", "names"}
    (tmp_path / "t.mat").write_bytes(b" " * 124 + b"\x00\x02IM" + bytes(64))
    with pytest.raises(TableError, match="t.mat is a Matlab 7.3 file"):
        numpy_and_matlab.parse_mat(path, "t.mat")


def test_an_h5ad_file_needs_a_table_and_names(tmp_path):
    path = tmp_path / "t.h5ad"
    obs = pd.DataFrame({"kind": list("uvuvuv")}, index=[f"c{i}" for i in range(6)])
    anndata.AnnData(np.ones((6, 3)), obs=obs).write_h5ad(path)
    parts = h5ad.parse_h5ad(str(path), "t.h5ad")
    assert parts["X"].shape == (6, 3) and parts["obs"].column_names == ["kind"]
    with h5py.File(path, "r+") as file:
        del file["X"]
        file.create_dataset("X", data=np.zeros((7, 3)))
    with pytest.raises(ValueError, match="7, 3.* for 6 obs"):
        h5ad.parse_h5ad(str(path), "t.h5ad")
    with h5py.File(path, "r+") as file:
        del file["var"]
    with pytest.raises(TableError, match="no obs and var"):
        h5ad.parse_h5ad(str(path), "t.h5ad")
