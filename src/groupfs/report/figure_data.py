"""The arrays behind the figures: samples in two dimensions, affinities, correlations, pixels.

Z is a sample of the standardised rows with the user's columns, constant ones zero.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.extmath import randomized_svd

from groupfs.data.rows import DenseRows
from groupfs.graphs.feature_graph import dense_feature_affinity
from groupfs.metrics import clustering_accuracy
from groupfs.plotting.samples import cluster_samples
from groupfs.report.json_numbers import Json, pack, tidy, tidy_list
from groupfs.report.schema import MOST_CELLS
from groupfs.training.settings import is_signed
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import BoolArray, FloatArray, IntArray

Labels = NDArray[Any] | None

#: Embeddings drawn along each of the two sliders: so many, or so many points in all.
FEWEST_EMBEDDINGS, MOST_EMBEDDINGS, MOST_POINTS = 16, 60, 30_000
#: Features the affinity map is computed from, at most.
MOST_FEATURES = 2048
#: Features shown in the correlation block of a group, and cells in all blocks together, at most.
BLOCK, BLOCK_CELLS = 16, 120_000
#: Labels with more values than this are numbers to be coloured by size, or names too many to tell.
MOST_CLASSES = 28


def embeddings(
    selector: FittedSelector,
    Z: FloatArray,
    budgets: dict[str, list[int]],
    labels: Labels,
    label_name: str | None,
) -> Json:
    """Place samples by two principal components of all, of selected, of other budgets' features."""
    support = np.flatnonzero(selector.get_support())
    before, variance_before = _principal(Z)
    order = np.array(budgets["order"])
    n_drawn = min(MOST_EMBEDDINGS, max(FEWEST_EMBEDDINGS, MOST_POINTS // len(Z)))

    def drawn(features: IntArray) -> Json:
        xy, variance = _principal(Z[:, features])
        # signs that go along with those of all features, or points would jump
        xy *= np.where((xy * before).sum(0) < 0, -1, 1)
        return {"xy": pack(xy, bits=16), "variance": variance}

    def of_groups(n_groups: int) -> IntArray:
        whole: Json = {"n_features_to_select": None, "explain": None}
        return np.asarray(selector.select(n_groups_to_select=n_groups, **whole).features)

    return {
        "n_points": len(Z),
        "before": {"xy": pack(before, bits=16), "variance": variance_before},
        "fitted": drawn(support),
        "by_features": [{"n": k, **drawn(order[:k])} for k in _thinned(budgets["levels"], n_drawn)],
        "by_groups": [
            {"n": g, **drawn(of_groups(g))}
            for g in _thinned(range(1, selector.n_groups_ + 1), n_drawn)
        ],
        "colours": _colours(Z[:, support] if len(support) else Z, labels, label_name),
    }


def agreement(Z: FloatArray, support: BoolArray, labels: Labels, name: str | None) -> Json | None:
    """Measure how well k-means meets the classes, on all features and on the selected ones.

    Samples without a label are left out: missing is no class. None if nothing is selected.
    """
    if labels is None or not support.any():
        return None
    labelled = np.array([not _is_missing(value) for value in labels])
    Z = Z[labelled]
    classes, codes = _classes(labels[labelled])
    if not 2 <= len(classes) <= MOST_CLASSES or len(classes) >= len(Z):
        return None
    measured: Json = {
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


def affinity(selector: FittedSelector, Z: FloatArray, ranks: IntArray) -> Json | None:
    """Measure affinities of the features by group, averaged over cells where they are many.

    None if there are not two features in groups.
    """
    if sum(map(len, selector.groups_)) < 2:
        return None
    groups = [group[np.argsort(ranks[group])] for group in selector.groups_[:MOST_CELLS]]
    sizes = np.array([len(group) for group in groups])
    shares = _shares(sizes, MOST_FEATURES)
    features = np.concatenate(
        [g[(np.arange(n) * len(g)) // n] for g, n in zip(groups, shares, strict=True)]
    )
    n_neighbors = min(selector.n_neighbors, len(features) - 1)
    signed = is_signed(selector.get_params(deep=False))
    values = dense_feature_affinity(DenseRows(Z[:, features]), n_neighbors, signed)
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


def correlations(selector: FittedSelector, Z: FloatArray, ranks: IntArray) -> list[Json]:
    """Correlate the most central features of every group."""
    side = max(2, min(BLOCK, int(np.sqrt(BLOCK_CELLS / max(1, selector.n_groups_)))))
    blocks = []
    for group in selector.groups_:
        features = group[np.argsort(ranks[group])][:side]
        columns = Z[:, features] - Z[:, features].mean(0)
        columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
        values = pack(columns.T @ columns, -1.0, 1.0)
        blocks.append({"features": features.tolist(), "values": values})
    return blocks


def image(X: Any, shape: tuple[int, int] | None, order: str) -> Json | None:
    """Return the shape, the order of the pixels and the mean image, for orientation."""
    if shape is None:
        return None
    mean = np.asarray(X.mean(axis=0) if sp.issparse(X) else np.asarray(X, float).mean(axis=0))
    height, width = int(shape[0]), int(shape[1])
    return {"height": height, "width": width, "order": order, "mean": pack(mean.ravel())}


def _principal(Z: FloatArray) -> tuple[FloatArray, list[float | None]]:
    """Return the first two principal components, (n, 2), and their shares of the variance.

    Zeros without a column.
    """
    if not Z.shape[1]:
        return np.zeros((len(Z), 2)), [0.0, 0.0]
    Z = Z - Z.mean(0)
    total = max(float(np.square(Z).sum()), 1e-12)
    n_components = min(2, *Z.shape)
    U, S, _ = randomized_svd(Z, n_components, n_iter=4, random_state=0)
    xy = np.zeros((len(Z), 2))
    xy[:, :n_components] = U * S
    return xy, tidy_list([*(S**2 / total), 0.0][:2], 3)


def _thinned(levels: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the levels, the first and the last among them."""
    picked = np.linspace(0, len(levels) - 1, min(len(levels), most)).round()
    return [levels[int(i)] for i in picked]


def _colours(Z: FloatArray, labels: Labels, name: str | None) -> Json:
    """Colour every sample by its class or number, or else by its k-means cluster."""
    if labels is None:
        clusters = cluster_samples(Z, range(2, 8))
        found = [f"cluster {c + 1}" for c in range(int(clusters.max()) + 1)]
        return {"kind": "cluster", "name": None, "classes": found, "codes": clusters.tolist()}
    name = name or "label"
    classes, codes = _classes(labels)
    if len(classes) > MOST_CLASSES and labels.dtype.kind in "iuf":
        values = np.asarray(labels, dtype=float)
        finite = np.where(np.isfinite(values), values, np.nanmedian(values))
        return {"kind": "number", "name": name, "values": pack(finite)}
    return {"kind": "label", "name": name, "classes": classes, "codes": codes.tolist()}


def _classes(labels: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Name the classes in their own order, missing ones "missing", and code every sample."""
    kinds, codes = np.unique(np.array([_as_text(value) for value in labels]), return_inverse=True)
    names = [str(kind) for kind in kinds]
    try:
        order = np.argsort([float(kind) for kind in names], kind="stable")
    except ValueError:  # words keep their alphabetical order
        return names, codes
    return [names[i] for i in order], np.argsort(order)[codes]


def _as_text(value: object) -> str:
    if _is_missing(value):
        return "missing"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(value: object) -> bool:
    # pandas.NA is neither equal nor unequal
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _shares(sizes: IntArray, most: int) -> IntArray:
    """Shrink sizes in proportion to a sum of at most ``most``, none below one."""
    if sizes.sum() <= most:
        return sizes
    shares = np.maximum(1, np.floor(sizes * most / sizes.sum())).astype(int)
    while shares.sum() > most:
        shares[shares.argmax()] -= 1
    return np.minimum(shares, sizes)


def _cell_means(values: FloatArray, sizes: IntArray, cells: IntArray) -> FloatArray:
    """Average over cells that do not cross groups, without a feature's affinity to itself."""
    parts = [np.array_split(np.arange(size), n) for size, n in zip(sizes, cells, strict=True)]
    widths = np.array([len(part) for group in parts for part in group])
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    sums = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    counts = np.outer(widths, widths).astype(float)
    own = np.diag(np.where(widths > 1, widths, 0))
    means: FloatArray = (sums - own) / (counts - own)
    return means
