"""The rows of groups.csv and selected.csv, from a summary."""

from __future__ import annotations

from groupfs.report.json_numbers import Json


def groups_table(summary: Json) -> list[Json]:
    """List every feature with its group and whether and why it was kept, best group first.

    ``rank`` counts the features of a group by centrality; ``score`` and ``p_value`` are the
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
        label = group["name" if group["is_given"] else "rank"] if group else None
        rows.append(
            {
                "feature": features["name"][i],
                "group": label,
                "rank": features["rank"][i],
                "score": group.get("score"),
                "p_value": group.get("p_value"),
                "centrality": features["centrality"][i] if group else None,
                "kept": bool(features["kept"][i]),
                "reason": summary["reasons"][features["reason"][i]],
            }
        )
    return rows


def selected_table(summary: Json) -> list[Json]:
    """List the selected features alone, in the order of :func:`groups_table`.

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
    columns = ("feature", "group", "rank", "score", "p_value", "centrality")
    return [{name: row[name] for name in columns} for row in groups_table(summary) if row["kept"]]


def _in_order(features: Json) -> list[int]:
    """Order features by group and rank within it; those without a group last."""
    group, rank = features["group"], features["rank"]
    last = len(group)
    return sorted(
        range(len(group)), key=lambda i: (last if group[i] is None else group[i], rank[i] or 0, i)
    )
