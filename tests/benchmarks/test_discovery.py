"""The benchmark of discovery draws what it says, scores what it finds, and writes its tables."""

import json

import numpy as np
import pytest

from benchmarks import discovery
from benchmarks.cell_programmes import PROGRAMMES, judge, read_cells
from benchmarks.group_competitors import (
    Found,
    absolute_correlation,
    everything,
    parallel_analysis,
    scores,
    standardized,
    with_average_linkage,
    with_factors,
    with_landed,
)
from benchmarks.planted_tables import (
    LEVEL_KINDS,
    PLANTED_KINDS,
    PlantedTable,
    planted_table,
    unstructured_table,
)


@pytest.fixture
def table(rng):
    groups = np.repeat([0, 1, -1], [4, 4, 4])
    hidden = rng.standard_normal((200, 2))
    X = rng.standard_normal((200, 12))
    X[:, :8] += 2 * hidden[:, groups[:8]] * np.tile([1, -1], 4)
    return PlantedTable(X, groups, {"table": 0, "kind": "normal"})


def test_a_planted_table_is_the_same_every_time():
    first, again = planted_table(3), planted_table(3)
    np.testing.assert_array_equal(first.X, again.X)
    assert first.facts == again.facts


@pytest.mark.parametrize("number", [0, 1, 17, 48, 49])
def test_features_of_a_planted_group_go_together_and_noise_does_not(number):
    drawn = planted_table(number)
    r, g = absolute_correlation(drawn.X), drawn.groups
    assert drawn.n_groups == drawn.facts["groups"] >= 2
    assert (drawn.facts["noise"] == 0) == (number % 3 == 0)
    same = (g[:, None] == g) & (g >= 0) & ~np.eye(len(g), dtype=bool)
    different = (g[:, None] != g) & (g >= 0) & (g[:, None] >= 0)
    assert r[same].mean() > r[different].mean()


def test_kinds_take_turns():
    assert [planted_table(n).facts["kind"] for n in (5, 16, 32)] == ["normal", "binary", "ordinal"]
    assert len(PLANTED_KINDS) == 5


@pytest.mark.parametrize("kind", LEVEL_KINDS)
def test_columns_without_structure_vary_and_are_correlated_by_chance_only(kind):
    X = unstructured_table(kind, 4)
    assert (X.std(axis=0) > 0).all()
    if kind != "indicators":
        squared = absolute_correlation(X) ** 2 * len(X)
        assert np.median(squared[~np.eye(len(squared), dtype=bool)]) < 1


def test_counts_are_mostly_zero():
    X = LEVEL_KINDS["rare counts"](np.random.default_rng(0).standard_normal((4000, 5)), None)
    np.testing.assert_allclose((X == 0).mean(axis=0), 0.95, atol=0.015)
    assert X.max() > 1 and (np.rint(X) == X).all()


def test_scores_of_what_was_planted_are_perfect(table):
    perfect = scores(table, Found(table.groups, table.groups >= 0))
    assert perfect == {"ari": 1, "ari_all": 1, "surplus": 0, "noise_kept": 0, "lost": 0}


def test_features_in_no_group_are_not_taken_for_a_group(table):
    half = np.where(table.groups == 1, -1, table.groups)
    found = scores(table, Found(half, half >= 0))
    assert found["surplus"] == -1 and found["lost"] == 0.5 and 0 < found["ari"] < 1
    alone = scores(table, everything(np.full(12, -1)))
    assert alone["ari"] == 0 and alone["noise_kept"] == 1 and alone["surplus"] == -2


def test_the_others_find_easy_groups_whatever_the_signs(table):
    assert parallel_analysis(standardized(table.X), 0) == 2
    assert scores(table, with_factors(table.X, 2, 0))["ari"] == 1
    only = PlantedTable(table.X[:, :8], table.groups[:8], table.facts)
    assert scores(only, with_average_linkage(only.X, 2, 0))["ari"] == 1
    assert scores(only, with_factors(only.X, 2, 0))["noise_kept"] is None


def test_parallel_analysis_sees_no_factors_in_noise(rng):
    found = [parallel_analysis(rng.standard_normal((100, 20)), seed) for seed in range(5)]
    assert sum(found) <= 2


class Fitted:
    """What the judge of programmes looks at."""

    def __init__(self, labels, kept):
        self.group_labels_, self.group_selected_ = np.array(labels), np.array(kept)
        self.n_groups_, self.centrality_ = len(kept), np.linspace(0.5, 0.9, len(labels))

    def get_support(self):
        return np.append(self.group_selected_, False)[self.group_labels_]


def test_a_programme_is_alone_if_its_group_has_no_genes_of_another():
    genes = [(gene, name) for name, words in PROGRAMMES.items() for gene in words.split()]
    places = {name: place for place, name in enumerate(PROGRAMMES)}
    labels = [places[name] for _, name in genes]
    kept = [name != "plasma" for name in PROGRAMMES]
    names = [gene for gene, _ in genes]
    judged = judge(Fitted(labels, kept), names)
    assert all(found["alone"] for found in judged["programmes"].values())
    assert [n for n, found in judged["programmes"].items() if not found["kept"]] == ["plasma"]
    assert all(judged["partners"].values()) and judged["lowest_centrality"] == 0.5

    labels[names.index("CD3E")] = places["NK"]
    judged = judge(Fitted(labels, kept), names)
    joined = [n for n, found in judged["programmes"].items() if not found["alone"]]
    assert joined == ["NK", "T"] and not judged["partners"]["CD3D CD3E"]
    assert judged["partners"]["NKG7 GNLY GZMB"]


def test_cells_are_read_without_anndata(tmp_path):
    np.savez(tmp_path / "cells.npz", X=np.eye(2, dtype=np.float32), names=["CD3D", "CD3E"])
    X, names = read_cells(tmp_path / "cells.npz")
    assert X.dtype == np.float64 and names == ["CD3D", "CD3E"]


def test_fits_that_break_are_listed_and_not_counted():
    whole = {"kind": "normal", "table": 0, "rows": 60, "features": 12, "size": 12, "groups": 1}
    shares = {"kept": {"0.01": 0, "0.05": 1}, "selected": {"0.01": 0.0, "0.05": 0.5}}
    broken = {**whole, "table": 1, "failure": "ValueError: no"}
    tables = discovery.level_tables([whole | shares, broken])
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


def test_averages_leave_failures_and_unknown_shares_out():
    common = {"method": "a", "ari_all": 1.0, "lost": 0.0, "seconds": 1.0}
    records = [
        {**common, "ari": 0.5, "surplus": -2, "noise_kept": None},
        {**common, "ari": 1.0, "surplus": 2, "noise_kept": 0.25},
        {"method": "a", "failure": "ValueError: no"},
    ]
    found = discovery.averages(records, method="a")
    assert found["tables"] == 2 and found["Rand, planted"] == 0.75 and found["noise kept"] == 0.25
    assert found["groups too many"] == 0 and found["groups off"] == 2


@pytest.mark.slow
def test_another_version_is_fitted_from_its_folder(table):
    import groupfs

    source = groupfs.__path__[0].removesuffix("/groupfs")
    found = with_landed(table.X, 2, 0, source)
    assert scores(table, found)["ari"] == 1
