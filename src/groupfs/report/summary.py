"""Summarise a fitted selector and its table into a plain dict: the content of result.json.

The dict is the contract: the page, the csv files and other programs read it and nothing else. What
was found comes from :class:`groupfs.result.Result`; the other parts are written next door:
``figure_data`` (what figures and the slider show) and ``sentences``.
"""

import datetime
import platform
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.report.schema import FORMAT, VERSION, Json, differences, tidy, tidy_list
from groupfs.report.sentences import headline, how_sure, selected_sentence, sentences
from groupfs.result import Result
from groupfs.utils.packages import installed_version
from groupfs.utils.text import STEPS
from groupfs.utils.types import FloatArray, IntArray

#: Numbers that a fit chooses; all but the first are of the joint method.
LEARNED = (
    *("n_groups_", "critical_sparsity_weight_", "sparsity_weight_", "smoothness_weight_"),
    *("n_iter_", "loss_", "gain_"),
)
#: Packages that results depend on.
PACKAGES = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
#: Longest text of a parameter that is written out.
LONGEST = 200


def summarize(
    selector: Any,
    X: Any,
    *,
    feature_names: Sequence[object] | None = None,
    labels: ArrayLike | None = None,
    label_name: str | None = None,
    conditions: Any = None,
    growth: Any = None,
    source: str | None = None,
    notes: Sequence[str] = (),
    wording: Mapping[str, str] | None = None,
) -> Json:
    """Summarise what a fitted selector found into a dict that json can write.

    Parameters
    ----------
    selector : fitted FeatureGroups, GroupFS or GroupFSPath
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
    growth : RowsNeeded or None
        What ``selector.rows_needed`` has found.
    source : str or None
        Name of the file the table came from.
    notes : sequence of str
        Sentences on what was done to the columns before.
    wording : mapping or None
        What features say, by name, such as the questions of a survey.

    Examples
    --------
    >>> from groupfs import FeatureGroups
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import groups_table, render, summarize
    >>> moons = load_two_moons(200, random_state=0)
    >>> selector = FeatureGroups(random_state=0).fit(moons.data)
    >>> summary = summarize(selector, moons.data, labels=moons.target, label_name="moon")
    >>> summary["groups"][0]["size"], summary["selection"]["n_features"]
    (5, 4)
    >>> groups_table(summary)[0]["group"], render(summary)[:15]
    (1, '<!doctype html>')
    """
    from groupfs.plotting.correlations import read_some_rows  # needs scipy, and pages do not
    from groupfs.report import figure_data

    result = Result.of(selector, feature_names, wording)
    Z, n_samples, rows = read_some_rows(selector, X)
    if labels is not None:
        labels = np.asarray(labels)
        if labels.shape != (n_samples,):
            raise ValueError(
                f"labels has shape {labels.shape} but X has {n_samples} samples; give one label "
                "per sample."
            )
        labels = labels[rows]
    samples = Z, n_samples, labels, label_name
    shown = _of_level(selector, result, samples)
    summary: Json = {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        **shown,
        "table": {
            "source": source,
            "n_samples": n_samples,
            "n_features": len(result.names),
            **shown["table"],
            "notes": [str(note) for note in notes],
        },
        "levels": _levels(result),
        "views": [],
        **_reproduction(selector, source),
    }
    for level in result.levels if len(result.levels) > 1 else []:
        with warnings.catch_warnings(action="ignore"):  # the fit has warned, of the level it shows
            other = selector.at_level(level.n_groups)
        view = _of_level(other, Result.of(other, feature_names, wording), samples)
        summary["views"].append(differences(view, summary))
    if conditions is not None:
        summary["conditions"] = figure_data.summarize_conditions(conditions)
    if growth is not None:
        frames = {"levels": growth.levels_frame(), "groups": growth.to_frame()}
        summary["growth"] = {
            "n_rows": growth.n_rows,
            "sentences": growth.sentences,
            **{
                name: [_finite(row) for row in of.to_dict("records")] for name, of in frames.items()
            },
        }
    return summary


def _finite(row: Json) -> Json:
    """Round the numbers of a row; infinite ones are null."""
    return {name: tidy(x, 4) if isinstance(x, float) else x for name, x in row.items()}


def summarize_check(checked: Any, source: str | None = None) -> Json:
    """Summarise what became of the groups in other rows, for ``summary["check"]``.

    ``checked`` is what ``selector.check`` gives, ``source`` names the file of the rows.
    """
    rows = []
    for of in checked.groups:
        row = _finite(of.to_row())
        figures = () if of.now is None else (of.now.loadings_before, of.now.loadings)
        points = [[round(float(x), 3) for x in figure] for figure in figures]
        states = [] if of.now is None else [str(state) for state in of.now.states]
        rows.append(row | {"broken": of.broken_words, "points": points, "states": states})
    return {"source": source, "sentence": checked.sentence, "notes": checked.notes, "groups": rows}


def _of_level(selector: Any, result: Result, samples: tuple[FloatArray, int, Any, Any]) -> Json:
    """Gather what differs by level; of samples there are some rows, the number, labels and name."""
    from groupfs.report import figure_data

    asked, (Z, n_samples, labels, label_name) = result.selection.asked, samples
    texts = {text: i for i, text in enumerate(dict.fromkeys(result.reasons + result.places))}
    return {
        "level": result.level,
        "levels_sentence": result.levels_sentence,
        "headline": headline(result),
        "selected": selected_sentence(result),
        "how_sure": how_sure(result),
        "sentences": sentences(result, n_samples),
        "table": {"in_no_group": {kind: len(of) for kind, of in result.in_no_group.items()}},
        "groups": _groups(result),
        "ungrouped": {kind: of.tolist() for kind, of in result.in_no_group.items()},
        "features": {
            **_features(result),
            "reason": [texts[text] for text in result.reasons],
            "place": [texts[text] for text in result.places],
        },
        "texts": list(texts),
        "selection": {
            "n_features": int(result.support.sum()),
            "n_groups": int(result.kept.sum()),
            "output": asked.output,
            "budget": asked.n_features,
            "n_groups_asked": asked.n_groups,
            "limit": result.limit,
        },
        "explained": {
            "sentence": result.explained_sentence,
            "what": result.explained_words,
            "n_related": result.n_related,
            "n_enough": result.n_enough,
            "n_selected": result.n_first,
            "order": result.order.tolist(),
            "stops": figure_data.stops(result),
            "share": [step / STEPS for step in result.steps],
            "held_out": None if result.held_out is None else tidy_list(result.held_out, 5),
        },
        "scales": _scales(result),
        "embedding": figure_data.embeddings(Z, result, labels, label_name),
        "agreement": figure_data.agreement(Z, result.support, labels, label_name),
        "correlations": figure_data.correlations(selector, Z),
    }


def _scales(result: Result) -> Json | None:
    """Gather loadings of features on all groups, and correlations of the groups; None if many."""
    if not result.tells_all_pairs:
        return None
    names = ("correlations", "disattenuated", "loadings")
    tables = {name: getattr(result.scales, name).round(4) for name in names}
    return {name: [tidy_list(row, 4) for row in table] for name, table in tables.items()}


def _levels(result: Result) -> list[Json]:
    return [
        {
            "n_groups": level.n_groups,
            "agreement": tidy(level.agreement, 6),
            "parent": level.parent.tolist(),
            "split": None if level.split is None else tidy_list(level.split, 6),
            "group": _places(level.labels),
        }
        for level in result.levels
    ]


def _places(of: IntArray) -> list[int | None]:
    return [None if j < 0 else j for j in of.tolist()]


def _features(result: Result) -> Json:
    groups, (second, strength) = result.groups, result.second
    twins = np.full(len(second), -1) if result.duplicate_of is None else result.duplicate_of
    return {
        "name": result.names,
        "wording": result.wording,
        "group": _places(groups.labels),
        "rank": [rank or None for rank in groups.ranks.tolist()],
        "centrality": tidy_list(groups.centrality.round(4), 4),
        "sign": groups.signs.tolist(),
        "item_rest": tidy_list(result.scales.item_rest.round(4), 4),
        "verdict": result.verdicts,
        "stability": tidy_list(result.stability, 6),
        "second": _places(second),
        "second_strength": tidy_list(strength.round(4), 4),
        "duplicate_of": _places(twins),
        "n_values": None if result.n_values is None else result.n_values.astype(int).tolist(),
        "relatedness_p_adjusted": tidy_list(result.relatedness_p_adjusted, 3),
        "selected": result.support.astype(int).tolist(),
        "why": result.selection.why.tolist(),
    }


def _groups(result: Result) -> list[Json]:
    groups, figures = result.groups, result.figures
    return [
        {
            "rank": j + 1,
            "name": f"group {j + 1}" if groups.names is None else groups.names[j],
            "title": groups.title(j),
            "is_given": groups.names is not None,
            "size": len(members),
            **{name: tidy(of[j], 6) for name, of in result.scale_figures.items()},
            "smoothness": tidy(groups.smoothness[j], 6),
            "p_adjusted": tidy(figures["p_adjusted"][j], 4),
            "replication": tidy(figures["replication"][j], 6),
            "gate": None if groups.gates is None else tidy(groups.gates[j], 3),
            "kept": bool(result.kept[j]),
            "n_selected": int(result.n_selected_of[j]),
            "why": result.group_reasons[j],
            "representative": int(groups.representatives[j]),
            "representative_name": result.names[groups.representatives[j]],
            "features": members.tolist(),
        }
        for j, members in enumerate(groups.members)
    ]


def _reproduction(selector: Any, source: str | None) -> Json:
    """Gather what it takes to do it again: settings, versions, seed and three lines of code."""
    given, seed = selector.get_params(deep=False), selector.random_state
    defaults = type(selector)().get_params(deep=False)
    changed = [name for name, value in given.items() if repr(value) != repr(defaults[name])]
    arrays = (np.ndarray, np.generic)
    settings = {name: v.tolist() if isinstance(v, arrays) else v for name, v in given.items()}
    arguments = ", ".join(f"{name}={_as_python(name, settings[name])}" for name in changed)
    what = f"the table in {source}" if source else "your table"
    return {
        "estimator": type(selector).__name__,
        "settings": {name: _as_json(value) for name, value in settings.items()},
        "changed": changed,
        "learned": {
            name: tidy(getattr(selector, name), 5) for name in LEARNED if hasattr(selector, name)
        },
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "versions": {
            "python": platform.python_version(),
            **{name: found for name in PACKAGES if (found := installed_version(name))},
        },
        "code": [
            "import groupfs",
            f"X = ...  # {' '.join(what.split())}",
            f"selector = groupfs.{type(selector).__name__}({arguments}).fit(X)",
        ],
    }


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _as_python(name: str, value: Any) -> str:
    """Write a parameter as Python; what is too long for a line, by its name."""
    is_plain = isinstance(value, bool | int | float | str | list | tuple | dict)
    text = repr(value if is_plain else str(value))
    return name if (name == "random_state" and not is_plain) or len(text) > LONGEST else text
