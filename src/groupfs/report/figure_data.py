"""The arrays behind the figures: samples in two dimensions, correlations of features, pixels.

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

from groupfs.metrics import clustering_accuracy
from groupfs.plotting.feature_correlations import correlate_features
from groupfs.report.json_numbers import Json, pack, tidy, tidy_list
from groupfs.scoring.sample_scores import score_weights
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import BoolArray, FloatArray, IntArray

Labels = NDArray[Any] | None

#: Embeddings drawn along each of the two sliders: so many, or so many points in all.
FEWEST_EMBEDDINGS, MOST_EMBEDDINGS, MOST_POINTS = 16, 60, 30_000
#: Features on the map of correlations, and scores of samples in all, at most.
MOST_FEATURES, MOST_SCORES = 200, 120_000
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
        "label": None if labels is None else _label_colours(labels, label_name or "label"),
        "scores": _scores(selector, Z),
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


def correlations(selector: FittedSelector, Z: FloatArray) -> Json | None:
    """Correlate the features in groups, or a like share of every group; None for fewer than two."""
    found = correlate_features(selector, Z, MOST_FEATURES)
    if len(found.features) < 2:
        return None
    return {
        "values": pack(found.values, -1.0, 1.0),
        "features": found.features.tolist(),
        "sizes": found.sizes.tolist(),
        "limit": found.limit,
        "turned": found.turned,
        "n_grouped": sum(map(len, selector.groups_)),
    }


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


def _scores(selector: FittedSelector, Z: FloatArray) -> list[Json]:
    """Score every sample on the first groups, each between what nearly all samples have."""
    groups = selector.groups_[: max(1, MOST_SCORES // len(Z))]
    weights = score_weights(groups, selector.centrality_, selector.group_signs_)
    packed = []
    for scores in (Z @ weights).T:
        low, high = np.quantile(scores, [0.01, 0.99])  # a few samples would pale the rest
        packed.append(pack(scores, float(low), float(high)))
    return packed


def _label_colours(labels: NDArray[Any], name: str) -> Json:
    """Code every sample by its class, or pack its number."""
    classes, codes = _classes(labels)
    if len(classes) > MOST_CLASSES and labels.dtype.kind in "iuf":
        values = np.asarray(labels, dtype=float)
        finite = np.where(np.isfinite(values), values, np.nanmedian(values))
        return {"kind": "number", "name": name, "values": pack(finite)}
    return {"kind": "classes", "name": name, "classes": classes, "codes": codes.tolist()}


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
