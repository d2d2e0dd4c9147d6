"""The contract of a summary: its format, its parts, and reading it back from a result.json.

Needs neither torch nor the selector, so that a page can be rendered again in a moment.
"""

import json
import os
from pathlib import Path
from typing import Any

from groupfs.report.json_numbers import Json
from groupfs.utils.text import join_names

FORMAT, VERSION = "groupfs-result", 6

#: The parts of a summary. Replication, agreement, correlations, image and seed may be null. One
#: part is there only if it was asked for: conditions.
PARTS = (
    "created headline selected how_sure table groups ungrouped features reasons selection "
    "explained replication embedding agreement correlations image "
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
    missing = [part for part in PARTS.split() if part not in summary]
    if missing:
        raise ValueError(
            f"{what} lacks {join_names(missing, 8)}; it was cut or changed, so write it again with "
            "groupfs select."
        )
