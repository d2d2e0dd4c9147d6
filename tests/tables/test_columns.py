"""Columns of a file to columns of numbers: what is ignored, encoded and filled in, and said."""

import numpy as np
import pandas as pd
import pytest

from groupfs.tables import read_table
from groupfs.tables.columns import ColumnsError, Preparation, learn_columns, numeric_columns


def learn(**columns):
    frame = pd.DataFrame(columns)
    preparation = learn_columns(frame)
    return preparation, preparation.apply(frame)[0]


def told(preparation, word):
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
    preparation, table = learn(**{name: values, "x": [1.5, 2, 0, 1, 3, 3]})
    assert list(table.columns) == ["x"]
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


def test_ids_can_be_used_when_asked():
    frame = pd.DataFrame({"id": [7, 3, 9, 4], "x": [1, 1, 0, 2]})
    assert learn_columns(frame, use=["id"]).names == ["id", "x"]


DAYS = ["1970-01-03", None, "1970-01-02", "1970-01-02", "1970-01-06", "1970-01-03"]


@pytest.mark.parametrize("dtype", ["object", "datetime64[ns]", "datetime64[ns, UTC]", "category"])
def test_dates_are_ignored_and_days_when_asked_for(dtype):
    frame = pd.DataFrame({"day": pd.Series(DAYS).astype(dtype), "x": [1.5, 2, 0, 1, 3, 3]})
    ignoring = learn_columns(frame)
    assert ignoring.names == ["x"] and told(ignoring, "of dates")[0].endswith(": day.")
    using = learn_columns(frame, use=["day"])
    assert using.apply(frame)[0]["day"].tolist() == [2, 2, 1, 1, 5, 2]
    assert told(using, "days since 1970") and "day (1 row)" in told(using, "median")[0]


def test_days_are_taken_alike_from_text_and_from_dates():
    preparation = learn_columns(pd.DataFrame({"day": DAYS}), use=["day"])
    other = pd.DataFrame({"day": ["1970-01-09 12:00", "soon"]})
    table, notes = preparation.apply(other)
    assert table["day"].tolist() == [8.5, 2] and "day (1)" in notes[0]


def test_dates_that_no_calendar_has_are_no_values():
    frame = pd.DataFrame({"day": ["0000-00-00", "0000-00-00"], "x": [1.5, 2]})
    preparation = learn_columns(frame, use=["day"])
    assert preparation.names == ["x"] and told(preparation, "without any value")


def test_durations_are_ignored_also_when_asked_for():
    frame = pd.DataFrame({"time": pd.to_timedelta([1, 5, 2], unit="h"), "x": [1.5, 2, 0]})
    preparation = learn_columns(frame, use=["time"])
    assert preparation.names == ["x"] and told(preparation, "durations")


def test_free_text_dates_and_lists_are_ignored_each_with_its_reason(rng):
    n = 40
    preparation, table = learn(
        text=[f"remark {i % 30}" for i in range(n)],
        day=pd.date_range("2020-01-01", periods=n),
        parts=[[i] for i in range(n)],
        empty=[np.nan] * n,
        same=["yes"] * n,
        x=rng.standard_normal(n),
    )
    assert list(table.columns) == ["x"]
    for word, name in [
        ("too many different values", "text"),
        ("dates", "day"),
        ("neither numbers nor text", "parts"),
        ("without any value", "empty"),
        ("one value only", "same"),
    ]:
        assert told(preparation, word)[0].endswith(f": {name}.")


def test_two_values_become_0_and_1_in_alphabetical_order():
    preparation, table = learn(sex=["m", "f", "f", "m"])
    assert table["sex"].tolist() == [1, 0, 0, 1]
    assert told(preparation, "0 and 1") == [
        "Encoded 1 column of text with two values as 0 and 1: sex (f = 0, m = 1)."
    ]


def test_more_values_become_a_column_each():
    preparation, table = learn(job=["cook", "smith", "cook", "baker", "smith", "baker"])
    assert list(table.columns) == ["job=baker", "job=cook", "job=smith"]
    assert (table.sum(axis=1) == 1).all()
    assert "job (3 values)" in preparation.notes[0]


def test_rare_values_get_no_column_of_their_own():
    values = ["0"] * 190 + ["H178P"] * 8 + [f"rare{i}" for i in range(2)]
    preparation, table = learn(gene_mut=values)
    assert list(table.columns) == ["gene_mut=0", "gene_mut=H178P"]
    assert "gene_mut (2 of 4 values)" in preparation.notes[0]


def test_at_most_ten_values_get_columns():
    values = [f"v{i:02d}" for i in range(15) for _ in range(20 - i)]
    assert learn(v=values)[0].names == [f"v=v{i:02d}" for i in range(10)]


def test_ordered_categories_keep_their_order():
    size = pd.Categorical(["big", "small", "mid", "mid"], ["small", "mid", "big"], ordered=True)
    assert learn(size=size)[1]["size"].tolist() == [2, 0, 1, 1]


def test_a_few_words_among_numbers_are_missing_values():
    values = [str(v) for v in range(10, 49)] + ["unknown"]
    preparation, table = learn(age=values)
    assert table["age"].iloc[-1] == np.median(np.arange(10, 49))
    assert "age (1 x unknown)" in told(preparation, "numbers and words")[0]
    assert "age (1 row)" in told(preparation, "median")[0]


def test_many_words_among_numbers_make_a_column_of_text():
    preparation, _ = learn(cluster=["1", "2", "4ER+", "4ER-"] * 5)
    assert preparation.names == ["cluster=1", "cluster=2", "cluster=4ER+", "cluster=4ER-"]


def test_gaps_become_the_median_or_the_most_frequent_value():
    preparation, table = learn(
        x=[1.0, 2, np.nan, 10], y=["b", None, "a", "b"], z=["p", "q", "r", "r"]
    )
    assert table["x"].tolist() == [1, 2, 2, 10] and table["y"].tolist() == [1, 1, 0, 1]
    assert "x (1 row)" in told(preparation, "median")[0]
    assert "y (1 row)" in told(preparation, "most frequent")[0]


def test_columns_are_dropped_by_name_and_by_pattern():
    frame = pd.DataFrame(np.eye(4), columns=["a", "p_mut", "q_mut", "b"])
    preparation = learn_columns(frame, drop=["*_mut", "b"], label="a")
    assert preparation.names == []
    assert preparation.notes == ("Left out 3 columns, as asked: p_mut, q_mut, b.",)


def test_several_columns_may_be_given_at_once_with_commas():
    frame = pd.DataFrame(np.eye(4), columns=["a", "b", "c,d", "e"])
    preparation = learn_columns(frame, drop=["a, b", "c,d"])
    assert preparation.notes[0] == "Left out 3 columns, as asked: a, b, c,d."


def test_a_name_that_does_not_exist_is_refused_with_a_guess():
    frame = pd.DataFrame({"height": [1, 2], "weight": [2, 1]})
    with pytest.raises(ColumnsError, match="drop='heigth': .* did you mean height?"):
        learn_columns(frame, drop=["heigth"])


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
    other = pd.DataFrame({"age": [np.nan, 99], "job": ["p", "new"], "sex": ["m", "m"]})
    table, notes = learn_columns(people).apply(other)
    assert list(table.columns) == ["sex", "job=p", "job=q", "job=r", "age"]
    assert table.to_numpy().tolist() == [[1, 1, 0, 0, 40], [1, 0, 0, 0, 99]]
    assert notes == [
        "Replaced missing or unknown values (how many): age (1).",
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


def test_an_unknown_value_of_two_is_replaced_and_said(people):
    table, notes = learn_columns(people).apply(pd.DataFrame({"sex": ["f", "x"]}), ["sex"])
    assert table["sex"].tolist() == [0, 0] and "sex (1)" in notes[0]


def test_only_what_is_wanted_must_be_there(people):
    preparation = learn_columns(people)
    table, _ = preparation.apply(people[["job"]], ["job=q"])
    assert list(table.columns) == ["job=q"]
    with pytest.raises(ColumnsError, match="2 of the 3 columns that are needed are missing: sex"):
        preparation.apply(people[["job"]])


def test_a_preparation_survives_json(people):
    import json

    preparation = learn_columns(people)
    assert Preparation.from_dict(json.loads(json.dumps(preparation.to_dict()))) == preparation


def test_text_where_numbers_were_promised_is_refused():
    with pytest.raises(ColumnsError, match="a holds text"):
        numeric_columns(["a"]).apply(pd.DataFrame({"a": ["1", "two"]}))
