"""FSEVAL's protocol: its layout, going on where a run ended, its measures, ranks and wins."""

import numpy as np
import pandas as pd
import pytest

from experiments import fseval
from tests.experiments.conftest import small_table

SCORES = dict.fromkeys(fseval.MEASURES, 0.5)


@pytest.fixture
def folder(tmp_path):
    table = small_table("yale", n_samples=40)
    np.savez(tmp_path / "toy.npz", X=table.X, y=table.y + 3)
    return tmp_path


def run(folder, *more):
    fseval.main(["--folder", str(folder), "--out", str(folder / "out"), *more])


def rows(folder, method, measure, lines):
    """Write rows of two shares in the layout of the published ones."""
    wide = pd.DataFrame(lines, columns=["Dataset", "0.005", "0.01"])
    wide.to_csv(folder / f"{method}_{measure}_10Percent.csv", index=False)


def test_a_row_per_table_and_draw_in_the_published_layout(folder, monkeypatch):
    monkeypatch.setattr(fseval, "judge", lambda S, y, **_: {**SCORES, "ACC": S[0, 0].round(6)})
    run(folder, "--methods", "Variance", "Random", "--draws", "3")
    X = small_table("yale", n_samples=40).X
    found = pd.read_csv(folder / "out" / "Variance_ACC_10Percent.csv")
    assert found.columns.tolist() == ["Dataset", *(f"{s / 1000:g}" for s in range(5, 101, 5))]
    most = X.var(axis=0).argmax()
    assert found.iloc[0].tolist() == ["toy", *[X[0, most].round(6)] * 20]
    draws = pd.read_csv(folder / "out" / "Random_ACC_10Percent.csv")
    assert draws["Dataset"].tolist() == ["toy"] * 3 and draws["0.1"].nunique() > 1
    fits = pd.read_csv(folder / "out" / "fits.csv", dtype=str).set_index(["method", "draw"])
    assert len(fits) == 4 and fits.loc[("Variance", "0"), "order"].split()[0] == str(most)


def test_a_run_goes_on_with_what_its_folder_lacks(folder, monkeypatch):
    judged = []
    monkeypatch.setattr(fseval, "judge", lambda S, y, draw, **_: judged.append(draw) or SCORES)
    run(folder, "--methods", "Random", "--draws", "1")
    before = (folder / "out" / "Random_NMI_10Percent.csv").read_text()
    run(folder, "--methods", "Random", "--draws", "2")
    assert judged == [0] * 20 + [1] * 20
    assert (folder / "out" / "Random_NMI_10Percent.csv").read_text().startswith(before)
    run(folder, "--methods", "Random", "--draws", "2")
    assert len(judged) == 40


def test_what_failed_is_not_written_and_tried_again(folder, monkeypatch):
    def fails(S, y, share, **_):
        if share == 0.05:
            raise ValueError("too much")
        return SCORES

    monkeypatch.setattr(fseval, "judge", fails)
    with pytest.raises(SystemExit):
        run(folder, "--methods", "Variance", "Random", "--draws", "1")
    assert not list((folder / "out").glob("*_10Percent.csv"))


def test_clusters_are_matched_with_classes_one_to_one():
    S = np.repeat([[0.0], [10.0], [20.0]], 4, axis=0)
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 1])  # of clusters of four: 3, 4 and 3
    assert fseval.judge_clusters(S, y)[0] == pytest.approx(10 / 12)
    assert fseval.judge_clusters(S, np.repeat([2, 0, 1], 4)) == pytest.approx([1, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forests_know_a_feature_that_is_the_class_and_guess_from_noise(n_classes, monkeypatch, rng):
    monkeypatch.setattr(fseval, "N_TREES", 5)
    monkeypatch.setattr(fseval, "FOREST_SEEDS", range(2))
    y = np.arange(60) % n_classes
    assert fseval.judge_forests(y[:, None].astype(float), y) == pytest.approx([1, 1])
    accuracy, area = fseval.judge_forests(rng.standard_normal((60, 2)), y)
    assert accuracy < 1 / n_classes + 0.2 and abs(area - 0.5) < 0.2


def test_laplacian_score_is_that_of_unweighted_neighbours(rng):
    X = rng.standard_normal((30, 40)) * rng.uniform(1, 9, 40)
    squared = ((X[:, None] - X) ** 2).sum(-1)
    W = np.zeros((30, 30))
    for i, row in enumerate(squared):
        W[i, np.argsort(row)[1:6]] = 1
    W = np.maximum(W, W.T)
    D = np.diag(W.sum(axis=1))
    F = X - np.diag(D) @ X / D.sum()
    scores = np.diag(F.T @ (D - W) @ F) / np.diag(F.T @ D @ F)
    np.testing.assert_array_equal(fseval.ranked("Laplacian", X, 0), np.argsort(scores))


def test_ranks_wins_and_differences_from_rows_made_by_hand(tmp_path):
    for measure in fseval.MEASURES:
        rows(tmp_path, "Random", measure, [["a", 0.2, 0.4], ["a", 0.4, 0.6], ["b", 0.0, 0.0]])
        rows(tmp_path, "LIDFS", measure, [["a", 0.3, 0.9], ["b", 0.5, 0.5]])
    published, ours = fseval.read(tmp_path), tmp_path / "ours"
    ours.mkdir()
    for measure in fseval.MEASURES:
        rows(ours, "Random", measure, [["a", 0.5, 0.5]])
        rows(ours, "FeatureGroups", measure, [["a", 0.1, 0.9]])
    ours = fseval.read(ours)
    found = fseval.standings(pd.concat([published, ours.drop("Random")]))["NMI"]
    # on table a, the only one that all have: Random .3 and .5, LIDFS .3 and .9, ours .1 and .9
    assert found["mean"].to_dict() == pytest.approx(
        {"Random": 0.4, "LIDFS": 0.6, "FeatureGroups": 0.5}
    )
    assert found["rank"].to_dict() == {"Random": 2.25, "LIDFS": 1.5, "FeatureGroups": 2.25}
    assert found["wins"].to_dict() == {"Random": 1, "LIDFS": 2, "FeatureGroups": 1}
    short, text = fseval.compared(ours, published)
    assert short.splitlines()[-1].startswith("| best published | 1.5 LIDFS |")
    assert "| Random (published) | 0.400 / 2.25 / 1 |" in text[0] and "Random |" in text[2]
    assert text[2].splitlines()[-1].startswith("| Random | +0.1000 (0.1000) |")


def test_a_quick_run_judges_one_table_by_everything(folder, monkeypatch, capsys):
    monkeypatch.setattr(fseval, "N_TREES", 2)
    monkeypatch.setattr(fseval, "FOREST_SEEDS", range(1))
    monkeypatch.setattr(fseval, "SHARES", (0.05, 0.1))
    run(folder, "--quick", "--published", str(folder))
    values = fseval.read(folder / "out")
    assert values.index.unique("method").tolist() == ["Variance"] and len(values) == 2
    assert ((values > 0) & (values <= 1)).all(axis=None)
    assert "| Variance | " in capsys.readouterr().out
