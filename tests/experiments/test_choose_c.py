"""The curve E(C): it is that of the paper's graph, and the choices follow from it."""

import json

import numpy as np
import pytest

from experiments import choose_c
from experiments.store import Store
from groupfs import GroupFS

MOONS = {"table": "two_moons", "graph": "default"}
STORED = Store(choose_c.store.RESULTS / "choose_c.npz")


def test_wide_tables_are_looked_at_with_the_full_graph_too():
    keys = list(choose_c.cells())
    assert {key["table"] for key in keys} == set(choose_c.TABLES) and len(choose_c.TABLES) == 11
    full = {key["table"] for key in keys if key["graph"] == "full"}
    assert full == {"allaml", "yale", "ar10p", "pie10p", "nmnist38", "nmnist"}


def test_the_papers_c_is_that_of_the_corrected_rows():
    tables = ("two_moons", "nmnist", "yale", "ar10p", "nmnist38", "student")
    assert [choose_c.paper_n_groups(table) for table in tables] == [12, None, 16, 20, 7, 7]


def test_curve_and_choice_are_those_that_were_stored():
    record = json.loads(json.dumps(choose_c.compute(MOONS)))
    (before,) = (r for r in STORED if r["key"] == MOONS)
    assert record["distortion"] == pytest.approx(before["distortion"], rel=1e-4)
    assert record["n_groups"] == before["n_groups"] == 3
    assert record["paper_n_groups"] == 12 and record["paper_is_dip"] is True


@pytest.mark.slow
def test_the_full_graph_keeps_all_neighbours(monkeypatch):
    # wide enough that our default leaves neighbours out
    X = np.random.default_rng(0).standard_normal((30, 520))
    monkeypatch.setattr(choose_c, "_load", lambda table: X)
    ours, full = (choose_c.compute({"table": "yale", "graph": g}) for g in ("default", "full"))
    whole = GroupFS(feature_neighbors="all", preset="paper", max_epochs=1, n_init=1, device="cpu")
    assert {int(C): E for C, E in full["distortion"].items()} == whole.fit(X).distortion_
    assert ours["distortion"] != full["distortion"]


@pytest.mark.slow
def test_stored_curves_are_drawn(tmp_path):
    choose_c.draw(STORED, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"choose_c.png", "choose_c.svg"}
