"""The scenarios: nothing is computed twice, no label leaks, every number follows from indices."""

from functools import partial

import numpy as np
import pytest

from experiments import data, methods, pipeline, scenario0, scenario1, scenario2, student
from experiments.protocol import judge
from experiments.store import Store
from tests.experiments.conftest import small_table

pytestmark = [
    pytest.mark.usefixtures("stand_in"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
QUICK = ["--quick", "--tables", "heart_disease"]


def run(scenario, folder, *more):
    return scenario.main([*QUICK, "--results", str(folder), *more])


def test_a_failing_method_is_named_and_tried_again_next_time(tmp_path, monkeypatch, capsys):
    build = methods.build
    monkeypatch.setattr(methods, "build", lambda m, *a: None if m == "LS" else build(m, *a))
    assert run(scenario1, tmp_path, "--methods", "LS,VARIANCE") == 1
    assert "failed" in capsys.readouterr().out
    assert [r["key"]["method"] for r in Store(tmp_path / "scenario1.npz")] == ["VARIANCE"]
    monkeypatch.setattr(methods, "build", build)
    assert run(scenario1, tmp_path, "--methods", "LS,VARIANCE") == 0
    assert len(pipeline.rows("scenario1", tmp_path)) == 2


def test_numbers_follow_from_the_stored_indices(tmp_path):
    run(scenario1, tmp_path, "--methods", "RANDOM,ALL,CompFS")
    table = small_table("heart_disease")
    rows = pipeline.rows("scenario1", tmp_path)
    assert len(rows) == 4
    for row in rows:
        again = judge(table.Z, table.y, np.array(row["selected"])).as_dict()
        assert {name: row[name] for name in again} == again


def test_selections_judged_by_less_are_judged_again(tmp_path):
    run(scenario0, tmp_path, "--methods", "VARIANCE")
    judged = Store(tmp_path / "scenario0_judged.npz")
    whole = {r["key"]["selection"]: r["neighbor"] for r in judged}
    judged.rewrite([{k: v for k, v in r.items() if k != "neighbor"} for r in judged])
    assert np.isnan([row["neighbor"] for row in pipeline.rows("scenario0", tmp_path)]).all()
    run(scenario0, tmp_path, "--methods", "VARIANCE")
    assert {r["key"]["selection"]: r["neighbor"] for r in Store(judged.path)} == whole


@pytest.mark.slow
def test_labels_play_no_part_in_scenario_0(tmp_path, monkeypatch):
    shuffled = small_table("heart_disease")
    shuffled = shuffled._replace(y=shuffled.y[::-1].copy())
    run(scenario0, tmp_path / "a")
    monkeypatch.setattr(data, "load", lambda name: shuffled)
    run(scenario0, tmp_path / "b")
    a, b = (Store(tmp_path / folder / "scenario0.npz").records for folder in "ab")
    assert {k: r["selections"] for k, r in a.items()} == {k: r["selections"] for k, r in b.items()}
    assert a and "CompFS" not in str(list(a))


def test_seeds_are_paired_with_the_seeds_of_groupfs():
    chosen = {0: 30, 1: 50, 2: 30}
    given = [scenario0.given_number("RANDOM", seed, chosen) for seed in range(4)]
    assert given == [[30], [50], [30], [30]]
    assert scenario0.given_number("LS", 0, chosen) == [30, 50]


def test_budgets_and_numbers_of_groups_follow_from_the_table(monkeypatch):
    assert scenario0.budgets("heart_disease") == [3, 7, 10]
    monkeypatch.setattr(data, "load", partial(small_table, n_features=300))
    assert scenario0.budgets("lung500") == [50, 100, 200]
    assert scenario2.numbers_of_groups("pie10p") == [15, 29, 58]
    assert scenario2.numbers_of_groups("nmnist") == [4, 7, 14]


def test_unions_grow_group_by_group_and_end_at_the_limit():
    groups = [np.array([4, 5]), np.array([0]), np.array([1, 2, 3])]
    centrality = np.array([0, 0.1, 0.9, 0.5, 0, 0])
    unions = [selected for _, selected in scenario2.nested_unions(groups, centrality, 5)]
    assert unions == [[4, 5], [0, 4, 5], [0, 2, 3, 4, 5]]


@pytest.mark.slow
def test_candidates_are_distinct_and_random_draws_match_them_in_number_and_size(tmp_path):
    assert run(scenario2, tmp_path, "--methods", f"GroupFS,{scenario2.MATCHED}") == 0
    sizes = {}
    for record in Store(tmp_path / "scenario2.npz"):
        selections = [tuple(selection["selected"]) for selection in record["selections"]]
        place = record["key"]["method"], record["key"]["n_groups"]
        sizes[place] = [len(selected) for selected in selections]
        assert max(sizes[place]) <= 10
        if record["key"]["method"] == "GroupFS":
            assert len(set(selections)) == len(selections) <= scenario2.MOST_CANDIDATES
    for C in scenario2.numbers_of_groups("heart_disease"):
        assert sizes["GroupFS", C] == sizes[scenario2.MATCHED, C]


def test_students_features_have_names_and_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "load", partial(small_table, n_features=30))
    wanted = ["--tables", "student", "--methods", "GroupFS,CompFS,LS"]
    student.main(["--quick", "--results", str(tmp_path), *wanted])
    by_method = {r["key"]["method"]: r["selections"][0] for r in Store(tmp_path / "student.npz")}
    for selection in by_method.values():
        assert selection["features"] == [f"f{i}" for i in selection["selected"]]
        assert len(selection["features"]) == 9
    assert by_method["LS"]["groups"] is None
    assert min(by_method["CompFS"]["groups"]) == min(by_method["GroupFS"]["groups"]) == 1
