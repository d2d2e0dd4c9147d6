"""The arrays behind the figures: samples in two dimensions, affinities, correlations, pixels.

Z is a sample of the standardised rows with the user's columns, constant ones zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils.extmath import randomized_svd

from groupfs.data.rows import DenseRows
from groupfs.graphs.feature_graph import dense_feature_affinity
from groupfs.metrics import clustering_accuracy
from groupfs.report.json_numbers import pack, tidy, tidy_list
from groupfs.report.other_budgets import selected_groups
from groupfs.utils.types import FloatArray, IntArray

#: Embeddings drawn along each of the two sliders: so many, or so many points in all.
FEWEST_EMBEDDINGS, MOST_EMBEDDINGS, MOST_POINTS = 16, 60, 30_000
#: Side of the affinity picture in cells, and features it is computed from, at most.
MOST_CELLS, MOST_FEATURES = 240, 2048
#: Features shown in the correlation block of a group, and cells in all blocks together, at most.
BLOCK, BLOCK_CELLS = 16, 120_000
#: Labels with more values than this are numbers to be coloured by size, or names too many to tell.
MOST_CLASSES = 28
#: Numbers of clusters that are tried where there are no labels.
CLUSTERS = range(2, 8)


def embeddings(
    selector: Any,
    Z: FloatArray,
    others: dict[str, list[int]],
    labels: NDArray[Any] | None,
    label_name: str | None,
) -> dict[str, Any]:
    """Two principal components of the samples: all features, the selected ones, other budgets."""
    support = np.flatnonzero(selector.get_support())
    before = _principal(Z)
    order = np.array(others["order"])
    n_drawn = min(MOST_EMBEDDINGS, max(FEWEST_EMBEDDINGS, MOST_POINTS // len(Z)))
    by_features = [(k, order[:k]) for k in _some(others["levels"], n_drawn)]
    numbers = _some(list(range(1, selector.n_groups_ + 1)), n_drawn)
    by_groups = [(g, selected_groups(selector, g)) for g in numbers]

    def drawn(features: IntArray) -> dict[str, Any]:
        xy, share = _principal(Z[:, features])
        return _as_picture(_like(xy, before[0]), share)

    return {
        "n_points": len(Z),
        "before": _as_picture(*before),
        "fitted": drawn(support),
        "by_features": [{"n": k, **drawn(features)} for k, features in by_features],
        "by_groups": [{"n": g, **drawn(features)} for g, features in by_groups],
        "colours": _colours(Z[:, support], labels, label_name),
    }


def agreement(
    Z: FloatArray, support: NDArray[np.bool_], labels: NDArray[Any] | None, name: str | None
) -> dict[str, Any] | None:
    """How well k-means meets the classes, on all features and on the selected ones.

    Samples without a label are left out: missing is no class.
    """
    if labels is None:
        return None
    labelled = np.array([not _is_missing(value) for value in labels])
    Z = Z[labelled]
    classes, codes = _classes(labels[labelled])
    if not 2 <= len(classes) <= MOST_CLASSES or len(classes) >= len(Z):
        return None
    measured: dict[str, Any] = {
        "name": name or "label",
        "n_samples": len(Z),
        "n_classes": len(classes),
        "largest_class": tidy(np.bincount(codes).max() / len(codes), 4),
    }
    for what, columns in (("all", Z), ("selected", Z[:, support])):
        clusters = KMeans(len(classes), n_init=10, random_state=0).fit_predict(columns)
        measured[f"accuracy_{what}"] = tidy(clustering_accuracy(codes, clusters), 4)
        measured[f"adjusted_rand_{what}"] = tidy(adjusted_rand_score(codes, clusters), 4)
    return measured


def affinity(selector: Any, Z: FloatArray, places: IntArray) -> dict[str, Any]:
    """Self-tuning affinities of the features by group, averaged over cells where they are many."""
    groups = [group[np.argsort(places[group])] for group in selector.groups_[:MOST_CELLS]]
    sizes = np.array([len(group) for group in groups])
    shares = _shares(sizes, MOST_FEATURES)
    chosen = [g[_spaced(len(g), n)] for g, n in zip(groups, shares, strict=True)]
    features = np.concatenate(chosen)
    neighbors = min(selector.n_neighbors, len(features) - 1)
    values = dense_feature_affinity(DenseRows(Z[:, features]), neighbors)
    cells = _shares(shares, MOST_CELLS)
    binned = len(features) > MOST_CELLS
    if binned:
        values = _cell_means(values, shares, cells)
    off = values[~np.eye(len(values), dtype=bool)]
    low, high = np.quantile(off, [0.005, 0.995])  # the diagonal would leave the rest pale
    return {
        "cells": pack(values, float(low), max(float(high), float(low) + 1e-6)),
        "cells_per_group": cells.tolist(),
        "features": None if binned else features.tolist(),
        "n_features": len(features),
    }


def correlations(selector: Any, Z: FloatArray, places: IntArray) -> list[dict[str, Any]]:
    """For every group the correlations of its most central features."""
    side = max(2, min(BLOCK, int(np.sqrt(BLOCK_CELLS / selector.n_groups_))))
    blocks = []
    for group in selector.groups_:
        features = group[np.argsort(places[group])][:side]
        columns = Z[:, features] - Z[:, features].mean(0)
        columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
        blocks.append(
            {"features": features.tolist(), "values": pack(columns.T @ columns, -1.0, 1.0)}
        )
    return blocks


def image(X: Any, shape: tuple[int, int] | None, order: str) -> dict[str, Any] | None:
    """Shape, order of the pixels and the mean image, for orientation."""
    if shape is None:
        return None
    mean = np.asarray(X.mean(axis=0) if sp.issparse(X) else np.asarray(X, float).mean(axis=0))
    height, width = int(shape[0]), int(shape[1])
    return {"height": height, "width": width, "order": order, "mean": pack(mean.ravel())}


def _principal(Z: FloatArray) -> tuple[FloatArray, list[float]]:
    """The first two principal components, (n, 2), and their shares of the variance."""
    Z = Z - Z.mean(0)
    total = max(float(np.square(Z).sum()), 1e-12)
    n_components = min(2, *Z.shape)
    U, S, _ = randomized_svd(Z, n_components, n_iter=4, random_state=0)
    xy = np.zeros((len(Z), 2))
    xy[:, :n_components] = U * S
    return xy, [*(S**2 / total).tolist(), 0.0][:2]


def _like(xy: FloatArray, other: FloatArray) -> FloatArray:
    """The same with the signs that go along with another embedding's."""
    return xy * np.where((xy * other).sum(0) < 0, -1, 1)


def _as_picture(xy: FloatArray, shares: list[float]) -> dict[str, Any]:
    return {"xy": pack(xy, bits=16), "variance": tidy_list(shares, 3)}


def _some(levels: list[int], most: int) -> list[int]:
    """At most so many of the levels, the first and the last among them."""
    picked = np.linspace(0, len(levels) - 1, min(len(levels), most)).round()
    return [levels[int(place)] for place in picked]


def _colours(Z: FloatArray, labels: NDArray[Any] | None, name: str | None) -> dict[str, Any]:
    """Of every sample: the class it has been given, a number, or else its k-means cluster."""
    if labels is None:
        clusters = _clusters(Z)
        found = [f"cluster {c + 1}" for c in range(int(clusters.max()) + 1)]
        return {"kind": "cluster", "name": None, "classes": found, "codes": clusters.tolist()}
    classes, codes = _classes(labels)
    if len(classes) > MOST_CLASSES and labels.dtype.kind in "iuf":
        values = np.asarray(labels, dtype=float)
        finite = np.where(np.isfinite(values), values, np.nanmedian(values))
        return {"kind": "number", "name": name or "label", "values": pack(finite)}
    return {
        "kind": "label",
        "name": name or "label",
        "classes": classes,
        "codes": codes.tolist(),
    }


def _classes(labels: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Names of the classes in their own order, missing ones as "missing", and codes."""
    kinds, codes = np.unique(np.array([_as_text(value) for value in labels]), return_inverse=True)
    names = [str(kind) for kind in kinds]
    if all(_is_number(kind) for kind in names):
        order = np.argsort([float(kind) for kind in names], kind="stable")
        codes = np.argsort(order)[codes]
        names = [names[place] for place in order]
    return names, codes


def _as_text(value: Any) -> str:
    if _is_missing(value):
        return "missing"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":  # pandas.NA is neither equal nor unequal
        return True
    return bool(value != value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _clusters(Z: FloatArray) -> IntArray:
    """k-means clusters, as many as give the best silhouette; the largest is the first."""
    distinct = len(np.unique(Z, axis=0))
    best, best_width = np.zeros(len(Z), dtype=np.int64), -1.0
    for n_clusters in CLUSTERS:
        if n_clusters >= min(distinct, len(Z)):
            break
        found = KMeans(n_clusters, n_init=4, random_state=0).fit_predict(Z)
        width = float(silhouette_score(Z, found))
        if width > best_width:
            best, best_width = found, width
    by_size = np.argsort(-np.bincount(best), kind="stable")
    return np.argsort(by_size)[best]


def _shares(sizes: IntArray, most: int) -> IntArray:
    """Sizes shrunk in proportion to a sum of at most ``most``, none below one."""
    if sizes.sum() <= most:
        return sizes
    shares = np.maximum(1, np.floor(sizes * most / sizes.sum())).astype(int)
    while shares.sum() > most:
        shares[shares.argmax()] -= 1
    return np.minimum(shares, sizes)


def _spaced(size: int, n: int) -> IntArray:
    """n places out of so many, evenly spaced from the first on."""
    return (np.arange(n) * size) // n


def _cell_means(values: FloatArray, sizes: IntArray, cells: IntArray) -> FloatArray:
    """Means over cells that do not cross groups; a feature's affinity to itself is left out."""
    widths = np.array(
        [
            len(part)
            for size, n in zip(sizes, cells, strict=True)
            for part in np.array_split(np.arange(size), n)
        ]
    )
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    counts = np.outer(widths, widths).astype(float)
    own = np.diag(np.where(widths > 1, widths, 0))
    means: FloatArray = (sums - own) / (counts - own)
    return means
