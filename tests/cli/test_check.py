"""Groups checked in another file: printed, written as tables, and as a section of the report."""

import numpy as np
import pandas as pd
import pytest

from groupfs.report import read, render
from tests.support.command import run

ITEMS = [f"{group}{i}" for group in "ab" for i in range(5)]


def survey(n, seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((n, 2)), 5, axis=1) + 0.8 * rng.standard_normal((n, 10))
    frame = pd.DataFrame(np.clip(np.round(3 + X), 1, 5).astype(int), columns=ITEMS)
    frame.insert(0, "id", [f"{seed}-{i}" for i in range(n)])
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    survey(300, 0).to_csv(folder / "this.csv", index=False)
    other = survey(250, 1)
    other["a1"] = 6 - other["a1"]
    other.drop(columns="b4").rename(columns={"b0": "new"}).to_csv(folder / "next.csv", index=False)
    codebook = pd.DataFrame({"name": ["new"], "old name": ["b0"]})
    codebook.to_csv(folder / "codebook.csv", index=False)
    assert run("select", folder / "this.csv", "-o", folder / "model").exit_code == 0
    return folder


def test_a_table_of_next_year_is_checked_printed_and_written(folder):
    codebook = ("--labels", folder / "codebook.csv")
    result = run("check", folder / "model", folder / "next.csv", *codebook, "-o", folder / "out")
    assert result.exit_code == 0, result.output
    assert "Of 2 groups in 250 other rows: 2 preserved." in result.stdout
    assert "reversed: a1" in " ".join(result.stdout.split())
    frame = pd.read_csv(folder / "out/check.csv")
    assert (
        sorted(frame["missing"].fillna("")) == ["", "b4"] and frame["verdict"].eq("preserved").all()
    )
    features = pd.read_csv(folder / "out/check-features.csv").set_index("feature")["state"]
    assert features["a1"] == "reversed" and features["b4"] == "missing"
    assert features.drop(["a1", "b4"]).eq("holds").all()
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "In other rows: " in page and "next.csv" in page
    assert render(read(folder / "out/result.json")) == page


def test_without_a_folder_it_is_only_printed(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run("check", folder / "model/model.skops", folder / "next.csv")
    assert result.exit_code == 0 and "preserved" in result.stdout
    assert not any(tmp_path.iterdir())


def test_a_model_without_its_folder_has_tables_but_no_report(folder, tmp_path):
    model = tmp_path / "model.skops"
    model.write_bytes((folder / "model/model.skops").read_bytes())
    result = run("check", model, folder / "this.csv", "-o", tmp_path / "out")
    assert result.exit_code == 0 and "no report was written" in " ".join(result.stderr.split())
    assert {of.name for of in (tmp_path / "out").iterdir()} == {"check.csv", "check-features.csv"}


def test_what_cannot_be_checked_is_one_sentence_and_nothing_is_written(folder, tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,2\n3,4\n")
    survey(15, 0).to_csv(tmp_path / "few.csv", index=False)
    for name, says in (("other.csv", "are missing"), ("few.csv", "fewer than 20")):
        result = run("check", folder / "model", tmp_path / name, "-o", tmp_path / "out")
        assert result.exit_code != 0 and says in " ".join(result.output.split()), result.output
    assert not (tmp_path / "out").exists()
