"""``groupfs apply`` and ``report``: results that are there already, used again."""

import io

import numpy as np
import pandas as pd
import pytest

from groupfs import GroupFS, persistence
from groupfs.tables import read_table
from tests.support.command import CHOSEN, everything, people, run


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
        ((), 4, "2 of the 8 columns that are needed are missing: u1, v3."),
        (("--keep", "sexx"), 4, "--keep sexx: there is no column of that name; did you mean sex?"),
        (("--keep", "sex", "--out", "small.npy"), 4, "npy files hold numbers alone"),
        (("--out", "small.doc"), 5, "--out small.doc: a selection is written as csv,"),
        (("--out", "."), 5, "is a folder; name a file"),
    ],
)
def test_what_cannot_be_applied_is_refused(options, code, says, selected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new = people(20) if options else people(20).drop(columns=["u1", "v3"])
    new.to_csv("new.csv", index=False)
    result = run("apply", selected[1] / "model.skops", "new.csv", "-q", *options)
    assert result.exit_code == code and result.stdout == "" and says in result.stderr
    assert everything(tmp_path) == ["new.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["small.parquet", "small.npy", "small.csv.gz", "small.tsv", "small.feather"]
)
def test_apply_writes_the_kind_its_name_says(name, selected, folder, table):
    out = folder / name
    assert run("apply", selected[1] / "model.skops", table, "-o", out).exit_code == 0
    again = run("apply", selected[1] / "model.skops", table, "-o", out)
    assert again.exit_code == 5 and "exists; add --force" in again.stderr
    np.testing.assert_allclose(read_table(out).values, people()[CHOSEN], rtol=1e-12)


def test_apply_writes_values_as_the_file_has_them(folder, table):
    """Text, gaps and values that the model has never seen: what is selected is the columns."""
    out = folder / "text"
    assert run("select", table, "--groups", 6, "-q", "-o", out).exit_code == 0
    other = people().head(4).assign(outcome=["well", "ill", np.nan, "odd"])
    other.to_csv(folder / "other.csv", index=False)
    result = run("apply", out / "model.skops", folder / "other.csv")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(io.StringIO(result.stdout))
    pd.testing.assert_frame_equal(written, other[[*CHOSEN, "outcome"]], rtol=1e-12)


def test_columns_without_names_must_be_as_many_as_the_model_saw(folder):
    numbers = people()[[*CHOSEN, "w0", "w1"]].to_numpy()
    selector = GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(numbers)
    persistence.save(selector, folder / "python.skops")
    np.save(folder / "same.npy", numbers)
    np.save(folder / "fewer.npy", numbers[:, :9])
    result = run("apply", folder / "python.skops", folder / "same.npy", "-q")
    assert result.stdout.startswith("x") and result.stdout.count("\n") == 61
    result = run("apply", folder / "python.skops", folder / "fewer.npy", "-q")
    assert result.exit_code == 4 and "has 9 columns without names" in result.stderr


@pytest.mark.slow
def test_a_file_without_header_is_applied_as_it_was_selected_from(tmp_path):
    """Its first line is data although it has text, and only the selected column is needed."""
    table, out = tmp_path / "headless.csv", tmp_path / "out"
    frame = people()[["sex", *CHOSEN]].round(6)
    frame.to_csv(table, index=False, header=False)
    options = ("--no-header", "--groups", 3, "--budget", 1, "-q")
    assert run("select", table, *options, "-o", out).exit_code == 0
    name, *values = run("apply", out, table, "-q").stdout.split()
    column = frame.iloc[:, int(name.removeprefix("x"))]
    np.testing.assert_allclose(np.array(values, dtype=float), column)
    column.to_frame(name).to_parquet(tmp_path / "one.parquet")
    assert run("apply", out, tmp_path / "one.parquet", "-q").stdout.split() == [name, *values]
    assert run("apply", out, table, "--no-header", "-q").stdout.split() == [name, *values]


def test_the_folder_of_results_stands_for_the_model_and_the_result_in_it(selected, tmp_path):
    _, out = selected
    new = tmp_path / "new.csv"
    people(20, seed=5).to_csv(new, index=False)
    assert run("apply", out, new).stdout == run("apply", out / "model.skops", new).stdout
    for source in (out, out / "result.json"):
        result = run("report", source, "--out", tmp_path / "again.html", "--force")
        assert result.exit_code == 0, result.output
        assert (tmp_path / "again.html").read_text() == (out / "report.html").read_text()


@pytest.mark.parametrize("text", [None, "{}", "[1, 2"])
def test_what_is_no_result_has_no_report(text, tmp_path):
    if text is not None:
        (tmp_path / "result.json").write_text(text)
    result = run("report", tmp_path / "result.json")
    assert result.exit_code == 3 and result.stderr.count("\n") == 1
    assert not (tmp_path / "report.html").exists()
