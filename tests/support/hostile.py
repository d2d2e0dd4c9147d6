"""What the tests of hostile files have in common: writing one, and how it is to be refused."""

import struct

import pytest

from groupfs.tables import TableError, read_table

HUGE = 10**12


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refusal(path):
    """The sentence that refuses a file; it was not memory that ran out."""
    with pytest.raises(TableError) as caught:
        read_table(path)
    sentence = str(caught.value)
    assert sentence.isprintable() and len(sentence) < 1200 and sentence.endswith((".", "?"))
    assert not isinstance(caught.value.__cause__, MemoryError)
    return sentence


def npy(header, body=b""):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def described(shape, kind="<f8"):
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
