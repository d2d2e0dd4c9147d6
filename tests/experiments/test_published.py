"""GroupFS as published: whole groups by gates, the choice of a model, and the tables made of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from experiments import (
    data,
    figure1,
    figure4,
    methods,
    paper,
    published,
    table1,
    table2,
    table_student,
)
from experiments.published import Model

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LABELS = np.array([0, 0, 1, 2, 2, 2, -1])
QUICK = ["--quick", "--jobs", "1", "--out"]


def model(gates, loss=0.0, gain=0.0, printed=""):
    return Model(0, 1.0, 2.0, printed, loss, gain, np.array(gates), LABELS)


def test_whole_groups_are_taken_by_their_gates():
    one = model([0.2, 0.9, 0.6, 0.95])  # the last group has no feature
    assert [group.tolist() for group in one.groups] == [[2], [3, 4, 5], [0, 1]]
    assert one.n_open == 2 and one.is_mixed
    assert published.covering(one, 1).tolist() == [2]
    assert published.covering(one, 2).tolist() == [2, 3, 4, 5]
    assert [u.tolist() for u in published.unions(one, 4)] == [[2], [2, 3, 4, 5]]


def test_the_lowest_loss_is_that_of_a_model_that_is_neither_open_nor_shut():
    trivial = [model([1, 1, 1, 0], loss=-2), model([0, 0, 0, 1], loss=-3)]
    mixed = [model([1, 0, 0, 0], loss=0.5), model([1, 1, 0, 0], loss=0.2)]
    assert published.lowest_loss(trivial + mixed) is mixed[1]
    assert published.lowest_loss(trivial) is None


def test_models_can_be_kept_and_taken_again(tmp_path):
    kept = [model([0.2, 0.9, 0.6, 0.1], printed="fixed_budget"), model([1, 1, 1, 1], loss=1.5)]
    published.save({"yale": kept}, tmp_path)
    for ours, theirs in zip(kept, published.load("yale", tmp_path), strict=True):
        assert ours[:6] == theirs[:6]
        np.testing.assert_array_equal(ours.gates, theirs.gates)
        np.testing.assert_array_equal(ours.labels, theirs.labels)


def test_budgets_are_the_printed_ones():
    budgets = [paper.budget(table) for table in data.NINE]
    assert budgets == [274, 234, 226, 10, 341, 362, 49, 51, 184]
    assert [table2.budgets(t) for t in ("yale", "heart_disease")] == [
        (50, 100, 200, 400),
        (2, 4, 8, 10),
    ]


@pytest.mark.usefixtures("stand_in")
def test_a_sweep_has_the_printed_weights_and_is_relative_to_the_critical_one():
    models = published.sweep("heart_disease", "cpu", n_seeds=2, quick=True)
    printed = {m.printed: m.lambda2 for m in models if m.printed}
    assert printed == {"fixed_budget": 1.87, "adaptive_budget": 1.73}
    swept = sorted({round(m.sparsity, 6) for m in models if not m.printed})
    np.testing.assert_allclose(swept, published.QUICK_SWEPT)
    assert {m.seed for m in models} == {0, 1}
    assert all(m.labels.shape == (13,) for m in models)


@pytest.mark.usefixtures("stand_in")
def test_tables_are_computed_from_an_empty_folder_and_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(table1, "QUICK_METHODS", ("ALL", "RANDOM", "VARIANCE"))
    table1.main([*QUICK, str(tmp_path / "1")])
    rows = pd.read_csv(tmp_path / "1" / "fits.csv")
    swept = rows[rows["method"] == "GroupFS paper"]
    assert (swept["n_selected"] >= paper.budget("heart_disease")).all()
    text = (tmp_path / "1" / "summary.md").read_text()
    mean = rows[rows["method"] == "VARIANCE"]["accuracy"].mean()
    assert f"| VARIANCE | {mean:.1f} ± " in text and "GroupFS paper, printed λ2" in text
    assert "(83.1 ± 0.5)" in text  # the paper's
    table1.main([*QUICK, str(tmp_path / "again"), "--join", str(tmp_path / "1")])
    texts = [(tmp_path / n / "short.md").read_text() for n in ("1", "again")]
    assert texts[0] == texts[1]
    monkeypatch.setattr(table2, "QUICK_METHODS", ("ALL", "VARIANCE"))
    table2.main([*QUICK, str(tmp_path / "2"), "--sweep", str(tmp_path / "1" / "sweep")])
    best = table2.best(pd.read_csv(tmp_path / "2" / "fits.csv"))
    assert (best["n_selected"] <= 13).all()
    drawn, ours = (best.loc[(m, "heart_disease")] for m in (table2.MATCHED, table2.UNIONS))
    assert drawn["n_candidates"] == ours["n_candidates"]


def test_the_best_of_a_method_is_that_of_its_mean_over_seeds():
    figures = [(50, 0, 60.0), (50, 1, 40.0), (100, 0, 55.0), (100, 1, 55.0)]
    rows = pd.DataFrame(figures, columns=["budget", "seed", "accuracy"])
    rows = rows.assign(method="DUFS", table="yale", accuracy_std=0.0, n_selected=1, choice=np.nan)
    best = table2.best(rows).loc[("DUFS", "yale")]
    assert best["accuracy"] == 55 and best["n_candidates"] == 2


@pytest.mark.slow
def test_the_students_are_drawn_beside_the_paper(tmp_path, monkeypatch):
    names = paper.results()["student"]["features"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30)) + rng.standard_normal((40, 1))
    table = data.Labelled(X, np.arange(40) % 2, X, names)
    monkeypatch.setattr(data, "load", lambda name: table)
    monkeypatch.setattr(table_student, "QUICK", ("LS", "CompFS", "FeatureGroups"))
    table_student.main([*QUICK, str(tmp_path)])
    rows = pd.read_csv(tmp_path / "fits.csv")
    read = table_student.read(rows[rows["method"] == "LS"]["features"].item())
    assert len(read) == 9 and set(read.values()) == {None}
    columns = table_student.columns(rows)
    printed = [marks for name, label, marks in columns if label == "the paper"]
    assert table_student.printed("GroupFS") in printed
    assert table_student.printed("GroupFS")["Dalc"] == 1
    assert (tmp_path / "table_student.png").exists()


def test_images_stand_upright_and_a_pixel_in_no_group_has_no_rank():
    groups = [[0, 1, 6, 7], [22, 23, 28]]
    ranks = figure4.rank_image(groups, (6, 5))
    assert ranks[1, 0] == 1 and ranks[4, 3] == 2 and ranks[5, 0] == 0
    edges = figure4.borders(np.array([[0, 1], [0, 0]]))
    assert sorted(edges.reshape(-1, 4).tolist()) == [[0.5, -0.5, 0.5, 0.5], [0.5, 0.5, 1.5, 0.5]]


def test_every_method_that_the_paper_prints_is_in_the_tables():
    of_table = paper.results()["scenario1_accuracy"]["yale"]
    printed = {name for name, figures in of_table.items() if isinstance(figures, dict)}
    assert printed - {"GroupFS"} <= set(methods.OF_PAPER)


@pytest.mark.slow
def test_the_method_and_groups_of_pixels_are_drawn(tmp_path, monkeypatch):
    figure1.main(["--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        figure1.main(["--join", str(tmp_path)])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    X[:, :8] += rng.standard_normal((40, 1))
    table = data.Labelled(X, np.arange(40) % 2, X, [f"p{i}" for i in range(30)])
    monkeypatch.setattr(data, "load", lambda name: table)
    images = Bunch(data=X, target=table.y, image_shape=(6, 5))
    monkeypatch.setattr(figure4, "fetch_dataset", lambda name: images)
    figure4.main([*QUICK, str(tmp_path)])
    assert {path.name for path in tmp_path.glob("*.png")} == {"figure1.png", "figure4.png"}
