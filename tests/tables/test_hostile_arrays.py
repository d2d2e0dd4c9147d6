"""Text, arrays and Matlab files made to do harm, one test for every fault that fuzzing found."""

import lzma
import struct
import zlib

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from groupfs.tables import read_table
from groupfs.tables.columns import learn_columns
from tests.support.fuzz import seeds
from tests.support.hostile import HUGE, described, npy, refusal, write

# text


def test_lines_that_end_as_on_old_computers_are_lines(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b\r1,2\r3,4\r"))
    assert table.names == ["a", "b"] and table.values.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_a_cell_without_an_end_is_refused(tmp_path):
    assert "field limit" in refusal(write(tmp_path, "t.csv", f"a,b\n1,{'x' * 200_000}\n"))


@pytest.mark.parametrize("text", ['""\n', '"\n"\n', " ,\n"])
def test_cells_of_nothing_are_read_or_refused(text, tmp_path):
    refusal(write(tmp_path, "t.csv", text))


def test_what_a_file_puts_into_an_error_cannot_drive_a_terminal(tmp_path):
    name = "\x1b[2J" + "\U000e0001" * 500 + "x" * 5000
    sentence = refusal(write(tmp_path, "t.csv", f"{name},{name}\n1,2\n"))
    assert "\\x1b[2J" in sentence and "rename these columns" in sentence


def test_a_column_of_blanks_has_no_value():
    preparation = learn_columns(pd.DataFrame({"a": [1.5, 2.0, 3.5], "b": ["\t", " ", None]}))
    assert preparation.names == ["a"]


def test_an_xz_file_cannot_ask_for_gigabytes_to_be_unpacked(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**20}]
    data = bytearray(lzma.compress(b"a,b\n1,2\n", filters=filters))
    header = 12
    place = data.index(bytes([0x21, 1]), header) + 2  # the byte that tells the size of the window
    data[place] = 39
    size = (data[header] + 1) * 4
    data[header + size - 4 : header + size] = struct.pack(
        "<I", zlib.crc32(data[header : header + size - 4])
    )
    assert "Memory usage limit" in refusal(write(tmp_path, "t.csv.xz", bytes(data)))


# arrays


@pytest.mark.parametrize("shape", [(HUGE, 3), (0, HUGE), (HUGE, 0), (3, 2**63), (-1, 3), "(" * 90])
def test_an_array_of_more_values_than_its_file_is_refused(shape, tmp_path):
    refusal(write(tmp_path, "t.npy", npy(described(shape), bytes(72))))


@pytest.mark.parametrize("kind", ["|S0", "<U0", "|V0"])
def test_values_that_take_no_bytes_are_refused(kind, tmp_path):
    refusal(write(tmp_path, "t.npy", npy(described((HUGE, 3), kind), bytes(72))))


def test_bytes_and_names_of_bytes_are_text(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[b"u", "ü".encode()], [b"w", b"x"]]))
    assert read_table(tmp_path / "t.npy").values.to_numpy().tolist() == [["u", "ü"], ["w", "x"]]
    np.savez(tmp_path / "t.npz", X=np.eye(2), names=np.array([b"u", b"v"]))
    assert read_table(tmp_path / "t.npz").names == ["u", "v"]


@pytest.mark.parametrize("letter", [0x110000, 2**32 - 1, 0xD800])
def test_letters_that_there_are_not_are_refused(letter, tmp_path):
    body = np.full(4, letter, "<u4").tobytes()
    data = npy(described((2, 2), "<U1"), body)
    assert "letters" in refusal(write(tmp_path, "t.npy", data))
    names = {"X.npy": seeds.npy()[0], "names.npy": npy(described((3,), "<U1"), body[:12])}
    assert "letters" in refusal(write(tmp_path, "t.npz", seeds.zipped(names)))


def test_what_is_no_array_in_an_archive_is_left_alone(tmp_path):
    data = seeds.zipped({"X.npy": seeds.npy()[0], "read me.txt": b"hello", ".npy": b""})
    assert read_table(write(tmp_path, "t.npz", data)).values.shape == (6, 3)


@pytest.mark.parametrize("method", [99, 12])
def test_an_archive_packed_in_an_unknown_way_is_refused(method, tmp_path):
    data = bytearray(seeds.zipped({"X.npy": seeds.npy()[0]}))
    for start, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, data.index(start) + place, method)
    refusal(write(tmp_path, "t.npz", bytes(data)))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("fault", ["outside", "below", "back"])
def test_a_sparse_matrix_that_points_outside_is_refused(form, fault, tmp_path):
    """scipy would write to memory that is not its own."""
    matrix = sp.random_array((8, 5), density=0.4, rng=0).asformat(form)
    parts = {"data": matrix.data, "shape": matrix.shape, "format": form.encode()}
    if form == "coo":
        parts |= {"row": matrix.row.copy(), "col": matrix.col}
        parts["row"][0] = {"outside": 10**6, "below": -1, "back": 8}[fault]
    else:
        parts |= {"indices": matrix.indices.copy(), "indptr": matrix.indptr.copy()}
        if fault == "back":
            parts["indptr"][1:-1] = 10**6
        else:
            parts["indices"][0] = 10**6 if fault == "outside" else -1
    np.savez(tmp_path / "t.npz", **parts)
    refusal(tmp_path / "t.npz")


@pytest.mark.parametrize("indptr", [[0, 6, 12, 0], [0, 0, 11, -(2**31)]])
def test_a_matrix_with_columns_that_go_back_is_refused(indptr, tmp_path):
    """Two that scipy's own check lets pass, and then crashes at."""
    indptr = np.array(indptr, dtype=np.int32)
    nothing = np.empty(0, dtype=np.int32)
    parts = {"indices": nothing, "indptr": indptr, "data": np.empty(0), "shape": (5, 3)}
    np.savez(tmp_path / "t.npz", format=b"csc", **parts)
    assert "go back" in refusal(tmp_path / "t.npz")


@pytest.mark.parametrize("shape", [(HUGE, 5), (5, HUGE)])
def test_a_sparse_matrix_of_endless_rows_or_columns_is_refused(shape, tmp_path):
    place = np.zeros(1, dtype=np.int64)
    parts = {"row": place, "col": place, "indices": place, "indptr": place}
    np.savez(tmp_path / "t.npz", data=np.ones(1), shape=shape, format=b"coo", **parts)
    assert "made to fill the memory" in refusal(tmp_path / "t.npz")


# mat


def part(kind, values):
    return struct.pack("<II", kind, len(values)) + values + bytes(-len(values) % 8)


def variable(kind, dimensions, *rest, name=b"X"):
    parts = [struct.pack("<II", kind, 0), struct.pack(f"<{len(dimensions)}i", *dimensions)]
    inside = part(6, parts[0]) + part(5, parts[1]) + part(1, name) + b"".join(rest)
    return struct.pack("<II", 14, len(inside)) + inside


def mat(*variables, packed=False):
    if packed:
        packs = [zlib.compress(data) for data in variables]
        variables = [struct.pack("<II", 15, len(pack)) + pack for pack in packs]
    return b" " * 124 + b"\x00\x01IM" + b"".join(variables)


def nested(depth):
    inside = variable(6, (1, 1), part(9, bytes(8)))
    for _ in range(depth):
        inside = variable(1, (1, 1), inside)
    return inside


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "hostile",
    [
        variable(1, (2**30, 2**10)),  # cells that are not there
        variable(2, (2**30, 1), part(5, struct.pack("<i", 8)), part(1, b"")),  # no fields
        variable(2, (1, 1), part(5, struct.pack("<i", 0)), part(1, b"a")),  # names of no letters
        variable(6, (6, 3), struct.pack("<II", 9, 2**31) + bytes(144)),  # a length that is a lie
        variable(4, (1, 4), part(14, bytes(56))),  # letters of no kind: scipy crashes
        variable(6, (6, 3), part(99, bytes(144))),  # numbers of no kind
        variable(77, (6, 3), part(9, bytes(144))),
        variable(6, (6,), part(9, bytes(144))),
        nested(5000),
        struct.pack("<II", 14, 16) + part(6, bytes(8)),
        struct.pack("<II", 14, 0) + variable(6, (6, 3), part(9, bytes(144)))[8:],
    ],
)
def test_a_variable_that_is_not_what_it_says_is_refused(hostile, packed, tmp_path):
    whole = variable(6, (6, 3), part(9, np.arange(18.0).tobytes()))
    assert read_table(write(tmp_path, "t.mat", mat(whole, packed=packed))).values.shape == (6, 3)
    refusal(write(tmp_path, "t.mat", mat(whole, hostile, packed=packed)))


def test_functions_and_objects_in_a_mat_file_are_left_alone(tmp_path):
    whole = variable(6, (6, 3), part(9, np.arange(18.0).tobytes()))
    function = variable(16, (1, 1), variable(4, (1, 4), part(16, b"exec"), name=b""), name=b"f")
    assert read_table(write(tmp_path, "t.mat", mat(whole, function))).values.shape == (6, 3)


def test_a_small_mat_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.zeros((50_000, 4))}, do_compression=True)
    assert read_table(tmp_path / "t.mat").values.shape == (50_000, 4)
    monkeypatch.setattr("groupfs.tables.file_content.MOST_TIMES", 2)
    monkeypatch.setattr("groupfs.tables.file_content.MOST_BYTES", 100_000)
    monkeypatch.setattr(scipy.io, "loadmat", lambda *a, **k: pytest.fail("was unpacked"))
    assert "unpacks to more" in refusal(tmp_path / "t.mat")


@pytest.mark.parametrize("head", [(0, 2**31 - 1, 2**31 - 1, 0, 2), (0, 2, 2, 0, 2**31 - 1)])
def test_lies_in_the_older_mat_format_are_refused(head, tmp_path):
    assert "cut off" in refusal(write(tmp_path, "t.mat", struct.pack("<5i", *head) + bytes(40)))
