"""Columns of a file to columns of numbers: what is ignored, encoded and filled in, and said."""

import json

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
    assert set(table["c"]) == {0.0, 1.0}


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
def test_dates_are_ignored_and_days_when_asked_for(dtype):
    frame = pd.DataFrame({"day": pd.Series(DAYS).astype(dtype), "x": [1.5, 2, 0, 1, 3, 3]})
    ignoring = learn_columns(frame)
    assert ignoring.names == ["x"] and notes_with(ignoring, "of dates")[0].endswith(": day.")
    using = learn_columns(frame, use=["day"])
    assert using.apply(frame)[0]["day"].tolist() == [2, 2, 1, 1, 5, 2]
    assert notes_with(using, "days since 1970") and "day (1)" in notes_with(using, "median")[0]


def test_days_are_taken_alike_from_text_and_from_dates():
    preparation = learn_columns(pd.DataFrame({"day": DAYS}), use=["day"])
    other = pd.DataFrame({"day": ["1970-01-09 12:00", "soon"]})
    table, notes = preparation.apply(other)
    assert table["day"].tolist() == [8.5, 2] and "day (1)" in notes[0]


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
        "numbers nor": pd.to_timedelta(np.arange(n) % 7, unit="h"),
        "without any value": [np.nan] * n,
        "without any": [" "] * n,
        "one value only": ["yes"] * n,
    }
    for reason, values in ignored.items():
        preparation, table = learn(c=values, x=rng.standard_normal(n))
        assert list(table.columns) == ["x"]
        assert notes_with(preparation, reason)[0].endswith(": c.")


SIZES = pd.Categorical(["big", "small", "mid", "mid"], ["small", "mid", "big"], ordered=True)
RARE = ["0"] * 190 + ["H178P"] * 8 + ["rare0", "rare1"]


@pytest.mark.parametrize(
    ("values", "names", "note"),
    [
        (["m", "f", "f", "m"], ["c"], "text with two values as 0 and 1: c (f = 0, m = 1)."),
        (SIZES, ["c"], "by their place in the order: c (small = 0, mid = 1, big = 2)."),
        (list("qrqprp"), ["c=p", "c=q", "c=r"], "each frequent value: c (3 values)."),
        (RARE, ["c=0", "c=H178P"], "for each frequent value: c (2 of 4 values)."),
        (["1", "2", "4ER+", "4ER-"] * 5, ["c=1", "c=2", "c=4ER+", "c=4ER-"], "c (4 values)."),
        (
            [f"v{i:02d}" for i in range(15) for _ in range(20 - i)],
            [f"c=v{i:02d}" for i in range(10)],
            "c (10 of 15 values).",
        ),
    ],
)
def test_text_becomes_codes_or_a_column_for_each_frequent_value(values, names, note):
    preparation, table = learn(c=values)
    assert list(table.columns) == names and preparation.notes[0].endswith(note)
    column = preparation.columns[0]
    for cell, row in zip(map(str, values), table.to_numpy(), strict=True):
        one_hot = [float(cell == value) for value in column.values]
        assert row.tolist() == ([one_hot.index(1)] if len(names) == 1 else one_hot)


def test_a_few_words_among_numbers_are_missing_values():
    values = [str(v) for v in range(10, 49)] + ["unknown"]
    preparation, table = learn(age=values)
    assert table["age"].iloc[-1] == np.median(np.arange(10, 49))
    assert "age (1 x unknown)" in notes_with(preparation, "numbers and words")[0]
    assert "age (1)" in notes_with(preparation, "median")[0]


def test_gaps_become_the_median_or_the_most_frequent_value():
    preparation, table = learn(
        x=[1.0, 2, np.nan, 10], y=["b", None, "a", "b"], z=["p", "q", "r", "r"]
    )
    assert table["x"].tolist() == [1, 2, 2, 10] and table["y"].tolist() == [1, 1, 0, 1]
    assert "x (1)" in notes_with(preparation, "median")[0]
    assert "y (1)" in notes_with(preparation, "most frequent")[0]


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


def test_encoded_names_that_clash_are_refused():
    frame = pd.DataFrame({"a": list("pqrpqr"), "a=p": [1.0, 2, 3, 1, 2, 3]})
    with pytest.raises(ColumnsError, match="same name as others: a=p"):
        learn_columns(frame)


@pytest.fixture
def people():
    return pd.DataFrame(
        {"sex": list("fmmfmf"), "job": list("pqrpqr"), "age": [30.0, 40, 50, np.nan, 20, 60]}
    )


def test_another_table_is_encoded_as_the_first_was(people):
    other = pd.DataFrame({"age": [np.nan, 99], "job": ["p", "new"], "sex": ["m", "x"]})
    table, notes = learn_columns(people).apply(other)
    assert list(table.columns) == ["sex", "job=p", "job=q", "job=r", "age"]
    assert table.to_numpy().tolist() == [[1, 1, 0, 0, 40], [0, 0, 0, 0, 99]]
    assert notes == [
        "Replaced missing or unknown values (how many): sex (1), age (1).",
        "Left all 0 for values without a column of their own (how many): job (1).",
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
    for column in preparation.columns:
        kept = (gappy[column.name] != "").to_numpy()
        np.testing.assert_array_equal(after.loc[kept, column.outputs], before[column.outputs][kept])
    counted = "flag (1), shout (5), code (5), padded (5), count (1), sex (1)"
    assert notes == [f"Replaced missing or unknown values (how many): {counted}."]


def test_only_what_is_wanted_must_be_there(people):
    preparation = learn_columns(people)
    table, _ = preparation.apply(people[["job"]], ["job=q"])
    assert list(table.columns) == ["job=q"]
    with pytest.raises(ColumnsError, match="2 of the 3 columns that are needed are missing: sex"):
        preparation.apply(people[["job"]])


def test_a_preparation_survives_json(people):
    preparation = learn_columns(people)
    stored = json.loads(json.dumps(preparation.to_dict()))
    assert Preparation.from_dict(stored) == preparation


def test_text_where_numbers_were_promised_is_refused():
    with pytest.raises(ColumnsError, match="a holds text"):
        numeric_columns(["a"]).apply(pd.DataFrame({"a": ["1", "two"]}))
