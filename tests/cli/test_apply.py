"""``groupfs apply``: a model that is there already, used again."""

import io

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups, persistence
from groupfs.files import read_table
from tests.support.command import CHOSEN, KEPT_OF_TWO, everything, people, run


def test_apply_selects_the_same_columns_of_another_table(selected, folder):
    new = people(20, seed=5).drop(columns=["outcome", "job", "w0"])
    new.to_csv(folder / "new.csv", index=False)
    result = run("apply", selected[1] / "model.skops", folder / "new.csv", "--keep", "person_id")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(io.StringIO(result.stdout))
    pd.testing.assert_frame_equal(written, new[["person_id", *CHOSEN]])


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--keep", "sexx"), 4, "--keep sexx: there is no column of that name; did you mean sex?"),
        (("--out", "small.doc"), 5, "--out small.doc: a selection is written as csv,"),
        (("--out", "."), 5, "is a folder; name a file"),
        (("--out", "new.csv"), 5, "new.csv exists; add --force"),
    ],
)
def test_what_cannot_be_applied_is_refused(options, code, says, selected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(20).to_csv("new.csv", index=False)
    result = run("apply", selected[1] / "model.skops", "new.csv", "-q", *options)
    assert result.exit_code == code and result.stdout == "" and says in result.stderr
    assert everything(tmp_path) == ["new.csv"]


def test_columns_that_are_missing_are_named_and_left_out(selected, folder):
    there = [name for name in CHOSEN if name not in ("u1", "v3")]
    people(20).drop(columns=["u1", "v3"]).to_csv(folder / "less.csv", index=False)
    result = run("apply", selected[1], folder / "less.csv")
    assert "2 of the 8 selected columns are missing and left out: u1, v3." in words(result.stderr)
    assert list(pd.read_csv(io.StringIO(result.stdout))) == there
    people(20)[["person_id", "w0"]].to_csv(folder / "none.csv", index=False)
    result = run("apply", selected[1], folder / "none.csv")
    assert result.exit_code == 4 and "8 columns that are needed are missing" in words(result.stderr)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["small.parquet", "small.xlsx", "small.csv.gz", "small.tsv"])
def test_apply_writes_the_kind_its_name_says(name, selected, tmp_path, table):
    out = tmp_path / name
    assert run("apply", selected[1] / "model.skops", table, "-o", out).exit_code == 0
    np.testing.assert_allclose(read_table(out).values.astype(float), people()[CHOSEN], rtol=1e-12)


def test_apply_writes_values_as_the_file_has_them(folder, table):
    """Text, gaps and values that the model has never seen: what is selected is the columns."""
    out = folder / "text"
    assert run("select", table, *KEPT_OF_TWO, "-q", "-o", out).exit_code == 0
    other = people().head(4).assign(outcome=["well", "ill", np.nan, "odd"])
    other.to_csv(folder / "other.csv", index=False)
    written = pd.read_csv(io.StringIO(run("apply", out, folder / "other.csv").stdout))
    pd.testing.assert_frame_equal(written, other[[*CHOSEN, "outcome"]], rtol=1e-12)


def test_columns_without_names_must_be_as_many_as_the_model_saw(tmp_path):
    numbers = people()[[*CHOSEN, "w0", "w1"]].to_numpy()
    persistence.save(
        FeatureGroups(n_groups=4, random_state=0).fit(numbers), tmp_path / "python.skops"
    )
    np.save(tmp_path / "fewer.npy", numbers[:, :9])
    result = run("apply", tmp_path / "python.skops", tmp_path / "fewer.npy", "-q")
    assert result.exit_code == 4 and "has 9 columns without names" in result.stderr


def test_a_file_without_header_is_applied_as_it_was_selected_from(tmp_path):
    """Its first line is data although it has text."""
    table, out = tmp_path / "headless.csv", tmp_path / "out"
    frame = people()[["sex", *CHOSEN]].round(6)
    frame.to_csv(table, index=False, header=False)
    options = ("--no-header", "--by", "x0", "--groups", 3, "--budget", 1, "-q")
    assert run("select", table, *options, "-o", out).exit_code == 0
    name, *values = run("apply", out, table, "-q").stdout.split()
    column = frame.iloc[:, int(name.removeprefix("x"))]
    np.testing.assert_allclose(np.array(values, dtype=float), column)
