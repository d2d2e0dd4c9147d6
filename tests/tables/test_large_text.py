"""Text that is read in parts into a file of numbers: the same values as in memory."""

import gzip

import numpy as np
import pandas as pd
import pytest

from groupfs.tables import TableError, large_text, read_table
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
    table, preparation = map_text(path, tmp_path, aside=["outcome"])
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
    monkeypatch.setattr(large_text.shutil, "disk_usage", lambda folder: Full)
    with pytest.raises(TableError, match="which has 10 bytes left; set TMPDIR"):
        map_text(tmp_path / "t.csv", tmp_path)


def test_it_is_what_is_read_into_memory(survey, tmp_path):
    survey.to_csv(tmp_path / "t.csv", index=False)
    table, preparation = map_text(tmp_path / "t.csv", tmp_path)
    whole = preparation.apply(read_table(tmp_path / "t.csv").values)[0]
    np.testing.assert_allclose(table.values[:, :3], whole.iloc[:, :3], rtol=1e-6)
