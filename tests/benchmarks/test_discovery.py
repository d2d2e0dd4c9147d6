"""The benchmark of discovery draws what it says, scores what it finds, and writes its tables."""

import json

import numpy as np
import pytest

from benchmarks import discovery
from benchmarks.group_competitors import Found, absolute_correlation, everything, scores
from benchmarks.planted_tables import LEVEL_KINDS, PlantedTable, planted_table, unstructured_table


@pytest.fixture
def table(rng):
    groups = np.repeat([0, 1, -1], [4, 4, 4])
    hidden = rng.standard_normal((200, 2))
    X = rng.standard_normal((200, 12))
    X[:, :8] += 2 * hidden[:, groups[:8]] * np.tile([1, -1], 4)
    return PlantedTable(X, groups, {"table": 0, "kind": "normal"})


@pytest.mark.parametrize("number", [0, 1, 17])
def test_features_of_a_planted_group_go_together_and_noise_does_not(number):
    drawn = planted_table(number)
    r, g = absolute_correlation(drawn.X), drawn.groups
    assert drawn.n_groups == drawn.facts["groups"] >= 2
    assert (drawn.facts["noise"] == 0) == (number % 3 == 0)
    same = (g[:, None] == g) & (g >= 0) & ~np.eye(len(g), dtype=bool)
    different = (g[:, None] != g) & (g >= 0) & (g[:, None] >= 0)
    assert r[same].mean() > r[different].mean()


@pytest.mark.parametrize("kind", LEVEL_KINDS)
def test_columns_without_structure_vary_and_are_correlated_by_chance_only(kind):
    X = unstructured_table(kind, 4)
    assert (X.std(axis=0) > 0).all()
    if kind != "indicators":
        squared = absolute_correlation(X) ** 2 * len(X)
        assert np.median(squared[~np.eye(len(squared), dtype=bool)]) < 1


def test_what_was_planted_is_perfect_and_features_in_no_group_are_not_taken_for_a_group(table):
    perfect = scores(table, Found(table.groups, table.groups >= 0))
    assert perfect == {"ari": 1, "ari_all": 1, "surplus": 0, "noise_kept": 0, "lost": 0}
    half = np.where(table.groups == 1, -1, table.groups)
    partly = scores(table, Found(half, half >= 0))
    assert partly["surplus"] == -1 and partly["lost"] == 0.5 and 0 < partly["ari"] < 1
    alone = scores(table, everything(np.full(12, -1)))
    assert alone["ari"] == 0 and alone["noise_kept"] == 1 and alone["surplus"] == -2


def test_averages_leave_failures_and_unknown_shares_out():
    common = {"method": "a", "ari_all": 1.0, "lost": 0.0, "seconds": 1.0}
    half = {**common, "ari": 0.5, "surplus": -2, "noise_kept": None}
    whole = {**common, "ari": 1.0, "surplus": 2, "noise_kept": 0.25}
    means = discovery.averages([half, whole, {"method": "a", "failure": "ValueError: no"}])
    assert means["tables"] == 2 and means["Rand, planted"] == 0.75 and means["noise kept"] == 0.25
    assert means["groups too many"] == 0 and means["groups off"] == 2


def test_fits_that_break_are_listed_and_not_counted():
    whole = {"kind": "normal", "table": 0, "rows": 60, "features": 12, "size": 12, "groups": 1}
    shares = {"kept": {"0.01": 0, "0.05": 1}, "selected": {"0.01": 0.0, "0.05": 0.5}}
    broken = {**whole, "table": 1, "failure": "ValueError: no"}
    tables = discovery.tables_of("level", [whole | shares, broken])
    (row,) = tables["Tables without structure"]
    assert row["tables"] == 1 and row["any kept at 0.05"] == 1 and row["any kept at 0.01"] == 0
    assert [(r["table"], r["failure"]) for r in tables["Failures"]] == [(1, "ValueError: no")]


def test_tables_are_printed_and_written(tmp_path, capsys):
    arguments = ["--part", "level", "--kinds", "rare counts", "--tables", "2"]
    discovery.main([*arguments, "--results", str(tmp_path)])
    records = [json.loads(line) for line in (tmp_path / "level.jsonl").read_text().splitlines()]
    assert [record["table"] for record in records] == [0, 1]
    text = (tmp_path / "level.md").read_text()
    assert "| rare counts | 2 " in text and text in capsys.readouterr().out
