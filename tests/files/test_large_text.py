"""Text too large for memory: a sample of its rows is taken for what the whole would be."""

import gzip

import numpy as np
import pandas as pd
import pytest

from groupfs.files import TableError, large_text, read_table
from groupfs.files.columns import decide_columns
from groupfs.files.large_text import is_too_large, read_sample

N = 4000


@pytest.fixture
def survey(rng):
    return pd.DataFrame(
        {
            "nr": range(1, N + 1),
            "person_id": [f"p{i}" for i in range(N)],
            "a": rng.standard_normal(N).round(4),
            "b": np.where(rng.random(N) < 0.1, np.nan, rng.integers(1, 6, N)),
            "c": rng.choice(["never", "sometimes", "always"], N),
            "job": rng.choice(["bäcker", 'cook, "chief"', "smith\r\nof gold", None], N),
            "code": rng.choice(["007", "1,5", "12"], N),
        }
    )


@pytest.fixture
def room_for(monkeypatch):
    """Allow so many bytes for a sample, with what is made of it."""
    return lambda n_bytes: monkeypatch.setattr(large_text, "MOST_BYTES", n_bytes)


FORMS = {
    "plain": {},
    "semicolons": {"sep": ";", "decimal": ",", "encoding": "cp1252"},
    "old Mac": {"lineterminator": "\r", "quoting": 1},
    "quoted": {"quoting": 1, "sep": "\t", "encoding": "utf-16"},
    "packed": {"compression": "gzip"},
    "headless": {"header": False},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_taken_for_what_the_whole_is(form, survey, room_for, tmp_path):
    path, header = tmp_path / "t.csv", FORMS[form].get("header")
    survey.to_csv(path, index=False, **FORMS[form])
    whole = read_table(path, header=header)
    pd.testing.assert_frame_equal(read_sample(path, header).values, whole.values)
    room_for(300_000)
    sample = read_sample(path, header)
    rows = sample.values.index
    assert 500 < len(rows) < N / 3 and rows.is_monotonic_increasing
    pd.testing.assert_frame_equal(sample.values, whole.values.iloc[rows], check_names=False)
    said, *others = sample.notes
    assert f"so {len(rows):,} of {len(whole.values):,} rows, drawn at random, stand for it." in said
    assert others == whole.notes and sample.named == whole.named
    expected = decide_columns(whole.values)
    decided = decide_columns(sample.values)
    assert decided.columns == expected.columns and expected.columns[0].why == "id"


def test_rows_are_drawn_evenly_and_alike_with_a_little_less_memory(room_for, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n\n".join(f"{i},x" for i in range(40_000)))
    room_for(900_000)
    rows = read_sample(path).values["a"]
    counts = np.histogram(rows, 20, (0, 40_000))[0]
    assert (abs(counts - len(rows) / 20) < 4 * np.sqrt(len(rows) / 20)).all()
    room_for(700_000)
    assert read_sample(path).values["a"].equals(rows)
    room_for(200_000)
    assert set(read_sample(path).values["a"]) < set(rows)


def test_a_letter_further_down_tells_the_encoding(room_for, tmp_path):
    path = tmp_path / "t.csv"
    row = "x" * 100 + ",y\n"
    path.write_bytes("ä,b\n".encode() + row.encode() * 50_000 + "ü,y\n".encode("cp1252"))
    room_for(10**6)
    assert read_sample(path).names == read_table(path).names == ["Ã¤", "b"]


def test_only_text_beyond_the_limit_is_too_large(survey, tmp_path):
    survey.to_csv(tmp_path / "t.csv", index=False)
    survey.to_parquet(tmp_path / "t.parquet")
    assert not is_too_large(tmp_path / "t.csv") and not is_too_large("-")
    assert is_too_large(tmp_path / "t.csv", 1000)
    assert not is_too_large(tmp_path / "t.parquet", 1000)


@pytest.mark.parametrize(
    "text",
    [
        b"a,b\n" + b'1,2\n\n"1\n",2\n' * 900 + b"1,2,3\n" + b"1,2\n" * 900,
        b"a,b\n" + b"1,2\n \n" * 900 + b'"1,2\n' + b"1,2\n" * 900,
        b"a,b\n" + b"1,2,3,4\n" * 900,
        b"a  b\n" + b"1   2 \n" * 900 + b"1 2  3\n",
        gzip.compress(b"a,b\n" + b"1,2\n" * 90_000, mtime=0)[:-12],
        b"\n\n" * 900,
    ],
)
def test_what_breaks_is_refused_as_in_a_small_file(text, room_for, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    with pytest.raises(TableError) as expected:
        read_table(path)
    room_for(1000)
    with pytest.raises(TableError) as refused:
        read_sample(path)
    assert str(refused.value) == str(expected.value)
