"""Text that is read in parts into a file of numbers: the same values as in memory."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from groupfs.files import TableError, read_table
from groupfs.files.columns import ColumnsError
from groupfs.files.large_text import is_too_large, map_text


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


def map_parts(frame, folder, options=None, **how):
    """Map a frame, a hundred rows at a time."""
    path = folder / "t.csv"
    frame.to_csv(path, index=False, **how)
    (folder / "numbers").unlink(missing_ok=True)
    return map_text(path, folder, part_rows=100, **(options or {}))


@pytest.mark.parametrize("packed", [False, True])
def test_the_parts_are_the_table(packed, survey, tmp_path):
    text = survey.to_csv(index=False, sep=";", decimal=",").encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    table = map_text(path, tmp_path, aside={"--label": "outcome"}, part_rows=100)
    assert isinstance(table.values, np.memmap)
    assert table.names == table.preparation.names == ["a", "b", "c", "sex"]
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
    survey.loc[100::4, "b"] = 99  # none in the first part, of which nothing is said
    table = map_parts(survey, tmp_path, {"missing": [99]})
    for column, name in enumerate("ab"):
        values = survey[name].replace(99, np.nan)
        np.testing.assert_allclose(table.values[:, column], values.fillna(values.mean()), rtol=1e-5)
    said = " ".join(table.notes)
    assert "mean, as the table was read in parts (how many): a (72), b (100)." in said
    assert "No column holds" not in said


def test_one_word_further_down_takes_no_decimals_beside_it(survey, tmp_path):
    text = survey["a"].map(lambda v: f"{v:.4f}".replace(".", ",")).astype(object)
    text[400] = "none"
    survey["answers"] = np.where(survey.index % 3, "1,3", "1,3,4")
    table = map_parts(survey.assign(a=text), tmp_path, sep=";")
    expected = survey["a"].drop(400)
    np.testing.assert_allclose(np.delete(table.values[:, 0], 400), expected, rtol=1e-6)
    assert any("read in parts (how many): a (1)." in note for note in table.notes)
    assert set(table.values[:, table.names.index("answers")]) == {0, 1}


@pytest.mark.parametrize("last", [2, 2.5, "x", None])
def test_a_label_is_the_same_in_all_parts_whatever_is_in_them(last, survey, tmp_path):
    survey["y"] = [*(survey.index[:-1] % 3), last]
    table = map_parts(survey, tmp_path, {"aside": {"--label": "y", "--by": "y"}})
    whole = read_table(tmp_path / "t.csv").values["y"]
    pd.testing.assert_series_equal(table.row_metadata["y"], whole)
    assert "y" not in table.names


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


def test_what_cannot_be_read_in_parts_is_refused(survey, tmp_path):
    with pytest.raises(ColumnsError, match="--by outcom: .* did you mean outcome"):
        map_parts(survey, tmp_path, {"aside": {"--label": "outcome", "--by": "outcom"}})
    with pytest.raises(ColumnsError, match=r"has 1 usable column left"):
        map_parts(survey, tmp_path, {"drop": ["a", "b", "c", "sex"]})
    with (tmp_path / "t.csv").open("a") as file:
        file.write("1,2,3,4,5,6,7,8,9\n")
    with pytest.raises(TableError, match="t.csv is not a table"):
        map_text(tmp_path / "t.csv", tmp_path)
