"""From a fitted selector and its table to a plain dict: the content of result.json.

The dict is the contract: the page, the csv files and other programs read it and nothing else. Its
parts are written next door: ``found`` (groups, features and why), ``other_budgets`` (what other
budgets would select), ``figure_data`` (arrays behind the figures), ``headline`` and ``sentences``,
``reproduction`` (how to do it again).
"""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.plotting.inputs import check_image, check_labels, read_some_rows
from groupfs.report import figure_data
from groupfs.report.conditions import summarize_conditions
from groupfs.report.found import describe_found
from groupfs.report.headline import headline, selected_sentence
from groupfs.report.json_numbers import Json, pack, tidy, tidy_list
from groupfs.report.reproduction import reproduction
from groupfs.report.schema import FORMAT, VERSION
from groupfs.report.sentences import how_sure, sentences
from groupfs.selection.ungrouped import ungrouped_features
from groupfs.utils.fitted_selector import FittedSelector

#: Epochs the course of training is drawn at, at most.
MOST_EPOCHS = 160


def summarize(
    selector: FittedSelector,
    X: Any,
    *,
    feature_names: Sequence[object] | None = None,
    labels: ArrayLike | None = None,
    label_name: str | None = None,
    conditions: Any = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "F",
    source: str | None = None,
    notes: Sequence[str] = (),
) -> Json:
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
        Name of the labels.
    conditions : Comparison, Curves or None
        What :func:`groupfs.conditions.compare` or :func:`groupfs.conditions.curves` has found.
    image_shape : (height, width) or None
        For tables whose columns are the pixels of an image.
    image_order : {"F", "C"}, default="F"
        Whether pixels run down the columns of the image, as in ``fetch_dataset``, or along its
        rows.
    source : str or None
        Name of the file the table came from.
    notes : sequence of str
        Sentences on what was done to the columns before.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import summarize
    >>> moons = load_two_moons(200, random_state=0)
    >>> selector = GroupFS(random_state=0).fit(moons.data)
    >>> summary = summarize(selector, moons.data, labels=moons.target, label_name="moon")
    >>> summary["groups"][0]["size"], summary["selection"]["n_features"]
    (5, 10)
    """
    found = describe_found(selector, feature_names)
    names, budgets = found["features"]["name"], found["selection"]
    if image_order not in ("F", "C"):
        raise ValueError(f'image_order={image_order!r} must be "F" (down the columns) or "C".')
    if image_shape is not None:
        check_image(image_shape, len(names))
    Z, n_samples, rows = read_some_rows(selector, X)
    labels = None if labels is None else check_labels(labels, n_samples)[rows]
    ungrouped = ungrouped_features(selector)
    summary: Json = {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "table": {
            "source": source,
            "n_samples": n_samples,
            "n_features": len(names),
            "in_no_group": ungrouped.counts,
            "notes": [str(note) for note in notes],
        },
        **found,
        "replication": _replication(selector),
        "training": _training(selector),
        "path": _path(selector),
        "stability": _stability(selector),
        "embedding": figure_data.embeddings(selector, Z, budgets, labels, label_name),
        "agreement": figure_data.agreement(Z, selector.get_support(), labels, label_name),
        "correlations": figure_data.correlations(selector, Z),
        "image": figure_data.image(X, image_shape, image_order),
        **reproduction(selector, source, notes),
    }
    if conditions is not None:
        summary["conditions"] = summarize_conditions(conditions)
    summary["headline"] = headline(selector, summary)
    summary["selected"] = selected_sentence(selector, summary)
    summary["how_sure"] = how_sure(selector, summary, ungrouped.sentence)
    summary["sentences"] = sentences(selector, summary, ungrouped.sentence)
    return summary


def _replication(selector: FittedSelector) -> Json | None:
    """Take how far halves of the rows agree, for every number of groups."""
    found = selector.replication_
    if found is None:
        return None
    return {
        "n_groups": found.n_groups.tolist(),
        "agreement": tidy_list(found.agreement, 3),
        "information": tidy_list(found.information, 3),
        "best": found.best,
        "others": found.others,
    }


def _training(selector: FittedSelector) -> Json | None:
    """Take loss and gates at some epochs, the first and the last among them."""
    history = selector.history_
    if not history:
        return None
    most = max(20, min(MOST_EPOCHS, 60_000 // selector.n_groups_))
    epochs = np.unique(np.linspace(0, len(history) - 1, most).round().astype(int))
    return {
        "epochs": (epochs + 1).tolist(),
        "loss": tidy_list([history[e]["loss"] for e in epochs], 5),
        "gates": pack(np.array([history[e]["gates"] for e in epochs])),
    }


def _path(selector: FittedSelector) -> Json | None:
    path = getattr(selector, "path_", None)
    if path is None:
        return None
    seed, chosen = path.chosen
    return {
        "sparsities": tidy_list(path.sparsities, 4),
        "gates": pack(np.clip(path.gates[seed], 0, 1)),
        "gain": tidy_list(path.gain[seed], 4),
        "closing_sparsity": tidy_list(path.closing_sparsity, 4),
        "chosen": int(chosen),
    }


def _stability(selector: FittedSelector) -> Json | None:
    stability = getattr(selector, "stability_", None)
    if stability is None:
        return None
    n_resamples = len(stability.selected)
    return {
        "n_resamples": n_resamples,
        "selection_frequency": tidy_list(stability.selection_frequency, 3),
        "kuncheva": tidy(stability.kuncheva, 3) if n_resamples > 1 else None,
    }
