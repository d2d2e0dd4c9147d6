import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.plotting import plot_affinity, plot_gates, plot_group_scores


@pytest.fixture(scope="module")
def table():
    moons = load_two_moons(200, random_state=0)
    return pd.DataFrame(moons.data, columns=moons.feature_names)


@pytest.fixture(scope="module")
def selector(table):
    return GroupFS(random_state=0, n_groups=12).fit(table)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_affinity_is_ordered_by_group_and_kept_groups_are_framed(selector, table):
    ax = plot_affinity(selector, table)
    assert len(ax.patches) == selector.group_selected_.sum() == 2
    image = ax.images[0].get_array()
    assert image.shape == (20, 20) and image[:5, :5].min() > image[:5, 10:].max()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == [table.columns[i] for i in np.concatenate(selector.groups_)]


def test_scores_are_drawn_in_rank_order(selector):
    ax = plot_group_scores(selector, most=4)
    np.testing.assert_allclose([p.get_width() for p in ax.patches], selector.group_scores_[:4])
    assert ax.patches[0].get_facecolor() != ax.patches[3].get_facecolor()


def test_gates_are_drawn_over_epochs_on_the_given_axes(selector):
    _, ax = plt.subplots()
    assert plot_gates(selector, ax=ax) is ax
    lengths = {len(line.get_xdata()) for line in ax.lines[:12]}
    assert lengths == {selector.n_iter_}


def test_demo_prints_the_groups_and_writes_the_figure(tmp_path, monkeypatch, capsys):
    from examples import demo

    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    assert "x1_1, x1_2, x1_3, x1_4, x1_5" in printed and "Selected: x1_1" in printed
    assert (tmp_path / demo.FIGURE).stat().st_size > 10_000
