"""Columns of a file: which are ignored, what kind the others are, and what is said of it."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from groupfs.tables import read_table
from groupfs.tables.columns import ColumnsError, Preparation, learn_columns, numeric_columns


def learn(**columns):
    frame = pd.DataFrame(columns)
    preparation = learn_columns(frame)
    return preparation, preparation.apply(frame)[0]


def notes_with(preparation, word):
    return [note for note in preparation.notes if word in note]


def test_numbers_are_taken_as_they_are(rng):
    values = rng.standard_normal(20)
    preparation, table = learn(a=values, b=rng.integers(5, size=20), c=values > 0)
    assert list(table.columns) == ["a", "b", "c"] and not preparation.notes
    np.testing.assert_array_equal(table["a"], values)
    np.testing.assert_array_equal(table["c"], values > 0)
    assert (table.dtypes == np.float64).all()


def test_durations_are_seconds():
    hours = pd.to_timedelta([1, None, 2, 1], unit="h")
    preparation, table = learn(c=hours, x=[1.5, 2, 0, 1])
    np.testing.assert_array_equal(table["c"], [3600, np.nan, 7200, 3600])
    assert notes_with(preparation, "gaps")[0].endswith(": c (1).")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", [71, 13, 55, 20, 91, 36]),
        ("ID", [71, 13, 55, 20, 91, 36]),
        ("sampleId", [71, 13, 55, 20, 91, 36]),
        ("Unnamed: 0", [5, 3, 1, 0, 2, 4]),
        ("n", [1, 2, 3, 4, 5, 6]),
        ("who", ["ann", "bob", "cleo", "dan", "eve", "fay"]),
    ],
)
def test_ids_are_ignored_and_named(name, values):
    frame = pd.DataFrame({name: values, "x": [1.5, 2, 0, 1, 3, 3]})
    preparation = learn_columns(frame)
    assert preparation.names == ["x"] and len(learn_columns(frame, use=[name]).names) > 1
    assert preparation.notes == (f"Ignored 1 column taken for ids (use=[NAME] keeps one): {name}.",)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", [1, 1, 2, 2, 3, 3]),  # several rows of one patient
        ("income", [71, 13, 55, 20, 91, 36]),
        ("id", [0.5, 1.5, 2.25, 3, 4, 5]),
        ("width", [71, 13, 55, 20, 91, 36]),  # ends in "id" only with "th" cut off
        ("acid", [71, 13, 55, 20, 91, 36]),
    ],
)
def test_measurements_are_not_taken_for_ids(name, values):
    assert learn(**{name: values})[0].names == [name]


DAYS = ["1970-01-03", None, "1970-01-02", "1970-01-02", "1970-01-06", "1970-01-03"]


@pytest.mark.parametrize("dtype", ["object", "datetime64[ns]", "datetime64[ns, UTC]", "category"])
def test_dates_are_ignored_and_dates_when_asked_for(dtype):
    frame = pd.DataFrame({"day": pd.Series(DAYS).astype(dtype), "x": [1.5, 2, 0, 1, 3, 3]})
    ignoring = learn_columns(frame)
    assert ignoring.names == ["x"] and notes_with(ignoring, "of dates")[0].endswith(": day.")
    using = learn_columns(frame, use=["day"])
    days = using.apply(frame)[0]["day"]  # in whatever unit of time pandas takes
    expected = pd.Series(DAYS, dtype="datetime64[ns]")
    assert days.dtype.kind == "M" and days.equals(expected.astype(days.dtype))
    assert notes_with(using, "for dates, as asked") and "day (1)" in notes_with(using, "gaps")[0]


def test_the_time_of_day_is_that_on_the_clock_there():
    noon = pd.date_range("2020-03-01 12:00", periods=4, tz="Asia/Tokyo")
    frame = pd.DataFrame({"time": noon})
    table, _ = learn_columns(frame, use=["time"]).apply(frame)
    assert (table["time"].dt.hour == 12).all()


def test_dates_are_taken_alike_from_text_and_from_dates():
    preparation = learn_columns(pd.DataFrame({"day": DAYS}), use=["day"])
    other = pd.DataFrame({"day": ["1970-01-09 12:00", "soon"]})
    table, notes = preparation.apply(other)
    assert table["day"].tolist() == [pd.Timestamp("1970-01-09 12:00"), pd.NaT]
    assert "day (1)" in notes[0]


def test_dates_that_no_calendar_has_are_no_values():
    frame = pd.DataFrame({"day": ["0000-00-00", "0000-00-00"], "x": [1.5, 2]})
    preparation = learn_columns(frame, use=["day"])
    assert preparation.names == ["x"] and notes_with(preparation, "without any value")


def test_what_is_ignored_is_named_with_its_reason(rng):
    n = 40
    ignored = {
        "too many different values": [f"remark {i % 30}" for i in range(n)],
        "neither numbers nor text": [[i] for i in range(n)],
        "with neither": np.arange(n) * 1j,
        "without any value": [np.nan] * n,
        "without any": [" "] * n,
        "one value only": ["yes"] * n,
    }
    for reason, values in ignored.items():
        preparation, table = learn(c=values, x=rng.standard_normal(n))
        assert list(table.columns) == ["x"]
        assert notes_with(preparation, reason)[0].endswith(": c.")


SIZES = pd.Categorical(["big", "small", "mid", "mid"], ["small", "mid", "big"], ordered=True)


@pytest.mark.parametrize(
    ("values", "levels", "note"),
    [
        (["m", "f", "f", "m"], "f m", "Took 1 column of text for categories: c (2 values)."),
        (list("qrqprp"), "p q r", "Took 1 column of text for categories: c (3 values)."),
        (["1", "2", "4ER+", "4ER-"] * 5, "1 2 4ER+ 4ER-", "c (4 values)."),
        (pd.Categorical([3, 1, 2, 1]), "1 2 3", "c (3 values)."),
        (SIZES, "small mid big", "Took 1 column for ordered categories: c (small < mid < big)."),
    ],
)
def test_text_is_one_category_under_the_name_of_its_column(values, levels, note):
    preparation, table = learn(c=values)
    assert list(table.columns) == ["c"] and preparation.notes[0].endswith(note)
    dtype = pd.CategoricalDtype(levels.split(), ordered=values is SIZES)
    expected = pd.Series([str(value) for value in values], name="c").astype(dtype)
    pd.testing.assert_series_equal(table["c"], expected)


@pytest.mark.parametrize(
    ("values", "n_rows"),
    [
        ([f"v{i}" for i in range(12)], 12),  # ids
        ([f"v{i % 101}" for i in range(900)], 900),  # too many for a category, however often
    ],
)
def test_text_that_is_no_category_is_ignored_and_refused_when_asked_for(values, n_rows):
    frame = pd.DataFrame({"c": values})
    assert learn_columns(frame).names == []
    says = rf"use='c': \d+ different values in {n_rows} rows are no category; .* at most 100"
    with pytest.raises(ColumnsError, match=says) as caught:
        learn_columns(frame, use=["c"])
    assert caught.value.parameter == "use"


def test_a_hundred_values_that_occur_often_are_a_category():
    assert len(learn(c=[f"v{i % 100}" for i in range(900)])[0].columns[0].values) == 100


def test_a_few_words_among_numbers_are_gaps():
    values = [str(v) for v in range(10, 49)] + ["unknown"]
    preparation, table = learn(age=values)
    np.testing.assert_array_equal(table["age"], [*range(10, 49), np.nan])
    assert "age (1 x unknown)" in notes_with(preparation, "numbers and words")[0]
    assert "age (1)" in notes_with(preparation, "Found gaps")[0]


def test_gaps_stay_gaps_and_are_counted():
    preparation, table = learn(
        x=[1.0, 2, np.nan, 10], y=["b", None, "a", " "], z=["p", "q", "r", "r"], t=[True, None] * 2
    )
    np.testing.assert_array_equal(table["x"], [1, 2, np.nan, 10])
    assert table["y"].isna().tolist() == [False, True, False, True]
    np.testing.assert_array_equal(table["t"], [1, np.nan] * 2)
    assert preparation.notes[-1] == (
        "Found gaps in 3 columns; similarities use the rows that are there (how many gaps): "
        "x (1), y (2), t (2)."
    )


@pytest.mark.parametrize("drop", [["*_mut", "c,d"], ["p_mut, q_mut", "c,d"]])
def test_columns_are_dropped_by_name_by_pattern_and_several_at_once(drop):
    frame = pd.DataFrame(np.eye(4), columns=["a", "p_mut", "q_mut", "c,d"])
    for preparation in (
        learn_columns(frame, drop=drop, label="a"),
        numeric_columns(frame.columns, drop=drop, label="a"),
    ):
        assert preparation.names == []
        assert preparation.notes == ("Left out 3 columns, as asked: p_mut, q_mut, c,d.",)


def test_a_name_that_does_not_exist_is_refused_with_a_guess():
    frame = pd.DataFrame({"height": [1, 2], "weight": [2, 1]})
    with pytest.raises(ColumnsError, match=r"drop='heigth': .* did you mean height\?") as caught:
        learn_columns(frame, drop=["heigth"])
    assert caught.value.parameter == "drop"


@pytest.fixture
def people():
    return pd.DataFrame(
        {"sex": list("fmmfmf"), "job": list("pqrpqr"), "age": [30.0, 40, 50, np.nan, 20, 60]}
    )


def test_another_table_gets_the_kinds_of_the_first(people):
    other = pd.DataFrame({"age": ["?", 99], "job": ["p", "new"], "sex": ["m", None], "more": 1})
    preparation = learn_columns(people)
    table, notes = preparation.apply(other)
    pd.testing.assert_series_equal(table.dtypes, preparation.apply(people)[0].dtypes)
    assert list(table.columns) == ["sex", "job", "age"]
    np.testing.assert_array_equal(table["age"], [np.nan, 99])
    assert table["sex"].tolist() == ["m", np.nan] and table["job"].tolist() == ["p", np.nan]
    assert notes == [
        "Took values that were not seen before for gaps in 2 columns (how many): job (1), age (1)."
    ]


def test_a_gap_in_a_file_changes_no_other_cell(tmp_path):
    """pandas reads flags with a gap as words, and codes that lost their letter as numbers."""
    frame = pd.DataFrame(
        {
            "flag": ["True", "False", "True", "False", "True"] * 4,
            "shout": ["TRUE", "FALSE", "TRUE", "perhaps", "FALSE"] * 4,
            "code": ["1", "2", "3", "2", "X"] * 4,
            "padded": ["007", "01", "3.10", "3.10", "-"] * 4,
            "count": ["4", "3", "3", "1", "2"] * 4,
            "sex": ["f", "m", "m", "f", "f"] * 4,
        }
    )
    frame.to_csv(tmp_path / "first.csv", index=False)
    gappy = frame.replace(["perhaps", "X", "-"], "")
    gappy.iloc[0] = ""
    gappy.to_csv(tmp_path / "second.csv", index=False)
    first = read_table(tmp_path / "first.csv").values
    second = read_table(tmp_path / "second.csv").values
    preparation = learn_columns(first)
    (before, _), (after, notes) = preparation.apply(first), preparation.apply(second)
    for name in preparation.names:
        kept = (gappy[name] != "").to_numpy()
        pd.testing.assert_series_equal(after.loc[kept, name], before.loc[kept, name])
        assert after.loc[~kept, name].isna().all()
    assert preparation.names == list(frame.columns) and notes == []


def test_columns_without_codes_are_selected_as_they_are_stored():
    """Under copy-on-write, pandas makes a new column at every look at it."""
    stored = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 99, 3], "c": [2.0**60, 99, 1]})
    with warnings.catch_warnings(), pd.option_context("mode.copy_on_write", True):
        warnings.simplefilter("ignore")  # later versions of pandas know no other way
        selected, _ = learn_columns(stored, missing=99).as_selected(stored)
    assert [str(dtype) for dtype in selected.dtypes] == ["float64", "Int64", "float64"]
    assert selected["c"][0] == 2**60


def test_columns_that_are_not_there_are_named(people):
    with pytest.raises(ColumnsError, match="2 of the 3 columns that are needed are missing: sex"):
        learn_columns(people).apply(people[["job"]])


def test_a_preparation_survives_json(people):
    preparation = learn_columns(people, missing=99)
    assert preparation.advice == preparation.notes[-1:]
    stored = json.loads(json.dumps(preparation.to_dict()))
    assert Preparation.from_dict(stored) == preparation


def test_numbers_that_are_taken_as_they_are_have_gaps_for_words():
    table, notes = numeric_columns(["a"]).apply(pd.DataFrame({"a": ["1", "two"]}))
    np.testing.assert_array_equal(table["a"], [1, np.nan])
    assert notes[0].endswith(": a (1).")
