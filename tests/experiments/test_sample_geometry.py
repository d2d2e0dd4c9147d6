import numpy as np
import pytest

from experiments import sample_geometry
from experiments.sample_geometry import GROUPS, METRICS, N_FEATURES, NOISE, TABLES, make_table


def test_every_feature_is_in_one_group_and_the_true_one_comes_first():
    members = [feature for group in GROUPS.values() for feature in group]
    assert sorted(members) == list(range(N_FEATURES))
    assert next(iter(GROUPS.items())) == ("true", [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("table", TABLES)
def test_noise_features_go_with_nothing(table):
    X = make_table(table, 1.0, seed=0)
    np.testing.assert_array_equal(X, make_table(table, 1.0, seed=0))
    ranks = X.argsort(0).argsort(0)
    r = np.abs(np.corrcoef(ranks, rowvar=False))
    np.fill_diagonal(r, 0)
    assert r[:6, :6].max() > 0.3 and r[6:].max() < 0.2


def test_the_table_counts_draws_that_are_won_and_their_margins(capsys):
    common = {"score": 0.5, "spread": 0.1}
    records = [
        {"table": table, "noise": noise, "metric": metric, "best_noise": best, **common}
        for table in TABLES
        for noise in NOISE
        for metric in METRICS
        for best in ((0.6, 0.3, 0.2) if metric == "cosine" else (0.1, 0.1, 0.1))
    ]
    sample_geometry.print_table(records)
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["euclidean", "cosine"]
    assert first.split()[:6] == ["circles", str(NOISE[0]), "1.00", "4.0", "0.67", "2.0"]


@pytest.mark.parametrize("metric", ["euclidean", sample_geometry.KNOWN_GRAPH])
def test_a_clear_group_has_the_highest_score(metric):
    found = sample_geometry.scores(make_table("circles", 0.5, seed=0), metric)
    assert max(found, key=found.get) == "true" and set(found) == set(GROUPS)
