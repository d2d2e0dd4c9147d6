import csv
import json

import numpy as np
import pytest

from benchmarks.tables import folder
from experiments import choose_c
from experiments.store import Store
from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.graphs.number_of_groups import choose_n_groups
from tests.support.tables import real_table

MOONS = {"table": "two_moons", "graph": "default"}


def test_wide_tables_are_looked_at_with_the_full_graph_too():
    keys = list(choose_c.cells())
    assert {key["table"] for key in keys} == set(choose_c.TABLES) and len(choose_c.TABLES) == 11
    full = {key["table"] for key in keys if key["graph"] == "full"}
    assert full == {"allaml", "yale", "ar10p", "pie10p", "nmnist38", "nmnist"}
    assert "allaml" not in {key["table"] for key in choose_c.cells(quick=True)}


def test_the_papers_c_is_that_of_the_corrected_rows():
    known = {table: choose_c.paper_n_groups(table) for table in choose_c.TABLES}
    assert known["two_moons"] == 12 and known["nmnist"] is None
    assert (known["yale"], known["ar10p"], known["nmnist38"], known["student"]) == (16, 20, 7, 7)


@pytest.mark.slow
def test_curve_and_choice_are_those_of_a_default_fit():
    record = json.loads(json.dumps(choose_c.compute(MOONS)))
    moons = load_two_moons(random_state=0).data
    fitted = GroupFS(preset="paper", max_epochs=2, random_state=3, device="cpu").fit(moons)
    assert {int(C): E for C, E in record["distortion"].items()} == fitted.distortion_
    assert record["n_groups"] == fitted.n_groups_ == 3
    assert record["paper_n_groups"] == 12 and record["paper_is_dip"] is True


@pytest.mark.slow
def test_the_choice_can_be_recomputed_from_the_record(monkeypatch):
    real_table("heart_disease")
    monkeypatch.setenv("GROUPFS_DATA", str(folder()))
    record = choose_c.compute({"table": "heart_disease", "graph": "default"})
    curve = {int(C): E for C, E in record["distortion"].items()}
    assert sorted(curve) == list(range(2, 14)) and record["n_features"] == 13
    assert record["n_groups"] == choose_n_groups(curve, 13)
    assert record["paper_is_dip"] == (curve[6] < min(curve[5], curve[7]))


def test_the_full_graph_keeps_all_neighbours(monkeypatch):
    # wide enough that our default leaves neighbours out
    X = np.random.default_rng(0).standard_normal((30, 520))
    monkeypatch.setattr(choose_c, "_load", lambda table: X)
    ours, full = (choose_c.compute({"table": "yale", "graph": g}) for g in ("default", "full"))
    whole = GroupFS(feature_neighbors="all", preset="paper", max_epochs=1, n_init=1, device="cpu")
    fitted = whole.fit(X).distortion_
    assert {int(C): E for C, E in full["distortion"].items()} == fitted
    assert ours["distortion"] != full["distortion"]


def test_a_dip_lies_below_both_neighbours():
    curve = {2: 1.0, 3: 2.0, 4: 1.5, 5: 1.5, 6: 3.0}
    assert [C for C in range(1, 8) if choose_c.is_dip(curve, C)] == [2]
    assert choose_c.is_dip({2: 3.0, 3: 1.0, 4: 2.0}, 3)


def test_a_finished_table_is_not_looked_at_again(tmp_path, monkeypatch, capsys):
    arguments = ["--tables", "two_moons", "--results", str(tmp_path)]
    choose_c.main(arguments)
    (record,) = Store(tmp_path / "choose_c.npz")
    assert record["key"] == MOONS
    assert "two_moons default: C = 3, the paper's 12 (a dip)" in capsys.readouterr().out

    monkeypatch.setattr(choose_c, "compute", lambda key, device: pytest.fail("computed again"))
    choose_c.main([*arguments, "--figures", str(tmp_path)])
    assert (tmp_path / "choose_c.png").exists() and (tmp_path / "choose_c.svg").exists()
    with (tmp_path / "choose_c_curves.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["C"]: float(row["distortion"]) for row in rows} == record["distortion"]
