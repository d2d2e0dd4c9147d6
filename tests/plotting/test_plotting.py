import copy
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from sklearn.exceptions import NotFittedError

from groupfs import FeatureGroups, GroupFS, GroupFSPath
from groupfs.plotting import (
    CYCLE,
    KEPT,
    plot_correlations,
    plot_explained,
    plot_groups,
    plot_history,
    plot_image_groups,
    plot_levels,
    plot_path,
)
from groupfs.plotting.style import COLUMN_WIDTH
from groupfs.utils.text import write_share
from tests.support.plots import legend_of

FIGURES = {
    "groups": lambda selector, path, X, **to: plot_groups(selector, **to),
    "levels": lambda selector, path, X, **to: plot_levels(selector, **to),
    "explained": lambda selector, path, X, **to: plot_explained(selector, **to),
    "correlations": lambda selector, path, X, **to: plot_correlations(selector, X, **to),
    "history": lambda selector, path, X, **to: plot_history(path, **to),
    "path": lambda selector, path, X, **to: plot_path(path, **to),
    "image": lambda selector, path, X, **to: plot_image_groups(selector, (4, 5), **to),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_figures_are_as_wide_as_a_column_and_their_text_lies_within(draw, selector, path, table):
    settings = plt.rcParams.copy()
    figure = draw(selector, path, table).figure
    assert plt.rcParams == settings
    assert figure.get_figwidth() == COLUMN_WIDTH
    figure.draw_without_rendering()
    tight = figure.get_tightbbox()
    assert tight.x0 >= -0.01 and tight.x1 <= COLUMN_WIDTH + 0.01
    assert tight.y0 >= -0.01 and tight.y1 <= figure.get_figheight() + 0.01


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_everything_is_drawn_on_the_given_axes(draw, selector, path, table):
    figure, ax = plt.subplots()
    assert draw(selector, path, table, ax=ax) is ax and plt.get_fignums() == [figure.number]
    assert draw(path, path, table, ax=ax) is ax  # of either estimator
    with pytest.raises(NotFittedError):
        draw(FeatureGroups(), GroupFSPath(), table)


def test_missing_matplotlib_names_the_extra(selector, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "groupfs\[plot\]"'):
        plot_groups(selector)


def test_alphas_are_drawn_the_largest_group_first(selector):
    ax = plot_groups(selector, most=4)
    alpha = np.nan_to_num(selector.groups_frame()["alpha"].to_numpy()[:4])  # of one feature none
    np.testing.assert_allclose([p.get_width() for p in ax.patches], alpha)
    assert ax.patches[0].get_facecolor() == to_rgba(KEPT) != ax.patches[3].get_facecolor()
    assert ax.get_title() == "First 4 of 12 groups, largest first (2 kept, in blue)"
    first = selector.feature_names_in_[selector.representatives_[0]]
    assert ax.get_yticklabels()[0].get_text() == f"1  {first}"


def test_sizes_p_values_and_replication_stand_beside_the_bars(selector, path):
    texts = [text.get_text() for text in plot_groups(selector, most=1).texts]
    again = f"{selector.group_replication_[0]:.2f}"
    assert texts == ["size", "5", "adj. p", "< 0.001", "replication", again]
    texts = [text.get_text() for text in plot_groups(path).texts]  # none is tested there
    assert "adj. p" not in texts and "replication" not in texts


def test_what_the_first_features_explain_is_drawn_with_the_selected_ones_and_90_percent(mixed):
    selector = copy.copy(mixed[0]).set_params(n_features_to_select=3)
    ax = plot_explained(selector)
    curve, enough = ax.lines
    np.testing.assert_allclose(curve.get_ydata(), [0, *selector.explained_])
    assert curve.get_xdata()[-1] == 14 and ax.get_xscale() == "linear"
    n_enough = 1 + int(np.searchsorted(selector.explained_, 0.9))
    assert enough.get_xdata()[-1] == n_enough and enough.get_ydata()[0] == 0.9
    firsts, selected = ax.collections
    np.testing.assert_allclose(selected.get_offsets(), [[3, selector.explained_[2]]])
    labels = selector.group_labels_[selector.feature_order_]
    assert firsts.get_offsets()[:, 0].tolist() == [
        labels.tolist().index(j) + 1 for j in np.flatnonzero(selector.group_kept_)
    ]
    assert to_rgba(CYCLE[0]) == tuple(firsts.get_facecolors()[0])
    assert ax.get_title() == f"3 of 15 features explain {write_share(selector.explained_[2])}"
    assert legend_of(ax) == [f"90 %: {n_enough}", "first of a group", "selected: 3"]


def test_a_selection_in_another_order_and_many_groups_are_not_on_the_curve(many_kept, mixed):
    assert legend_of(plot_explained(many_kept))[0].startswith("90 %") and many_kept.n_groups_ > 8
    assert "first of a group" not in legend_of(plot_explained(many_kept))
    one = copy.copy(mixed[0]).set_params(n_groups_to_select=1)
    n_enough = 1 + int(np.searchsorted(one.explained_, 0.9))
    ax = plot_explained(one)
    assert legend_of(ax) == [f"90 %: {n_enough}", "first of a group"]
    assert ax.get_title().startswith(f"{n_enough} of 15 features explain 9")


def test_levels_stand_side_by_side_and_groups_beside_their_parts(nested):
    ax = plot_levels(nested)
    broad, narrow = nested.levels_
    boxes = {(box.get_x(), box.get_y()): box for box in ax.patches}
    assert len(boxes) == broad.n_groups + narrow.n_groups
    sizes = sorted(box.get_height() for (x, _), box in boxes.items() if x == 1)
    assert sizes == sorted(np.bincount(narrow.labels[narrow.labels >= 0]).tolist())
    for column in (0, 1):  # the boxes of a level cover all features, one after another
        ends = sorted((y, y + box.get_height()) for (x, y), box in boxes.items() if x == column)
        assert [end for _, end in ends[:-1]] == [start for start, _ in ends[1:]]
    inside = [b for (x, y), b in boxes.items() if x and y < boxes[0, 0].get_height()]
    assert len(inside) == (narrow.parent == 0).sum()
    first, second = ax.get_xticklabels()
    assert first.get_text() == f"2 groups\nagreement {broad.agreement:.2f}"
    assert second.get_text().startswith("6 groups") and second.get_weight() == "bold"
    named = [text.get_text() for text in ax.texts if text.get_text().startswith("1  ")]
    assert len(named) == 2 and all("x" in text for text in named)
    other = plot_levels(nested.at_level("broad"))
    assert other.get_xticklabels()[0].get_weight() == "bold" != first.get_weight()


@pytest.mark.filterwarnings("ignore:All gates")
def test_groups_of_an_estimator_without_levels_have_no_agreement(mixed):
    table = mixed[1].drop(columns="same")
    selector = GroupFS(n_groups=2, max_epochs=3, random_state=0).fit(table)
    (head,) = plot_levels(selector).get_xticklabels()
    assert head.get_text() == "2 groups"


def test_many_features_are_drawn_on_a_log_scale(selector):
    many = copy.copy(selector)
    many.explained_ = np.append(selector.explained_, np.ones(100))
    ax = plot_explained(many)
    assert ax.get_xscale() == "log" and ax.get_xlim() == (1, 120)
    ax.figure.draw_without_rendering()
    assert "100" in [label.get_text() for label in ax.get_xticklabels()]


def test_a_table_without_groups_is_said_to_have_none(nothing):
    selector, X = nothing
    for ax in (plot_groups(selector), plot_levels(selector), plot_correlations(selector, X)):
        assert "no groups" in ax.texts[0].get_text()
    assert len(plot_explained(selector).lines) == 2 and not plot_explained(selector).collections
    assert plot_image_groups(selector, (2, 4)).get_title().startswith("0 of 8 pixels")


def test_gates_and_loss_are_drawn_over_epochs(path):
    ax = plot_history(path)
    gates = np.array([record["gates"] for record in path.history_])
    drawn = {tuple(line.get_ydata()) for line in ax.lines[1:]}
    assert drawn == {tuple(column) for column in gates.T}
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    loss = [record["loss"] for record in path.history_]
    np.testing.assert_allclose(twin.lines[0].get_ydata(), loss)
    assert legend_of(ax)[0] == "group 1" and legend_of(ax)[-2:] == ["not kept", "loss"]


def test_of_many_kept_groups_the_first_and_last_are_named(many_kept, path):
    many = copy.copy(path).set_params(n_groups_to_select=9)
    ax = plot_history(many)
    assert legend_of(ax) == ["group 1", "group 9", "not kept", "loss"]
    assert len({to_rgba(line.get_color()) for line in ax.lines[1:]}) == 10
    assert plot_image_groups(many_kept, (4, 5)).get_legend() is None


def test_path_is_drawn_from_the_estimator_or_its_path(path):
    for given in (path, path.path_):
        ax = plot_path(given)
        seed, place = path.path_.chosen
        best = path.path_.smoothness[0] * np.clip(path.path_.gates[seed, :, 0], 0, 1)
        assert any(np.allclose(line.get_ydata(), best) for line in ax.lines)
        assert path.path_.sparsities[place] in ax.lines[-1].get_xdata()
        assert legend_of(ax)[-1] == "chosen"


@pytest.mark.parametrize("order", ["F", "C"])
def test_pixels_lie_where_they_were_in_the_colour_of_their_group(selector, table, order):
    ax = plot_image_groups(selector, (4, 5), order=order)
    mean, overlay = (np.asarray(image.get_array()) for image in ax.images)
    np.testing.assert_allclose(mean, table.mean().to_numpy().reshape((4, 5), order=order))
    pixels = overlay.reshape((20, 4), order=order)
    kept = np.append(selector.group_kept_, False)[selector.group_labels_]
    assert (pixels[:, 3] > 0).tolist() == kept.tolist()
    assert legend_of(ax) == ["1", "2"]
    for rank in (0, 1):
        here = pixels[selector.groups_[rank], :3]
        np.testing.assert_allclose(here, np.tile(to_rgba(CYCLE[rank])[:3], (len(here), 1)))


@pytest.mark.slow
def test_demo_prints_the_groups_and_writes_the_figure(tmp_path, monkeypatch, capsys):
    from examples import demo

    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    assert "x1_1, x1_2, x1_3, x1_4, x1_5" in printed and "in no group: noise_1, " in printed
    assert (tmp_path / demo.FIGURE).stat().st_size > 10_000


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda s, X: plot_correlations(s, X.iloc[:, 1:]), "X has 19 features, but .* fitted on"),
        (lambda s, X: plot_image_groups(s, (4, 4)), r"=\(4, 4\) does not fit 20 features"),
        (lambda s, X: plot_path(s), "FeatureGroups has no path to draw; fit a GroupFSPath for"),
        (lambda s, X: plot_history(s), "FeatureGroups has no history to draw; fit a GroupFS for"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(selector, table, draw, words):
    with pytest.raises((ValueError, TypeError), match=words):
        draw(selector, table)
