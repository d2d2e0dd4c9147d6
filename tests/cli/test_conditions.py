"""``groupfs select --by``: the column is set aside, and groups are compared by it."""

import json

import numpy as np
import pandas as pd
import pytest

from groupfs.cli.result_folder import CONDITIONS, FILES
from tests.support.command import CHOSEN, everything, people, run


@pytest.fixture(scope="module")
def frame():
    """Group u is higher among the well; v goes with the hours; nine persons have no outcome."""
    people_alone = people(90).drop(columns=["sex", "job", "person_id"])
    hours = np.linspace(0, 9, 90)
    people_alone[[name for name in CHOSEN if name[0] == "v"]] += hours[:, None] / 3
    people_alone.loc[:8, "outcome"] = None
    return people_alone.assign(hours=hours)


def select_by(frame, column, folder, *options):
    frame.to_csv(folder / "t.csv", index=False)
    arguments = ("--by", column, "--groups", 3, "-o", folder / "out", *options)
    return run("select", folder / "t.csv", *arguments)


def rows_of(out, kind):
    """Return what is said of the group of u or v."""
    groups = pd.read_csv(out / "groups.csv").dropna(subset="group")
    group = groups.loc[groups["feature"].str.startswith(kind), "group"].iloc[0]
    rows = pd.read_csv(out / CONDITIONS)
    return rows[rows["group"] == group]


def test_the_column_is_set_aside_and_a_file_says_how_every_group_is_in_its_conditions(
    frame, tmp_path
):
    result = select_by(frame, "outcome", tmp_path, "--drop", "hours")
    assert result.exit_code == 0, result.output
    out = tmp_path / "out"
    assert everything(out) == sorted([*FILES, CONDITIONS])
    u, v = rows_of(out, "u"), rows_of(out, "v")
    assert sorted(u["condition"]) == ["ill", "well"]
    assert u["mean_changes"].all() and not v["mean_changes"].any()
    printed = " ".join(result.stdout.split())
    assert "Groups that change with outcome, of" in printed and CONDITIONS in printed
    assert "outcome" not in pd.read_csv(out / "groups.csv")["feature"].tolist()
    said = " ".join(result.stderr.split())
    for note in (
        "Set outcome aside to compare groups by: it plays no part in the selection.",
        "9 of 90 samples have no condition and were left out.",
    ):
        assert note in json.loads((out / "result.json").read_text())["table"]["notes"]
        assert note in said


def test_numbers_are_followed_and_the_label_may_be_the_same_column(frame, tmp_path):
    columns = ("--label", "hours", "--drop", "outcome")
    result = select_by(frame, "hours", tmp_path, *columns, "--json")
    assert "followed as a number" not in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["conditions"]["is_number"]
    v = rows_of(tmp_path / "out", "v")
    assert len(v) == 25 and v["mean_changes"].all()
    assert abs(np.corrcoef(v["condition"], v["mean"])[0, 1]) > 0.95


def test_many_kinds_that_are_written_as_numbers_are_said_to_be_followed(frame, tmp_path):
    result = select_by(frame.assign(species=np.arange(90) % 12), "species", tmp_path)
    said = "species has 12 values and is followed as a number, as time would be; write them as"
    assert said in " ".join(result.stderr.split())


def test_dates_are_followed_as_days(frame, tmp_path):
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(4 * frame["hours"], unit="D")
    dated = frame.drop(columns=["outcome", "hours"]).assign(when=days.dt.strftime("%Y-%m-%d"))
    result = select_by(dated, "when", tmp_path, "--json")
    assert "followed as a number" not in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["conditions"]["name"] == "when (days since 2021-03-01)"
    assert rows_of(tmp_path / "out", "v")["condition"].between(0, 36).all()


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("outcom", "--by outcom: there is no column of that name; did you mean outcome?"),
        ("person", "--by person: 90 values, of which 0 occur 10 times or more; groups are"),
    ],
)
def test_columns_that_cannot_be_compared_by_are_refused_before_any_work(
    column, says, frame, tmp_path
):
    result = select_by(frame.assign(person=[f"p{i}" for i in range(90)]), column, tmp_path)
    said = " ".join(result.stderr.split())
    assert result.exit_code == 4 and says in said and "Looking for groups" not in said
