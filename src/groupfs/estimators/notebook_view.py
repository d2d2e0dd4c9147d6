"""The groups of a fitted selector as a small table in plain HTML, for notebooks."""

from html import escape

from groupfs.selection.explained_sentence import selection_sentence
from groupfs.selection.ungrouped import ungrouped_features
from groupfs.training.settings import groups_to_select
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import FittedSelector, by_centrality, group_names, marked_names
from groupfs.utils.text import shorten, write_share

#: Rows that are seen at once; the others unfold.
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


def groups_html(selector: FittedSelector) -> str:
    """Write the groups of a fitted selector as a table, and what is in no group as a sentence.

    Everything is in the text itself; nothing is loaded from anywhere. Names are escaped.
    """
    sentences = _sentences(selector)
    if not selector.n_groups_:
        return f'<style>{STYLE}</style><div class="groupfs-groups">{sentences}</div>'
    rows = _rows(selector)
    first, rest = rows[:MOST_ROWS], rows[MOST_ROWS:]
    more = f"<details><summary>{len(rest)} more groups</summary>{_table(selector, rest)}</details>"
    return (
        f'<style>{STYLE}</style><div class="groupfs-groups">{sentences}'
        f"{_table(selector, first)}{more if rest else ''}</div>"
    )


def kept_sentence(selector: FittedSelector) -> str:
    """Say how much is kept, without the full stop."""
    n_groups = selector.n_groups_
    groups = "1 group" if n_groups == 1 else f"{n_groups} groups"
    kept = f"{int(selector.group_selected_.sum())} of {groups} kept" if n_groups else "No groups"
    n_selected = int(selector.get_support().sum())
    return f"{kept}, {n_selected} of {selector.n_features_in_} features selected"


def _sentences(selector: FittedSelector) -> str:
    """Say how much is kept, how much it explains, and what is in no group, one line each."""
    in_no_group = ungrouped_features(selector).sentence
    lines = [f"{kept_sentence(selector)}.", selection_sentence(selector), in_no_group]
    return "".join(f"<div>{escape(line)}</div>" for line in lines if line)


def _table(selector: FittedSelector, rows: list[str]) -> str:
    p = [] if selector.group_pvalues_ is None else ["adjusted p"]
    again = [] if selector.group_reliability_ is None else ["reliability"]
    name = ["name"] if group_names(selector) else []
    gate = ["gate"] if _gates_decide(selector) else []
    numbers = ["rank", "size", "score", *p, *again, *gate, "kept"]
    head = _cells("th", numbers, [*name, "most central features"])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _rows(selector: FittedSelector) -> list[str]:
    names, given = marked_names(selector), group_names(selector)
    p_values, reliability = selector.group_pvalues_, selector.group_reliability_
    adjusted = None if p_values is None else adjust_p_values(p_values)
    rows = []
    for j, group in enumerate(selector.groups_):
        kept = bool(selector.group_selected_[j])
        numbers = [str(j + 1), str(len(group)), f"{selector.group_scores_[j]:.3f}"]
        numbers += [] if adjusted is None else [f"{adjusted[j]:.1g}"]
        numbers += [] if reliability is None else [write_share(reliability[j])]
        numbers += [f"{selector.group_gates_[j]:.2f}"] if _gates_decide(selector) else []
        numbers += ["yes" if kept else "no"]
        texts = [shorten(given[j], LONGEST_NAME)] if given else []
        central = by_centrality(selector, group)[:MOST_NAMES]
        texts.append(", ".join(shorten(names[i], LONGEST_NAME) for i in central))
        body = _cells("td", numbers, texts)
        rows.append(f"<tr>{body}</tr>" if kept else f'<tr class="dropped">{body}</tr>')
    return rows


def _gates_decide(selector: FittedSelector) -> bool:
    return groups_to_select(selector.get_params(deep=False)) == "open"


def _cells(tag: str, numbers: list[str], texts: list[str]) -> str:
    cells = [f"<{tag}>{escape(entry)}</{tag}>" for entry in numbers]
    cells += [f'<{tag} class="text">{escape(entry)}</{tag}>' for entry in texts]
    return "".join(cells)
