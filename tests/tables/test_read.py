"""Reading tables: every kind of file, and a sentence for every file that is none."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from groupfs.tables import TableError, read_table


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.standard_normal((6, 3)), columns=["a", "b", "c"])


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["t.npy", "t.npy.gz"])
def test_arrays_get_numbered_columns_compressed_or_not(name, frame, tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, frame.to_numpy())
    data = buffer.getvalue()
    table = read_table(write(tmp_path, name, gzip.compress(data) if name[-2:] == "gz" else data))
    assert table.names == ["x0", "x1", "x2"] and not table.named
    np.testing.assert_array_equal(table.values, frame)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_labels_in_files_of_arrays_are_row_metadata(ending, frame, tmp_path):
    arrays = {"X": frame.to_numpy(), "Y": np.arange(6)}
    path = tmp_path / f"t.{ending}"
    np.savez(path, **arrays) if ending == "npz" else scipy.io.savemat(path, arrays)
    table = read_table(path)
    assert table.names == ["x0", "x1", "x2"]
    assert table.row_metadata["Y"].tolist() == list(range(6))


def test_npy_and_npz_are_told_apart_whatever_their_names(frame, tmp_path):
    np.save(tmp_path / "t.npy", frame.to_numpy())
    np.savez(tmp_path / "u.npz", X=frame.to_numpy())
    (tmp_path / "t.npy").rename(tmp_path / "t.npz")
    (tmp_path / "u.npz").rename(tmp_path / "u.npy")
    for name in ("t.npz", "u.npy"):
        np.testing.assert_array_equal(read_table(tmp_path / name).values, frame)


@pytest.mark.parametrize("names", [["a", "b", "c"], [b"a", b"b", b"c"]])
def test_names_in_an_npz_are_used(names, frame, tmp_path):
    np.savez(tmp_path / "t.npz", data=frame.to_numpy(), feature_names=np.array(names))
    table = read_table(tmp_path / "t.npz")
    assert table.names == ["a", "b", "c"] and table.named and table.row_metadata is None


def test_a_sparse_matrix_stays_sparse(tmp_path):
    matrix = sp.random_array((20, 5), density=0.2, rng=0, format="csr")
    sp.save_npz(tmp_path / "t.npz", matrix)
    table = read_table(tmp_path / "t.npz")
    assert sp.issparse(table.values) and abs(table.values - matrix).sum() == 0


@pytest.mark.slow
def test_a_packed_h5ad_file_gives_its_variables_and_what_is_known_of_cells(frame, tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(
        sp.csr_matrix(frame.to_numpy()),
        obs=pd.DataFrame({"kind": list("uvuvuv")}, index=[f"c{i}" for i in range(6)]),
        var=pd.DataFrame(index=["a", "b", "c"]),
    )
    path = tmp_path / "t.h5ad"
    cells.write_h5ad(path)
    table = read_table(write(tmp_path, "t.h5ad.gz", gzip.compress(path.read_bytes())))
    assert sp.issparse(table.values) and table.names == ["a", "b", "c"]
    assert table.row_metadata["kind"].tolist() == list("uvuvuv")


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
    table = read_table(write(tmp_path, "t.txt", lines.replace(" ", separator)))
    assert table.values.to_numpy().tolist() == [[1, -2.5, 0.125], [2.5, 3, 1.5e-5]]
    assert table.named == bool(header)
    assert table.notes[-1] == f"Columns are separated by {words} and decimals by commas."


def test_thousands_are_not_taken_for_decimals(tmp_path):
    table = read_table(write(tmp_path, "t.tsv", "a\tb\n1,250\t3\n12,500\t4\n"))
    assert table.values["a"].tolist() == ["1,250", "12,500"]


@pytest.mark.parametrize("cells", ["1,2,x y", "10,5 kg,3", "3,1;2,5.5"])
def test_commas_separate_where_other_signs_are_in_cells(cells, tmp_path):
    table = read_table(write(tmp_path, "t.csv", f"a,b,c\n{cells}\n{cells}\n"))
    assert table.names == ["a", "b", "c"] and table.notes == []


@pytest.mark.parametrize("word", ["none", "True"])
def test_one_word_leaves_decimal_commas_what_they_are(word, tmp_path):
    lines = f"a;b;c\n1,5;1,3;True\n-2,5e-1;1,3,4;\n{word};2,3;False\n"
    values = read_table(write(tmp_path, "t.csv", lines)).values
    assert values["a"].tolist() == ["1.5", "-2.5e-1", word]
    assert values["b"].tolist() == ["1,3", "1,3,4", "2,3"]  # several answers in a cell
    assert values["c"].dropna().tolist() == [True, False]


def test_none_is_an_answer_and_not_a_gap(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b\nNone,1\nLow,NA\n,3\n?,4\n"))
    assert table.values["a"].isna().tolist() == [False, False, True, True]
    assert table.values["b"].isna().tolist() == [False, True, False, False]


def test_commas_inside_quotes_do_not_separate(tmp_path):
    table = read_table(write(tmp_path, "t.csv", 'a;b\n"x, y, z";1\n"u, v, w";2\n'))
    assert table.names == ["a", "b"] and table.values["a"][0] == "x, y, z"


@pytest.mark.parametrize("lines", ["63.0,1.0,6.0\n67.0,1.0,?\n", "63.0,1.0,?\n67.0,1.0,NA\n"])
def test_a_first_line_of_numbers_is_data_also_with_gaps(lines, tmp_path):
    table = read_table(write(tmp_path, "t.data", lines))
    assert table.names == ["x0", "x1", "x2"] and not table.named
    assert table.values.shape == (2, 3) and table.values["x2"].isna().tolist()[1]
    assert "taken for data" in table.notes[0]


def test_counted_columns_are_a_header(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "0,1,2\n0.5,0.1,0.2\n"))
    assert table.names == ["0", "1", "2"] and table.n_rows == 1


def test_the_header_can_be_denied(tmp_path):
    path = write(tmp_path, "t.csv", "u,1\nv,2\n")
    assert read_table(path, header=False).values.shape == (2, 2)


def test_row_names_without_a_header_get_one(tmp_path):
    table = read_table(write(tmp_path, "t.csv", 'a b\n"r1" 1 2\n"r2" 3 4\n'.replace(" ", ",")))
    assert table.names == ["row_name", "a", "b"] and table.values["b"].tolist() == [2, 4]


def test_a_separator_at_the_end_of_lines_shifts_nothing(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b\n1,2,\n3,4,\n"))
    assert table.values["a"].tolist() == [1, 3] and table.values["b"].tolist() == [2, 4]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_spreadsheets_are_read(encoding, tmp_path):
    path = write(tmp_path, "t.csv", "größe,b\n1,2\n3,4\n".encode(encoding))
    assert read_table(path).names == ["größe", "b"]


def refusal(path, **limits):
    with pytest.raises(TableError) as caught:
        read_table(path, **limits)
    sentence = str(caught.value)
    assert sentence.isprintable() and len(sentence) < 1200 and sentence[-1] in ".?"
    return sentence


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "\n\n", "nothing but blank lines"),
        ("t.csv", "a,b,c\n", "has 3 columns (a, b, c) but not one row"),
        ("t.csv", "a,b,a,a\n1,2,3,4\n", "1 column name that occurs more than once: a (3 times)"),
        ("t.csv", "a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
        ("t.csv", bytes(range(256)) * 9, "binary data and not csv"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-12], "cannot be unpacked"),
        ("t.npy", b"", "is empty"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(name, content, says, tmp_path):
    assert says in refusal(write(tmp_path, name, content))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zip", "t.npz"])
def test_a_small_file_that_would_fill_the_memory_is_refused(name, tmp_path):
    path = tmp_path / name
    zeros = np.zeros((200_000, 2), dtype=int)
    if name == "t.npz":
        np.savez_compressed(path, X=zeros)
    else:
        pd.DataFrame(zeros, columns=["a", "b"]).to_csv(path, index=False)
    assert read_table(path).values.shape == (200_000, 2)
    assert "would need more than 100.0 kB of memory" in refusal(path, max_bytes=100_000)


def test_lines_that_end_as_on_old_computers_are_lines(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b\r1,2\r3,4\r"))
    assert table.names == ["a", "b"] and table.values.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_what_a_file_puts_into_an_error_cannot_drive_a_terminal(tmp_path):
    name = "\x1b[2J" + "\U000e0001" * 500 + "x" * 5000
    sentence = refusal(write(tmp_path, "t.csv", f"{name},{name}\n1,2\n"))
    assert "\\x1b[2J" in sentence and "rename these columns" in sentence


def test_bytes_are_text(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[b"u", "ü".encode()], [b"w", b"x"]]))
    assert read_table(tmp_path / "t.npy").values.to_numpy().tolist() == [["u", "ü"], ["w", "x"]]


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("index", [10**6, -1])
def test_a_sparse_matrix_that_points_outside_is_refused(form, index, tmp_path):
    """scipy would write to memory that is not its own."""
    matrix = sp.random_array((8, 5), density=0.4, rng=0).asformat(form)
    parts = {"data": matrix.data, "shape": matrix.shape, "format": form.encode()}
    if form == "coo":
        parts |= {"row": matrix.row.copy(), "col": matrix.col}
        parts["row"][0] = index
    else:
        parts |= {"indices": matrix.indices.copy(), "indptr": matrix.indptr}
        parts["indices"][0] = index
    np.savez(tmp_path / "t.npz", **parts)
    refusal(tmp_path / "t.npz")


@pytest.mark.parametrize("indptr", [[0, 6, 12, 0], [0, 0, 11, -(2**31)]])
def test_a_sparse_matrix_with_decreasing_indptr_is_refused(indptr, tmp_path):
    """Two that scipy's own check lets pass, and then crashes at."""
    nothing = np.empty(0, dtype=np.int32)
    parts = {"indices": nothing, "indptr": np.array(indptr, np.int32), "data": np.empty(0)}
    np.savez(tmp_path / "t.npz", format=b"csc", shape=(5, 3), **parts)
    assert "decreases" in refusal(tmp_path / "t.npz")


@pytest.mark.parametrize("shape", [(10**12, 5), (5, 10**12)])
def test_a_sparse_matrix_of_endless_rows_or_columns_is_refused(shape, tmp_path):
    index = np.zeros(1, dtype=np.int64)
    np.savez(tmp_path / "t.npz", data=np.ones(1), shape=shape, format=b"coo", row=index, col=index)
    assert "of memory" in refusal(tmp_path / "t.npz")


def test_a_missing_file_is_named_with_the_one_that_was_meant(tmp_path):
    write(tmp_path, "students.csv", "a,b\n1,2\n")
    assert "did you mean" in (said := refusal(tmp_path / "student.csv")) and "students.csv" in said
    assert "students.csv" in refusal(tmp_path / "students.xlsx")
    write(tmp_path, "letter.csv", "a,b\n1,2\n")
    assert "check the spelling" in refusal(tmp_path / "nofile.csv")
    assert "is a folder" in refusal(tmp_path)


def test_arrays_of_python_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[1, "a"], [2, "b"]], dtype=object))
    assert "never unpickled" in refusal(tmp_path / "t.npy")


def test_an_array_with_another_number_of_axes_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((2, 3, 4)))
    assert "(2, 3, 4)" in refusal(tmp_path / "t.npy")


def test_an_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
        archive.writestr("b.csv", "a,b\n1,2\n")
    assert "holds 2 files (a.csv, b.csv)" in refusal(tmp_path / "t.zip")
