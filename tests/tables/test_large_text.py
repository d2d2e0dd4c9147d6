"""Text that is read in parts into a file of numbers: the same values as in memory."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from groupfs.tables import TableError, large_text, number_file, read_table
from groupfs.tables.columns import ColumnsError
from groupfs.tables.large_text import is_too_large, map_text


@pytest.fixture
def survey(rng):
    n = 500
    return pd.DataFrame(
        {
            "person_id": [f"p{i}" for i in range(n)],
            "a": rng.standard_normal(n).round(4),
            "b": rng.integers(1, 6, n),
            "c": rng.choice(["never", "sometimes", "always"], n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["baker", "cook", "smith"], n),
            "outcome": rng.choice(["ill", "well"], n),
        }
    )


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """About forty rows of the table above at a time, and kinds from the first hundred."""
    monkeypatch.setattr(large_text, "PART_BYTES", 2000)
    monkeypatch.setattr(large_text, "FIRST_BYTES", 64 * 2000)
    monkeypatch.setattr(large_text, "FIRST_ROWS", 100)


@pytest.mark.parametrize("packed", [False, True])
def test_the_parts_are_the_table(packed, survey, tmp_path):
    text = survey.to_csv(index=False, sep=";", decimal=",").encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    table, preparation = map_text(path, tmp_path, aside={"--label": "outcome"})
    assert isinstance(table.values, np.memmap) and table.values.dtype == np.float32
    assert table.names == preparation.names == ["a", "b", "c", "sex"]
    expected = survey[["a", "b"]].assign(
        c=survey["c"].map({"never": 1, "sometimes": 2, "always": 3}), sex=survey["sex"] == "m"
    )
    np.testing.assert_allclose(table.values, expected.astype(float), rtol=1e-6)
    assert table.row_metadata["outcome"].tolist() == survey["outcome"].tolist()
    said = " ".join(table.notes)
    assert "too large to be held in memory" in said and "first 100 rows" in said
    assert "taken for ids" in said and "numbers alone: job." in said and "semicolons" in said


def test_gaps_are_filled_with_means_and_counted(survey, tmp_path):
    survey = survey.astype({"b": float})
    survey.loc[::7, "a"] = np.nan
    survey.loc[::5, "b"] = 99
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, _ = map_text(tmp_path / "t.csv", tmp_path, missing=[99])
    for column, name in enumerate("ab"):
        values = survey[name].replace(99, np.nan)
        filled = values.fillna(values.mean())
        np.testing.assert_allclose(table.values[:, column], filled, rtol=1e-5)
    assert any(
        "mean, as the table was read in parts" in n and "a (72), b (100)" in n for n in table.notes
    )


def test_columns_far_from_zero_keep_their_digits(survey, tmp_path):
    survey["a"] = 1e9 + survey["a"]
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, _ = map_text(tmp_path / "t.csv", tmp_path)
    np.testing.assert_allclose(table.values[:, 0] - 1e9, survey["a"] - 1e9, atol=1e-6)


def test_digits_are_kept_where_a_column_moves_far_from_zero_further_down(survey, tmp_path):
    survey.loc[300:, "a"] += 1.6e9
    survey["d"] = 1e-3 * survey["b"]
    survey.loc[::50, "d"] = np.nan
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, _ = map_text(tmp_path / "t.csv", tmp_path)
    np.testing.assert_allclose(table.values[300:, 0] - 1.6e9, survey["a"][300:] - 1.6e9, atol=1e-6)
    np.testing.assert_allclose(table.values[:300, 0], survey["a"][:300], rtol=1e-6)
    np.testing.assert_allclose(table.values[:, -1], survey["d"].fillna(survey["d"].mean()), 1e-6)
    assert table.values.dtype == np.float64


@pytest.mark.parametrize("value", [1.6e9 + 1, 1e39])
def test_numbers_that_single_precision_has_not_need_double(value):
    few = np.array([[0.0, np.nan], [1.0, np.nan]])
    assert not number_file.needs_double(few) and not number_file.needs_double(few[:0])
    assert number_file.needs_double(np.array([[0.0, value], [1.0, value]]))


def test_one_word_further_down_takes_no_decimals_beside_it(survey, tmp_path):
    text = survey["a"].map(lambda v: f"{v:.4f}".replace(".", ",")).astype(object)
    text[400] = "none"
    survey["answers"] = np.where(survey.index % 3, "1,3", "1,3,4")
    survey.assign(a=text).to_csv(tmp_path / "t.csv", index=False, sep=";")
    table, _ = map_text(tmp_path / "t.csv", tmp_path)
    expected = survey["a"].drop(400)
    np.testing.assert_allclose(np.delete(table.values[:, 0], 400), expected, rtol=1e-6)
    assert any("read in parts (how many): a (1)." in note for note in table.notes)
    assert set(table.values[:, table.names.index("answers")]) == {0, 1}


def test_a_label_is_the_same_in_all_parts_whatever_is_in_them(survey, tmp_path):
    label = survey.index.to_series() % 3
    for column in (*([*label[:-1], last] for last in (2, 2.5, "x", None)), [None] * 500):
        survey.assign(y=column).to_csv(tmp_path / "t.csv", index=False)
        (tmp_path / "numbers").unlink(missing_ok=True)
        table, _ = map_text(tmp_path / "t.csv", tmp_path, aside={"--label": "y", "--by": "y"})
        whole = read_table(tmp_path / "t.csv").values["y"]
        pd.testing.assert_series_equal(table.row_metadata["y"], whole)
        assert "y" not in table.names


def test_a_misspelt_column_is_refused_before_the_file_is_read(survey, tmp_path, monkeypatch):
    survey.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(large_text, "parse", None)
    with pytest.raises(ColumnsError, match="--by outcom: .* did you mean outcome"):
        map_text(tmp_path / "t.csv", tmp_path, aside={"--label": "outcome", "--by": "outcom"})


def test_what_the_first_rows_hold_is_not_said_of_all(survey, tmp_path):
    survey.loc[300:310, "b"] = 99
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, _ = map_text(tmp_path / "t.csv", tmp_path, missing=[99])
    said = " ".join(table.notes)
    assert "No column holds" not in said and "(how many): b (11)." in said


def test_a_disk_that_fills_up_is_not_blamed_on_the_file(survey, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    survey.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "numbers").symlink_to("/dev/full")
    with pytest.raises(TableError, match=r"^The temporary folder .* set TMPDIR"):
        map_text(tmp_path / "t.csv", tmp_path)


def test_only_text_beyond_the_limit_is_too_large(survey, tmp_path):
    survey.to_csv(tmp_path / "t.csv", index=False)
    survey.to_parquet(tmp_path / "t.parquet")
    assert not is_too_large(tmp_path / "t.csv") and not is_too_large("-")
    assert is_too_large(tmp_path / "t.csv", 1000)
    assert not is_too_large(tmp_path / "t.parquet", 1000)


def test_what_is_no_table_further_down_is_refused(survey, tmp_path):
    path = tmp_path / "t.csv"
    text = survey.to_csv(index=False)
    path.write_text(text + "1,2,3,4,5,6,7,8,9\n")
    with pytest.raises(TableError, match="t.csv is not a table"):
        map_text(path, tmp_path)
    path.write_text(text)
    with pytest.raises(ColumnsError, match=r"has 1 usable column\(s\) left"):
        map_text(path, tmp_path, drop=["a", "b", "c", "sex"])


def test_a_full_temporary_folder_is_named(survey, tmp_path, monkeypatch):
    class Full:
        free = 10

    survey.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(number_file.shutil, "disk_usage", lambda folder: Full)
    with pytest.raises(TableError, match="which has 10 bytes left; set TMPDIR"):
        map_text(tmp_path / "t.csv", tmp_path)


def test_it_is_what_is_read_into_memory(survey, tmp_path):
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, preparation = map_text(tmp_path / "t.csv", tmp_path)
    whole = preparation.apply(read_table(tmp_path / "t.csv").values)[0]
    np.testing.assert_allclose(table.values[:, :3], whole.iloc[:, :3], rtol=1e-6)
