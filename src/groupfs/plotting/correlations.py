"""Draw the map of the correlations between features, ordered by group.

Axes: n samples, d features, k features shown.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.data.open_table import read_rows
from groupfs.groups import Groups
from groupfs.plotting import style
from groupfs.result import Result
from groupfs.utils.text import shorten
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows that pictures are drawn from, at most, and numbers that these rows may hold.
MOST_ROWS, MOST_NUMBERS = 1500, 30_000_000
#: Features are named beside the map if there are no more than this.
NAMED_FEATURES = 25
#: Features of a group that are shown at least, if it has so many.
FEWEST_PER_GROUP = 3
#: Share of the pairs within groups whose correlations are within the colours.
WITHIN_COLOURS = 0.9


@style.documented
def plot_correlations(
    selector: Any, X: Any, *, most: int = 200, ax: "Axes | None" = None
) -> "Axes":
    """Draw the correlations between features, ordered by group; kept groups are framed.

    A feature whose name has a minus is reversed and is turned round, unless the fit was ``signed``.
    Colours end at what nearly all pairs within groups do not exceed; a feature's correlation with
    itself is left blank. Features in no group are left out. It is the map of the report.

    Parameters
    ----------
    <selector>
    <table>
    most : int, default=200
        Features to show; of larger tables a like share of every group, spread evenly from its most
        to its least central feature.
    <ax>

    <examples>
    >>> plot_correlations(selector, X).images[0].get_array().shape
    (10, 10)
    """
    result = Result.of(selector)
    shown = correlate_features(selector, read_some_rows(selector, X)[0], most)
    n_shown = len(shown.features)
    if n_shown < 2:
        return style.note("The table shows no groups", ax)
    with style.drawing(ax, height=2.9) as ax:
        others = np.ma.masked_array(shown.values, np.eye(n_shown, dtype=bool))
        look: style.Keywords = {"vmin": -shown.limit, "vmax": shown.limit}
        image = ax.imshow(others, cmap=style.signed_colours(), interpolation="nearest", **look)
        look = {"extend": "both" if shown.limit < 1 else "neither", "fraction": 0.046, "pad": 0.03}
        ax.figure.colorbar(image, ax=ax, label="correlation", **look)
        _frame_kept(ax, shown.sizes, result.kept)
        if n_shown <= NAMED_FEATURES:
            names = result.marked_names if shown.turned else result.names
            short = [shorten(names[i], 12) for i in shown.features]
            ax.set_yticks(range(n_shown), short, fontsize="x-small")
        else:
            _number_groups(ax, shown.sizes)
        ax.set_xticks([])
        n_grouped = int(result.groups.sizes.sum())
        part = "" if n_shown == n_grouped else f"{n_shown} of {n_grouped:,} "
        ax.set_title(f"Correlations of {part}features, by group\n(kept groups framed)")
    return ax


def read_some_rows(selector: Any, X: Any) -> tuple[FloatArray, int, IntArray]:
    """Read standardised rows for a picture, at random if too many; return also how many there are.

    The last are the places of the rows.
    """
    most_rows = min(MOST_ROWS, max(100, MOST_NUMBERS // selector.n_features_in_))
    Z, table, rows = read_rows(selector, X, most_rows)
    return Z, table.rows.shape[0], rows


def _frame_kept(ax: "Axes", sizes: IntArray, kept: BoolArray) -> None:
    from matplotlib.patches import Rectangle

    look: style.Keywords = {"fill": False, "edgecolor": "black", "linewidth": 0.8}
    starts = np.cumsum([0, *sizes]) - 0.5
    for j in np.flatnonzero(kept[: len(sizes)]):
        ax.add_patch(Rectangle((starts[j], starts[j]), sizes[j], sizes[j], **look))


def _number_groups(ax: "Axes", sizes: IntArray) -> None:
    middles, numbered = np.cumsum(sizes) - sizes / 2 - 0.5, [0]
    for j, middle in enumerate(middles):
        if middle - middles[numbered[-1]] >= 0.05 * sizes.sum():  # or numbers would overlap
            numbered.append(j)
    ax.set_yticks(middles[numbered], [str(j + 1) for j in numbered])
    ax.set_ylabel("group")


@dataclass(frozen=True)
class FeatureCorrelations:
    """Correlations of some features, ordered by group and by centrality within it."""

    features: IntArray  #: (k,)
    sizes: IntArray  #: features shown of each group, of the first groups where these are many
    values: FloatArray  #: (k, k); reversed features are turned round
    turned: bool  #: whether they are: not where the fit was signed
    limit: float  #: where colours end: what most pairs within groups do not exceed


def correlate_features(selector: Any, Z: FloatArray, most: int) -> FeatureCorrelations:
    """Correlate the features in groups; of more than ``most``, a like share of every group.

    Z (n, d) are standardised rows; gaps are at the mean. A share is spread evenly over the group,
    from the most to the least central feature.
    """
    groups = Groups.of(selector)
    central = [groups.by_centrality(j) for j in range(len(groups))]
    sizes = share_out(groups.sizes, most)
    shown = [g[(np.arange(n) * len(g)) // n] for g, n in zip(central, sizes, strict=False)]
    features = np.concatenate([np.zeros(0, dtype=np.int64), *shown])
    columns = np.nan_to_num(Z[:, features])
    columns -= columns.mean(0)
    columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
    turned = not getattr(selector, "signed", False)
    if turned:
        columns *= np.where(groups.signs[features] < 0, -1, 1)
    values = np.clip(columns.T @ columns, -1, 1)
    return FeatureCorrelations(features, sizes, values, turned, _limit(values, sizes))


def share_out(sizes: IntArray, most: int) -> IntArray:
    """Share out so many places among groups, or the first ones, by size, a few to each at least.

    >>> share_out(np.array([400, 4, 100]), 50)
    array([38,  3,  9])
    """
    if sizes.sum() <= most:
        return sizes
    sizes = sizes[: max(1, most // FEWEST_PER_GROUP)]
    fewest = np.minimum(sizes, FEWEST_PER_GROUP)
    shares = np.maximum(fewest, sizes * most // max(sizes.sum(), most))
    while shares.sum() > most:
        shares[shares.argmax()] -= 1
    return shares


def _limit(values: FloatArray, sizes: IntArray) -> float:
    """Choose where the colours end, in steps of 0.05: tight groups shall look tight."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    pairs = (group[:, None] == group) & ~np.eye(len(group), dtype=bool)
    if not pairs.any():
        return 1.0
    strong = float(np.quantile(np.abs(values[pairs]), WITHIN_COLOURS))
    return float(np.clip(np.ceil(20 * strong) / 20, 0.2, 1.0))
