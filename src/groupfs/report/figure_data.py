"""Compute what figures and the slider show: its places, samples, correlations, conditions.

The slider takes the first features of the order, which is one for all levels. Z is a sample of the
standardised rows with the user's columns: constant ones zero, gaps NaN.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.extmath import randomized_svd

from groupfs.data.row_scores import score_rows, score_weights
from groupfs.metrics import clustering_accuracy
from groupfs.plotting.correlations import correlate_features
from groupfs.report.schema import Json, pack, tidy, tidy_list
from groupfs.result import Result
from groupfs.utils.text import count
from groupfs.utils.types import BoolArray, FloatArray, IntArray

Labels = NDArray[Any] | None

#: Every budget up to the first number is on the slider, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget on the slider; nobody chooses so many.
LARGEST = 10_000

#: Embeddings drawn along the slider: so many, or so many points in all.
FEWEST_EMBEDDINGS, MOST_EMBEDDINGS, MOST_POINTS = 16, 60, 30_000
#: Features on the map of correlations, and scores of samples in all, at most.
MOST_FEATURES, MOST_SCORES = 200, 120_000
#: Labels with more values than this are numbers to be coloured by size, or names too many to tell.
MOST_CLASSES = 28
#: Names of classes with which k-means is compared, at most.
MOST_COMPARED = 100
#: Features and relations that differ between conditions, told of on the page, at most.
MOST_DIFFERENT = 40


def stops(result: Result) -> list[int]:
    """List the places of the slider: all small numbers of features, then steps of a few percent.

    The numbers that explain 90 % and that the fit selects are among them.
    """
    most = min(len(result.order), LARGEST)
    small = range(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round().astype(int).tolist() if most > DENSE else []
    marks = [k for k in (result.n_enough, int(result.support.sum())) if 0 < k <= most]
    return sorted({*small, *large, *marks})


def embeddings(Z: FloatArray, result: Result, labels: Labels, name: str | None) -> Json:
    """Place samples by two principal components of all, of selected, of the first features."""
    before, every = _principal_components(Z)[0], stops(result)
    n_drawn = min(MOST_EMBEDDINGS, max(FEWEST_EMBEDDINGS, MOST_POINTS // len(Z)), len(every))
    drawn = np.linspace(0, len(every) - 1, n_drawn).round().astype(int)

    def picture(features: IntArray | slice) -> Json:
        xy, variance = _principal_components(Z[:, features], like=before)
        return {"xy": pack(xy, bits=16), "variance": tidy_list(variance, 3)}

    return {
        "n_points": len(Z),
        "before": picture(slice(None)),
        "fitted": picture(result.selection.features),
        "by_features": [{"n": every[i], **picture(result.order[: every[i]])} for i in drawn],
        "label": None if labels is None else _label_colours(labels, name or "label"),
        "scores": _scores(result, Z),
    }


def _scores(result: Result, Z: FloatArray) -> list[Json]:
    """Score samples on as many groups as pages have room for, between what nearly all have."""
    groups, n_levels = result.groups, max(len(result.levels), 1)
    first, packed = groups.members[: max(1, MOST_SCORES // (len(Z) * n_levels))], []
    for scored in score_rows(Z, score_weights(first, groups.centrality, groups.signs)).T:
        known = scored[~np.isnan(scored)]  # a few samples would pale the rest
        low, high = np.quantile(known, [0.01, 0.99]) if len(known) else (0.0, 1.0)
        packed.append(pack(scored, float(low), float(high)))
    return packed


def agreement(Z: FloatArray, support: BoolArray, labels: Labels, name: str | None) -> Json | None:
    """Measure how well k-means meets the classes, on all features and on the selected ones.

    Samples without a label are left out: missing is no class. None if nothing is selected.
    """
    if labels is None or not support.any():
        return None
    labelled = np.array([not _is_missing(value) for value in labels])
    Z = np.nan_to_num(Z[labelled])
    classes, codes = _classes(labels[labelled])
    most = MOST_CLASSES if labels.dtype.kind in "iuf" else MOST_COMPARED
    if not 2 <= len(classes) <= most or len(classes) >= len(Z):
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


def summarize_conditions(compared: Any) -> Json:
    """Summarise a ``Comparison`` or ``Curves`` into a dict that json can write."""
    is_number = hasattr(compared, "places")
    conditions = tidy_list(compared.places, 5) if is_number else list(map(str, compared.conditions))
    changes = {name: getattr(compared, f"{name}_change") for name in ("mean", "cohesion")}
    groups = []
    for j, group in enumerate(compared.groups):
        record: Json = {"group": group, "representative": compared.representatives[j]}
        for name in ("cohesion", "mean"):
            for end, values in (("", "value"), ("_low", "low"), ("_high", "high")):
                record[f"{name}{end}"] = tidy_list(getattr(getattr(compared, name), values)[j], 4)
        for name, change in changes.items():
            record[f"{name}_p_value"] = tidy(change.p_values[j], 4)
            record[f"{name}_q_value"] = tidy(change.q_values[j], 4)
            record[f"{name}_changes"] = bool(change.found(compared.alpha)[j])
        if not is_number and len(compared.pairs) == 1:
            for name in ("mean", "cohesion"):
                of = getattr(compared, f"{name}_difference")
                ends = (of.value[j, 0], of.low[j, 0], of.high[j, 0])
                record[f"{name}_difference"] = tidy_list(ends, 4)
        groups.append(record)
    between: Json = {} if is_number else _between_conditions(compared)
    return {
        **between,
        "name": compared.name,
        "is_number": is_number,
        "conditions": conditions,
        "n_samples": tidy_list(compared.n_samples, 4) if is_number else compared.n_samples.tolist(),
        "bandwidth": tidy(compared.bandwidth, 3) if is_number else None,
        "confidence": compared.confidence,
        "alpha": compared.alpha,
        "sentence": _changes_sentence(compared.name, groups, compared.alpha),
        "groups": groups,
    }


def _between_conditions(compared: Any) -> Json:
    """Gather what differs beside the groups themselves: features, and relations of groups."""
    features, relations = compared.features_frame(), compared.relations_frame()
    if len(features):
        features = features[features["is_off"] | (features["state"] != "holds")]
    if len(relations):
        relations = relations[relations["changes"]]
    told = {"features": features[:MOST_DIFFERENT], "relations": relations[:MOST_DIFFERENT]}
    rows = {
        name: [
            {key: tidy(x, 4) if isinstance(x, float) else x for key, x in row.items()}
            for row in frame.astype({"condition": str} if len(frame) else {}).to_dict("records")
        ]
        for name, frame in told.items()
    }
    return {"remarks": compared.remarks, **rows}


def _changes_sentence(name: str, groups: Sequence[Json], alpha: float) -> str:
    told = []
    for what in ("mean", "cohesion"):
        changing = [str(group["group"]) for group in groups if group[f"{what}_changes"]]
        plural = "group" if len(changing) == 1 else "groups"
        few = f" ({plural} {', '.join(changing)})" if 0 < len(changing) <= 5 else ""
        told.append(f"{len(changing) or 'none'} in {what}{few}")
    every = f"Groups that change with {name}, of {count(len(groups), 'group')}"
    return f"{every}: {told[0]}, {told[1]} (false discovery rate {100 * alpha:g} %)."


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


def _label_colours(labels: NDArray[Any], name: str) -> Json:
    classes, codes = _classes(labels)
    if len(classes) > MOST_CLASSES and labels.dtype.kind in "iuf":
        known = np.where(np.isfinite(labels), labels, np.nan)
        return {"kind": "number", "name": name, "values": pack(known)}
    return {"kind": "classes", "name": name, "classes": classes, "codes": codes.tolist()}


def _classes(labels: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Name the classes in their own order, missing ones "missing", and code every sample."""
    texts = [_as_text(value) for value in labels]
    names = sorted(set(texts))
    with suppress(ValueError):  # words keep their alphabetical order
        names.sort(key=float)
    return names, np.array([names.index(text) for text in texts], dtype=np.int64)


def _as_text(value: object) -> str:
    if _is_missing(value):
        return "missing"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(value: object) -> bool:
    # pandas.NA is neither equal nor unequal
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
