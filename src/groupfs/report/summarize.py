"""From a fitted selector and its table to a plain dict: the content of result.json.

The dict is the contract: the page, the csv files and other programs read it and nothing else. Its
parts are written next door: ``budgets`` (what other budgets would select), ``pictures`` (arrays
behind the figures), ``words`` (sentences and reasons).
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_rows
from groupfs.models.all_groups import OPEN
from groupfs.report import figure_data as pictures
from groupfs.report import other_budgets as budgets
from groupfs.report import sentences as words
from groupfs.report.json_numbers import pack, tidy, tidy_list
from groupfs.selection.keep import discoveries

FORMAT, VERSION = "groupfs-result", 1
#: Rows that pictures are drawn from, at most, and numbers that these rows may hold.
MOST_ROWS, MOST_NUMBERS = 1500, 30_000_000
#: Epochs the course of training is shown at, at most.
MOST_EPOCHS = 160


def summarize(
    selector: Any,
    X: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    labels: ArrayLike | None = None,
    label_name: str | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "F",
    source: str | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Summarise what a fitted selector found into a dict that json can write.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
        The table it was fitted on.
    feature_names : sequence or None
        Names of the columns; None takes those the selector saw, or x0, x1, ...
    labels : array-like of shape (n_samples,) or None
        A label for every sample, for colours and to report agreement; the selection is not touched.
    label_name : str or None
        What the labels are called.
    image_shape : (height, width) or None
        For tables whose columns are the pixels of an image.
    image_order : {"F", "C"}, default="F"
        Whether pixels run down the columns of the image, as in ``fetch_dataset``, or along its
        rows.
    source : str or None
        Name of the file the table came from.
    notes : sequence of str
        Sentences on what was done to the columns before.

    Returns
    -------
    summary : dict
        Lists, numbers, strings and None only; ``summary["format"]`` is "groupfs-result".

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import summarize
    >>> moons = load_two_moons(200, random_state=0)
    >>> selector = GroupFS(n_groups=12, random_state=0).fit(moons.data)
    >>> summary = summarize(selector, moons.data, labels=moons.target, label_name="moon")
    >>> summary["groups"][0]["size"], summary["selection"]["n_features"]
    (5, 10)
    """
    check_is_fitted(selector)
    names = _names(selector, feature_names)
    _check_image(image_shape, image_order, len(names))
    most_rows = min(MOST_ROWS, max(100, MOST_NUMBERS // len(names)))
    Z, n_samples, rows = read_rows(selector, X, most_rows)
    labels = _checked_labels(labels, n_samples)
    places = budgets.places_in_groups(selector)
    groups = _groups(selector, names)
    reasons, reason_of = words.reasons(selector, groups)
    support = selector.get_support()
    others = budgets.other_budgets(selector, places)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "table": {
            "source": source,
            "n_samples": n_samples,
            "n_features": len(names),
            "n_constant": int((selector.group_labels_ < 0).sum()),
            "notes": [str(note) for note in notes],
        },
        "groups": groups,
        "features": {
            "name": names,
            "group": [None if g < 0 else int(g) for g in selector.group_labels_],
            "rank": [int(place) or None for place in places],
            "centrality": tidy_list(selector.centrality_, 4),
            "score": tidy_list(selector.feature_scores_, 4),
            "kept": [int(kept) for kept in support],
            "reason": reason_of,
        },
        "reasons": reasons,
        "selection": {
            "n_features": int(support.sum()),
            "n_groups": int(selector.group_selected_.sum()),
            "output": selector.output,
            **others,
        },
        "training": _training(selector),
        "path": _path(selector),
        "stability": _stability(selector),
        "embedding": pictures.embeddings(selector, Z, others, _taken(labels, rows), label_name),
        "agreement": pictures.agreement(Z, support, _taken(labels, rows), label_name),
        "affinity": pictures.affinity(selector, Z, places),
        "correlations": pictures.correlations(selector, Z, places),
        "image": pictures.image(X, image_shape, image_order),
        **_circumstances(selector, source, notes),
    }
    summary["sentences"] = words.sentences(selector, summary)
    return summary


def _names(selector: Any, given: Sequence[Any] | None) -> list[str]:
    d = selector.n_features_in_
    if given is None:
        given = getattr(selector, "feature_names_in_", None)
    names = [f"x{i}" for i in range(d)] if given is None else [_utf8(name) for name in given]
    if len(names) != d:
        raise ValueError(
            f"feature_names has {len(names)} names, but the selector was fitted on {d} features; "
            "give one name per column."
        )
    return names


def _utf8(name: Any) -> str:
    """A name that a file can hold: half characters from misread files are replaced."""
    return str(name).encode("utf-8", "replace").decode("utf-8")


def _check_image(shape: tuple[int, int] | None, order: str, n_features: int) -> None:
    if order not in ("F", "C"):
        raise ValueError(f'image_order={order!r} must be "F" (down the columns) or "C".')
    if shape is not None and (len(shape) != 2 or shape[0] * shape[1] != n_features):
        raise ValueError(
            f"image_shape={tuple(shape)} does not fit a table of {n_features} features; height "
            "times width must be their number."
        )


def _checked_labels(labels: ArrayLike | None, n_samples: int) -> NDArray[Any] | None:
    if labels is None:
        return None
    values = np.asarray(labels)
    if values.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {values.shape}, but X has {n_samples} samples; give one label each."
        )
    return values


def _taken(labels: NDArray[Any] | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    return None if labels is None else labels[rows]


def _groups(selector: Any, names: list[str]) -> list[dict[str, Any]]:
    """Every group as a record, most important first."""
    p_values = selector.group_pvalues_
    stands_out = None if p_values is None else discoveries(p_values, selector.alpha)
    given = getattr(selector, "group_names_", None)
    support = selector.get_support()
    return [
        {
            "rank": j + 1,
            "name": f"group {j + 1}" if given is None else _utf8(given[j]),
            "title": f"group {j + 1}" if given is None else f'group "{_utf8(given[j])}"',
            "is_given": given is not None,
            "size": len(group),
            "score": tidy(selector.group_scores_[j], 6),
            "p_value": None if p_values is None else tidy(p_values[j], 4),
            "stands_out": None if stands_out is None else bool(stands_out[j]),
            "gate": tidy(selector.group_gates_[j], 3),
            "open": bool(selector.group_gates_[j] > OPEN),
            "kept": bool(selector.group_selected_[j]),
            "n_kept": int(support[group].sum()),
            "representative": int(selector.representatives_[j]),
            "representative_name": names[selector.representatives_[j]],
            "features": group.tolist(),
        }
        for j, group in enumerate(selector.groups_)
    ]


def _training(selector: Any) -> dict[str, Any]:
    """Loss and gates at some epochs, the first and the last among them."""
    history = selector.history_
    most = max(20, min(MOST_EPOCHS, 60_000 // selector.n_groups_))
    shown = np.unique(np.linspace(0, len(history) - 1, most).round().astype(int))
    return {
        "epochs": (shown + 1).tolist(),
        "loss": tidy_list([history[e]["loss"] for e in shown], 5),
        "gates": pack(np.array([history[e]["gates"] for e in shown])),
    }


def _path(selector: Any) -> dict[str, Any] | None:
    path = getattr(selector, "path_", None)
    if path is None:
        return None
    seed, place = path.chosen
    return {
        "sparsities": tidy_list(path.sparsities, 4),
        "gates": pack(np.clip(path.gates[seed], 0, 1)),
        "gain": tidy_list(path.gain[seed], 4),
        "closing_sparsity": tidy_list(path.closing_sparsity, 4),
        "chosen": int(place),
    }


def _stability(selector: Any) -> dict[str, Any] | None:
    stability = getattr(selector, "stability_", None)
    if stability is None:
        return None
    several = len(stability.selected) > 1
    return {
        "n_resamples": len(stability.selected),
        "selection_frequency": tidy_list(stability.selection_frequency, 3),
        "kuncheva": tidy(stability.kuncheva, 3) if several else None,
    }


def _circumstances(selector: Any, source: str | None, notes: Sequence[str]) -> dict[str, Any]:
    """What someone needs who wants to do it again."""
    seed = selector.random_state
    learned = ("critical_sparsity_weight_", "sparsity_weight_", "smoothness_weight_")
    return {
        "estimator": type(selector).__name__,
        "settings": words.settings(selector),
        "changed": sorted(words.changed(selector)),
        "learned": {
            **{name: tidy(getattr(selector, name), 5) for name in learned},
            "n_groups_": int(selector.n_groups_),
            "n_iter_": int(selector.n_iter_),
            "loss_": tidy(selector.loss_, 5),
            "gain_": tidy(selector.gain_, 5),
        },
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "versions": {
            "python": platform.python_version(),
            **{
                name: _version(name)
                for name in ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
            },
        },
        "code": words.code(selector, source, notes),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"
