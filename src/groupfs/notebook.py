"""Show selectors in notebooks: scikit-learn's diagram, and the groups once there are any."""

import copy
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from groupfs.result import Result
from groupfs.utils.text import join_names, shorten, write_p
from groupfs.utils.types import IntArray

#: Rows that are seen at once; the others unfold.
MOST_ROWS = 12
#: Features that are named of each group, most central first.
MOST_NAMES = 3
LONGEST_NAME = 24

STYLE = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")


class NotebookRepr(BaseEstimator):
    """The HTML that notebooks show of a selector."""

    metric: Any

    def _html_repr(self) -> str:
        """Draw scikit-learn's diagram, and below it the groups.

        No groups before a fit, nor while parameters contradict each other.
        """
        groups = groups_html(Result.of(self)) if hasattr(self, "group_kept_") else ""
        return str(super()._html_repr()) + groups

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        drawn = self
        if issparse(getattr(self, "metric", None)):  # scipy refuses to compare it with the default
            drawn = copy.copy(self)
            drawn.metric = repr(self.metric)
        return super(NotebookRepr, drawn)._get_params_html(*args, **kwargs)


def groups_html(result: Result) -> str:
    """Write the groups as a table, the levels as nested lists, and the rest as sentences.

    Everything is in the text itself; nothing is loaded from anywhere. Names are escaped.
    """
    lines = [result.levels_sentence, f"{result.kept_sentence}.", result.explained_sentence]
    lines += [result.in_no_group_sentence, _verdicts(result)]
    body = "".join(f"<div>{escape(line)}</div>" for line in lines if line)
    rows = [_row(result, j) for j in range(len(result.groups))]
    if rows:
        body += _table(rows[:MOST_ROWS])
    if more := rows[MOST_ROWS:]:
        body += f"<details><summary>{len(more)} more groups</summary>{_table(more)}</details>"
    if len(result.levels) > 1:
        body += f"<details><summary>Groups within groups</summary>{_nested(result)}</details>"
    return f'<style>{STYLE}</style><div class="groupfs-groups">{body}</div>'


def _verdicts(result: Result) -> str | None:
    """Count the features that are no plain members: ``3 between two, 10 alone``."""
    counts = Counter(verdict for verdict in result.verdicts if verdict != "member")
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in counts.most_common())
    told = told.replace("duplicate of", "duplicate of another")
    return f"Not plain members: {told}." if told else None


def _nested(result: Result, depth: int = 0, parent: int = -1) -> str:
    """List the groups of a level that lie in one of the level before, and below each its parts."""
    if depth == len(result.levels):
        return ""
    level, items = result.levels[depth], ""
    for j in np.flatnonzero(level.parent == parent).tolist():
        members = np.flatnonzero(level.labels == j)
        central = members[np.argsort(-result.groups.centrality[members], kind="stable")]
        names = escape(join_names(_short_names(result, central), MOST_NAMES))
        items += f"<li>{j + 1}: {names}{_nested(result, depth + 1, j)}</li>"
    return f"<ul>{items}</ul>"


def _row(result: Result, j: int) -> dict[str, str]:
    groups, alpha = result.groups, result.scales.alpha[j]
    row = {"rank": str(j + 1), "size": str(groups.sizes[j])}
    row["alpha"] = "" if np.isnan(alpha) else f"{alpha:.2f}"
    if groups.p_adjusted is not None:
        row["adjusted p"] = write_p(groups.p_adjusted[j])
    if groups.replication is not None:
        row["replication"] = f"{groups.replication[j]:.2f}"
    if groups.gates is not None:
        row["gate"] = f"{groups.gates[j]:.2f}"
    row["kept"] = "yes" if result.kept[j] else "no"
    if groups.names is not None:
        row["name"] = shorten(groups.names[j], LONGEST_NAME)
    central = _short_names(result, groups.by_centrality(j)[:MOST_NAMES])
    return {**row, "most central features": ", ".join(central)}


def _short_names(result: Result, features: IntArray) -> list[str]:
    return [shorten(result.marked_names[i], LONGEST_NAME) for i in features]


def _table(rows: list[dict[str, str]]) -> str:
    lines = "<tr>" + "".join(f"<th>{heading}</th>" for heading in rows[0]) + "</tr>"
    for row in rows:
        cells = "".join(f"<td>{escape(entry)}</td>" for entry in row.values())
        look = "" if row["kept"] == "yes" else ' class="dropped"'
        lines += f"<tr{look}>{cells}</tr>"
    return f"<table>{lines}</table>"
