"""The scenarios: nothing is computed twice, no label leaks, every number follows from indices."""

import csv
import json
from functools import partial

import numpy as np
import pytest

from experiments import (
    choose_c,
    data,
    methods,
    pipeline,
    scenario0,
    scenario1,
    scenario2,
    student,
    student_figure,
    two_moons,
)
from experiments.candidates import nested_unions, score
from experiments.protocol import judge
from experiments.store import Store
from tests.support.experiment_tables import small_table, stand_in  # noqa: F401

pytestmark = [
    pytest.mark.usefixtures("stand_in"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
QUICK = ["--quick", "--tables", "heart_disease"]


def run(scenario, folder, *more):
    return scenario.main([*QUICK, "--results", str(folder), *more])


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    build = methods.build

    def killed(method, *args):
        if method == "LS":
            raise KeyboardInterrupt
        return build(method, *args)

    monkeypatch.setattr(methods, "build", killed)
    with pytest.raises(KeyboardInterrupt):
        run(scenario1, tmp_path, "--methods", "VARIANCE,LS,MCFS")
    with (tmp_path / "scenario1.jsonl").open("a") as file:
        file.write('{"key": {"table": "heart_di')  # cut short in the middle of a line
    fitted = []
    monkeypatch.setattr(methods, "build", lambda m, *args: (fitted.append(m), build(m, *args))[1])
    run(scenario1, tmp_path, "--methods", "VARIANCE,LS,MCFS")
    assert fitted == ["LS", "MCFS"]
    methods_done = {row["method"] for row in pipeline.rows("scenario1", tmp_path)}
    assert methods_done == {"VARIANCE", "LS", "MCFS"}


def test_a_failing_method_is_named_and_tried_again_next_time(tmp_path, monkeypatch, capsys):
    build = methods.build
    monkeypatch.setattr(methods, "build", lambda m, *a: None if m == "LS" else build(m, *a))
    assert run(scenario1, tmp_path, "--methods", "LS,VARIANCE") == 1
    assert "failed" in capsys.readouterr().out
    assert [r["key"]["method"] for r in Store(tmp_path / "scenario1.npz")] == ["VARIANCE"]
    monkeypatch.setattr(methods, "build", build)
    assert run(scenario1, tmp_path, "--methods", "LS,VARIANCE") == 0
    assert len(pipeline.rows("scenario1", tmp_path)) == 2


def test_again_drops_the_cells_of_a_method_on_the_tables_named(tmp_path):
    run(scenario0, tmp_path, "--methods", "LS,VARIANCE", "--datasets", "heart_disease,yale")
    path = tmp_path / "scenario0.npz"
    store = Store(path)
    store.rewrite([{**record, "settings": "stale"} for record in store])
    run(scenario0, tmp_path, "--methods", "LS,VARIANCE", "--again", "LS")
    fresh = {(r["key"]["method"], r["key"]["table"]): r["settings"] != "stale" for r in Store(path)}
    assert len(fresh) == 4
    assert [place for place, is_fresh in fresh.items() if is_fresh] == [("LS", "heart_disease")]


@pytest.mark.parametrize(
    ("script", "arguments", "words"),
    [
        (scenario1, ["--tables", "iris"], "'iris' is not known here; choose from allaml"),
        (choose_c, ["--tables", "yael"], "no table yael"),
        (two_moons, ["--studies", "nois"], "no study nois"),
        (student_figure, [], "run python -m experiments.student first"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(script, arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as error:
        script.main([*arguments, "--results", str(tmp_path)])
    assert words in f"{error.value} {capsys.readouterr().err}"


def test_numbers_follow_from_the_stored_indices(tmp_path):
    run(scenario1, tmp_path, "--methods", "RANDOM,ALL,CompFS")
    table = small_table("heart_disease")
    with (tmp_path / "scenario1.csv").open() as file:
        written = list(csv.DictReader(file))
    found = pipeline.rows("scenario1", tmp_path)
    assert len(found) == len(written) == 4
    for row in found:
        again = judge(table.Z, table.y, np.array(row["selected"])).as_dict()
        assert {name: row[name] for name in again} == again
    assert {row["accuracy"] for row in written} == {str(row["accuracy"]) for row in found}


def test_selections_judged_by_less_are_judged_again(tmp_path):
    run(scenario0, tmp_path, "--methods", "VARIANCE", "--tables", "heart_disease,yale")
    judged = Store(tmp_path / "scenario0_judged.npz")
    whole = {r["key"]["selection"]: r["neighbor"] for r in judged if r["key"]["table"] != "yale"}
    later = ("neighbor", "explained")
    judged.rewrite([{k: v for k, v in r.items() if k not in later} for r in judged])
    found = pipeline.rows("scenario0", tmp_path)
    assert np.isnan([row["neighbor"] for row in found]).all()
    assert np.isfinite([row["accuracy"] for row in found]).all()
    run(scenario0, tmp_path, "--methods", "VARIANCE")
    assert len(Store(judged.path).records) == len(judged.records) > len(whole)
    found = {r["key"]["selection"]: r["neighbor"] for r in Store(judged.path) if "neighbor" in r}
    assert found == whole


def test_records_say_how_they_came_about(tmp_path):
    run(scenario1, tmp_path, "--methods", "GroupFS")
    (record,) = Store(tmp_path / "scenario1.npz")
    assert record["settings"]["random_state"] == record["key"]["seed"] == 0
    assert record["settings"]["n_features_to_select"] == 10
    assert len(record["selections"][0]["selected"]) == 10
    assert record["fit_seconds"] > 0 and "torch" in record["machine"]
    assert set(record["found"]) >= {"n_groups", "share_moved"}


@pytest.mark.slow
def test_labels_play_no_part_in_scenario_0(tmp_path, monkeypatch):
    shuffled = small_table("heart_disease")
    shuffled = shuffled._replace(y=shuffled.y[::-1].copy())
    run(scenario0, tmp_path / "a")
    monkeypatch.setattr(data, "load", lambda name: shuffled)
    run(scenario0, tmp_path / "b")
    a, b = (
        {json.dumps(r["key"]): r["selections"] for r in Store(tmp_path / ab / "scenario0.npz")}
        for ab in "ab"
    )
    assert a == b and "CompFS" not in str(list(a))


@pytest.mark.slow
def test_others_get_as_many_features_as_groupfs_chooses(tmp_path):
    run(scenario0, tmp_path, "--methods", "GroupFS,LS,RANDOM,MCFS")
    found = pipeline.rows("scenario0", tmp_path)
    (own,) = (r["n_selected"] for r in found if r["method"] == "GroupFS" and r["budget"] == "own")
    for method in ("LS", "RANDOM", "MCFS"):
        assert own in {r["n_selected"] for r in found if r["method"] == method}


def test_where_groupfs_chooses_nothing_others_get_nothing():
    key = {"table": "wine", "method": "LS", "seed": 0, "budgets": [0]}
    found = pipeline.select(key, methods.defaults, "cpu", quick=True)
    assert found["selections"] == [{"budget": 0, "selected": []}]


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
    found = [selected for _, selected in nested_unions(groups, centrality, 5)]
    assert found == [[4, 5], [0, 4, 5], [0, 2, 3, 4, 5]]


@pytest.fixture(scope="module")
def adaptive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adaptive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "load", small_table)
        wanted = f"GroupFS,GroupFS paper,LS,{scenario2.MATCHED}"
        assert run(scenario2, folder, "--methods", wanted) == 0
    return folder


@pytest.mark.slow
def test_candidates_are_distinct_and_within_the_limit(adaptive):
    for record in Store(adaptive / "scenario2.npz"):
        selections = [tuple(selection["selected"]) for selection in record["selections"]]
        assert max(map(len, selections)) <= 10
        if record["key"]["method"] == "GroupFS":
            assert len(set(selections)) == len(selections) <= scenario2.MOST_CANDIDATES
            choices = [selection["choice"] for selection in record["selections"]]
            assert len(set(choices)) == len(choices)


def test_every_union_of_open_groups_of_every_model_is_a_candidate():
    path = scenario2.KeptPath(4, sparsities=[0.5, 1.0], max_epochs=20, random_state=0)
    path.fit(small_table("heart_disease").X)
    found = {tuple(c["selected"]) for c in scenario2.along_path(path, [10], most=1000)}
    problem, trained = path.problem_, path.trained_
    n_open = 0
    for s, p in np.ndindex(trained.gain.shape):
        labels = trained.logits[s, p].argmax(1)
        groups = [np.flatnonzero(labels == j) for j in range(4) if trained.gates[s, p, j] > 0.5]
        groups = [group for group in groups if len(group)]
        if groups:
            n_open += 1
            excess = score(problem, groups).excess
            best = groups[int(np.argmax(excess))]
            assert len(best) > 10 or tuple(np.sort(problem.table.columns[best]).tolist()) in found
    assert n_open


@pytest.mark.slow
def test_random_draws_match_the_candidates_in_number_and_size(adaptive):
    sizes = {
        (r["key"]["method"], r["key"].get("n_groups")): [
            len(s["selected"]) for s in r["selections"]
        ]
        for r in Store(adaptive / "scenario2.npz")
    }
    for C in scenario2.numbers_of_groups("heart_disease"):
        assert sizes["GroupFS", C] == sizes[scenario2.MATCHED, C]


@pytest.mark.slow
def test_draws_are_made_anew_when_the_candidates_change(adaptive, tmp_path):
    records = list(Store(adaptive / "scenario2.npz"))
    for record in records:
        if record["key"]["method"] == "GroupFS":
            record["selections"] = record["selections"][:1]
    path = tmp_path / "scenario2.npz"
    Store(path).rewrite(records)
    run(scenario2, tmp_path, "--methods", scenario2.MATCHED)
    drawn = [r for r in Store(path) if r["key"]["method"] == scenario2.MATCHED]
    assert [len(r["selections"]) for r in drawn] == [1, 1, 1]


def test_students_features_have_names_and_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "load", partial(small_table, n_features=30))
    wanted = ["--tables", "student", "--methods", "GroupFS,CompFS,LS"]
    student.main(["--quick", "--results", str(tmp_path), *wanted])
    found = {r["key"]["method"]: r["selections"][0] for r in Store(tmp_path / "student.npz")}
    for selection in found.values():
        assert selection["features"] == [f"f{i}" for i in selection["selected"]]
        assert len(selection["features"]) == 9
    assert found["LS"]["groups"] is None
    assert min(found["CompFS"]["groups"]) == min(found["GroupFS"]["groups"]) == 1
