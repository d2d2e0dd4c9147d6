"""Two moons: the studies are the paper's, and what is counted is what was found."""

import json
from collections import Counter

import pytest

from experiments import two_moons, two_moons_figures

GROUPS = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11], [12]]


def test_every_study_has_ten_seeds_of_every_variant():
    keys = list(two_moons.cells())
    quick = list(two_moons.cells(quick=True))
    assert all(key in keys for key in quick) and len(quick) < len(keys) / 50
    assert len({json.dumps(key, sort_keys=True) for key in keys}) == len(keys)
    counts = Counter((key["study"], key["variant"], key["n_groups"] == "auto") for key in keys)
    n_grid = sum(d - 2 for d in range(17, 25))  # C = 2, ..., d - 1
    expected = {("grid", variant, False): 10 * n_grid for variant in ("default", "paper")}
    for study, n_tables in {"noise": 10, "correlation": 9}.items():
        for kind in (("default", True), ("default", False), ("paper", False)):
            expected[study, *kind] = 10 * n_tables
    assert counts == expected


def test_settings_are_those_the_paper_prints_for_the_table():
    rho = two_moons.paper_settings("correlation", {"correlation": 0.7})
    assert (rho["n_groups"], rho["lambda1"], rho["lambda2"]) == (3, 1.0, 0.8)
    noise = two_moons.paper_settings("noise", {"noise": 0.1})
    assert (noise["n_groups"], noise["lambda2"]) == (12, 6.0)
    grid = two_moons.paper_settings("grid", {"n_groups": 5, "n_features": 17})
    assert grid == {"n_groups": 5, "lambda1": 10.0, "lambda2": 3.7}


def test_the_papers_selection_takes_groups_until_ten_features_are_covered():
    rates = two_moons.measures([GROUPS[0], GROUPS[2], GROUPS[1], GROUPS[3]], GROUPS[0])
    assert (rates["rg_sim"], rates["tpr"]) == (1, 1)
    assert rates["fdr"] == pytest.approx(2 / 12)  # the pair of noise features is passed on the way
    assert (rates["kept_tpr"], rates["kept_fdr"]) == (0.5, 0)


@pytest.mark.slow
def test_a_fit_with_either_variant_can_be_recomputed_from_its_record(monkeypatch):
    monkeypatch.setattr(two_moons, "N_SAMPLES", 200)
    table = {"n_features": 20, "correlation": 0.95, "noise": 0.05, "seed": 0}
    for variant in ("default", "paper"):
        key = {"study": "grid", "variant": variant, "n_groups": 3, **table}
        record = json.loads(json.dumps(two_moons.compute(key)))
        assert sorted(sum(record["groups"], [])) == list(range(20))
        assert len(record["groups"]) == record["n_groups_found"]
        again = two_moons.measures(record["groups"], record["selected"])
        assert again == {name: record[name] for name in again}
        if variant == "default":
            assert again["rg_sim"] == again["tpr"] == 1 and again["fdr"] == 0
        else:
            assert (record["smoothness_weight"], record["sparsity_weight"]) == (1.0, 1.5)
            assert record["n_iter"] == 500


def test_recovery_counts_exact_fits_within_the_range_of_c_only():
    def fit(C, d, variant="default", study="grid", **values):
        key = {"study": study, "variant": variant, "n_groups": C, "n_features": d, "seed": 0}
        return record_of(key, **values)

    records = [fit(3, 17), fit(9, 17, fdr=0.1), fit(5, 20, rg_sim=0.9), fit(6, 20, kept_tpr=0.5)]
    records += [fit(2, 17, tpr=0.0), fit(10, 17, tpr=0.0)]  # too few groups, and too many
    records += [fit(4, 17, variant="paper", tpr=0.0), fit("auto", 20, study="noise", tpr=0.0)]
    assert two_moons.recovered(records, "default") == (2, 4)
    assert two_moons.recovered(records, "default", kept=True) == (2, 4)
    assert two_moons.recovered(records, "paper") == (0, 1)


@pytest.mark.slow
def test_all_figures_of_the_page_are_drawn(tmp_path):
    records = [record_of(key) for key in two_moons.cells(quick=True)]
    two_moons_figures.draw(two_moons.aggregate(records), tmp_path)
    names = ("curves", "grid_default", "grid_paper")
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {f"two_moons_{name}.{ending}" for name in names for ending in ("png", "svg")}


def record_of(key, **values):
    perfect = {"rg_sim": 1.0, "tpr": 1.0, "fdr": 0.0, "kept_tpr": 1.0, "kept_fdr": 0.0}
    others = {"loss": -0.2, "n_groups_found": 3, "n_open": 2, "seconds": 1.0}
    return {"key": key, **perfect, **others, **values}
