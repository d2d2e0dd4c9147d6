"""The packed file: what is read is what was written, or an error that says what to do."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.packing import MARK, read_packed, write_packed

RECORD = {
    "key": {"table": "yale", "budgets": [50, 100]},
    "selected": list(range(0, 3000, 7)),
    "unsorted": list(range(20, 0, -1)),
    "nested": [{"groups": [list(range(9)), [1, 2]]}, [[70000] * 9, 2**62]],
    "not indices": [[True] * 9, [0.5] * 9, [-1] * 9, [2**64] * 9, list("abcdefghij"), []],
    "plain": [None, 0.1, "text – not ascii", float("inf")],
}
lists = st.lists(st.integers(-2, 2**40), max_size=14)
values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | lists | lists.map(sorted),
    lambda some: st.lists(some, max_size=4) | st.dictionaries(st.text(max_size=5), some),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.npz"


def same(path, records):
    write_packed(path, records)
    found = read_packed(path)
    return json.dumps(found) == json.dumps(records)  # types and order of names too


def test_records_are_read_as_they_were_written(path):
    assert same(path, [RECORD, {"key": {}, "selected": [3] * 10}, RECORD])
    assert same(path, [])
    assert same(path, [{"key": {"cell": 1}}])


@given(st.lists(st.dictionaries(st.text(max_size=5), values), max_size=4))
def test_whatever_json_can_say_can_be_packed(tmp_path_factory, records):
    assert same(tmp_path_factory.mktemp("packed") / "results.npz", records)


def test_long_lists_of_integers_are_not_in_the_text(path):
    write_packed(path, [RECORD])
    with np.load(path) as file:
        text = json.loads(file["text"].tobytes())
        assert file["integers"].dtype == np.uint32
    assert text[0]["selected"] == text[0]["nested"][0]["groups"][0] == MARK
    assert text[0]["key"]["budgets"] == [50, 100]


def test_equal_records_give_equal_bytes(path):
    write_packed(path, [RECORD])
    before = path.read_bytes()
    write_packed(path, [RECORD])
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_an_error_with_a_remedy(path, share):
    write_packed(path, [RECORD])
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"results.npz is damaged .*; restore it .* or delete it"):
        read_packed(path)


def test_a_changed_bit_is_an_error_unless_it_changes_nothing(path):
    write_packed(path, [RECORD])
    content = path.read_bytes()
    n_errors = 0
    for place in range(0, len(content), 5):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            assert read_packed(path) == [RECORD]
        except ValueError as error:
            assert str(error).startswith(f"{path} is damaged")
            n_errors += 1
    assert n_errors > len(content) / 5 / 2
