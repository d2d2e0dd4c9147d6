"""The rows of groups.csv and selected.csv, and the way back from result.json to a summary."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from groupfs.report.summarize import FORMAT, VERSION
from groupfs.utils.text import one_line

#: The parts of a summary, and what they hold where the page or the csv files take it by name.
_PARTS: dict[str, str] = {
    "table": "source n_samples n_features n_constant notes",
    "groups": "rank name title is_given size score p_value gate open n_kept representative "
    "representative_name",
    "features": "name group rank centrality kept reason",
    "reasons": "",
    "selection": "n_features n_groups output levels order",
    "training": "epochs loss gates",
    "path": "sparsities gates gain chosen",
    "stability": "n_resamples selection_frequency kuncheva",
    "embedding": "n_points before fitted by_features by_groups colours",
    "agreement": "name n_samples n_classes largest_class accuracy_all accuracy_selected "
    "adjusted_rand_all adjusted_rand_selected",
    "affinity": "cells cells_per_group features n_features",
    "correlations": "features values",
    "image": "height width order mean",
    "created": "",
    "estimator": "",
    "settings": "",
    "changed": "",
    "learned": "",
    "seed": "",
    "versions": "groupfs",
    "code": "",
    "sentences": "",
}
#: Parts that are null where there is nothing to tell.
_OPTIONAL = ("path", "stability", "agreement", "image", "seed")


def groups_table(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Every feature with its group and whether and why it was kept, most important group first.

    ``rank`` is the feature's place in its group by centrality; ``score`` and ``p_value`` are the
    group's. Constant columns come last and have no group.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import groups_table, summarize
    >>> X = load_two_moons(200, random_state=0).data
    >>> summary = summarize(GroupFS(n_groups=12, random_state=0).fit(X), X)
    >>> row = groups_table(summary)[0]
    >>> row["group"], row["rank"], row["kept"]
    (1, 1, True)
    """
    features = summary["features"]
    rows = []
    for i in _in_order(features):
        number = features["group"][i]
        group = {} if number is None else summary["groups"][number]
        rows.append(
            {
                "feature": features["name"][i],
                "group": _called(group),
                "rank": features["rank"][i],
                "score": group.get("score"),
                "p_value": group.get("p_value"),
                "centrality": features["centrality"][i] if group else None,
                "kept": bool(features["kept"][i]),
                "reason": summary["reasons"][features["reason"][i]],
            }
        )
    return rows


def selected_table(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The selected features alone, in the order of :func:`groups_table`.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import selected_table, summarize
    >>> X = load_two_moons(200, random_state=0).data
    >>> summary = summarize(GroupFS(n_groups=12, random_state=0).fit(X), X)
    >>> len(selected_table(summary))
    10
    """
    shown = ("feature", "group", "rank", "score", "p_value", "centrality")
    return [{name: row[name] for name in shown} for row in groups_table(summary) if row["kept"]]


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a result.json and check that it is one.

    Examples
    --------
    >>> from groupfs.report import read, render
    >>> page = render(read("result.json"))  # doctest: +SKIP
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        summary = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = one_line(str(error))
        raise ValueError(
            f"{path} is not json ({why}); give the result.json that groupfs select wrote."
        ) from error
    check(summary, str(path))
    return summary


def check(summary: Any, what: str) -> None:
    """Refuse what is not a summary of the version this code writes."""
    if not isinstance(summary, dict) or summary.get("format") != FORMAT:
        raise ValueError(
            f'{what} has no "format": "{FORMAT}"; give the result.json that groupfs select wrote.'
        )
    if summary.get("version") != VERSION:
        raise ValueError(
            f"{what} has version {summary.get('version')!r:.100}, but this groupfs reads version "
            f"{VERSION}; write it again with groupfs select."
        )
    missing = [name for part in _PARTS for name in _missing(summary, part)]
    if missing:
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise ValueError(
            f"{what} lacks {', '.join(missing[:8])}{more}; it was cut or changed, so write "
            "it again with groupfs select."
        )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}")


def _missing(summary: dict[str, Any], part: str) -> list[str]:
    """What of a part is not there: the part by its name, or what it lacks."""
    if part not in summary:
        return [part]
    value = summary[part]
    if value is None:
        return [] if part in _OPTIONAL else [part]
    wanted = _PARTS[part].split()
    if not wanted:
        return []
    records = value if isinstance(value, list) else [value]
    if not records or not all(isinstance(record, dict) for record in records):
        return [part]
    return [f"{part}.{name}" for name in wanted if any(name not in record for record in records)]


def _in_order(features: dict[str, Any]) -> list[int]:
    """Features by group and place; those without a group last."""
    group, rank = features["group"], features["rank"]
    last = len(group)
    return sorted(
        range(len(group)),
        key=lambda i: (last if group[i] is None else group[i], rank[i] or 0, i),
    )


def _called(group: dict[str, Any]) -> int | str | None:
    """The number of a group that was found, the name of one that was given."""
    if not group:
        return None
    called: int | str = group["name"] if group["is_given"] else group["rank"]
    return called
