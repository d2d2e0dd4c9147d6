"""``groupfs select --by``: the column is set aside, and groups are compared by it."""

import json

import numpy as np
import pandas as pd
import pytest

from groupfs.cli.result_folder import CONDITIONS, FILES
from tests.support.command import CHOSEN, everything, people, run


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Group u is higher among the well; v goes with the hours."""
    frame = people(90).drop(columns=["sex", "job", "person_id"])
    hours = np.linspace(0, 9, 90)
    frame[[name for name in CHOSEN if name[0] == "v"]] += hours[:, None] / 3
    path = tmp_path_factory.mktemp("by") / "t.csv"
    frame.assign(hours=hours).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def by_outcome(table):
    out = table.parent / "outcome"
    result = run("select", table, "--by", "outcome", "--drop", "hours", "--groups", 3, "-o", out)
    assert result.exit_code == 0, result.output
    return result, out


def groups_of(out):
    groups = pd.read_csv(out / "groups.csv").dropna(subset="group")
    return {name[0]: group for name, group in zip(groups["feature"], groups["group"], strict=True)}


def test_a_file_says_how_every_group_is_in_every_condition(by_outcome):
    result, out = by_outcome
    assert everything(out) == sorted([*FILES, CONDITIONS])
    rows = pd.read_csv(out / CONDITIONS)
    assert set(rows["condition"]) == {"well", "ill"} and not rows.duplicated().any()
    u, v = (rows[rows["group"] == groups_of(out)[kind]] for kind in "uv")
    assert u["mean_changes"].all() and not v["mean_changes"].any()
    means = u.set_index("condition")["mean"]
    assert abs(means["well"] - means["ill"]) > 1
    printed = " ".join(result.stdout.split())
    assert "Groups that change with outcome, of" in printed and CONDITIONS in printed


def test_the_column_plays_no_part_in_the_selection(by_outcome):
    result, out = by_outcome
    assert "outcome" not in pd.read_csv(out / "groups.csv")["feature"].tolist()
    summary = json.loads((out / "result.json").read_text())
    note = "Set outcome aside to compare groups by: it plays no part in the selection."
    assert note in summary["table"]["notes"] and note in " ".join(result.stderr.split())
    assert "--by outcome" in summary["code"][0]
    assert "Where groups matter: by outcome" in (out / "report.html").read_text()


def test_numbers_are_followed_and_the_label_may_be_the_same_column(table):
    out = table.parent / "hours"
    columns = ("--by", "hours", "--label", "hours", "--drop", "outcome")
    result = run("select", table, *columns, "--groups", 3, "-o", out, "--json", "-q")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert CONDITIONS in printed["files"] and printed["conditions"]["is_number"]
    rows = pd.read_csv(out / CONDITIONS)
    v = rows[rows["group"] == groups_of(out)["v"]]
    assert len(v) == 25 and v["mean_changes"].all()
    assert abs(np.corrcoef(v["condition"], v["mean"])[0, 1]) > 0.95


def test_dates_are_followed_as_days(table, tmp_path):
    frame = pd.read_csv(table).drop(columns="outcome")
    days = (4 * frame.pop("hours")).to_numpy()
    frame["when"] = (pd.Timestamp("2021-03-01") + pd.to_timedelta(days, unit="D")).strftime(
        "%Y-%m-%d"
    )
    frame.to_csv(tmp_path / "dates.csv", index=False)
    options = ("--by", "when", "--groups", 3, "-o", tmp_path / "out", "--json", "-q")
    result = run("select", tmp_path / "dates.csv", *options)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)["conditions"]
    assert printed["is_number"] and printed["name"] == "when (days since 2021-03-01)"
    rows = pd.read_csv(tmp_path / "out" / CONDITIONS)
    v = rows[rows["group"] == groups_of(tmp_path / "out")["v"]]
    assert v["mean_changes"].all() and v["condition"].between(0, 36).all()


def test_without_it_there_is_no_such_file(table):
    out = table.parent / "plain"
    assert run("select", table, "--groups", 3, "-o", out, "-q").exit_code == 0
    assert everything(out) == sorted(FILES)


def test_columns_that_cannot_be_compared_by_are_refused_before_any_work(table, tmp_path):
    out = tmp_path / "out"
    result = run("select", table, "--by", "outcom", "-o", out)
    assert result.exit_code == 4 and "--by outcom:" in result.stderr and "outcome" in result.stderr
    frame = pd.read_csv(table).assign(person=[f"p{i}" for i in range(90)])
    frame.to_csv(tmp_path / "ids.csv", index=False)
    result = run("select", tmp_path / "ids.csv", "--by", "person", "-o", out)
    said = " ".join(result.stderr.split())
    assert result.exit_code == 4 and "--by person: 90 values, of which 0 occur 10 times" in said
    assert "Looking for groups" not in said


def test_gaps_are_left_out_and_said(table, tmp_path):
    frame = pd.read_csv(table).drop(columns="hours")
    frame.loc[:8, "outcome"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    result = run("select", tmp_path / "gaps.csv", "--by", "outcome", "-o", tmp_path / "out")
    assert "9 of 90 samples have no condition and were left out." in " ".join(result.stderr.split())
    notes = json.loads((tmp_path / "out" / "result.json").read_text())["table"]["notes"]
    assert "9 of 90 samples have no condition and were left out." in notes


def test_genes_have_their_names(tmp_path):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    on = np.repeat([1.0, 0.0], 40)[:, None] * (np.arange(12) < 6)
    cells = anndata.AnnData(np.log1p(rng.poisson(0.3 + 4 * on)).astype(np.float32))
    cells.var_names = [f"gene{i}" for i in range(12)]
    cells.obs["half"] = np.repeat(["a", "b"], 40)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    out = tmp_path / "out"
    result = run("select", tmp_path / "cells.h5ad", "--by", "half", "-o", out)
    assert result.exit_code == 0, result.output
    assert set(pd.read_csv(out / CONDITIONS)["representative"]) <= set(cells.var_names)
