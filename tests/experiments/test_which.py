"""Which estimator, when: tables give what they promise, and figures are what they are called."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments import which, which_tables

NUMBERS = range(4)


def mean_r(X, columns, others=None):
    R = np.abs(np.corrcoef(X.T))[np.ix_(columns, columns if others is None else others)]
    return R[~np.eye(len(columns), dtype=bool)].mean() if others is None else R.mean()


def in_groups(table):
    return [np.flatnonzero(table.groups == j) for j in range(table.groups.max() + 1)]


def of_cases(kind):
    return [case for of, case in which.CASES if of == kind]


@pytest.mark.parametrize(("kind", "case"), which.CASES)
def test_tables_are_the_same_for_the_same_number_and_have_ten_or_more_noise_columns(kind, case):
    table, again = which.draw(kind, case, 3), which.draw(kind, case, 3)
    np.testing.assert_array_equal(table.X, again.X)
    assert not np.array_equal(table.X, which.draw(kind, case, 4).X)
    assert table.X.shape[1] == len(table.groups) == len(table.structured)
    noise = table.groups < 0
    assert noise.sum() >= 10 and not table.structured[noise].any()
    assert (table.structured == ~noise).all() or kind == "beside shifts"
    assert mean_r(table.X, np.flatnonzero(noise)) < 1.2 / np.sqrt(len(table.X))


@pytest.mark.parametrize(("share", "n_active"), [(1 / 3, 100), (1 / 2, 150)])
def test_groups_in_part_of_the_rows_are_noise_in_the_others(rng, share, n_active):
    X, groups, active = which_tables.in_part(rng, share)
    assert active.sum(0).tolist() == [n_active] * 4
    assert len({tuple(rows) for rows in active.T}) == 4  # rows of its own
    for j in range(4):
        own = np.flatnonzero(groups == j)
        assert len(own) == 6 and mean_r(X[active[:, j]], own) == pytest.approx(0.64, abs=0.1)
        assert mean_r(X[~active[:, j]], own) < 0.12
        assert X[:, own].std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("case", "size", "r"),
    [("shifts as large", 6, 0.64), ("shifts larger", 12, 0.81), ("groups uncorrelated", 6, 0.64)],
)
def test_shifts_are_related_to_no_other_group_and_clusters_to_each_other(case, size, r):
    for number in NUMBERS:
        table = which.draw("beside shifts", case, number)
        groups = in_groups(table)
        assert [len(group) for group in groups] == [6, 6, 6, size, size, size]
        assert table.structured[np.concatenate(groups[:3])].all()
        assert not table.structured[np.concatenate(groups[3:])].any()
        for j, group in enumerate(groups):
            assert mean_r(table.X, group) == pytest.approx(0.64 if j < 3 else r, abs=0.1)
        clusters = [mean_r(table.X, groups[a], groups[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        assert min(clusters) > 0.15 if case != "groups uncorrelated" else max(clusters) < 0.2
        others = [
            mean_r(table.X, groups[a], groups[b]) for a in range(6) for b in range(3, 6) if b > a
        ]
        assert max(others) < 0.2


def test_bent_functions_of_a_position_are_hardly_correlated_but_smooth_along_it():
    for case, n_groups, size in zip(of_cases("graph alone"), (1, 2, 2), (12, 12, 8), strict=True):
        table = which.draw("graph alone", case, 0)
        groups = in_groups(table)
        assert [len(group) for group in groups] == [size] * n_groups
        within = np.corrcoef(table.X[:, groups[0]].T)[np.triu_indices(size, 1)]
        assert np.abs(within).mean() < 0.13 and np.abs(within).max() < 0.35
        noise, Z = np.flatnonzero(table.groups < 0), which.standardized(table.X)
        own, graph = Z[:, groups[0]], (which.N_NEIGHBORS, "euclidean")
        smooth = [
            which.beyond_chance(np.delete(own, j, 1), own[:, [j]], *graph) for j in range(size)
        ]
        rough = [which.beyond_chance(own, Z[:, [j]], *graph) for j in noise]
        assert np.median(smooth) > 3 > 2 > np.abs(rough).mean()


def test_one_factor_groups_and_sizes_are_as_told():
    for kind, case in which.CASES:
        if kind == "one factor":
            table = which.draw(kind, case, 0)
            assert f"{len(table.X)} rows" == case and [*map(len, in_groups(table))] == [6] * 5
    table = which.draw("sizes", "3 to 40 features", 0)
    groups = in_groups(table)
    assert [len(group) for group in groups] == [3, 5, 10, 20, 40]
    assert mean_r(table.X, groups[4]) == pytest.approx(0.49, abs=0.1)
    between = np.mean(
        [
            mean_r(which.draw("sizes", case, k).X, *in_groups(which.draw("sizes", case, k))[3:])
            for k in NUMBERS
            for case in of_cases("sizes")
        ]
    )
    assert between == pytest.approx(0.4 * 0.49, abs=0.05)


def test_moons_have_the_rows_they_are_called_by():
    rows = [len(which.draw("two moons, rows", case, 0).X) for case in of_cases("two moons, rows")]
    assert rows == [1000, 300, 100, 50]
    assert len(which.draw("two moons", "noise 0.45", 0).X) == 300


def test_figures_of_labels_made_by_hand():
    groups = np.array([0, 0, 1, 1, -1, -1])
    says = np.array([1, 1, 0, 0, 0, 0], dtype=bool)
    table = which.Planted(np.zeros((3, 6)), groups, says)
    right = which.found(table, groups, groups == 0)
    assert (right["ari"], right["recall"], right["precision"], right["F"]) == (1, 1, 1, 1)
    assert right["shifts"] == right["noise"] == 0
    # noise in groups is nothing to Rand; one structured feature, both shifts and one noise are kept
    other = which.found(
        table, np.array([1, 1, 0, 0, 0, 1]), np.array([1, 0, 1, 1, 1, 0], dtype=bool)
    )
    assert (other["ari"], other["recall"], other["shifts"], other["noise"]) == (1, 0.5, 1, 0.5)
    assert other["precision"] == 0.25 and other["F"] == pytest.approx(2 * 1 / (4 + 2))
    nothing = which.found(table, np.full(6, -1), np.zeros(6, dtype=bool))
    assert nothing["ari"] == nothing["F"] == 0 and np.isnan(nothing["precision"])
    assert which.first(table, np.array([0, 2, 1, 3, 4, 5])) == 0.5


def test_features_follow_their_groups_central_ones_first_and_others_last():
    selector = SimpleNamespace(
        feature_order_=np.array([0, 1, 2, 3, 4]),
        group_labels_=np.array([0, -1, 1, 0, 1]),
        centrality_=np.array([0.5, 0.0, 0.6, 0.9, 0.7]),
    )
    assert which.by_groups(selector, np.array([2.0, 1.0])).tolist() == [3, 0, 4, 2, 1]
    assert which.by_groups(selector, np.array([1.0, 2.0])).tolist() == [4, 2, 3, 0, 1]


def test_intervals_are_those_of_student():
    values = pd.Series([0.2, 0.4, 0.6, np.nan])
    assert which.interval(values) == "0.40 [0.00, 0.90]"  # 4.30 times .2 over the root of 3; cut
    assert which.interval(pd.Series([0.5] * 3)) == "0.50 [0.50, 0.50]"
    assert which.interval(pd.Series([np.nan])) == which.running.NONE


@pytest.mark.filterwarnings("error")
def test_a_run_goes_on_where_it_stopped_and_shows_every_case(tmp_path, monkeypatch, capsys):
    asked = []

    def fake(kind, case, method, number):
        asked.append((case, method, number))
        figures = dict.fromkeys([*which.FIGURES, *which.CANDIDATES], 0.25 * number)
        return figures | {"ari": float(method == "FeatureGroups"), "machine": "a machine"}

    monkeypatch.setattr(which, "measure", fake)
    arguments = ["--quick", "--out", str(tmp_path)]
    which.main(arguments)
    assert len(asked) == len(set(asked)) == 2 * 2 * len(which.CASES)
    first, rows = capsys.readouterr().out, pd.read_csv(tmp_path / "fits.csv")
    rows[5:].to_csv(tmp_path / "fits.csv", index=False)
    del asked[:]
    which.main(arguments)
    assert len(asked) == 5 and capsys.readouterr().out == first
    assert all(
        f"| {case} | FeatureGroups | 2 | 1.00 [1.00, 1.00] |" in first for _, case in which.CASES
    )
    assert "| noise 0.05 | 1.00 [1.00, 1.00] | 0.00 [0.00, 0.00] |" in first  # beside GroupFS
    short = (tmp_path / "short.md").read_text()
    assert all(f"| {kind} | 1.00 | 0.00 | 0.12 | 0.12 |" in short for kind, _ in which.CASES)


def test_distances_are_for_bent_relations_and_the_paper_for_few_rows():
    assert which.planned("FeatureGroups, distance", "graph alone", "waves, two lines")
    assert not which.planned("FeatureGroups, distance", "one factor", "100 rows")
    assert which.planned("GroupFS, paper", "one factor", "100 rows")
    assert not which.planned("GroupFS, paper", "one factor", "1000 rows")
    assert which.planned("GroupFS", "two moons, rows", "1000 rows of moons")
