"""Choose what the list of groups shows at rest: the names that fit, and how many more there are.

Works on the summary alone; needs neither torch nor scikit-learn.
"""

from collections.abc import Sequence

from groupfs.report.json_numbers import Json
from groupfs.sentences import in_no_group_words

#: Letters of names that a group shows, of which each name takes some more for its frame.
MOST_LETTERS, FRAME = 170, 4
#: Names a group shows at least, and names so few that they are shown rather than counted.
FEWEST_NAMES, FEW_MORE = 4, 2
#: Features in no group that are named, of each kind.
MOST_OUTSIDE = 150


def group_cards(summary: Json, shown: Sequence[int], index: dict[int, int]) -> list[Json]:
    """Give every group shown its place on the page, its first names, and the number of others.

    ``index`` is where listed features are on the page.
    """
    ranks = summary["features"]["rank"]
    cards = []
    for j, number in enumerate(shown):
        group = summary["groups"][number]
        members = sorted(group["features"], key=lambda i: ranks[i])
        n_fit = _n_fit([summary["features"]["name"][i] for i in members])
        chips = [_chip(summary, i, index, group) for i in members[:n_fit]]
        cards.append({"j": j, "group": group, "chips": chips, "n_more": len(members) - n_fit})
    return cards


def outside_cards(summary: Json, index: dict[int, int], most: int = MOST_OUTSIDE) -> list[Json]:
    """List the features in no group by why they are in none, cut where they are many."""
    cards = []
    for kind, features in summary["ungrouped"].items():
        if features:
            chips = [_chip(summary, i, index) for i in features[:most]]
            words = in_no_group_words(kind, len(features))
            n_more = max(0, len(features) - most)
            cards.append({"kind": kind, "words": words, "chips": chips, "n_more": n_more})
    return cards


def _chip(summary: Json, i: int, index: dict[int, int], group: Json | None = None) -> Json:
    features = summary["features"]
    return {
        "name": features["name"][i],
        "index": index.get(i, -1),
        "selected": bool(features["selected"][i]),
        "centrality": features["centrality"][i] if group else None,
        "is_representative": group is not None and group["representative"] == i,
        "is_reversed": group is not None and features["sign"][i] < 0,
    }


def _n_fit(names: Sequence[str]) -> int:
    """Count the names that fit; a few more than that are shown as well."""
    letters = 0
    for n, name in enumerate(names):
        letters += len(name) + FRAME
        if letters > MOST_LETTERS and n >= FEWEST_NAMES and len(names) - n > FEW_MORE:
            return n
    return len(names)
