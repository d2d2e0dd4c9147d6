"""The tables: means, ranks, tests and choices from rows, and nothing outside the marks."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, wilcoxon

from experiments import paper, render, scenario0, scenario1, store, tables
from experiments.aggregate import (
    BEST_DRAW,
    COMPARED,
    Comparison,
    Score,
    at_levels,
    best_choice,
    by_budget,
    compare,
    rank_of,
)
from experiments.sections import studies
from experiments.sections.scenario0 import scenario0_section
from tests.support.experiment_tables import stand_in  # noqa: F401


def row(method, accuracy, seed=0, table="yale", std=1.0, **more):
    given = {"table": table, "method": method, "seed": seed, "n_selected": 5, **more}
    return {**given, "accuracy": accuracy, "accuracy_std": std, "ari": 0.0, "ari_std": 0.0}


def test_means_and_deviations_are_averaged_over_seeds():
    rows = [row("DUFS", 40.0, 0, std=2.0), row("DUFS", 50.0, 1, std=4.0), row("LS", 30.0)]
    scores = by_budget(rows)["yale"]
    assert (scores["DUFS"].mean, scores["DUFS"].std, scores["LS"].mean) == (45.0, 3.0, 30.0)


def test_the_best_budget_is_chosen_by_the_mean_over_seeds():
    rows = [
        row("RANDOM", 50.0, 0, choice="50 features"),
        row("RANDOM", 10.0, 1, choice="50 features"),
        row("RANDOM", 35.0, 0, choice="100 features"),
        row("RANDOM", 35.0, 1, choice="100 features"),
    ]
    scores = best_choice(rows)["yale"]
    assert (scores["RANDOM"].mean, scores["RANDOM"].choice) == (35.0, "100 features")
    assert (scores["RANDOM"].n_candidates, scores[BEST_DRAW].n_candidates) == (2, 4)
    assert scores[BEST_DRAW].mean == 50.0


def test_own_level_takes_every_method_at_the_numbers_of_groupfs():
    rows = [
        row("GroupFS", 60.0, 0, budget="own", n_selected=30),
        row("GroupFS", 70.0, 1, budget="own", n_selected=40),
        row("GroupFS", 1.0, 0, budget=50),
        row("LS", 20.0, budget=30),
        row("LS", 30.0, budget=40),
        row("LS", 99.0, budget=50),
        row("DUFS", 10.0, 0, budget=30),
        row("DUFS", 80.0, 0, budget=40),  # seed 0 belongs to 30 features
        row("DUFS", 20.0, 1, budget=40),
        row("ALL", 55.0, budget=50, n_selected=1024),
    ]
    levels = at_levels(rows, {"yale": [50, 100, 200]})
    own = {method: score.mean for method, score in levels["own"]["yale"].items()}
    assert own == {"GroupFS": 65.0, "LS": 25.0, "DUFS": 15.0, "ALL": 55.0}
    assert levels["50"]["yale"]["LS"].mean == 99.0
    assert set(levels["100"]["yale"]) == {"ALL"}


def test_methods_with_one_seed_count_once_for_every_seed_of_groupfs():
    own = [row("GroupFS", 0.0, s, budget="own", n_selected=n) for s, n in enumerate([30, 30, 40])]
    rows = [*own, row("LS", 20.0, budget=30), row("LS", 50.0, budget=40)]
    assert at_levels(rows, {"yale": [50, 100, 200]})["own"]["yale"]["LS"].mean == 30.0


def test_comparison_is_that_of_scipy():
    rng = np.random.default_rng(0)
    names = ["GroupFS", "RANDOM", "LS"]
    values = rng.uniform(20, 90, (8, 3))
    scores = {
        f"t{i}": {name: Score(v, 1.0, 5) for name, v in zip(names, line, strict=True)}
        for i, line in enumerate(values)
    }
    scores["incomplete"] = {"GroupFS": Score(0.0, 0.0, 5)}
    scores["not judged"] = {name: Score(np.nan, np.nan, 5) for name in names}
    found = compare(scores, names)
    assert len(found.tables) == 8
    assert found.friedman == pytest.approx(friedmanchisquare(*values.T).pvalue)
    assert found.p_value["LS"] == pytest.approx(wilcoxon(values[:, 0], values[:, 2]).pvalue)
    order = (-values).argsort(1).argsort(1) + 1
    assert found.rank["RANDOM"] == pytest.approx(order[:, 1].mean())
    assert found.mean["GroupFS"] == pytest.approx(values[:, 0].mean(), abs=1e-6)


def test_methods_are_compared_without_ours_and_without_any_table():
    scores = {"yale": {"LS": Score(60.0, 1.0, 5), "RANDOM": Score(50.0, 1.0, 5)}}
    assert compare(scores, COMPARED).rank == {"LS": 1, "RANDOM": 2}
    assert compare(scores, COMPARED).p_value == {}
    assert compare({}, COMPARED).tables == []


def comparison(**means):
    ranks = {name: place for place, name in enumerate(sorted(means, key=lambda n: -means[n]), 1)}
    return Comparison(["yale"], means, ranks, {"RANDOM": 0.0314} if means else {}, 0.0271)


def test_a_comparison_shows_both_measures_and_is_sorted_by_the_one_named():
    ranked = {
        "k-means": comparison(GroupFS=60.0, RANDOM=55.0),
        "1-nn": comparison(GroupFS=70.0, RANDOM=80.0),
    }
    text = render.comparison(ranked, {"GroupFS": 45.0}, by="1-nn")
    head, _, first, second, _, friedman = text.splitlines()
    assert head.count("above RANDOM") == 2
    assert first == "| RANDOM | 55.0 | +0.0 | 80.0 | +0.0 | – | 2.00 | 1.00 | 0.031 | 0.031 |"
    assert second == "| GroupFS | 60.0 | +5.0 | 70.0 | -10.0 | 45.0 | 1.00 | 2.00 | – | – |"
    assert "by 1-nn over 1 tables and 2 methods, p = 0.027." in friedman


def test_a_measure_that_is_missing_is_shown_as_such():
    ranked = {"k-means": comparison(RANDOM=55.0, GroupFS=60.0), "1-nn": comparison()}
    text = render.comparison(ranked, {}, by="1-nn")
    assert "| GroupFS | 60.0 | +5.0 | – | – | – | 1.00 | – | – | – |\n| RANDOM" in text


def test_levels_are_those_of_the_measure_asked_for():
    rows = [
        row("LS", 20.0, budget=50, neighbor=90.0),
        row("RANDOM", 10.0, 0, budget=50, neighbor=80.0),
        row("RANDOM", 10.0, 1, budget=50, neighbor=np.nan),
    ]
    found = at_levels(rows, {"yale": [50, 100, 200]}, "neighbor")["50"]["yale"]
    assert found["LS"].mean == 90.0
    assert np.isnan(found["RANDOM"].mean)  # as long as one of its seeds has not been judged


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scenario_0_has_a_comparison_and_two_tables_at_every_level(tmp_path, stand_in):  # noqa: F811
    wanted = ["--tables", "heart_disease,wine", "--methods", "ALL,GroupFS,LS,RANDOM"]
    scenario0.main(["--quick", "--results", str(tmp_path), *wanted])
    text = scenario0_section(tmp_path)
    assert text.count("\n### ") == 5 and "### What each part adds" in text
    assert text.count("Friedman's test: by k-means over 2 tables and 4 methods") == 4
    assert text.count("Accuracy of 1-nn by table:\n\n|  | heart_disease | wine | mean |") == 4
    assert text.count("\n| ALL | ") == 12 and render.NONE * 2 not in text


def test_equal_first_decimals_share_a_rank():
    found = {"GroupFS": Score(70.04, 0, 5), "LS": Score(69.96, 0, 5), "MCFS": Score(71, 0, 5)}
    assert [rank_of(found, m, COMPARED) for m in ("GroupFS", "LS", "CAE")] == [2, 2, None]


def test_a_misprint_of_the_paper_is_shown_but_is_not_the_mark_to_reach():
    printed = paper.results()["scenario1_ari"]
    scores = {"heart_disease": {"MGAGR": Score(26.84, 9.04, 10)}}
    text = render.beside_the_paper(scores, printed, ["MGAGR"], COMPARED)
    assert "| MGAGR | 26.8 ± 9.0 (274.0 ± 9.1) |" in text
    scores = {"heart_disease": {"GroupFS": Score(50.0, 1.0, 10)}}
    said = render.against_the_paper(scores, printed, COMPARED)
    assert "best of the paper's row on 1 of 1" in said


def test_only_what_is_between_the_marks_is_replaced():
    text = f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n"
    once = tables.insert(text, "new")
    assert once == f"before\n{tables.BEGIN}\n\nnew\n\n{tables.END}\nafter\n"
    assert tables.insert(once, "new") == once
    text = tables.README.read_text()
    assert text.index(tables.BEGIN) < text.index(tables.END)


@pytest.fixture
def measured(tmp_path, stand_in):  # noqa: F811
    wanted = ["--tables", "heart_disease", "--methods", "LS,VARIANCE,RANDOM"]
    scenario1.main(["--quick", "--results", str(tmp_path), *wanted])
    readme = tmp_path / "README.md"
    readme.write_text(f"by hand\n{tables.BEGIN}\n{tables.END}\nby hand too\n")
    assert tables.main(["--results", str(tmp_path), "--readme", str(readme)]) == 0
    return tmp_path


def check(folder):
    paths = ["--results", str(folder), "--readme", str(folder / "README.md")]
    return tables.main([*paths, "--check", "10"])


def test_tables_are_written_into_the_readme_and_agree_with_the_files(measured):
    text = (measured / "README.md").read_text()
    assert text.startswith("by hand\n") and text.endswith("by hand too\n")
    assert "Scenario 1" in text and "| LS |" in text and "Scenario 2" not in text
    assert check(measured) == 0


def test_a_wrong_number_and_a_readme_edited_by_hand_are_found(measured, capsys):
    readme = measured / "README.md"
    text = readme.read_text()
    readme.write_text(text.replace("| LS |", "| LS, improved |"))
    assert check(measured) == 1
    assert "is not what the results give" in capsys.readouterr().out
    readme.write_text(text)
    judged = store.Store(measured / "scenario1_judged.npz")
    records = list(judged)
    records[0]["accuracy"] += 1
    judged.rewrite(records)
    assert check(measured) == 1
    assert "wrong: scenario1 heart_disease" in capsys.readouterr().out


def moons(study, variant, rg_sim, tpr, **more):
    key = {"study": study, "variant": variant, "n_features": 20, "noise": 0.05, "seed": 0}
    measured = {"rg_sim": rg_sim, "tpr": tpr, "fdr": 1 - tpr, "kept_tpr": tpr, "kept_fdr": 0.0}
    counts = {"loss": 0.0, "n_groups_found": 3, "n_open": 2, "seconds": 1.0}
    about = {"settings": {}, "machine": {"device": "x86_64", "torch": "2"}}
    return {"key": {**key, **more}, **measured, **counts, **about}


def test_two_moons_counts_recovered_tables_and_averages_over_seeds(tmp_path):
    records = [
        moons("grid", "default", 1.0, 1.0, n_groups=3),
        moons("grid", "default", 1.0, 0.5, n_groups=12),
        moons("grid", "default", 0.0, 0.0, n_groups=13),  # beyond d - 8: does not count
        moons("noise", "paper", 1.0, 1.0, n_groups=12),
        moons("noise", "paper", 1.0, 0.5, n_groups=12, seed=1),
        moons("noise", "default", 1.0, 1.0, n_groups="auto", noise=0.1),
    ]
    store.Store(tmp_path / "two_moons.npz").rewrite(records)
    text = studies.two_moons_section(tmp_path)
    assert "| default | 1 of 2 (50.0%) | 1 of 2 (50.0%) |" in text and "| paper | – | – |" in text
    assert "| noise | paper, C of the paper | default, C auto |" in text
    assert "| 0.05 | 1.00 / 0.75 / 0.25 | – |" in text
    assert "| 0.10 | – | 1.00 / 1.00 / 0.00 |" in text


def test_defaults_are_shown_with_what_is_best_without_each_table(tmp_path):
    accuracies = {"a": (10.0, 20.0), "b": (30.0, 90.0), "c": (90.0, 20.0)}
    records = [
        {
            "key": {"table": table, "seed": 0},
            "entries": [
                {"way": way, "accuracy": accuracy, "neighbor": accuracy + 1}
                for way, accuracy in zip(("one", "other"), values, strict=True)
            ],
        }
        for table, values in accuracies.items()
    ]
    store.Store(tmp_path / "defaults.npz").rewrite(records)
    text = studies.defaults_section(tmp_path)
    assert "| one | 43.3 | 44.3 | 2 |" in text and "| other | 43.3 | 44.3 | 1 |" in text
