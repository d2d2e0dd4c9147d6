"""The contract of a summary: its format, its parts, and reading it back from a result.json.

Needs neither torch nor the selector, so that a page can be rendered again in a moment.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from groupfs.report.json_numbers import Json
from groupfs.utils.text import join_names, one_line

FORMAT, VERSION = "groupfs-result", 1
#: Side of the affinity map in cells, at most; it shows no more groups than this.
MOST_CELLS = 240

#: The parts of a summary, and what they hold where the page or the csv files take it by name.
_PARTS = {
    "table": "source n_samples n_features n_constant notes",
    "groups": "rank name title is_given size score p_value gate open n_kept representative "
    "representative_name",
    "features": "name group rank centrality kept reason",
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
    "versions": "groupfs",
}
#: Parts that are taken as they are.
_WHOLE = "reasons created estimator settings changed learned seed code sentences"
#: Parts that are null where there is nothing to tell.
_OPTIONAL = ("path", "stability", "agreement", "image", "seed")


def read(path: str | os.PathLike[str]) -> Json:
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
        raise ValueError(
            f"{path} is not json ({one_line(str(error))}); give the result.json that groupfs "
            "select wrote."
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
    missing = [name for part in [*_PARTS, *_WHOLE.split()] for name in _missing(summary, part)]
    if missing:
        raise ValueError(
            f"{what} lacks {join_names(missing, 8)}; it was cut or changed, so write it again with "
            "groupfs select."
        )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}")


def _missing(summary: Json, part: str) -> list[str]:
    """List what of a part is not there: the part by its name, or the fields it lacks."""
    if summary.get(part) is None:
        return [] if part in summary and part in _OPTIONAL else [part]
    records = summary[part] if isinstance(summary[part], list) else [summary[part]]
    wanted = _PARTS.get(part, "").split()
    if wanted and not (records and all(isinstance(record, dict) for record in records)):
        return [part]
    return [f"{part}.{name}" for name in wanted if any(name not in record for record in records)]
