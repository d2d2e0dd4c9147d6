import copy
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba
from sklearn.exceptions import NotFittedError

from groupfs import GroupFS, GroupFSPath, Replication
from groupfs.plotting import (
    CYCLE,
    KEPT,
    plot_correlations,
    plot_embedding,
    plot_explained,
    plot_groups,
    plot_history,
    plot_image_groups,
    plot_path,
    plot_replication,
)
from groupfs.plotting.style import COLUMN_WIDTH
from groupfs.utils.false_discovery import adjust_p_values
from tests.support.plots import legend_of, quick

FIGURES = {
    "groups": lambda selector, path, X, **to: plot_groups(selector, **to),
    "explained": lambda selector, path, X, **to: plot_explained(selector, **to),
    "correlations": lambda selector, path, X, **to: plot_correlations(selector, X, **to),
    "history": lambda selector, path, X, **to: plot_history(selector, **to),
    "path": lambda selector, path, X, **to: plot_path(path, **to),
    "embedding": lambda selector, path, X, **to: plot_embedding(selector, X, **to),
    "image": lambda selector, path, X, **to: plot_image_groups(selector, X, (4, 5), **to),
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
    with pytest.raises(NotFittedError):
        draw(GroupFS(), GroupFSPath(), table)


def test_missing_matplotlib_names_the_extra(selector, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "groupfs\[plot\]"'):
        plot_groups(selector)


def test_scores_are_drawn_in_rank_order(selector):
    ax = plot_groups(selector, most=4)
    np.testing.assert_allclose([p.get_width() for p in ax.patches], selector.group_scores_[:4])
    assert ax.patches[0].get_facecolor() == to_rgba(KEPT) != ax.patches[3].get_facecolor()
    assert ax.get_title() == "First 4 of 12 groups, best first (2 kept, in blue)"
    first = selector.feature_names_in_[selector.representatives_[0]]
    assert ax.get_yticklabels()[0].get_text() == f"1  {first}"


@pytest.mark.slow
@pytest.mark.parametrize("most", [2, 4, 12])
@pytest.mark.parametrize("panels", [None, (13, 4), (7, 9)])
def test_the_title_is_clear_of_the_headings_of_the_columns(selector, most, panels):
    if panels is None:
        ax = plot_groups(selector, most=most)
        assert ax.figure.get_figwidth() == COLUMN_WIDTH
    else:
        axes = plt.subplots(1, 3, figsize=panels, layout="constrained")[1]
        ax = plot_groups(selector, most=most, ax=axes[1])
    ax.figure.canvas.draw()
    title = ax.title.get_window_extent()
    for heading in (text for text in ax.texts if text.get_text() in ("size", "p", "reliability")):
        box = heading.get_window_extent()
        assert ax.bbox.y1 < box.y0 and box.y1 < title.y0


@pytest.mark.slow
def test_known_groups_keep_their_names_and_long_ones_are_cut(table):
    known = {"a": table.columns[:5], "a name that is too long to show": table.columns[5:]}
    fitted = quick(table, groups=known)
    names = {label.get_text()[3:] for label in plot_groups(fitted).get_yticklabels()}
    assert names == {"a", "a name that is …"}


def test_sizes_and_p_values_stand_beside_the_bars(selector, table):
    texts = [text.get_text() for text in plot_groups(selector, most=2).texts]
    assert texts[:3] == ["size", "5", "5"] and texts[3] == "adj. p" and len(texts) == 9
    assert float(texts[4]) == pytest.approx(adjust_p_values(selector.group_pvalues_)[0], rel=0.5)
    assert texts[6:8] == ["reliability", f"{100 * selector.group_reliability_[0]:.0f} %"]
    by_gate = quick(table, n_groups=3, ranking="gate", n_groups_to_select="open")
    texts = [text.get_text() for text in plot_groups(by_gate).texts]
    assert "adj. p" not in texts and "reliability" not in texts


def test_what_the_first_features_explain_is_drawn_with_the_selected_ones_and_90_percent(mixed):
    selector = copy.copy(mixed[0]).set_params(n_features_to_select=3)
    selector._select()
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
        labels.tolist().index(j) + 1 for j in np.flatnonzero(selector.group_selected_)
    ]
    assert to_rgba(CYCLE[0]) == tuple(firsts.get_facecolors()[0])
    assert ax.get_title() == f"3 of 15 features explain {int(100 * selector.explained_[2])} %"
    assert legend_of(ax) == [f"90 %: {n_enough}", "first of a group", "selected: 3"]


def test_a_selection_in_another_order_and_many_groups_are_not_on_the_curve(many_kept, selector):
    assert legend_of(plot_explained(many_kept))[0].startswith("90 %") and many_kept.n_groups_ > 8
    assert "first of a group" not in legend_of(plot_explained(many_kept))
    spread = copy.copy(selector).set_params(n_features_to_select=6, allocation="spread")
    spread._select()
    n_enough = 1 + int(np.searchsorted(spread.explained_, 0.9))
    ax = plot_explained(spread)
    assert legend_of(ax) == [f"90 %: {n_enough}", "first of a group"]
    assert ax.get_title().startswith(f"{n_enough} of 20 features explain 9")


def test_many_features_are_drawn_on_a_log_scale(selector):
    many = copy.copy(selector)
    many.explained_ = np.append(selector.explained_, np.ones(100))
    ax = plot_explained(many)
    assert ax.get_xscale() == "log" and ax.get_xlim() == (1, 120)
    ax.figure.draw_without_rendering()
    assert "100" in [label.get_text() for label in ax.get_xticklabels()]


def test_agreement_is_drawn_over_the_number_of_groups_with_the_chosen_one(mixed):
    selector, _ = mixed
    found = selector.replication_
    ax = plot_replication(selector)
    agreement, information, chosen = ax.lines
    np.testing.assert_allclose(agreement.get_ydata(), found.agreement)
    np.testing.assert_allclose(information.get_ydata(), found.information / found.information.max())
    assert set(chosen.get_xdata()) == {found.best} == {2}
    assert ax.get_title() == "Halves of the rows agree on 2 groups"
    assert legend_of(ax) == ["agreement", "information", "chosen"]
    figure = ax.figure
    figure.draw_without_rendering()
    tight = figure.get_tightbbox()
    assert figure.get_figwidth() == COLUMN_WIDTH
    assert tight.x0 >= -0.01 and tight.x1 <= COLUMN_WIDTH + 0.01
    _, own = plt.subplots()
    assert plot_replication(selector, ax=own) is own
    with pytest.raises(NotFittedError):
        plot_replication(GroupFS())


def test_other_numbers_of_groups_are_marked_and_none_may_replicate(mixed):
    selector = copy.copy(mixed[0])
    numbers, two_peaks = np.array([2, 3, 4]), np.array([0.9, 0.1, 0.88])
    selector.replication_ = Replication(numbers, two_peaks, two_peaks)
    ax = plot_replication(selector)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[4, 0.88]])
    assert legend_of(ax)[-1] == "as well"
    selector.replication_ = Replication(numbers, two_peaks / 10, two_peaks / 10)
    ax = plot_replication(selector)
    assert ax.get_title() == "Halves of the rows agree on no number of groups"
    assert legend_of(ax) == ["agreement"]


def test_a_table_without_groups_is_said_to_have_none(nothing):
    selector, path, X = nothing
    for ax in (
        plot_groups(selector),
        plot_correlations(selector, X),
        plot_history(selector),
        plot_path(path),
    ):
        assert "no groups" in ax.texts[0].get_text()
    assert len(plot_explained(selector).lines) == 2 and not plot_explained(selector).collections
    assert plot_embedding(selector, X).texts[0].get_text() == "Nothing is selected"
    assert plot_embedding(selector, X, features="all").get_title() == "All 8 features"
    assert plot_image_groups(selector, X, (2, 4)).get_title().startswith("0 of 8 pixels")
    with pytest.raises(ValueError, match="no replication to draw"):
        plot_replication(selector)


def test_one_group_is_drawn_as_one(rng):
    X = rng.standard_normal((80, 1)) + 0.5 * rng.standard_normal((80, 6))
    fitted = quick(X)
    assert plot_groups(fitted).get_title() == "1 group (kept, in blue)"
    assert plot_correlations(fitted, X).images[0].get_array().shape == (6, 6)
    assert plot_history(fitted).get_ylabel() == "gate mean"


def test_sparse_tables_give_the_same_figures(selector, table):
    sparse = sp.csr_array(table.to_numpy())
    np.testing.assert_allclose(
        plot_correlations(selector, sparse).images[0].get_array(),
        plot_correlations(selector, table).images[0].get_array(),
        atol=1e-10,
    )
    one, other = (plot_embedding(selector, X).collections[0] for X in (sparse, table))
    a, b = one.get_offsets(), other.get_offsets()
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-6)


def test_gates_and_loss_are_drawn_over_epochs(selector):
    ax = plot_history(selector)
    gates = np.array([record["gates"] for record in selector.history_])
    drawn = {tuple(line.get_ydata()) for line in ax.lines[1:]}
    assert drawn == {tuple(column) for column in gates.T}
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    loss = [record["loss"] for record in selector.history_]
    np.testing.assert_allclose(twin.lines[0].get_ydata(), loss)
    assert legend_of(ax) == ["group 1", "group 2", "not kept", "loss"]


def test_of_many_kept_groups_the_first_and_last_are_named(many_kept, table):
    ax = plot_history(many_kept)
    assert legend_of(ax) == ["group 1", "group 10", "not kept", "loss"]
    assert len({to_rgba(line.get_color()) for line in ax.lines[1:]}) == 11
    ax = plot_image_groups(many_kept, table, (4, 5))
    assert ax.get_legend() is None and len(ax.figure.axes) == 2  # a bar of colours


def test_path_is_drawn_from_the_estimator_or_its_path(path):
    for given in (path, path.path_):
        ax = plot_path(given)
        seed, place = path.path_.chosen
        best = path.path_.scores[0] * np.clip(path.path_.gates[seed, :, 0], 0, 1)
        assert any(np.allclose(line.get_ydata(), best) for line in ax.lines)
        assert path.path_.sparsities[place] in ax.lines[-1].get_xdata()
        assert legend_of(ax)[-1] == "chosen"


@pytest.mark.parametrize("order", ["F", "C"])
def test_pixels_lie_where_they_were_in_the_colour_of_their_group(selector, table, order):
    ax = plot_image_groups(selector, table, (4, 5), order=order)
    mean, overlay = (np.asarray(image.get_array()) for image in ax.images)
    np.testing.assert_allclose(mean, table.mean().to_numpy().reshape((4, 5), order=order))
    pixels = overlay.reshape((20, 4), order=order)
    assert (pixels[:, 3] > 0).tolist() == selector.get_support().tolist()
    assert legend_of(ax) == ["1", "2"]
    for rank in (0, 1):
        here = pixels[selector.groups_[rank], :3]
        np.testing.assert_allclose(here, np.tile(to_rgba(CYCLE[rank])[:3], (len(here), 1)))


def test_pixels_that_a_budget_leaves_out_are_paler(table):
    fitted = quick(table, n_groups=3, n_features_to_select=4, max_epochs=40)
    ax = plot_image_groups(fitted, table, (4, 5), order="C")
    opacity = np.asarray(ax.images[1].get_array())[..., 3].ravel()
    support = fitted.get_support()
    in_group = np.isin(fitted.group_labels_, np.flatnonzero(fitted.group_selected_))
    assert (opacity[support] > opacity[in_group & ~support].max()).all()
    assert (opacity[~in_group] == 0).all()


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
        (
            lambda s, X: plot_correlations(s, X.iloc[:, 1:]),
            r"X has 19 features, but .* fitted on 20",
        ),
        (lambda s, X: plot_embedding(s, X, features="some"), 'choose "selected" or "all"'),
        (lambda s, X: plot_embedding(s, X, group=13), "group=13 but .* a rank from 1 to 1"),
        (lambda s, X: plot_embedding(s, X, labels=[1, 2]), r"shape \(2,\) but X has 200 samples"),
        (lambda s, X: plot_image_groups(s, X, (4, 4)), r"=\(4, 4\) does not fit 20 features"),
        (lambda s, X: plot_replication(s), 'no replication to draw: .* n_groups="auto"'),
        (lambda s, X: plot_path(s), "GroupFS has no path to draw: .* plot_history"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(selector, table, draw, words):
    with pytest.raises((ValueError, TypeError), match=words):
        draw(selector, table)
