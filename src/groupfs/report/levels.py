"""Levels of groups in a report: what each has otherwise than the one that is shown, and their tree.

A summary speaks of one level; ``views`` holds, for every level, the parts that differ there.
"""

from collections.abc import Sequence

from groupfs.report.schema import Json


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
