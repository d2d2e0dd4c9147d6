"""The rows of groups.csv and selected.csv, from a summary."""

from groupfs.report.json_numbers import Json
from groupfs.report.order_reasons import positions

#: The columns of selected.csv; groups.csv has two more.
SELECTED_COLUMNS = (
    "feature",
    "group",
    "rank",
    "score",
    "p_adjusted",
    "reliability",
    "centrality",
    "sign",
    "relatedness_p_adjusted",
    "order",
    "explained",
)
GROUPS_COLUMNS = (*SELECTED_COLUMNS, "kept", "reason")


def groups_table(summary: Json) -> list[Json]:
    """List every feature with its group and whether and why it was kept, best group first.

    ``rank`` counts the features of a group by centrality; ``score``, ``p_adjusted`` and
    ``reliability`` are the group's; ``sign`` is -1 for features that run against the most central
    one of their group. ``order`` is the feature's position in the order of all features, and
    ``explained`` the share that the features up to it explain. Features in no group come last.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import groups_table, summarize
    >>> X = load_two_moons(200, random_state=0).data
    >>> summary = summarize(GroupFS(random_state=0).fit(X), X)
    >>> row = groups_table(summary)[0]
    >>> row["group"], row["rank"], row["kept"]
    (1, 1, True)
    """
    features = summary["features"]
    numbers, ranks = features["group"], features["rank"]
    order, shares = positions(summary["explained"]), summary["explained"]["share"]
    rows = []
    for i in sorted(range(len(ranks)), key=lambda i: (numbers[i] is None, numbers[i], ranks[i])):
        group = {} if numbers[i] is None else summary["groups"][numbers[i]]
        rows.append(
            {
                "feature": features["name"][i],
                "group": group["name" if group["is_given"] else "rank"] if group else None,
                "rank": ranks[i],
                "score": group.get("score"),
                "p_adjusted": group.get("p_adjusted"),
                "reliability": group.get("reliability"),
                "centrality": features["centrality"][i] if group else None,
                "sign": features["sign"][i] if group else None,
                "relatedness_p_adjusted": features["relatedness_p_adjusted"][i],
                "order": order.get(i),
                "explained": shares[order[i] - 1] if i in order else None,
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
    >>> summary = summarize(GroupFS(random_state=0).fit(X), X)
    >>> len(selected_table(summary))
    10
    """
    rows = [row for row in groups_table(summary) if row["kept"]]
    return [{name: row[name] for name in SELECTED_COLUMNS} for row in rows]
