"""Columns of a file: which are ignored, what kind the others are, and what is said of it."""

import json

import numpy as np
import pandas as pd
import pytest

from groupfs.files import read_table
from groupfs.files.columns import ColumnsError, Preparation, decide_columns, numeric_columns


def decided(**columns):
    frame = pd.DataFrame(columns)
    preparation = decide_columns(frame)
    return preparation, preparation.apply(frame)[0]


def notes_with(preparation, word):
    return [note for note in preparation.notes if word in note]


def test_numbers_are_taken_as_they_are(rng):
    values = rng.standard_normal(4)
    preparation, table = decided(a=values, b=[3, 1, 3, 2], c=values > 0)
    assert (table.dtypes == np.float64).all() and preparation.notes == ()
    np.testing.assert_array_equal(table, np.column_stack([values, [3, 1, 3, 2], values > 0]))


def test_ids_are_ignored_and_named():
    different = [71, 13, 55, 20, 91, 36]
    ids = dict.fromkeys(["patient_id", "ID", "sampleId", "Unnamed: 0"], different)
    ids |= {"n": [1, 2, 3, 4, 5, 6], "who": ["ann", "bob", "cleo", "dan", "eve", "fay"]}
    frame = pd.DataFrame({**ids, "x": [1.5, 2, 0, 1, 3, 3]})
    preparation = decide_columns(frame)
    assert preparation.names == ["x"] and preparation.notes == (
        f"Ignored 6 columns taken for ids (use=[NAME] keeps one): {', '.join(ids)}.",
    )
    assert decide_columns(frame, use=["*"]).names == [*ids, "x"]


def test_measurements_are_not_taken_for_ids():
    measured = dict.fromkeys(["income", "acid", "width"], [71, 13, 55, 20, 91, 36])
    measured |= dict.fromkeys(
        ["idx_score", "covid", "stress_index", "id_card_age"], measured["acid"]
    )
    measured |= {"id": [0.5, 1.5, 2.25, 3, 4, 5], "has_id": [0, 1, 1, 0, 1, 0]}
    measured |= {"subject": [1, 2, 3, 3, 2, 1], "class": list("aabbcc")}
    assert decided(**measured)[0].names == list(measured)


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "person_id", "PatientID", "participantId", "id_paciente", "subject nr", "case_no"],
)
def test_ids_that_occur_again_are_ids_by_their_names(name):
    """As in repeated measures, and in words too."""
    visits = np.repeat([20417, 3, 811, 55], 3)
    for values in (visits, visits.astype(str), [f"p{visit}" for visit in visits]):
        frame = pd.DataFrame({name: values, "x": np.arange(12.0) ** 2})
        assert decide_columns(frame).names == ["x"]
        assert decide_columns(frame, use=name).names == [name, "x"]


def test_a_word_for_people_is_an_id_if_there_are_many():
    rows = np.repeat(np.arange(30) * 7, 4)
    assert decided(participant=rows, x=rows * 0.5 + 1)[0].names == ["x"]


def test_whole_numbers_that_all_differ_are_ids_where_chance_would_have_some_alike(rng):
    n = 200
    numbering = {
        "nr": rng.permutation(n) + 10_001,
        "key": rng.choice(900, n, replace=False),
        "who": np.sort(rng.choice(700, n, replace=False)) + 3,
    }
    measured = {
        "salary": rng.choice(80_000, n, replace=False) + 20_000,
        "population": (10 ** rng.uniform(3, 7, n)).astype(int),
        "rank": rng.permutation(n),
        "year": 1800 + np.arange(n),
        "score": rng.choice(400, n),
    }
    assert decided(**numbering, **measured)[0].names == list(measured)
    few = pd.DataFrame({**numbering, **measured}).head(15)
    assert set(decide_columns(few).names) >= {"nr", "who", *measured} - {"score"}


@pytest.mark.parametrize("dtype", ["object", "datetime64[ns]", "datetime64[ns, UTC]", "category"])
def test_dates_are_left_out_with_what_to_do_and_refused_when_asked_for(dtype):
    days = pd.Series(["1970-01-03", None, "1970-01-02", "1970-01-02"])
    frame = pd.DataFrame({"day": days.astype(dtype), "x": [1.5, 2, 0, 1]})
    preparation = decide_columns(frame)
    assert preparation.names == ["x"] and preparation.notes == (
        "Ignored 1 column of dates (days since the first, as numbers, can be used): day.",
    )
    with pytest.raises(ColumnsError, match="use='day': the column holds dates, .* as numbers"):
        decide_columns(frame, use=["day"])


def test_what_is_ignored_is_named_with_its_reason(rng):
    n = 40
    ignored = {
        "too many different values": [f"remark {i % 30}" for i in range(n)],
        "neither numbers nor text": [[i] for i in range(n)],
        "with neither": np.arange(n) * 1j,
        "with neither numbers": pd.to_timedelta(np.arange(n), unit="h"),
        "without any value": [np.nan] * n,
        "without any": [" "] * n,
        "one value only": ["yes"] * n,
    }
    for reason, values in ignored.items():
        preparation, table = decided(c=values, x=rng.standard_normal(n))
        assert list(table.columns) == ["x"]
        assert notes_with(preparation, reason)[0].endswith(": c.")


SIZES = pd.Categorical(["big", "small", "mid", "mid"], ["small", "mid", "big"], ordered=True)


@pytest.mark.parametrize(
    ("values", "levels", "note"),
    [
        (["1", "2", "4E"] * 5, "1 2 4E", "Took 1 column of text for categories: c (3 values)."),
        (pd.Categorical([3, 1, 2, 1]), "1 2 3", "c (3 values)."),
        (SIZES, "small mid big", "Took 1 column for ordered categories: c (small < mid < big)."),
    ],
)
def test_text_is_one_category_under_the_name_of_its_column(values, levels, note):
    preparation, table = decided(c=values)
    assert list(table.columns) == ["c"] and preparation.notes[0].endswith(note)
    dtype = pd.CategoricalDtype(levels.split(), ordered=values is SIZES)
    expected = pd.Series([str(value) for value in values], name="c").astype(dtype)
    pd.testing.assert_series_equal(table["c"], expected)


@pytest.mark.parametrize(("n_values", "n_rows"), [(12, 12), (101, 900)])
def test_too_many_values_are_no_category_and_refused_when_asked_for(n_values, n_rows):
    frame = pd.DataFrame({"c": [f"v{i % n_values}" for i in range(n_rows)]})
    assert decide_columns(frame).names == []
    says = f"use='c': {n_values} different values in {n_rows} rows are no category; .* at most 100"
    with pytest.raises(ColumnsError, match=says) as caught:
        decide_columns(frame, use=["c"])
    assert caught.value.parameter == "use"
    assert len(decided(c=[f"v{i % 100}" for i in range(900)])[0].columns[0].values) == 100


def test_a_few_words_among_numbers_are_gaps():
    preparation, table = decided(age=[*map(str, range(10, 49)), "unknown"])
    np.testing.assert_array_equal(table["age"], [*range(10, 49), np.nan])
    assert "age (1 x unknown)" in notes_with(preparation, "numbers and words")[0]
    assert "age (1)" in notes_with(preparation, "Found gaps")[0]


def test_gaps_stay_gaps_and_are_counted():
    preparation, table = decided(y=["b", None, "a", " "], t=[True, None] * 2)
    assert table["y"].isna().tolist() == [False, True, False, True]
    np.testing.assert_array_equal(table["t"], [1, np.nan] * 2)
    assert preparation.notes[-1] == (
        "Found gaps in 2 columns; similarities use the rows that are there (how many gaps): "
        "y (2), t (2)."
    )


@pytest.mark.parametrize("drop", [["*_mut", "c,d"], ["p_mut, q_mut", "c,d"]])
def test_columns_are_dropped_by_name_by_pattern_and_several_at_once(drop):
    frame = pd.DataFrame(np.eye(4), columns=["a", "p_mut", "q_mut", "c,d"])
    for preparation in (
        decide_columns(frame, drop=drop, label="a"),
        numeric_columns(frame.columns, drop=drop, label="a"),
    ):
        assert preparation.names == []
        assert preparation.notes == ("Left out 3 columns, as asked: p_mut, q_mut, c,d.",)


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("b:d", "a e:f g,h"),
        ("a:b, d", "c e:f g,h"),
        ("e:f", "a b c d g,h"),  # a column of that very name
        ("d:e:f", "a b c g,h"),
        ("d:g,h", "a b c"),
        (["c:c", "*:*"], "a b d g,h"),
    ],
)
def test_ranges_stand_for_all_columns_from_one_to_the_other(pattern, left):
    frame = pd.DataFrame(np.eye(6), columns=["a", "b", "c", "d", "e:f", "g,h"])
    left = left.split()
    assert decide_columns(frame, drop=pattern).names == left
    kept = [name for name in frame if name not in left]
    preparation = decide_columns(frame, columns=pattern)
    assert preparation.names == kept == numeric_columns(frame.columns, columns=pattern).names
    assert preparation.notes[0].startswith(
        f"Left out {len(left)} columns not asked for: {', '.join(left[:3])}"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": "d:b"}, "columns='d:b': b comes before d in the table; write b:d."),
        ({"columns": "b:year"}, "columns='b:year': at its end year, there is no .* mean years"),
        ({"columns": "kk:zz"}, "columns='kk:zz': there is no column of that name; the columns are"),
        ({"columns": "b,q"}, "columns='q': there is no column"),
        ({"columns": "b:d", "drop": ["c", "years"]}, "drop='years': .* so drop changes nothing"),
        ({"columns": "b:d", "use": "years"}, "use='years': no such column is among those asked"),
    ],
)
def test_ranges_and_options_that_mean_nothing_are_refused(options, says):
    frame = pd.DataFrame(np.eye(4), columns=["b", "c", "d", "years"])
    with pytest.raises(ColumnsError, match=says) as caught:
        decide_columns(frame, **options)
    assert caught.value.parameter == list(options)[-1]


@pytest.fixture
def people():
    return pd.DataFrame(
        {"sex": list("fmmfmf"), "job": list("pqrpqr"), "age": [30.0, 40, 50, np.nan, 20, 60]}
    )


def test_columns_that_are_not_there_are_named(people):
    with pytest.raises(ColumnsError, match=r"drop='jop': .* did you mean job\?") as caught:
        decide_columns(people, drop=["jop"])
    assert caught.value.parameter == "drop"
    with pytest.raises(ColumnsError, match="the columns are active, sex, job, age"):
        decide_columns(people.assign(active=1)[["active", *people]], drop=["patient"])
    with pytest.raises(ColumnsError, match="2 of the 3 columns that are needed are missing: sex"):
        decide_columns(people).apply(people[["job"]])


def test_another_table_gets_the_kinds_of_the_first(people):
    other = pd.DataFrame({"age": ["?", 99], "job": ["p", "new"], "sex": ["m", None], "more": 1})
    preparation = decide_columns(people)
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
        }
    )
    gappy = frame.replace(["perhaps", "X", "-"], "")
    gappy.iloc[0] = ""
    frame.to_csv(tmp_path / "first.csv", index=False)
    gappy.to_csv(tmp_path / "second.csv", index=False)
    first, second = (read_table(tmp_path / name).values for name in ("first.csv", "second.csv"))
    preparation = decide_columns(first)
    (before, _), (after, notes) = preparation.apply(first), preparation.apply(second)
    for name in preparation.names:
        kept = (gappy[name] != "").to_numpy()
        pd.testing.assert_series_equal(after.loc[kept, name], before.loc[kept, name])
        assert after.loc[~kept, name].isna().all()
    assert preparation.names == list(frame.columns) and notes == []


def test_a_preparation_survives_json(people):
    preparation = decide_columns(people, missing=99)
    assert preparation.advice == preparation.notes[-1:]
    stored = json.loads(json.dumps(preparation.to_dict()))
    assert Preparation.from_dict(stored) == preparation
