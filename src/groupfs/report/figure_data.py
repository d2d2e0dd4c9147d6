"""Compute what the figures and the slider show: other budgets, samples, correlations.

Selections grow with the budget, so one order of the features tells them all. Z is a sample of the
standardised rows with the user's columns: constant ones zero, gaps NaN.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.extmath import randomized_svd

from groupfs.groups import Selection
from groupfs.metrics import clustering_accuracy
from groupfs.plotting.correlations import correlate_features
from groupfs.report.schema import Json, pack, tidy, tidy_list
from groupfs.result import Result
from groupfs.selection.row_scores import score_rows, score_weights
from groupfs.selection.select import select
from groupfs.utils.types import BoolArray, FloatArray, IntArray

Labels = NDArray[Any] | None

#: Every budget up to the first number is on the slider, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget on the slider; nobody chooses so many.
LARGEST = 10_000

#: Embeddings drawn along each of the two sliders: so many, or so many points in all.
FEWEST_EMBEDDINGS, MOST_EMBEDDINGS, MOST_POINTS = 16, 60, 30_000
#: Features on the map of correlations, and scores of samples in all, at most.
MOST_FEATURES, MOST_SCORES = 200, 120_000
#: Labels with more values than this are numbers to be coloured by size, or names too many to tell.
MOST_CLASSES = 28


def _select_again(result: Result, **changes: Any) -> Selection:
    asked = replace(result.selection.asked, **changes)
    return select(result.groups, result.order, asked)


def other_budgets(result: Result) -> dict[str, list[int]]:
    """Return ``order`` and ``levels``: for k in levels, k selects the first k of the order."""
    order, every = result.order, _select_again(result, n_features=len(result.order))
    if not result.selection.asked.follows_order:
        return _asked_for(result, min(len(every.features), LARGEST))
    order = order[every.support[order]][:LARGEST]
    marks = [result.n_enough, int(result.support.sum())]
    levels = {*_levels(len(order)), *(k for k in marks if 0 < k <= len(order))}
    return {"levels": sorted(levels), "order": order.tolist()}


def embeddings(
    result: Result, Z: FloatArray, budgets: dict[str, list[int]], labels: Labels, name: str | None
) -> Json:
    """Place samples by two principal components of all, of selected, of other budgets' features."""
    before, variance_before = _principal_components(Z)
    order = np.array(budgets["order"])
    n_drawn = min(MOST_EMBEDDINGS, max(FEWEST_EMBEDDINGS, MOST_POINTS // len(Z)))

    def drawn(features: IntArray) -> Json:
        xy, variance = _principal_components(Z[:, features], like=before)
        return {"xy": pack(xy, bits=16), "variance": tidy_list(variance, 3)}

    def of_groups(n_groups: int) -> Json:
        return drawn(_select_again(result, n_groups=n_groups, n_features=None).features)

    n_groups = _thinned(range(1, len(result.groups) + 1), n_drawn)
    return {
        "n_points": len(Z),
        "before": {"xy": pack(before, bits=16), "variance": tidy_list(variance_before, 3)},
        "fitted": drawn(result.selection.features),
        "by_features": [{"n": k, **drawn(order[:k])} for k in _thinned(budgets["levels"], n_drawn)],
        "by_groups": [{"n": g, **of_groups(g)} for g in n_groups],
        "label": None if labels is None else _label_colours(labels, name or "label"),
        "scores": _scores(result, Z),
    }


def agreement(Z: FloatArray, support: BoolArray, labels: Labels, name: str | None) -> Json | None:
    """Measure how well k-means meets the classes, on all features and on the selected ones.

    Samples without a label are left out: missing is no class. None if nothing is selected.
    """
    if labels is None or not support.any():
        return None
    labelled = np.array([not _is_missing(value) for value in labels])
    Z = np.nan_to_num(Z[labelled])
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


def correlations(selector: Any, Z: FloatArray) -> Json | None:
    """Correlate the features in groups, or a like share of every group; None for fewer than two."""
    shown = correlate_features(selector, Z, MOST_FEATURES)
    if len(shown.features) < 2:
        return None
    return {
        "values": pack(shown.values, -1.0, 1.0),
        "features": shown.features.tolist(),
        "sizes": shown.sizes.tolist(),
        "limit": shown.limit,
        "turned": shown.turned,
        "n_grouped": sum(map(len, selector.groups_)),
    }


def _asked_for(result: Result, most: int) -> dict[str, list[int]]:
    """Ask for one budget after the other; whole groups give more features than were asked for."""
    labels, ranks = result.groups.labels, result.groups.ranks
    last = np.where(labels < 0, len(result.groups), labels)
    levels, order = set(), list[int]()
    seen = np.zeros(len(labels), dtype=bool)
    for budget in _levels(most):
        chosen = _select_again(result, n_features=budget).features
        new = chosen[~seen[chosen]]
        order.extend(new[np.lexsort((ranks[new], last[new]))].tolist())
        seen[new] = True
        assert len(order) == len(chosen), "a larger budget dropped a feature"
        levels.add(len(order))
    return {"levels": sorted(levels), "order": order}


def _levels(most: int) -> list[int]:
    """List budgets: all small ones, then steps of a few percent up to the largest."""
    small = np.arange(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round() if most > DENSE else np.empty(0)
    return np.unique(np.concatenate([small, large]).astype(int)).tolist()


def _principal_components(
    Z: FloatArray, like: FloatArray | None = None
) -> tuple[FloatArray, list[float]]:
    """Return the first two principal components, (n, 2), and their shares of the variance.

    Gaps are at the mean, and components without a column zero. ``like`` are other components of the
    same samples, whose directions these take, or points would jump from one picture to the next.
    """
    points, shares = np.zeros((len(Z), 2)), [0.0, 0.0]
    if Z.shape[1]:
        Z = np.nan_to_num(Z)
        Z = Z - Z.mean(0)
        n_components = min(2, *Z.shape)
        U, S, _ = randomized_svd(Z, n_components, n_iter=4, random_state=0)
        points[:, :n_components] = U * S
        total = max(float(np.square(Z).sum()), 1e-12)
        shares[:n_components] = (S**2 / total).tolist()
    if like is not None:
        points *= np.where((points * like).sum(axis=0) < 0, -1, 1)
    return points, shares


def _thinned(levels: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the levels, the first and the last among them."""
    picked = np.linspace(0, len(levels) - 1, min(len(levels), most)).round()
    return [levels[int(i)] for i in picked]


def _scores(result: Result, Z: FloatArray) -> list[Json]:
    """Score every sample on the first groups, each between what nearly all samples have."""
    groups = result.groups
    first, packed = groups.members[: max(1, MOST_SCORES // len(Z))], []
    for scores in score_rows(Z, score_weights(first, groups.centrality, groups.signs)).T:
        known = scores[~np.isnan(scores)]  # a few samples would pale the rest
        low, high = np.quantile(known, [0.01, 0.99]) if len(known) else (0.0, 1.0)
        packed.append(pack(scores, float(low), float(high)))
    return packed


def _label_colours(labels: NDArray[Any], name: str) -> Json:
    classes, codes = _classes(labels)
    if len(classes) > MOST_CLASSES and labels.dtype.kind in "iuf":
        values = np.asarray(labels, dtype=float)
        known = np.where(np.isfinite(values), values, np.nan)
        return {"kind": "number", "name": name, "values": pack(known)}
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
