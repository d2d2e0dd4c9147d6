"""Draw what ``GroupFS`` learned: gates and loss over the epochs, gates along the sparsities."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style
from groupfs.utils.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.documented
def plot_history(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the gates of the groups (left) and the loss (right, dashed) over the epochs.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    <ax>

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_history
    >>> X = load_two_moons(100, random_state=0).data
    >>> plot_history(GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(X)).get_ylabel()
    'gate mean'
    """
    history = _trained(selector, "history_", "GroupFS")
    gates = np.array([record["gates"] for record in history])
    loss, epochs = [record["loss"] for record in history], np.arange(1, len(gates) + 1)
    with style.drawing(ax) as ax:
        ax.axhline(0.5, color="black", linewidth=0.6, linestyle=":", zorder=1.8)
        _draw_groups(ax, epochs, gates, selector.group_kept_)
        ax.set(xlabel="epoch", ylabel="gate mean")
        right = ax.twinx()
        (line,) = right.plot(epochs, loss, "k--", linewidth=1, label="loss")
        right.set_ylabel("loss")
        right.spines["top"].set_visible(False)
        ax.set_title("Gates (open above the dotted line) and loss")
        style.legend_below(ax, line)
    return ax


@style.documented
def plot_path(path: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the gates along the sparsities, scaled by the groups' smoothness, as a lasso path.

    A line falls to zero where its group closes; the dotted line marks the chosen model.

    Parameters
    ----------
    path : fitted GroupFSPath, or its ``path_``
    <ax>

    Examples
    --------
    >>> from groupfs import GroupFSPath
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_path
    >>> X = load_two_moons(100, random_state=0).data
    >>> path = GroupFSPath(n_groups=2, sparsities=[0.5, 1, 2], max_epochs=20, random_state=0)
    >>> plot_path(path.fit(X)).get_xscale()
    'log'
    """
    if hasattr(path, "fit"):
        path = _trained(path, "path_", "GroupFSPath")
    seed, chosen = path.chosen
    height = np.clip(path.gates[seed], 0, 1) * np.maximum(path.smoothness, 0)
    with style.drawing(ax) as ax:
        _draw_groups(ax, path.sparsities, height, path.kept)
        here = path.sparsities[chosen]
        ax.axvline(here, color="black", linewidth=0.8, linestyle=":", label="chosen")
        ax.set_xscale("log")
        low, high = 0.99 * path.sparsities[0], 1.01 * path.sparsities[-1]
        ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 3, 5, 10) if low <= t <= high]
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set(xlabel="sparsity, relative to the critical weight", ylabel="gate x score")
        ax.set(ylim=(0, None), title="Groups close as sparsity grows")
        style.legend_below(ax)
    return ax


def _trained(selector: Any, attribute: str, of: str) -> Any:
    """Return what is there after training, or refuse a selector that trains something else."""
    check_is_fitted(selector)
    if not hasattr(selector, attribute):
        what = attribute.rstrip("_")
        raise TypeError(f"{type(selector).__name__} has no {what} to draw; fit a {of} for that.")
    return getattr(selector, attribute)


def _draw_groups(ax: "Axes", x: ArrayLike, values: FloatArray, kept: BoolArray) -> None:
    """Draw one line per group, (len(x), C); kept ones in colour and on top, a few labelled."""
    colored = np.flatnonzero(kept)
    few = len(colored) <= len(style.CYCLE)
    for j, color in zip(colored, style.rank_colors(len(colored)), strict=True):
        label = f"group {j + 1}" if few or j in colored[[0, -1]] else None
        ax.plot(x, values[:, j], color=color, linewidth=1.2, label=label)
    for line in ax.plot(x, values[:, ~kept], color=style.DROPPED, linewidth=0.8, zorder=1.9)[:1]:
        line.set_label("not kept")
