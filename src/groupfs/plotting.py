"""Figures of a fitted selector. Every function draws on one Axes and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colour-blind-safe (Okabe and Ito): kept groups in blue, others in grey, emphasis in vermilion.
KEPT, DROPPED, ACCENT = "#0072B2", "#B0B0B0", "#D55E00"
CYCLE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def plot_affinity(selector: Any, X: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Self-tuning affinity between features, ordered by group, with the groups marked.

    Parameters
    ----------
    selector : fitted GroupFS
    X : array of shape (n_samples, n_features)
        The table it was fitted on.
    ax : Axes or None
        Where to draw; a new figure if None.
    """
    check_is_fitted(selector)
    ax = _axes(ax)
    order = np.concatenate(selector.groups_)
    columns = np.asarray(X, dtype=float)[:, order]
    columns = (columns - columns.mean(0)) / columns.std(0)
    from groupfs._rows import DenseRows
    from groupfs.graphs import dense_feature_affinity

    neighbors = min(selector.n_neighbors, len(order) - 1)
    affinity = dense_feature_affinity(DenseRows(columns), neighbors)
    image = ax.imshow(affinity, cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="affinity", fraction=0.046, pad=0.04)

    start = 0
    for group, kept in zip(selector.groups_, selector.group_selected_, strict=True):
        if kept:
            corner, side = (start - 0.5, start - 0.5), len(group)
            ax.add_patch(_rectangle(corner, side))
        start += len(group)
    names = _names(selector)
    if len(order) <= 40:
        ax.set_yticks(range(len(order)), [names[i] for i in order], fontsize=6)
    ax.set_xticks([])
    ax.set_title("Affinity of features, ordered by group\n(kept groups framed)")
    return ax


def plot_group_scores(selector: Any, *, ax: Axes | None = None, most: int = 20) -> Axes:
    """Scores of the groups in rank order, kept ones in colour, with their sizes."""
    check_is_fitted(selector)
    ax = _axes(ax)
    shown = min(most, selector.n_groups_)
    scores = selector.group_scores_[:shown]
    colors = [KEPT if kept else DROPPED for kept in selector.group_selected_[:shown]]
    places = np.arange(shown)
    ax.barh(places, scores, color=colors)
    reach = max(float(np.abs(scores).max()), 1e-12)
    for place, score in zip(places, scores, strict=True):
        size = len(selector.groups_[place])
        label = f"{size} feature" + ("s" if size > 1 else "")
        ax.text(max(score, 0) + 0.02 * reach, place, label, va="center", fontsize=7)
    ax.set_yticks(places, [f"group {j + 1}" for j in places], fontsize=7)
    ax.set_xlim(right=max(0.0, float(scores.max())) + 0.35 * reach)
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel("score")
    ax.set_title("Groups, most important first\n(kept in blue)")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_gates(selector: Any, *, ax: Axes | None = None) -> Axes:
    """Gate means of all groups over the epochs of training."""
    check_is_fitted(selector)
    ax = _axes(ax)
    gates = np.array([record["gates"] for record in selector.history_])
    epochs = np.arange(1, len(gates) + 1)
    kept = np.flatnonzero(selector.group_selected_)
    dropped = np.flatnonzero(~selector.group_selected_)
    for place, j in enumerate(dropped):
        label = "not kept" if place == 0 else None
        ax.plot(epochs, gates[:, j], color=DROPPED, linewidth=1, label=label)
    for place, j in enumerate(kept):
        label = f"group {j + 1}" if len(kept) <= len(CYCLE) else ("kept" if place == 0 else None)
        color = CYCLE[place % len(CYCLE)] if len(kept) <= len(CYCLE) else KEPT
        ax.plot(epochs, gates[:, j], color=color, linewidth=1.5, label=label)
    ax.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
    ax.text(epochs[-1], 0.53, "open above", ha="right", va="bottom", fontsize=7)
    ax.set_xlabel("epoch")
    ax.set_ylabel("gate mean")
    ax.set_title("Gates over training")
    ax.legend(frameon=False, fontsize=7, loc="best")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_path(path: Any, *, ax: Axes | None = None) -> Axes:
    """Gates of the groups along the sparsities, scaled by the groups' scores, as a lasso path.

    A line falls to zero where its group closes; the dotted line marks the chosen model.

    Parameters
    ----------
    path : GroupPath
        ``path_`` of a fitted ``GroupFSPath``.
    """
    ax = _axes(ax)
    seed, place = path.chosen
    height = np.clip(path.gates[seed], 0, 1) * np.maximum(path.scores, 0)
    kept = np.flatnonzero(path.kept)
    few = len(kept) <= len(CYCLE)
    for j in np.flatnonzero(~path.kept):
        label = "not kept" if j == np.flatnonzero(~path.kept)[0] else None
        ax.plot(path.sparsities, height[:, j], color=DROPPED, linewidth=1, label=label)
    for rank, j in enumerate(kept):
        color = CYCLE[rank] if few else KEPT
        label = f"group {j + 1}" if few else ("kept" if rank == 0 else None)
        ax.plot(path.sparsities, height[:, j], color=color, linewidth=1.5, label=label)
    ax.axvline(path.sparsities[place], color="black", linewidth=0.8, linestyle=":", label="chosen")
    ax.set_xscale("log")
    ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 3, 5, 10) if _within(t, path.sparsities)]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_xlabel("sparsity, relative to the critical weight")
    ax.set_ylabel("gate x score")
    ax.set_ylim(bottom=0)
    ax.set_title("Groups close as sparsity grows")
    ax.legend(frameon=False, fontsize=7, loc="upper right", ncols=2 if len(kept) > 4 else 1)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _within(value: float, values: np.ndarray) -> bool:
    return bool(0.99 * values[0] <= value <= 1.01 * values[-1])


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _rectangle(corner: tuple[float, float], side: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, side, side, fill=False, edgecolor=ACCENT, linewidth=1.5)


def _names(selector: Any) -> list[str]:
    given = getattr(selector, "feature_names_in_", None)
    return [f"x{i}" for i in range(selector.n_features_in_)] if given is None else list(given)
