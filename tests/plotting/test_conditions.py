"""Maps of groups by condition and curves along a number show what was found."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from groupfs.conditions import compare, curves
from groupfs.plotting import ACCENT, DROPPED, plot_conditions, plot_curves
from tests.support.planted_groups import SIZE, known, planted

QUICK = {"n_permutations": 999, "n_bootstrap": 20}


def table(n_groups, n=160):
    rng = np.random.default_rng(3)
    labels = np.arange(n) % 2
    X = planted(np.full((n, n_groups), 0.5), rng)
    X[labels == 1, :SIZE] += 1.5
    return X, labels


@pytest.fixture(scope="module")
def few():
    X, labels = table(3)
    return compare(known(X), X, labels, **QUICK)


@pytest.fixture(scope="module")
def many():
    X, labels = table(30)
    labels = [f"condition {k}" for k in np.arange(len(X)) % 3]
    return compare(known(X), X, labels, **QUICK)


@pytest.fixture(scope="module")
def followed():
    X, _ = table(3)
    time = np.random.default_rng(1).uniform(0, 1, len(X))
    X[:, :SIZE] += 3 * time[:, None]
    return curves(known(X), X, time, **QUICK)


def overlaps(ax):
    """Count pairs of row names that cover each other."""
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    return sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(("what", "name"), [("mean", "mean"), ("cohesion", "cohesion")])
def test_the_map_holds_the_values_and_writes_them_where_they_are_few(few, what, name):
    ax = plot_conditions(few, what=what)
    values = getattr(few, name).value
    np.testing.assert_allclose(ax.images[0].get_array(), values)
    written = [text.get_text().replace("−", "-") for text in ax.texts]
    assert written == [f"{value:.2f}" for value in values.ravel()]


def test_dots_mark_the_groups_that_change(few):
    ax = plot_conditions(few)
    (dots,) = ax.collections
    rows = dots.get_offsets()[:, 1].tolist()
    assert rows == np.flatnonzero(few.mean_change.found(0.05)).tolist() == [few.groups.index("0")]
    assert tuple(dots.get_facecolor()[0]) == to_rgba(ACCENT)
    assert "1 of 3 groups changes in mean" in ax.get_title()
    assert len(plot_conditions(few, what="cohesion").collections[0].get_offsets()) == 0


def test_thirty_groups_have_names_that_do_not_overlap_and_no_numbers(many):
    ax = plot_conditions(many)
    assert len(ax.get_yticklabels()) == 30 and not overlaps(ax) and not ax.texts
    first = plot_conditions(many, most=5)
    assert first.images[0].get_array().shape == (5, 3) and "the first 5 shown" in first.get_title()


@pytest.mark.parametrize(("largest", "extend"), [(0.02, "neither"), (40.0, "both")])
def test_colours_of_means_end_at_half_a_deviation(many, largest, extend):
    value = many.mean.value * 0.02
    value[0, 0] = largest
    ax = plot_conditions(replace(many, mean=replace(many.mean, value=value)))
    assert (ax.images[0].norm.vmin, ax.images[0].norm.vmax) == (-0.5, 0.5)
    assert ax.images[0].colorbar.extend == extend


def test_curves_that_change_are_in_colour_with_their_band_and_others_grey(followed):
    ax = plot_curves(followed)
    changing = followed.groups.index("0")
    colored = [line for line in ax.lines if line.get_color() != DROPPED]
    assert len(ax.lines) == 3 and len(colored) == 1 and len(ax.collections) == 1
    np.testing.assert_allclose(colored[0].get_ydata(), followed.mean.value[changing])
    low, high = followed.mean.low[changing], followed.mean.high[changing]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(low.min()) and band.max() == pytest.approx(high.max())
    assert ax.get_xlim() == (followed.places[0], followed.places[-1])


def test_what_cannot_be_drawn_is_refused(few, followed):
    with pytest.raises(ValueError, match="what='score' cannot be drawn; choose"):
        plot_conditions(few, what="score")
    with pytest.raises(ValueError, match="what='size' cannot be drawn"):
        plot_curves(followed, what="size")
