"""Columns of data frames that are not plain numbers become numbers, one feature each."""

import datetime as dt
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupfs.data.kinds import encode_columns, has_kinds

NAN = np.nan
JOBS = ["cook", "smith", "baker", "cook", None] * 5


def encode(column):
    """Encode a frame of one column; return its kind and values."""
    frame = column.to_frame() if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    encoded = encode_columns(frame)
    return encoded.kinds[0], encoded.values[0]


def numbers(column):
    kind, values = encode(column)
    assert kind == "number" and values.shape[1] == 1
    return values[:, 0]


@pytest.mark.parametrize(
    "column",
    [
        [1.5, NAN, 0.0],
        pd.array([1.5, None, 0], dtype="Float64"),
        pd.array([1.5, None, 0], dtype=pd.ArrowDtype(pa.float32())),
        pd.array([Decimal("1.5"), None, Decimal(0)], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        pd.array([1.5, NAN, 0], dtype=pd.SparseDtype(float)),
        pd.Series([Decimal("1.5"), None, Fraction(0)], dtype=object),
        pd.Series([1.5, pd.NA, False], dtype=object),
        pd.to_timedelta(["1.5s", None, "0s"]),
        pd.Series([dt.timedelta(seconds=1.5), None, dt.timedelta()], dtype=object),
        pd.array(
            [dt.timedelta(seconds=1.5), None, dt.timedelta()], pd.ArrowDtype(pa.duration("ms"))
        ),
        pl.Series([1.5, None, 0.0]),
        pl.Series([Decimal("1.5"), None, Decimal(0)]),
        pl.Series([dt.timedelta(seconds=1.5), None, dt.timedelta()]),
    ],
)
def test_every_way_to_store_numbers_gives_the_same(column):
    np.testing.assert_array_equal(numbers(column), [1.5, NAN, 0])


@pytest.mark.parametrize(
    "column",
    [
        [True, False, True],
        pd.array([True, False, True], dtype="boolean"),
        pd.array([1, 0, 1], dtype="Int8"),
        pl.Series([True, False, True]),
        ["m", "f", "m"],
        pd.Categorical([9, 7, 9]),
        pl.Series(["m", "f", "m"]),
        pl.Series(["m", "f", "m"], dtype=pl.Categorical),
    ],
)
def test_two_values_are_zero_and_one_in_alphabetical_order(column):
    assert numbers(column).tolist() == [1, 0, 1]


def test_infinity_stays():
    assert numbers([np.inf, 0.0]).tolist() == [np.inf, 0]


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
        pd.Series(JOBS, dtype=pd.ArrowDtype(pa.string())),
        pd.Series(JOBS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pd.Series(pd.Categorical(JOBS, ["smith", "nobody", "cook", "baker"])),
        pd.Series([job if job is None else job.encode() for job in JOBS], dtype=object),
        pd.Series([job or "  " for job in JOBS], dtype=object),
        pd.Series([job or "" for job in JOBS], dtype="category"),
        pl.Series(JOBS),
        pl.Series(JOBS, dtype=pl.Categorical),
        pl.Series([job if job is None else job.encode() for job in JOBS]),
    ],
)
def test_text_has_a_column_for_each_value_however_it_is_stored(column):
    kind, values = encode(column)
    assert kind == "category"
    expected = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [NAN, NAN, NAN]] * 5
    np.testing.assert_array_equal(values, expected)


def test_a_category_of_numbers_is_a_category_and_whole_numbers_are_numbers():
    codes = [3, 1, 20] * 5
    assert encode(pd.Categorical(codes))[1].tolist()[:3] == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert numbers(codes).tolist() == codes


def levels(text):
    """Encode text with one letter for each row; return the rows of every level."""
    kind, values = encode(list(text))
    values = values if kind == "category" else np.column_stack([1 - values, values])
    return [int(rows) for rows in values.sum(axis=0)]


def test_values_of_fewer_than_five_rows_are_merged_into_the_last():
    assert levels("aabbbcccccddddddd") == [5, 7, 5]  # c, d, and a with b


def test_merged_values_that_are_few_still_take_the_least_frequent_other():
    assert levels("aabbbbbcccccccdddddd") == [7, 6, 7]  # c, d, and a with b


def test_two_levels_that_are_left_are_a_number():
    assert encode(list("aaaaabbbbbcc"))[0] == "number"
    assert levels("aaaaabbbbbcc") == [5, 7]


def test_small_tables_keep_two_levels():
    assert levels("abc") == [1, 2]
    assert levels("aabbcc") == [2, 4]


def dates(*days, **more):
    return pd.to_datetime(list(days), **more)


@pytest.mark.parametrize(
    "column",
    [
        dates("2020-02-28", None, "2020-03-01"),
        pd.PeriodIndex(["2020-02-28", None, "2020-03-01"], freq="D"),
        pd.Series([dt.date(2020, 2, 28), None, dt.date(2020, 3, 1)], dtype=object),
        pd.array([dt.date(2020, 2, 28), None, dt.date(2020, 3, 1)], pd.ArrowDtype(pa.date32())),
        dates("2020-02-28", None, "2020-03-01").tz_localize("Asia/Tokyo"),
        pl.Series([dt.date(2020, 2, 28), None, dt.date(2020, 3, 1)]),
        pl.Series([dt.datetime(2020, 2, 28), None, dt.datetime(2020, 3, 1)]),
    ],
)
def test_dates_are_days_since_the_first_however_they_are_stored(column):
    kind, values = encode(column)
    assert kind == "date"
    np.testing.assert_array_equal(values, [[0], [NAN], [2]])


def test_two_years_of_dates_have_a_place_in_the_year():
    kind, values = encode(dates("2020-01-01", "2020-07-01", "2021-04-02", "2022-01-01", None))
    assert kind == "date" and values.shape == (5, 3)
    assert values[:4, 0].tolist() == [0, 182, 457, 731]
    expected = [[0, 1], [0, -1], [1, 0], [0, 1], [NAN, NAN]]
    np.testing.assert_allclose(values[:, 1:], expected, atol=0.02)
    assert encode(dates("2020-01-01", "2020-07-01", "2021-12-31"))[1].shape == (3, 3)
    assert encode(dates("2020-01-01", "2020-07-01", "2021-12-30"))[1].shape == (3, 1)


def test_the_same_day_of_every_year_is_no_place_in_the_year():
    assert encode(dates(*(f"{year}-06-30" for year in range(2000, 2020))))[1].shape == (20, 1)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("frame", ["pandas", "polars", "objects"])
def test_times_of_day_are_those_on_the_clock_there(frame, zone):
    times = dates("2020-03-01 00:00", "2020-03-02 06:00", "2020-03-04 12:00").tz_localize(zone)
    column = {
        "pandas": times,
        "polars": pl.Series([stamp.to_pydatetime() for stamp in times]),
        "objects": pd.Series(list(times), dtype=object),
    }[frame]
    if frame == "polars" and zone:
        column = column.dt.convert_time_zone(zone)
    expected = [[0, 0, 1], [1.25, 1, 0], [3.5, 0, -1]]
    np.testing.assert_allclose(encode(column)[1], expected, atol=1e-12)


@pytest.mark.parametrize(
    "times",
    [
        ["2020-03-01 12:00", "2020-03-09 12:00"],  # all at noon
        ["2020-03-01 12:00", "2020-03-02 18:00"],  # too few days
    ],
)
def test_times_of_day_that_say_nothing_are_left_out(times):
    assert encode(dates(*times))[1].shape == (2, 1)


def test_dates_at_the_ends_of_what_pandas_can_tell_are_where_they_belong():
    _, values = encode(dates("1677-09-22", "2262-04-11"))
    assert values[:, 0].tolist() == [0, (dt.date(2262, 4, 11) - dt.date(1677, 9, 22)).days]
    angle = 2 * np.pi * np.array([264, 100]) / 365
    np.testing.assert_allclose(values[:, 1:], np.column_stack([np.sin(angle), np.cos(angle)]))
    _, values = encode(pd.Series(pd.PeriodIndex(["1500-01", "2020-03"], freq="M")))
    assert values[1, 0] == (dt.date(2020, 3, 1) - dt.date(1500, 1, 1)).days


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.Series(values, dtype=object),
        lambda values: pd.Series(values, dtype="string"),
        lambda values: pd.Series(values, dtype="category"),
        lambda values: pd.Series(values, dtype="datetime64[ns]"),
        lambda values: pd.Series(values, dtype="Float64"),
        lambda values: pl.Series(values),
        lambda values: pl.Series(values, dtype=pl.String),
        lambda values: pl.Series(values, dtype=pl.Date),
    ],
)
def test_a_column_without_a_value_is_a_gap_from_end_to_end(make):
    _, values = encode(make([None, None, None]))
    assert values.shape == (3, 1) and np.isnan(values).all()


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
        "X has 1 column that holds neither numbers, text nor dates: tags (object, e.g. ['a']); "
        "make numbers or text of it, or leave it out: X.drop(columns=['tags']). "
        "X has 1 column of complex numbers: wave (complex128); give real and imaginary parts as "
        "columns of their own. "
        "X has 2 columns that mix numbers, text or dates: age (object, e.g. 'unknown'), when "
        "(object, e.g. datetime.date(2020, 1, 1)); make them one kind, e.g. numbers with "
        'pandas.to_numeric(column, errors="coerce"), or text with astype(str). '
        "X has 2 columns that look like ids or free text: name (object, 120 values that all "
        "differ), city (object, 119 different values in 120 rows); leave them out: "
        "X.drop(columns=['name', 'city']), or cut them down to at most 100 values."
    )


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1], [2]]),
        pl.Series([{"a": 1}, {"a": 2}]),
        pl.Series([dt.time(3), dt.time(4)]),
        pl.Series([{1}, {2}], dtype=pl.Object),
        pd.Series([{1}, {2}]),
        pd.Series(pd.IntervalIndex.from_breaks([0, 1, 2])),
    ],
)
def test_columns_of_things_are_refused(column):
    with pytest.raises(ValueError, match="neither numbers, text nor dates"):
        encode(column)


def test_as_many_values_as_can_be_are_taken():
    assert encode([f"v{i % 100:03d}" for i in range(500)])[1].shape == (500, 100)
    assert levels("abcdefghij") == [1, 9]
    with pytest.raises(ValueError, match="11 values that all differ"):
        encode(list("abcdefghijk"))


def test_whoever_changes_the_numbers_does_not_change_the_frame():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    encode_columns(frame).values[0][:] = 7
    assert frame["x"].tolist() == [1, 2]


def test_columns_of_one_name_are_told_apart_by_place():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"], [3.0, "a"]], columns=["x", "x"])
    frame = frame.astype(object)
    assert [values[:, 0].tolist() for values in encode_columns(frame).values] == [
        [1, 2, 3],
        [0, 1, 0],
    ]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1.0, NAN], False),
        ([True, False], False),
        (pd.array([1, 2], dtype="Int64"), False),
        (pd.array([1, None], dtype="Int64"), True),
        (pd.Series([1, 2.5], dtype=object), False),
        (pd.Series([1, None], dtype=object), True),
        (["a", "b"], True),
        (pd.Series(["1", "2"], dtype=object), True),
        (pd.Categorical([1, 2]), True),
        (dates("2020-01-01"), True),
        (pd.to_timedelta(["1s"]), True),
        ([1j], True),
        (pl.Series([1.0, NAN]), False),
        (pl.Series([1, None]), True),
        (pl.Series([True]), False),
        (pl.Series(["a"]), True),
        (pl.Series([Decimal(1)]), True),
    ],
)
def test_a_frame_has_kinds_where_numpy_would_stumble(column, expected):
    frame = column.to_frame() if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    assert has_kinds(frame) is expected


def test_arrays_and_lists_have_no_kinds():
    assert not has_kinds(np.array([["a"]])) and not has_kinds([["a"]])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=2)
CELLS = {
    "float": st.none() | st.floats(allow_nan=False),
    "int": st.none() | st.integers(-(2**53), 2**53),
    "bool": st.none() | st.booleans(),
    "text": st.none() | st.sampled_from(["a", "b", "c", "", " "]) | TEXT,
    "date": st.none() | st.dates(),
    "time": st.none() | st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)),
}


@st.composite
def columns(draw):
    """Draw the sort of a column and its cells; about half of them are few values, repeated."""
    sort = draw(st.sampled_from(sorted(CELLS)))
    pool = st.sampled_from(draw(st.lists(CELLS[sort], min_size=1, max_size=5)))
    n_rows = draw(st.integers(0, 40))
    cells = draw(st.lists(pool, min_size=n_rows, max_size=n_rows))
    return sort, [*cells, *draw(st.lists(CELLS[sort], max_size=4))]


POLARS = {
    "float": pl.Float64,
    "int": pl.Int64,
    "bool": pl.Boolean,
    "text": pl.String,
    "date": pl.Date,
    "time": pl.Datetime("us"),
}


@settings(max_examples=300, deadline=None)
@given(columns())
def test_pandas_and_polars_give_the_same_and_are_left_alone(drawn):
    sort, cells = drawn
    objects = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    series = pl.Series("x", cells, dtype=POLARS[sort])
    copy = objects.copy(deep=True)
    kind, values = encode(series)
    again = encode_columns(objects)
    pd.testing.assert_frame_equal(objects, copy)
    assert again.kinds == [kind if any(cell is not None for cell in cells) else "number"]
    np.testing.assert_array_equal(again.values[0], values)


@settings(max_examples=300, deadline=None)
@given(columns())
def test_a_row_is_missing_in_all_columns_or_in_none(drawn):
    sort, cells = drawn
    _, values = encode(pl.Series("x", cells, dtype=POLARS[sort]))
    missing = [cell is None or sort == "text" and not cell.strip() for cell in cells]
    assert values.dtype == np.float64 and values.shape[0] == len(cells)
    np.testing.assert_array_equal(np.isnan(values), np.repeat([missing], values.shape[1], 0).T)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.randoms())
def test_levels_hold_every_row_once_and_five_rows_each(counts, random):
    text = [chr(97 + i) for i, count in enumerate(counts) for _ in range(count)]
    random.shuffle(text)
    if len(text) == len(counts) > 10:
        return
    kind, values = encode(text)
    if kind == "category":
        assert values.shape[1] >= 3
        assert (values.sum(axis=1) == 1).all() and set(values.ravel()) == {0, 1}
        assert (values.sum(axis=0) >= 5).all()
    else:
        assert set(values.ravel()) == set(range(min(len(counts), 2)))


def test_rows_in_another_order_are_encoded_alike():
    rng = np.random.default_rng(0)
    order = rng.permutation(60)
    text = rng.choice(list("abcdefg"), 60, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.03, 0.02])
    np.testing.assert_array_equal(encode(text[order])[1], encode(text)[1][order])


def test_frames_of_one_package_do_not_need_the_other():
    code = """
import sys, {0} as frames
sys.modules["{1}"] = None
from groupfs.data.kinds import encode_columns, has_kinds
frame = frames.DataFrame({{"x": ["a", "b", "c"] * 5, "y": [1.0, 2.0, None] * 5}})
assert has_kinds(frame) and encode_columns(frame).kinds == ["category", "number"]
"""
    for package, other in (("pandas", "polars"), ("polars", "pandas")):
        subprocess.run([sys.executable, "-c", code.format(package, other)], check=True)


def test_ten_thousand_rows_of_three_hundred_columns_take_seconds():
    rng = np.random.default_rng(0)
    n = 10_000
    words = np.array([f"word {i}" for i in range(20)], dtype=object)
    parts = {
        "n": lambda: rng.standard_normal(n),
        "t": lambda: words[rng.integers(20, size=n)],
        "c": lambda: pd.Categorical(words[rng.integers(20, size=n)]),
        "d": lambda: np.datetime64("2020") + rng.integers(10**8, size=n).astype("m8[s]"),
        "i": lambda: pd.array(rng.integers(9, size=n), dtype="Int64"),
    }
    frame = pd.DataFrame({f"{k}{i}": make() for i in range(60) for k, make in parts.items()})
    started = time.perf_counter()
    encode_columns(frame)
    assert time.perf_counter() - started < 10  # about one, on a machine of its own
