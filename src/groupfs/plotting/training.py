"""Figures of training: loss and gates over the epochs, gates along the sparsities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style as _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_history(selector: Any, *, ax: Axes | None = None) -> Axes:
    """Gates of the groups (left) and the loss (right, dashed) over the epochs of training.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Returns
    -------
    Axes
        That of the gates; the one of the loss is its twin.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_history
    >>> selector = GroupFS(random_state=0).fit(load_two_moons(200, random_state=0).data)
    >>> plot_history(selector).get_ylabel()
    'gate mean'
    """
    check_is_fitted(selector)
    gates = np.array([record["gates"] for record in selector.history_])
    loss = [record["loss"] for record in selector.history_]
    epochs = np.arange(1, len(gates) + 1)
    with _style.drawing(ax) as ax:
        ax.axhline(0.5, color="black", linewidth=0.6, linestyle=":")
        _draw_groups(ax, epochs, gates, selector.group_selected_)
        ax.set_xlabel("epoch")
        ax.set_ylabel("gate mean")
        right = ax.twinx()
        (line,) = right.plot(epochs, loss, color="black", linewidth=1, linestyle="--")
        right.set_ylabel("loss")
        right.spines["top"].set_visible(False)
        ax.spines["top"].set_visible(False)
        ax.set_title("Gates (open above the dotted line) and loss")
        _legend_below(ax, {"loss": line})
    return ax


def plot_path(path: Any, *, ax: Axes | None = None) -> Axes:
    """Gates of the groups along the sparsities, scaled by the groups' scores, as a lasso path.

    A line falls to zero where its group closes; the dotted line marks the chosen model.

    Parameters
    ----------
    path : fitted GroupFSPath, or its ``path_``
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFSPath
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_path
    >>> X = load_two_moons(200, random_state=0).data
    >>> path = GroupFSPath(n_groups=3, sparsities=[0.5, 1, 2], max_epochs=20, random_state=0)
    >>> plot_path(path.fit(X)).get_xscale()
    'log'
    """
    if hasattr(path, "fit"):
        check_is_fitted(path)
        if not hasattr(path, "path_"):
            raise TypeError(
                f"{type(path).__name__} has no path to draw: it trains one sparsity; fit a "
                "GroupFSPath, or draw it with plot_history."
            )
        path = path.path_
    seed, place = path.chosen
    height = np.clip(path.gates[seed], 0, 1) * np.maximum(path.scores, 0)
    with _style.drawing(ax) as ax:
        _draw_groups(ax, path.sparsities, height, path.kept)
        chosen = ax.axvline(path.sparsities[place], color="black", linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 3, 5, 10) if _within(t, path.sparsities)]
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_xlabel("sparsity, relative to the critical weight")
        ax.set_ylabel("gate x score")
        ax.set_ylim(bottom=0)
        ax.set_title("Groups close as sparsity grows")
        _style.without_frame(ax)
        _legend_below(ax, {"chosen": chosen})
    return ax


def _draw_groups(
    ax: Axes, x: NDArray[Any], values: NDArray[np.float64], kept: NDArray[np.bool_]
) -> None:
    """One line per group, (len(x), C); kept ones in colour and on top, a few of them labelled."""
    for place, j in enumerate(np.flatnonzero(~kept)):
        label = "not kept" if place == 0 else None
        ax.plot(x, values[:, j], color=_style.DROPPED, linewidth=0.8, label=label)
    shown = np.flatnonzero(kept)
    few = len(shown) <= len(_style.CYCLE)
    for place, (j, color) in enumerate(zip(shown, _style.rank_colors(len(shown)), strict=True)):
        named = few or place in (0, len(shown) - 1)
        label = f"group {j + 1}" if named else None
        ax.plot(x, values[:, j], color=color, linewidth=1.2, label=label)


def _legend_below(ax: Axes, others: dict[str, Any]) -> None:
    """Best groups first, whatever was drawn first; the lines themselves stay free."""
    handles, labels = ax.get_legend_handles_labels()
    entries = dict(zip(labels, handles, strict=True))
    grey = entries.pop("not kept", None)
    if grey is not None:
        entries["not kept"] = grey
    entries.update(others)
    n_rows = -(-len(entries) // 4)
    ax.legend(
        list(entries.values()),
        list(entries),
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=4.0,  # in letters: the labels of the axis lie between
        ncols=-(-len(entries) // n_rows),
        frameon=False,
        handlelength=1.4,
        columnspacing=1.0,
    )


def _within(value: float, values: NDArray[np.float64]) -> bool:
    return bool(0.99 * values[0] <= value <= 1.01 * values[-1])
