"""The tables: means, ranks, tests and choices from rows, and nothing outside the marks."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, wilcoxon

from experiments import paper, render, scenario0, scenario1, store, tables
from experiments.aggregate import BEST_DRAW, COMPARED, Score, at_levels, best_choice, compare
from experiments.sections.scenario0 import scenario0_section


def row(method, accuracy, seed=0, table="yale", std=1.0, **more):
    given = {"table": table, "method": method, "seed": seed, "n_selected": 5, **more}
    return {**given, "accuracy": accuracy, "accuracy_std": std, "ari": 0.0, "ari_std": 0.0}


def test_the_best_budget_is_chosen_by_the_mean_over_seeds():
    accuracy = {"50 features": (50.0, 10.0), "100 features": (35.0, 35.0)}
    rows = [
        row("RANDOM", value, seed, choice=choice)
        for choice, values in accuracy.items()
        for seed, value in enumerate(values)
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


def test_comparison_is_that_of_scipy(rng):
    names = ["GroupFS", "RANDOM", "LS"]
    values = rng.uniform(20, 90, (8, 3))
    scores = {
        f"t{i}": {name: Score(v, 1.0, 5) for name, v in zip(names, line, strict=True)}
        for i, line in enumerate(values)
    }
    scores["incomplete"] = {"GroupFS": Score(0.0, 0.0, 5)}
    scores["not judged"] = {name: Score(np.nan, np.nan, 5) for name in names}
    comparison = compare(scores, names)
    assert len(comparison.tables) == 8
    assert comparison.friedman == pytest.approx(friedmanchisquare(*values.T).pvalue)
    assert comparison.p_value["LS"] == pytest.approx(wilcoxon(values[:, 0], values[:, 2]).pvalue)
    order = (-values).argsort(1).argsort(1) + 1
    assert comparison.rank["RANDOM"] == pytest.approx(order[:, 1].mean())
    assert comparison.mean["GroupFS"] == pytest.approx(values[:, 0].mean(), abs=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scenario_0_has_a_comparison_and_two_tables_at_every_level(tmp_path, stand_in):
    wanted = ["--tables", "heart_disease,wine", "--methods", "ALL,GroupFS,LS,RANDOM"]
    scenario0.main(["--quick", "--results", str(tmp_path), *wanted])
    text = scenario0_section(tmp_path)
    assert text.count("\n### ") == 5 and "### Other ways to spend a budget" in text
    assert text.count("Friedman's test: by k-means over 2 tables and 4 methods") == 4
    assert text.count("Accuracy of 1-nn by table:\n\n|  | heart_disease | wine | mean |") == 4
    assert text.count("\n| ALL | ") == 12 and render.NONE * 2 not in text


def test_a_misprint_of_the_paper_is_shown_but_is_not_the_mark_to_reach():
    printed = paper.results()["scenario1_ari"]
    scores = {"heart_disease": {"MGAGR": Score(26.84, 9.04, 10)}}
    text = render.beside_the_paper(scores, printed, ["MGAGR"], COMPARED)
    assert "| MGAGR | 26.8 ± 9.0 (274.0 ± 9.1) |" in text
    scores = {"heart_disease": {"GroupFS": Score(50.0, 1.0, 10)}}
    said = render.against_the_paper(scores, printed, COMPARED)
    assert "best of the paper's row on 1 of 1" in said


def test_tables_are_written_into_the_readme_and_agree_with_the_files(tmp_path, stand_in, capsys):
    wanted = ["--tables", "heart_disease", "--methods", "LS,VARIANCE,RANDOM"]
    scenario1.main(["--quick", "--results", str(tmp_path), *wanted])
    readme = tmp_path / "README.md"
    readme.write_text(f"by hand\n{tables.BEGIN}\n{tables.END}\nby hand too\n")
    paths = ["--results", str(tmp_path), "--readme", str(readme)]
    assert tables.main(paths) == 0
    text = readme.read_text()
    assert text.startswith("by hand\n") and text.endswith("by hand too\n")
    assert "Scenario 1" in text and "| LS |" in text and "Scenario 2" not in text
    check = [*paths, "--check", "10"]
    assert tables.main(check) == 0
    # a README edited by hand, and a wrong number
    readme.write_text(text.replace("| LS |", "| LS, improved |"))
    assert tables.main(check) == 1
    assert "is not what the results give" in capsys.readouterr().out
    readme.write_text(text)
    judged = store.Store(tmp_path / "scenario1_judged.npz")
    records = list(judged)
    records[0]["accuracy"] += 1
    judged.rewrite(records)
    assert tables.main(check) == 1
    assert "wrong: scenario1 heart_disease" in capsys.readouterr().out
