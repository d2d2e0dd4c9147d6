"""Figures of the groups: their scores, and how alike the features within them are."""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import scale
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_matrix
from groupfs.data.rows import DenseRows
from groupfs.graphs.feature_graph import dense_feature_affinity
from groupfs.plotting import style
from groupfs.training.settings import is_signed
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import (
    FittedSelector,
    by_centrality,
    feature_names,
    group_names,
    marked_names,
)
from groupfs.utils.text import shorten
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Features are named beside the affinity if there are no more than this.
NAMED_FEATURES = 25


def plot_groups(selector: FittedSelector, *, most: int = 20, ax: "Axes | None" = None) -> "Axes":
    """Draw the scores of the groups in rank order, with sizes, p-values and how far found again.

    Kept groups are blue. A group is called after its most central feature, or as in ``groups``
    where they were given. The column "again" is ``group_reliability_``.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    most : int, default=20
        Groups to show.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_groups
    >>> selector = GroupFS(random_state=0).fit(load_two_moons(200, random_state=0).data)
    >>> plot_groups(selector).get_xlabel()
    'score'
    """
    check_is_fitted(selector)
    if not selector.n_groups_:
        return style.note("The table shows no groups", ax)
    n = min(most, selector.n_groups_)
    scores = np.asarray(selector.group_scores_[:n], dtype=float)
    colors = np.where(selector.group_selected_[:n], style.KEPT, style.DROPPED)
    with style.drawing(ax, height=0.9 + 0.15 * n) as ax:
        ax.barh(range(n), scores, color=colors, height=0.75)
        ax.set_ylim(n - 0.4, -0.6)
        columns = feature_names(selector)
        names = group_names(selector) or [columns[i] for i in selector.representatives_]
        ax.set_yticks(range(n), [f"{j + 1}  {shorten(names[j], 16)}" for j in range(n)])
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set_xlabel("score")
        _write_column(ax, 1.6, "size", [str(len(group)) for group in selector.groups_[:n]])
        if selector.group_pvalues_ is not None:
            adjusted = adjust_p_values(selector.group_pvalues_)
            _write_column(ax, 4.9, "adj. p", [_format_p(p) for p in adjusted[:n]])
        if selector.group_reliability_ is not None:
            again = [f"{share:.0%}" for share in selector.group_reliability_[:n]]
            _write_column(ax, 8.4, "again", again)
        ax.set_title(_title(selector, n), pad=2 * _em())  # above the headings of the columns
        ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def plot_affinity(
    selector: FittedSelector, X: Any, *, most: int = 1500, ax: "Axes | None" = None
) -> "Axes":
    """Draw the self-tuning affinity between features, ordered by group; kept groups are framed.

    Features in no group are left out. Names with a minus are of features that run against the most
    central one of their group; unless the fit was ``signed``, that does not lower their affinity.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on.
    most : int, default=1500
        Features to show; of larger tables a like share of every group, most central ones first.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_affinity
    >>> X = load_two_moons(200, random_state=0).data
    >>> ax = plot_affinity(GroupFS(random_state=0).fit(X), X)
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    check_is_fitted(selector)
    matrix = read_matrix(selector, X)
    groups = _share_of_groups(selector, most)
    if sum(map(len, groups)) < 2:
        return style.note("The table shows no groups", ax)
    order = np.concatenate(groups)
    with style.drawing(ax, height=2.9) as ax:
        columns: Any = matrix[:, order]
        Z = scale(columns.toarray() if sp.issparse(columns) else columns)
        n_neighbors = min(selector.n_neighbors, len(order) - 1)
        signed = is_signed(selector.get_params(deep=False))
        affinity = dense_feature_affinity(DenseRows(Z), n_neighbors, signed)
        top = _brightest(affinity)
        image = ax.imshow(affinity, cmap="cividis", vmin=0, vmax=top, interpolation="nearest")
        extend = "max" if top < 1 else "neither"
        ax.figure.colorbar(image, ax=ax, label="affinity", extend=extend, fraction=0.046, pad=0.03)
        _frame_kept(ax, groups, selector.group_selected_)
        if len(order) <= NAMED_FEATURES:
            names = marked_names(selector)
            short = [shorten(names[i], 12) for i in order]
            ax.set_yticks(range(len(order)), short, fontsize="x-small")
        else:
            _number_groups(ax, groups)
        ax.set_xticks([])
        part = "" if len(order) == sum(map(len, selector.groups_)) else f"{len(order)} "
        ax.set_title(f"Affinity of {part}features, ordered by group\n(kept groups framed)")
    return ax


def _title(selector: FittedSelector, n: int) -> str:
    n_groups, n_kept = selector.n_groups_, int(selector.group_selected_.sum())
    if n_groups == 1:
        return f"1 group ({'kept, in blue' if n_kept else 'not kept'})"
    which = f"First {n} of {n_groups}" if n < n_groups else f"{n}"
    return f"{which} groups, best first ({n_kept} kept, in blue)"


def _write_column(ax: "Axes", right: float, heading: str, entries: list[str]) -> None:
    """Write text beside the bars; ``right`` is its right edge in ems from the Axes."""
    em = _em()
    look: style.Keywords = {"textcoords": "offset points", "ha": "right", "fontsize": "small"}
    look["annotation_clip"] = False
    # not at a place in the data: where bars are thick, that would be far up in the title
    above: style.Keywords = {"xytext": (right * em, 0.3 * em), "xycoords": "axes fraction"}
    ax.annotate(heading, (1, 1), va="bottom", style="italic", **above, **look)
    beside: style.Keywords = {"xytext": (right * em, 0), "xycoords": ax.get_yaxis_transform()}
    for row, entry in enumerate(entries):
        ax.annotate(entry, (1, row), va="center", **beside, **look)


def _em() -> float:
    """Return the size of text in the figure being drawn, in points."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"])


def _format_p(p_value: float) -> str:
    """Write a p-value in few letters: 1, 0.04, 2e-8."""
    if p_value >= 0.001:
        return f"{p_value:.1g}"
    return f"{p_value:.0e}".replace("e-0", "e-")


def _share_of_groups(selector: FittedSelector, most: int) -> list[IntArray]:
    """Return the groups, or of too many features a like share of each, at least one."""
    n_features = sum(len(group) for group in selector.groups_)
    if n_features <= most:
        return list(selector.groups_)
    return [
        np.sort(by_centrality(selector, group)[: max(1, round(len(group) * most / n_features))])
        for group in selector.groups_
    ]


def _brightest(affinity: FloatArray) -> float:
    """Choose where the colours end: of many features the few nearest pairs would darken the rest.

    Features without anything in common have an affinity of about 1/e, which shall stay in the
    middle of the colours.
    """
    if len(affinity) <= 100:
        return 1.0
    apart = affinity[~np.eye(len(affinity), dtype=bool)]
    return float(np.clip(np.quantile(apart, 0.995), 0.5, 1.0))


def _frame_kept(ax: "Axes", groups: list[IntArray], kept: BoolArray) -> None:
    from matplotlib.patches import Rectangle

    look: style.Keywords = {"fill": False, "edgecolor": style.ACCENT, "linewidth": 1.0}
    starts = np.cumsum([0, *map(len, groups)]) - 0.5
    for j in np.flatnonzero(kept):
        ax.add_patch(Rectangle((starts[j], starts[j]), len(groups[j]), len(groups[j]), **look))


def _number_groups(ax: "Axes", groups: list[IntArray]) -> None:
    sizes = np.array([len(group) for group in groups])
    middles = np.cumsum(sizes) - sizes / 2 - 0.5
    numbered = [0]
    for j, middle in enumerate(middles):
        if middle - middles[numbered[-1]] >= 0.05 * sizes.sum():  # or numbers would overlap
            numbered.append(j)
    ax.set_yticks(middles[numbered], [str(j + 1) for j in numbered])
    ax.set_ylabel("group")
