"""Networks find clear factors, and the parts of the benchmark measure and average what they say."""

import json

import numpy as np
import pytest

from benchmarks import designs, discovery, levels, networks, stability, wide
from benchmarks.planted_tables import PlantedTable


@pytest.fixture
def two_factors(rng):
    groups = np.repeat([0, 1], 5)
    X = 0.8 * rng.standard_normal((500, 2))[:, groups] + 0.6 * rng.standard_normal((500, 10))
    return PlantedTable(X, groups, {})


@pytest.mark.parametrize("method", [networks.with_ega, networks.with_leiden])
def test_networks_find_two_clear_factors_and_leave_a_stranger_out(method, two_factors, rng):
    X = np.column_stack([two_factors.X, rng.standard_normal(500)])
    X[:, 10] -= X[:, :10] @ np.linalg.lstsq(X[:, :10], X[:, 10], rcond=None)[0]
    found = method(X - X.mean(axis=0), 0, 0).labels
    np.testing.assert_array_equal(found[:10], np.repeat(found[[0, 5]], 5))
    assert found[0] != found[5] and found[10] == -1 and min(found[:10]) >= 0


def test_partial_correlations_are_largest_along_a_chain_and_none_without_any():
    precision = np.eye(6) + np.diag(np.full(5, -0.45), 1) + np.diag(np.full(5, -0.45), -1)
    S = np.linalg.inv(precision)
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    found = networks.partial_correlations(S, 1000)
    chain = (precision != 0) & ~np.eye(6, dtype=bool)
    assert found[chain].min() > 0.3 > 0.1 > np.abs(found[~chain]).max()
    assert not networks.partial_correlations(np.eye(6) + 1e-9, 100).any()


def test_who_is_told_the_number_is_not_right_about_it_and_cells_are_compared():
    records = designs.measure(0, 0, designs.METHODS)
    assert [r["method"] for r in records] == list(designs.METHODS)
    told = [r["method"] for r in records if r["right"] is None]
    assert tuple(told) == designs.TOLD
    facts = {"kind": "binary", "ari": 1.0, "rows": 100, "draw": 0}

    def record(cell, correlation, method, right):
        named = {"cell": cell, "correlation": correlation, "method": method, "right": right}
        return {**facts, **named}

    outcomes = [(0, 0.0, 1, 0), (1, 0.2, 1, 1), (2, 0.5, 0, 1), (3, 0.7, 0, 1)]
    made = [record(c, r, "groupfs", ours) for c, r, ours, _ in outcomes]
    made += [record(c, r, "EGA", theirs) for c, r, _, theirs in outcomes]
    tables = designs.tables(made)
    everything, binary = tables["Cells, groupfs and EGA"]
    assert everything["cells"] == binary["cells"] == 3  # not the one of .7
    assert everything["groupfs >= EGA"] == 2 and everything["less often"] == 1
    assert tables["Right number"][0] == {"kind": "all", "tables": 4, "groupfs": 0.5, "EGA": 0.75}


def test_kept_groups_match_planted_ones_that_they_have_most_of_and_little_else():
    groups = np.repeat([0, 1, 2, -1], [6, 6, 6, 4])
    labels = np.array([0] * 6 + [1] * 3 + [2] * 3 + [3] * 4 + [-1] * 2 + [3] * 2 + [-1] * 2)
    found = wide.scores(groups, labels, labels >= 0)
    assert found["kept"] == 4 and found["matched"] == 2  # halves of a group are not it
    assert found["lost"] == pytest.approx(2 / 18) and found["noise_kept"] == 0.5
    none = wide.scores(groups, labels, np.zeros(22, dtype=bool))
    assert none["matched"] == 0 and none["lost"] == 1 and none["ari"] is None
    perfect = wide.scores(groups, groups, groups >= 0)
    assert perfect["matched"] == 3 and perfect["ari"] == perfect["matched_share"] == 1


def test_a_wide_table_is_recorded_with_all_that_is_averaged():
    (record,) = wide.measure(100, 150, 0)
    assert set(wide.SHOWN.values()) <= record.keys() and record["features"] == 150
    (broken,) = wide.measure(-1, 150, 0)
    assert "ValueError" in broken["failure"]


@pytest.mark.parametrize("change", stability.CHANGES)
def test_columns_of_a_changed_table_are_found_in_it(change, rng):
    X = rng.standard_normal((30, 7))
    changed, places = stability.changed(X, change, rng)
    again = changed[:, places]
    rows = {"90 % of the rows": 27}.get(change, 30)
    assert again.shape == (rows, 7) and changed.shape[1] == 7 + 10 * (change == "unrelated columns")
    assert np.isnan(changed).sum() == (change == "one gap")
    assert np.isfinite(X).all() and np.isin(again[np.isfinite(again)], X).all()
    assert (changed is X) == (change == "seed")
    if change not in ("rows permuted", "90 % of the rows", "one gap"):
        np.testing.assert_array_equal(again, X)


def test_fewer_rows_are_averaged_apart_from_what_should_change_nothing():
    made = {"table": "wine", "number": 0, "before": 3, "draw": 0}
    same = {**made, "change": "seed", "ari": 1.0, "groups": 3}
    gap = {**made, "change": "one gap", "ari": 0.5, "groups": 1}
    fewer = {**made, "change": stability.FEWER_ROWS, "ari": 0.25, "groups": 9}
    (row,) = stability.tables([same, gap, fewer])["Groups of a changed table"]
    assert row["Rand"] == 0.75 and row["lowest"] == 0.5 and row["groups off at most"] == 2
    assert row["Rand, 90 % of the rows"] == 0.25 and row["fits"] == 2


def test_a_questionnaire_of_one_level_is_recorded_with_all_that_is_averaged():
    (record,) = levels.measure("one-level", 0)
    assert set(levels.SHOWN.values()) <= record.keys()
    assert record["traits_ari"] is None and record["facets_ari"] >= record["default_ari"]
    assert record["levels"] == len(record["agreement"]) == len(record["groups_of_levels"])


def test_parts_write_records_and_tables(tmp_path, capsys):
    arguments = ["--tables", "1", "--results", str(tmp_path)]
    discovery.main(["--part", "designs", "--cells", "0", "130", *arguments])
    discovery.main(["--part", "stability", "--names", "wine", *arguments])
    lines = {part: (tmp_path / f"{part}.jsonl").read_text() for part in ("designs", "stability")}
    drawn = [json.loads(line) for line in lines["designs"].splitlines()]
    assert {(r["cell"], r["draw"], r["method"]) for r in drawn} == {
        (cell, 0, method) for cell in (0, 130) for method in designs.METHODS
    }
    changed = [json.loads(line) for line in lines["stability"].splitlines()]
    assert [r["change"] for r in changed] == list(stability.CHANGES)
    exact = [r["ari"] for r in changed if r["change"] in stability.EXACT]
    assert exact == [1, 1, 1]
    assert "## Failures" not in capsys.readouterr().out
