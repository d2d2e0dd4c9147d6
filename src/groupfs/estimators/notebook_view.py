"""What a notebook shows of a fitted selector: its groups as a small table, in plain HTML."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

#: Rows that are shown at once; the others unfold.
MOST_ROWS = 12
#: Features that are named of each group, most central first.
MOST_NAMES = 3
LONGEST_NAME = 24

#: The table inherits the notebook's colours, so that it is right on light and dark.
STYLE = (
    ".groupfs-groups{margin:.5em 0;font-size:.85em;max-width:100%;overflow-x:auto}"
    ".groupfs-groups table{border-collapse:collapse;margin:.3em 0;font-size:inherit}"
    ".groupfs-groups th,.groupfs-groups td{padding:.15em .6em;text-align:right;border:0;"
    "border-bottom:1px solid rgba(128,128,128,.3);background:none;white-space:nowrap}"
    ".groupfs-groups th.text,.groupfs-groups td.text{text-align:left;white-space:normal}"
    ".groupfs-groups tr.dropped{opacity:.6}"
    ".groupfs-groups summary{cursor:pointer}"
)


def groups_html(selector: Any) -> str:
    """The groups of a fitted selector: rank, size, score, p, gate, kept, most central features.

    Everything is in the text itself; nothing is loaded from anywhere. Names are escaped.
    """
    rows = [_row(selector, group) for group in range(selector.n_groups_)]
    shown, rest = rows[:MOST_ROWS], rows[MOST_ROWS:]
    parts = [
        f"<style>{STYLE}</style>",
        '<div class="groupfs-groups">',
        f"<div>{_sentence(selector)}</div>",
        _table(selector, shown),
    ]
    if rest:
        parts.append(f"<details><summary>{len(rest)} more groups</summary>")
        parts.append(_table(selector, rest) + "</details>")
    parts.append("</div>")
    return "".join(parts)


def _sentence(selector: Any) -> str:
    n_kept = int(selector.group_selected_.sum())
    n_selected = int(selector.get_support().sum())
    return (
        f"{n_kept} of {selector.n_groups_} groups kept, "
        f"{n_selected} of {selector.n_features_in_} features selected"
    )


def _table(selector: Any, rows: list[str]) -> str:
    numbers = ["rank", "size", "score"]
    numbers += [] if selector.group_pvalues_ is None else ["p"]
    texts = ["name"] if getattr(selector, "group_names_", None) else []
    head = _cells("th", [*numbers, "gate", "kept"], [*texts, "most central features"])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(selector: Any, group: int) -> str:
    members, kept = selector.groups_[group], bool(selector.group_selected_[group])
    numbers = [str(group + 1), str(len(members)), f"{selector.group_scores_[group]:.3f}"]
    if selector.group_pvalues_ is not None:
        numbers.append(f"{selector.group_pvalues_[group]:.1g}")
    numbers += [f"{selector.group_gates_[group]:.2f}", "yes" if kept else "no"]
    names = getattr(selector, "group_names_", None)
    texts = [_shortened(str(names[group]))] if names else []
    body = _cells("td", numbers, [*texts, _most_central(selector, members)])
    return f"<tr>{body}</tr>" if kept else f'<tr class="dropped">{body}</tr>'


def _cells(tag: str, numbers: list[str], texts: list[str]) -> str:
    cells = [f"<{tag}>{escape(entry)}</{tag}>" for entry in numbers]
    cells += [f'<{tag} class="text">{escape(entry)}</{tag}>' for entry in texts]
    return "".join(cells)


def _most_central(selector: Any, members: Any) -> str:
    central = members[np.argsort(-selector.centrality_[members], kind="stable")[:MOST_NAMES]]
    given = getattr(selector, "feature_names_in_", None)
    names = [f"x{i}" if given is None else str(given[i]) for i in central]
    return ", ".join(_shortened(name) for name in names)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
