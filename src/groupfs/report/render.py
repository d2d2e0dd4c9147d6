"""Render the summary dict as one HTML file that needs nothing else.

Words and the list of groups are written by jinja2, which escapes them; figures are drawn by the
page's own scripts from a block of json. Styles and scripts are put into the page here, and a
content policy allows this one script and no request.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groupfs.report.conditions import line_points, strongest
from groupfs.report.csv_rows import GROUPS_COLUMNS
from groupfs.report.schema import Json, check
from groupfs.sentences import GAINS, LIMITS, PLACES, REASONS, REPLICATION, Why, in_no_group_words
from groupfs.utils.packages import import_optional
from groupfs.utils.text import STEPS, count, write_p, write_share

NEEDS_JINJA = 'The report needs jinja2: pip install "groupfs[report]" installs it.'
TEMPLATES = Path(__file__).parent / "templates"
#: The scripts of the page, in the order in which they build on each other.
SCRIPTS = (
    "format data selection reasons groups correlations samples lines explained "
    "features downloads main"
)
#: Largest size of a page in bytes; beyond it the lists of features and groups are cut.
LARGEST_PAGE = 1_950_000
#: What is listed however large the page; the map of correlations shows no more groups.
FEWEST_FEATURES, FEWEST_GROUPS = 100, 100
#: Remarks on values that may not be what they seem, which would change what is found.
REMEDY = re.compile(r"may stand for no answer|use[-_]raw|if these have an order")
#: Groups shown beyond the first ones, at most, since their features are selected or come soon.
MOST_OTHER_GROUPS = 240
#: Letters of names that a group shows, of which each name takes some more for its frame.
MOST_LETTERS, FRAME = 170, 4
#: Names a group shows at least, and names so few that they are shown rather than counted.
FEWEST_NAMES, FEW_MORE = 4, 2
#: What the scripts need to know of a group and of a feature; the rest is in the rows.
OF_A_GROUP = (
    "rank name title is_given size smoothness p_adjusted replication n_selected why "
    "representative_name"
)
OF_A_FEATURE = "name rank centrality sign relatedness_p_adjusted selected why"


def render(summary: Json) -> str:
    """Write one self-contained HTML page of at most 2 MB.

    Where a table has too many features or groups for that, the selected features are listed first
    and the page says how many are left out.

    Parameters
    ----------
    summary : dict
        What :func:`groupfs.report.summarize` or :func:`groupfs.report.read` gives.

    Examples
    --------
    >>> from groupfs import FeatureGroups
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import render, summarize
    >>> X = load_two_moons(200, random_state=0).data
    >>> page = render(summarize(FeatureGroups(random_state=0).fit(X), X))
    >>> page.startswith("<!doctype html>"), len(page) < 2_000_000
    (True, True)
    """
    check(summary, "summary")
    template = _environment().get_template("report.html")
    scripts = "\n".join((TEMPLATES / f"{name}.js").read_text("utf-8") for name in SCRIPTS.split())
    script = f'(() => {{\n"use strict";\n{scripts}}})();'
    parts = {
        "summary": summary,
        "style": (TEMPLATES / "style.css").read_text("utf-8"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "largest": max([group["smoothness"] or 0 for group in summary["groups"]] + [0]),
        "replication_means": REPLICATION,
        "has_reversed": min(summary["features"]["sign"]) < 0,
        "doubts": [note for note in summary["table"]["notes"] if REMEDY.search(note)],
    }
    n_features, n_groups = len(summary["features"]["name"]), len(summary["groups"])
    while True:
        shown = _shown_groups(summary, n_groups)
        index = {feature: i for i, feature in enumerate(_listed(summary, n_features, shown))}
        data, cards = _page_data(summary, index, shown), _cards(summary, shown)
        page = template.render(data=data, cards=cards, index=index, n_groups=n_groups, **parts)
        size = len(page.encode())
        if size <= LARGEST_PAGE or (n_features <= FEWEST_FEATURES and n_groups <= FEWEST_GROUPS):
            return page
        share = min(0.95, LARGEST_PAGE / size)
        n_features = min(len(index), max(FEWEST_FEATURES, int(share * n_features)))
        n_groups = min(n_groups, max(FEWEST_GROUPS, int(share * n_groups)))


def _page_data(summary: Json, index: dict[int, int], shown: list[int]) -> Json:
    """Gather what the scripts need of the features listed and of the groups shown."""
    features, chosen, drawn = summary["features"], summary["selection"], summary["correlations"]
    listed, group_index = list(index), {group: j for j, group in enumerate(shown)}

    def indices(of: list[int]) -> list[int]:
        return [index.get(feature, -1) for feature in of]

    position = {i: k for k, i in enumerate(summary["explained"]["order"], start=1)}
    kind_of = {i: kind for kind, found in summary["ungrouped"].items() for i in found}
    order = indices(chosen["order"])
    known = order.index(-1) if -1 in order else len(order)
    n_first = sum(j == number for j, number in enumerate(shown))  # these have scores
    return {
        "n_features": len(features["name"]),
        "features": {
            "column": None if len(listed) == len(features["name"]) else listed,
            **{name: [features[name][i] for i in listed] for name in OF_A_FEATURE.split()},
            "group": [group_index.get(features["group"][i]) for i in listed],
            "order": [position.get(i) for i in listed],
            "outside": {index[i]: kind for i, kind in kind_of.items() if i in index},
        },
        "words": {
            "reasons": REASONS,
            "codes": {why.name: int(why) for why in Why},
            **{"gains": GAINS, "limits": LIMITS, "places": PLACES},
        },
        "columns": GROUPS_COLUMNS,
        **{name: chosen[name] for name in ("budget", "n_groups_asked", "limit")},
        "groups": [
            {
                **{name: summary["groups"][j][name] for name in OF_A_GROUP.split()},
                "representative": index.get(summary["groups"][j]["representative"], -1),
            }
            for j in shown
        ],
        "output": chosen["output"],
        "n_selected": chosen["n_features"],
        "n_groups_selected": chosen["n_groups"],
        "order": order[:known],
        "levels": [level for level in chosen["levels"] if level <= known],
        "explained": _curve(summary["explained"]),
        "correlations": drawn and {**drawn, "features": indices(drawn["features"])},
        "embedding": {**summary["embedding"], "scores": summary["embedding"]["scores"][:n_first]},
    }


def _shown_groups(summary: Json, n_first: int) -> list[int]:
    """Choose the groups to show: the first, then some of selected features and of those to come."""
    group_of, kept = summary["features"]["group"], summary["features"]["selected"]
    order = summary["selection"]["order"]
    soon = [group_of[i] for i in [*(i for i, k in enumerate(kept) if k), *order]]
    others = [j for j in dict.fromkeys(soon) if j is not None and j >= n_first]
    return [*range(n_first), *sorted(others[:MOST_OTHER_GROUPS])]


def _listed(summary: Json, most: int, shown: list[int]) -> list[int]:
    """Choose the features to list: selected ones, then representatives, then as budgets go."""
    features, order, groups = summary["features"], summary["selection"]["order"], {None, *shown}
    every = [i for i, group in enumerate(features["group"]) if group in groups]
    if most >= len(every):
        return every
    kept = [i for i in order + every if features["selected"][i]]
    representatives = [group["representative"] for group in summary["groups"]]
    known = set(every)
    first = [i for i in dict.fromkeys(kept + representatives + order + every) if i in known]
    return sorted(first[:most])


def _cards(summary: Json, shown: Sequence[int]) -> list[Json]:
    """Give every group shown its place on the page, its first features, and how many others are."""
    ranks, cards = summary["features"]["rank"], []
    for j, number in enumerate(shown):
        group = summary["groups"][number]
        members = sorted(group["features"], key=lambda i: ranks[i])
        n_fit = _n_fit([summary["features"]["name"][i] for i in members])
        cards.append({"j": j, "group": group, "features": members[:n_fit]})
    return cards


def _n_fit(names: Sequence[str]) -> int:
    """Count the names that fit; a few more than that are shown as well."""
    letters = 0
    for n, name in enumerate(names):
        letters += len(name) + FRAME
        if letters > MOST_LETTERS and n >= FEWEST_NAMES and len(names) - n > FEW_MORE:
            return n
    return len(names)


def _curve(explained: Json) -> Json:
    """Return the curve as whole steps until all is explained; the page has the order already."""
    steps = [round(STEPS * share) for share in explained["share"]]
    n_steps = steps.index(STEPS) + 1 if STEPS in steps else len(steps)
    names = ("n_enough", "n_selected", "is_of_budgets")
    return {**{name: explained[name] for name in names}, "steps": steps[:n_steps]}


def _environment() -> Any:
    jinja2 = import_optional("jinja2", NEEDS_JINJA)
    loader, undefined = jinja2.FileSystemLoader(TEMPLATES), jinja2.StrictUndefined
    blanks = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=loader, undefined=undefined, autoescape=True, **blanks)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters.update(count=count, number=_number)
    # a number and its percent sign stay on one line
    environment.filters.update(spaced=lambda text: text.replace(" %", "\u00a0%"))
    environment.filters.update(p=write_p, share=write_share, words=in_no_group_words)
    environment.filters.update(strongest=strongest, line_points=line_points)
    return environment


def _number(value: float | None, form: str = ".3g") -> str:
    return "–" if value is None else f"{value:{form}}".replace("-", "−")
