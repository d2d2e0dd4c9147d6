"""A file that is absent, broken or no table is refused in one sentence, whatever it is."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs.files import TableError, read_table


def refusal(path):
    with pytest.raises(TableError) as caught:
        read_table(path)
    sentence = str(caught.value)
    assert sentence.isprintable() and len(sentence) < 1200 and sentence[-1] in ".?"
    return sentence


def npy(array):
    np.save(buffer := io.BytesIO(), array)
    return buffer.getvalue()


def archive(*names):
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as members:
        for name in names:
            members.writestr(name, "a,b\n1,2\n")
    return buffer.getvalue()


def feather():
    """Lengths of texts that point outside the file, at which Arrow would read anywhere."""
    pa = pytest.importorskip("pyarrow")
    offsets = pa.py_buffer(np.array([0, 1, 2**30, 3], dtype=np.int32))
    column = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"xyz")])
    with pa.ipc.new_file(buffer := io.BytesIO(), pa.schema({"a": pa.string()})) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([column], ["a"]))
    return buffer.getvalue()


REFUSED = [
    ("t.csv", b"", "is empty (0 bytes)"),
    ("t.csv", b"\n\n", "nothing but blank lines"),
    ("t.csv", b"a,b,c\n", "has 3 columns (a, b, c) but not one row"),
    ("t.csv", b"a,b,a,a\n1,2,3,4\n", "1 column name that occurs more than once: a (3 times)"),
    ("t.csv", b"\x1b[2J,\x1b[2J\n" + b"1,2\n" * 99, "\\x1b[2J (2 times); rename these columns"),
    ("t.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
    ("t.csv", b"a,b\n1,2,3,4\n1,2,3,4\n", "longer lines below them"),
    ("t.csv", b'a,b\n"1,2\n', "cannot be read as csv"),
    ("t.csv", bytes(range(256)) * 9, "seems to be binary data; tables are read from csv, tsv, "),
    ("t.csv", b"%PDF-1.7", "by its first bytes it seems to be a PDF document; "),
    ("t.csv", b"PK\x03\x04", "seems to be an Office document (xlsx) or an archive; "),
    ("t.xls", b"\xd0\xcf\x11\xe0", "seems to be an Office document of before 2007; "),
    ("t.json", b'[{"a": 1}]', "seems to be JSON; "),
    ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-12], "it may be cut off"),
    ("t.csv.zip", b"no archive", "(File is not a zip file); it may be cut off"),
    ("t.zip", archive("a.csv", "b.csv"), "holds 2 files (a.csv, b.csv); unpack it"),
    ("t.npy", npy(np.zeros((2, 3, 4))), "shape (2, 3, 4); a table has 2 axes"),
    ("t.npy", npy(np.array([[1, "a"]], dtype=object)), "which are never unpickled here"),
    ("t.npy", npy(np.eye(2, dtype=complex)), "values of type complex128; a table needs numbers"),
    ("t.npz", archive(), "holds no table of numbers, nothing"),
    ("t.mat", b" " * 124 + b"\x00\x02IM" + bytes(64), "is a Matlab 7.3 file; save it with"),
    ("t.xlsx", archive("a.csv"), "is broken or no xlsx file"),
    ("t.feather", feather(), "is broken or no feather file"),
    ("t.parquet", feather()[3:], "is broken or no parquet file (Parquet"),
    *(
        (f"t.{kind}", b"nothing" * 99, f"is broken or no {kind} file (")
        for kind in ("xlsx", "sav", "parquet", "feather", "npy", "npz", "mat", "h5ad")
    ),
]


@pytest.mark.parametrize(("name", "content", "says"), REFUSED)
def test_what_is_no_table_is_refused_in_one_sentence(name, content, says, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert says in refusal(tmp_path / name)


def test_a_missing_file_is_named_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "students.csv").write_text("a,b\n1,2\n")
    assert "did you mean" in (said := refusal(tmp_path / "student.csv")) and "students.csv" in said
    assert "students.csv" in refusal(tmp_path / "students.xlsx")
    assert "check the spelling" in refusal(tmp_path / "nofile.csv")
    assert "is a folder" in refusal(tmp_path)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("index", [10**6, -1])
def test_a_sparse_matrix_that_points_outside_is_refused(form, index, tmp_path):
    """scipy would write to memory that is not its own."""
    matrix = sp.random_array((8, 5), density=0.4, rng=0).asformat(form)
    (matrix.row if form == "coo" else matrix.indices)[0] = index
    sp.save_npz(tmp_path / "t.npz", matrix)
    refusal(tmp_path / "t.npz")


@pytest.mark.parametrize("indptr", [[0, 6, 12, 0], [0, 0, 11, -(2**31)]])
def test_a_sparse_matrix_with_decreasing_indptr_is_refused(indptr, tmp_path):
    """Two that scipy's own check lets pass, and then crashes at."""
    nothing = np.empty(0, dtype=np.int32)
    parts = {"indices": nothing, "indptr": np.array(indptr, np.int32), "data": np.empty(0)}
    np.savez(tmp_path / "t.npz", format=b"csc", shape=(5, 3), **parts)
    assert "decreases" in refusal(tmp_path / "t.npz")


def test_a_table_that_memory_does_not_hold_is_refused(tmp_path):
    index = np.zeros(1, dtype=np.int64)
    parts = {"data": np.ones(1), "shape": (10**15, 5), "row": index, "col": index}
    np.savez(tmp_path / "t.npz", format=b"coo", **parts)
    assert "needs more memory than there is" in refusal(tmp_path / "t.npz")


def test_an_h5ad_file_needs_a_table_and_names(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5ad"
    obs = pd.DataFrame({"kind": list("uvuvuv")}, index=[f"c{i}" for i in range(6)])
    pytest.importorskip("anndata").AnnData(np.ones((6, 3)), obs=obs).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
    assert "has no X; it has no layers." in refusal(path)
    with h5py.File(path, "r+") as file:
        file.create_dataset("X", data=np.zeros((7, 3)))
    assert "(7, 3) for 6 obs" in refusal(path)
    with h5py.File(path, "r+") as file:
        del file["var"]
    assert "no obs and var" in refusal(path)
