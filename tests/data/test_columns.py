"""Columns of data frames that are not plain numbers become numbers, one feature each."""

import contextlib
import datetime as dt
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupfs.data.columns import encode_columns, has_kinds, refuse_text

NAN = np.nan
JOBS = ["cook", "smith", "baker", "cook", None] * 5


def encode(column):
    """Encode a frame of one column."""
    frame = column.to_frame() if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    return encode_columns(frame)[0]


def numbers(column):
    (values,) = encode(column).T
    return values


@pytest.mark.parametrize(
    "column",
    [
        [1.5, NAN, 0.0],
        pd.array([1.5, None, 0], dtype="Float64"),
        pd.array([Decimal("1.5"), None, Decimal(0)], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        pd.Series([Decimal("1.5"), None, Fraction(0)], dtype=object),
        pl.Series([1.5, None, 0.0]),
        pl.Series([Decimal("1.5"), None, Decimal(0)]),
    ],
)
def test_every_way_to_store_numbers_gives_the_same(column):
    np.testing.assert_array_equal(numbers(column), [1.5, NAN, 0])


@pytest.mark.parametrize(
    "column",
    [
        [True, False, True],
        pd.array([True, False, True], dtype="boolean"),
        pl.Series([True, False, True]),
        ["m", "f", "m"],
        pd.Categorical([9, 7, 9]),
        pl.Series(["m", "f", "m"]),
        pl.Series(["m", "f", "m"], dtype=pl.Categorical),
    ],
)
def test_two_values_are_zero_and_one_in_alphabetical_order(column):
    assert numbers(column).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["high", None, "low"], ["low", "middle", "high"], ordered=True),
        pl.Series(["high", None, "low"], dtype=pl.Enum(["low", "middle", "high"])),
    ],
)
def test_an_order_counts_the_categories_that_nobody_has(column):
    np.testing.assert_array_equal(numbers(column), [2, NAN, 0])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(JOBS, dtype=object),
        pd.Series(JOBS, dtype="string"),
        pd.Series(JOBS, dtype="category"),
        pd.Series(JOBS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pd.Series(pd.Categorical(JOBS, ["smith", "nobody", "cook", "baker"])),
        pd.Series([job if job is None else job.encode() for job in JOBS], dtype=object),
        pd.Series([job or "  " for job in JOBS], dtype=object),
        pl.Series(JOBS),
        pl.Series([job if job is None else job.encode() for job in JOBS]),
    ],
)
def test_text_has_a_column_for_each_value_however_it_is_stored(column):
    expected = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [NAN, NAN, NAN]] * 5
    np.testing.assert_array_equal(encode(column), expected)


def levels(text):
    """Encode text with one letter for each row; return the rows of every level."""
    values = encode(list(text))
    values = values if values.shape[1] > 1 else np.column_stack([1 - values, values])
    return [int(rows) for rows in values.sum(axis=0)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("aabbbcccccddddddd", [5, 7, 5]),  # c, d, and a with b, which are few
        ("aabbbbbcccccccdddddd", [7, 6, 7]),  # a alone is too few still, and takes b
        ("aaaaabbbbbcc", [5, 7]),
        ("abc", [1, 2]),  # small tables keep two levels
        ("aabbcc", [2, 4]),
    ],
)
def test_levels_of_fewer_than_five_rows_are_merged_into_the_last(text, rows):
    assert levels(text) == rows


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-02-28", None]),
        pd.PeriodIndex(["2020-02-28", None], freq="D"),
        pd.to_timedelta(["1.5s", None]),
        pd.Series([dt.date(2020, 2, 28), None], dtype=object),
        pd.array([dt.date(2020, 2, 28), None], pd.ArrowDtype(pa.date32())),
        pl.Series([dt.date(2020, 2, 28), None]),
        pl.Series([dt.time(3), dt.time(4)]),
    ],
)
def test_dates_are_refused_with_a_remedy(column):
    with pytest.raises(ValueError, match="1 column of dates or times.*such as days since a date"):
        encode(column)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([None] * 3, dtype=object),
        pd.Series([None] * 3, dtype="category"),
        pd.Series([None] * 3, dtype="Float64"),
        pl.Series([None] * 3),
        pl.Series([None] * 3, dtype=pl.String),
    ],
)
def test_a_column_without_a_value_is_a_gap_from_end_to_end(column):
    assert numbers(column).shape == (3,) and np.isnan(numbers(column)).all()


def test_every_bad_column_is_named_with_its_type_and_a_remedy():
    n = 120
    frame = pd.DataFrame(
        {
            "fine": np.arange(n),
            "tags": [["a"]] * n,
            "wave": np.full(n, 1j),
            "age": [*range(n - 2), "unknown", "old"],
            "name": [f"name {i}" for i in range(n)],
            "city": [f"city {i}" for i in range(n - 1)] + ["city 0"],
            "when": [*["2020"] * (n - 1), dt.date(2020, 1, 1)],
        }
    ).astype({"name": object, "city": object})  # pandas 3 has a type for text
    with pytest.raises(ValueError, match="X has") as error:
        encode_columns(frame)
    assert str(error.value) == (
        "X has 1 column that holds neither numbers nor text: tags (object, e.g. ['a']); "
        "make numbers or text of it, or leave it out, X.drop(columns=['tags']), "
        "as groupfs.files.ColumnPreparer does. "
        "X has 1 column of complex numbers: wave (complex128); give real and imaginary parts as "
        "columns of their own. "
        "X has 2 columns that mix numbers, text or dates: age (object, e.g. 'unknown'), when "
        "(object, e.g. datetime.date(2020, 1, 1)); make them one kind, e.g. numbers with "
        'pandas.to_numeric(column, errors="coerce"), or text with astype(str). '
        "X has 2 columns that look like ids or free text: name (object, 120 values that all "
        "differ), city (object, 119 different values in 120 rows); leave them out, "
        "X.drop(columns=['name', 'city']), as groupfs.files.ColumnPreparer does, or cut "
        "them down to at most 100 values."
    )


def test_as_many_values_as_can_be_are_taken():
    assert encode([f"v{i % 100:03d}" for i in range(500)]).shape == (500, 100)
    assert levels("abcdefghij") == [1, 9]
    with pytest.raises(ValueError, match="11 values that all differ"):
        encode(list("abcdefghijk"))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1.0, NAN], False),
        (pd.array([1, 2], dtype="Int64"), False),
        (pd.array([1, None], dtype="Int64"), True),
        (pd.Series([1, 2.5], dtype=object), False),
        (pd.Series([1, None], dtype=object), True),
        (["a", "b"], True),
        (pd.Categorical([1, 2]), True),
        ([1j], True),
        (pl.Series([1.0, NAN]), False),
        (pl.Series([1, None]), True),
        (pl.Series(["a"]), True),
    ],
)
def test_a_frame_has_kinds_where_numpy_would_stumble(column, expected):
    frame = column.to_frame() if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    assert has_kinds(frame) is expected


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", "b"], "1 column of text: x .*; encode it first"),
        (pd.Series([], dtype="string"), "1 column of text: x .string.; encode it first"),
        (pl.Series("x", ["a", "b"]), "1 column of text: x .String.; encode it first"),
        (pd.to_datetime(["2020-02-28"]), "1 column of dates or times"),
        ([1, "a"], "1 column that mixes numbers, text or dates"),
        (pd.Categorical([1, 2]), None),
        (pd.array([1, None], dtype="Int64"), None),
    ],
)
def test_where_only_numbers_are_taken_other_columns_are_refused(column, words):
    frame = column.to_frame() if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    with pytest.raises(ValueError, match=words) if words else contextlib.nullcontext():
        refuse_text(frame)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=2)
CELLS = {
    pl.Float64: st.none() | st.floats(allow_nan=False),
    pl.Int64: st.none() | st.integers(-(2**53), 2**53),
    pl.Boolean: st.none() | st.booleans(),
    pl.String: st.none() | st.sampled_from(["a", "b", "c", "", " "]) | TEXT,
}


@st.composite
def columns(draw):
    """Draw the type of a column and its cells, few values that are repeated and some others."""
    dtype = draw(st.sampled_from(list(CELLS)))
    pool = st.sampled_from(draw(st.lists(CELLS[dtype], min_size=1, max_size=5)))
    cells = draw(st.lists(pool, max_size=40))
    return dtype, [*cells, *draw(st.lists(CELLS[dtype], max_size=4))]


@settings(max_examples=200, deadline=None)
@given(columns())
def test_pandas_and_polars_give_the_same_and_a_row_is_missing_in_all_columns_or_in_none(drawn):
    dtype, cells = drawn
    objects = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    copy = objects.copy(deep=True)
    values = encode(pl.Series("x", cells, dtype=dtype))
    np.testing.assert_array_equal(encode_columns(objects)[0], values)
    pd.testing.assert_frame_equal(objects, copy)
    missing = [cell is None or dtype == pl.String and not cell.strip() for cell in cells]
    np.testing.assert_array_equal(np.isnan(values), np.repeat([missing], values.shape[1], 0).T)


def test_frames_of_one_package_do_not_need_the_other():
    code = """
import sys, {0} as frames
sys.modules["{1}"] = None
from groupfs.data.columns import encode_columns, has_kinds
frame = frames.DataFrame({{"x": ["a", "b", "c"] * 5, "y": [1.0, 2.0, None] * 5}})
assert has_kinds(frame) and [x.shape[1] for x in encode_columns(frame)] == [3, 1]
"""
    for package, other in (("pandas", "polars"), ("polars", "pandas")):
        subprocess.run([sys.executable, "-c", code.format(package, other)], check=True)
