"""The contract of a summary: its format, its parts, its numbers, and reading it from a result.json.

Numbers are rounded, or bytes in base64 where a picture needs no digits. A summary speaks of one
level of groups; ``views`` holds, for every level, the parts that differ there. Needs neither scipy
nor the selector, so that a page can be rendered again in a moment.
"""

import base64
import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray

#: What json can write: a summary, or one of its parts.
Json = dict[str, Any]

FORMAT, VERSION = "groupfs-result", 8

#: The parts of a summary; some may be null, and conditions are there only if asked for.
PARTS = (
    "created level levels levels_sentence views headline selected how_sure table groups ungrouped "
    "features texts selection explained scales embedding agreement correlations "
    "estimator settings changed learned seed versions code sentences"
)


def read(path: str | os.PathLike[str]) -> Json:
    """Read a result.json and check that it is one.

    Examples
    --------
    >>> from groupfs.report import read, render
    >>> page = render(read("result.json"))  # doctest: +SKIP
    """
    try:
        summary = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path} is not json ({error}); give the result.json that groupfs select wrote."
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
    if missing := [part for part in PARTS.split() if part not in summary]:
        raise ValueError(
            f"{what} lacks {join_names(missing, 8)}; it was cut or changed, so write it again with "
            "groupfs select."
        )


def tidy(value: float | None, digits: int) -> float | None:
    """Round to so many significant digits; give None for what is not known or not finite."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def tidy_list(values: Iterable[float], digits: int) -> list[float | None]:
    return [tidy(float(value), digits) for value in values]


def pack(
    values: FloatArray, low: float | None = None, high: float | None = None, bits: int = 8
) -> Json:
    """Write an array as unsigned integers between ``low`` and ``high``, little-endian, in base64.

    ``gaps`` are the places of NaN, where there are any.

    >>> pack(np.array([[0.0, 0.5], [1.0, 0.25]]))
    {'shape': [2, 2], 'low': 0.0, 'high': 1.0, 'bits': 8, 'data': 'AID/QA=='}
    """
    low = float(np.nanmin(values)) if low is None else low
    high = float(np.nanmax(values)) if high is None else high
    scaled = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * (2**bits - 1)
    data = np.round(np.nan_to_num(scaled)).astype("<u2" if bits == 16 else "u1").tobytes()
    gaps = np.flatnonzero(np.isnan(values)).tolist()
    return {
        "shape": list(values.shape),
        "low": float(f"{low:.6g}"),
        "high": float(f"{high:.6g}"),
        "bits": bits,
        "data": base64.b64encode(data).decode("ascii"),
        **({"gaps": gaps} if gaps else {}),
    }


def differences(other: Json, base: Json) -> Json:
    """Return the parts that another dict has otherwise; of parts that are dicts, their own.

    >>> differences({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"x": 1, "y": 5}, "b": 3})
    {'a': {'y': 2}}
    """
    found: Json = {}
    for name, part in other.items():
        own = base.get(name)
        if isinstance(part, dict) and isinstance(own, dict):
            if new := {key: of for key, of in part.items() if of != own.get(key)}:
                found[name] = new
        elif part != own:
            found[name] = part
    return found


def at_level(summary: Json, place: int) -> Json:
    """Return the summary that speaks of one level alone, by its place in ``levels``."""
    merged = {**summary, "views": []}
    for name, part in summary["views"][place].items():
        own = summary[name]
        both = isinstance(part, dict) and isinstance(own, dict)
        merged[name] = {**own, **part} if both else part
    return merged


def all_levels(summary: Json) -> list[Json]:
    """Return a summary for every level; the one alone where there is one."""
    return [at_level(summary, place) for place in range(len(summary["views"]))] or [summary]


def selected_first(features: Json, members: Sequence[int]) -> list[int]:
    """Order the features of a group: its representative, the selected ones, all others."""
    ranks, selected = features["rank"], features["selected"]
    return sorted(members, key=lambda i: (ranks[i] > 1 and not selected[i], ranks[i]))


def tree(levels: Sequence[Json], cards: Sequence[Sequence[Json]]) -> list[Json]:
    """Nest the groups of every level in those of the level before; none for a single level.

    ``cards`` are the groups of every level that a page shows. The split that made a group is told
    where its parent was divided, and of the broadest level the agreement says it.
    """

    def nodes(level: int, parent: int | None) -> list[Json]:
        if level == len(cards):
            return []
        of, found = levels[level], [(card["group"]["rank"] - 1, card) for card in cards[level]]
        inside = [(j, card) for j, card in found if parent is None or of["parent"][j] == parent]
        is_told = of["split"] is not None and parent is not None and len(inside) > 1
        split = of["split"] if is_told else [None] * of["n_groups"]
        return [
            {**card, "level": level, "split": split[j], "inside": nodes(level + 1, j)}
            for j, card in inside
        ]

    return nodes(0, None) if len(cards) > 1 else []
