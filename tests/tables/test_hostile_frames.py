"""Parquet, feather, h5ad and published files made to do harm, as fuzzing found them."""

import io
import os
import struct
import time

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from groupfs.datasets import readers
from groupfs.datasets.published_files import Content
from groupfs.tables import read_table
from tests.support.fuzz import seeds
from tests.support.hostile import refusal, write

pytest.importorskip("anndata")
pytest.importorskip("rdata")
h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")


def unsound(kind):
    places = pa.py_buffer(np.array([0, 1, 2**30, 3], dtype=np.int32))
    if kind == "text":
        return pa.Array.from_buffers(pa.string(), 3, [None, places, pa.py_buffer(b"xyz")])
    if kind == "list":
        inner = pa.array([1, 2, 3], pa.int8())
        return pa.Array.from_buffers(pa.list_(pa.int8()), 3, [None, places], children=[inner])
    codes = pa.array([0, 2**30, 1], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(["u", "v"]), safe=False)


@pytest.mark.parametrize("kind", ["text", "list", "codes"])
def test_a_feather_file_that_points_outside_is_refused(kind, tmp_path):
    """Arrow would follow it, and crash."""
    feather.write_feather(pa.table({"a": unsound(kind)}), tmp_path / "t.feather")
    refusal(tmp_path / "t.feather")


@pytest.mark.parametrize("ending", ["parquet", "feather", "h5ad"])
def test_a_small_file_that_announces_too_much_is_refused(ending, tmp_path, monkeypatch):
    path = tmp_path / f"t.{ending}"
    frame = pd.DataFrame(np.zeros((50_000, 4)), columns=list("abcd"))
    if ending == "h5ad":
        import anndata

        anndata.AnnData(frame.to_numpy()).write_h5ad(path, compression="gzip")
    else:
        getattr(frame, f"to_{ending}")(path, compression="zstd")
    assert read_table(path).values.shape == (50_000, 4)
    monkeypatch.setattr("groupfs.tables.file_content.MOST_TIMES", 0)
    monkeypatch.setattr("groupfs.tables.file_content.MOST_BYTES", 1_000_000)
    assert "made to fill the memory" in refusal(path)


def test_a_table_larger_than_the_memory_is_refused_by_its_size(tmp_path, monkeypatch):
    pd.DataFrame(np.zeros((1000, 4)), columns=list("abcd")).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("groupfs.tables.file_content._memory", lambda: 10_000)
    assert "this machine has 0.0 GB of memory" in refusal(tmp_path / "t.parquet")


def test_an_old_feather_file_is_refused(tmp_path):
    refusal(write(tmp_path, "t.feather", b"FEA1" + bytes(40) + b"FEA1"))


def endless(file):
    del file["X"]
    file.create_dataset("X", (10**9, 10**6), "f8", chunks=(1000, 1000))


def elsewhere(file):
    del file["X"]
    file["X"] = h5py.ExternalLink("other.h5", "/X")


def other_values(file):
    del file["X"]
    file.create_dataset("X", (6, 3), "f8", external=[("/etc/hostname", 0, 144)])


def ring(file):
    file["obs"]["whole"].attrs["x"] = 1
    del file["obs"]["whole"]
    file["obs"]["whole"] = file["obs"]


def words(file):
    del file["X"]
    file["X"] = "text"


def too_many(file):
    del file["X"]
    file.create_dataset("X", data=np.zeros((7, 4)))


def fewer_rows(file):
    del file["X"]
    file.create_dataset("X", data=np.zeros((5, 3)))


def unknown(file):
    file["X"].attrs["encoding-type"] = "odd"


def complex_numbers(file):
    del file["X"]
    file.create_dataset("X", data=np.zeros((6, 3), dtype=complex))


@pytest.mark.parametrize(
    "edit",
    [
        endless,
        elsewhere,
        other_values,
        ring,
        words,
        too_many,
        fewer_rows,
        unknown,
        complex_numbers,
    ],
)
def test_cells_that_do_not_fit_together_are_refused(edit, tmp_path):
    path = write(tmp_path, "t.h5ad", seeds.h5ad()[0])
    with h5py.File(path, "r+") as file:
        edit(file)
    refusal(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_sparse_cells_that_point_outside_are_refused(seed, tmp_path):
    path = write(tmp_path, "t.h5ad", seeds.h5ad()[seed])
    with h5py.File(path, "r+") as file:
        file["X/indices"][0] = 10**6
    refusal(path)


@pytest.mark.parametrize("shape", [[10**9, 10**9], [-(10**12), 3], [2**62, 2**62]])
def test_sparse_cells_of_an_endless_shape_are_refused(shape, tmp_path):
    path = write(tmp_path, "t.h5ad", seeds.h5ad()[1])
    with h5py.File(path, "r+") as file:
        file["X"].attrs["shape"] = shape
    assert "made to fill the memory" in refusal(path)


def test_a_file_at_which_the_hdf5_library_dies_is_refused(tmp_path, monkeypatch):
    """Another process looks first; here it dies as at some damaged files."""
    path = write(tmp_path, "t.h5ad", seeds.h5ad()[0])
    monkeypatch.setattr("groupfs.tables.hdf5._try", lambda file, names: os.abort())
    assert "does not survive" in refusal(path)


def test_a_look_at_a_file_that_has_no_end_is_given_up(tmp_path, monkeypatch):
    path = write(tmp_path, "t.h5ad", seeds.h5ad()[0])
    monkeypatch.setattr("groupfs.tables.hdf5.LONGEST_WAIT", 1)
    monkeypatch.setattr("groupfs.tables.hdf5._try", lambda file, names: time.sleep(60))
    assert "does not survive" in refusal(path)


# the files of the paper's tables


def malformed(reader, data, *arguments):
    with pytest.raises(ValueError, match="it is not the file that its source publishes") as caught:
        getattr(readers, reader)(Content("t", data, ""), *arguments)
    assert not isinstance(caught.value.__cause__, MemoryError) and str(caught.value).isprintable()


def test_published_files_that_hold_something_else_are_refused():
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"X": sp.csc_array(np.eye(3)), "Y": np.arange(3)})
    malformed("read_mat", buffer.getvalue())
    malformed("read_mat", seeds.mat()[0][:-20])
    malformed("read_csv", b"a,b,c\n" + b"x" * 200_000, 3)


def test_a_sequence_of_r_with_any_number_of_values_is_not_made(tmp_path):
    """R writes 1:n as its length, start and step."""
    words = [b"compact_intseq", b"base"]
    symbols = b"".join(struct.pack(">iii", 1, 0x00040009, len(w)) + w for w in words)
    info = struct.pack(">i", 2) + symbols[: 12 + len(words[0])]
    info += struct.pack(">i", 2) + symbols[12 + len(words[0]) :]
    info += struct.pack(">iii", 2, 13, 1) + struct.pack(">ii", 13, 254)
    state = struct.pack(">ii3d", 14, 3, 1e10, 1.0, 1.0)
    tag = struct.pack(">iii", 0x402, 1, 0x00040009) + struct.pack(">i", 4) + b"lung"
    body = tag + struct.pack(">i", 238) + info + state + struct.pack(">ii", 254, 254)
    head = b"RDX3\nX\n" + struct.pack(">4i", 3, 0x030500, 0x030500, 5) + b"UTF-8"
    malformed("read_rda", head + body, "lung")
