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

from groupfs import sentences
from groupfs.report.csv_rows import GROUPS_COLUMNS
from groupfs.report.schema import Json, all_levels, check, differences, selected_first, tree
from groupfs.utils.packages import import_optional
from groupfs.utils.text import STEPS, count, write_p, write_share

NEEDS_JINJA = 'The report needs jinja2: pip install "groupfs[report]" installs it.'
TEMPLATES = Path(__file__).parent / "templates"
#: The scripts of the page, in the order in which they build on each other.
SCRIPTS = (
    "format data levels selection reasons groups sorting correlations samples lines explained "
    "features downloads figures main"
)
#: Largest size of a page in bytes; beyond it the lists of features and groups are cut.
LARGEST_PAGE = 1_950_000
#: What is listed however large the page; the map of correlations shows no more groups.
FEWEST_FEATURES, FEWEST_GROUPS = 100, 100
#: Remarks on values that may not be what they seem, which would change what is found.
REMEDY = re.compile(r"may stand for no answer|use[-_]raw|if these have an order")
#: Loadings that the page holds, and that it shows as a table; groups whose correlations it shows.
MOST_LOADINGS, MOST_SHOWN, MOST_CORRELATED = 40_000, 4_000, 15
#: Groups shown beyond the first ones, at most, since their features are selected or come soon.
MOST_OTHER_GROUPS = 240
#: Letters of names that a group shows, of which each name takes some more for its frame.
MOST_LETTERS, FRAME = 170, 4
#: Names of selected features a group shows, at most, where not all are selected.
MOST_NAMES = 60
#: Names a group shows at least, and names so few that they are shown rather than counted.
FEWEST_NAMES, FEW_MORE = 4, 2
#: Words for reasons and for where features stand, which the scripts fill in.
WORDS = {
    "reasons": sentences.REASONS,
    "codes": {why.name: int(why) for why in sentences.Why},
    **{"gains": sentences.GAINS, "limits": sentences.LIMITS, "places": sentences.PLACES},
    **{"verdicts": sentences.VERDICTS, "stability": sentences.STABILITY},
}
#: What the scripts need to know of a group and of a feature; the rest is in the rows.
OF_A_GROUP = (
    "rank name title is_given size smoothness p_adjusted replication kept n_selected why "
    "representative_name representative"
)
OF_A_FEATURE = "name wording relatedness_p_adjusted selected why"


def render(summary: Json) -> str:
    """Write one self-contained HTML page of at most 2 MB.

    Where a table has too many features or groups for that, the selected features are listed first
    and the page says how many are left out.

    Parameters
    ----------
    summary : dict
        What :func:`groupfs.report.summarize` or :func:`groupfs.report.read` gives.
    """
    check(summary, "summary")
    template = _environment().get_template("report.html")
    scripts = "\n".join((TEMPLATES / f"{name}.js").read_text("utf-8") for name in SCRIPTS.split())
    script = f'(() => {{\n"use strict";\n{scripts}}})();'
    pages, own = all_levels(summary), summary["level"] if summary["views"] else 0
    parts = {
        "summary": summary,
        "style": (TEMPLATES / "style.css").read_text("utf-8"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "replication_means": sentences.REPLICATION,
        "has_reversed": any(min(page["features"]["sign"]) < 0 for page in pages),
        "doubts": [note for note in summary["table"]["notes"] if REMEDY.search(note)],
    }
    n_features = len(summary["features"]["name"])
    n_groups = max(len(page["groups"]) for page in pages)
    while True:
        shown = [_shown_groups(page, n_groups) for page in pages]
        index = {i: k for k, i in enumerate(_listed(pages, own, n_features, shown))}
        views = [_view(k, pages[k], of, k == own) for k, of in enumerate(shown)]
        data = [_page_data(page, index, of) for page, of in zip(pages, shown, strict=True)]
        whole = {**data[own], "level": own, "views": [differences(of, data[own]) for of in data]}
        nested = tree(summary["levels"], [view["cards"] for view in views])
        parts |= {"data": whole, "views": views, "index": index, "tree": nested}
        page = template.render(n_first=n_groups, **parts)
        size = len(page.encode())
        if size <= LARGEST_PAGE or (n_features <= FEWEST_FEATURES and n_groups <= FEWEST_GROUPS):
            return page
        share = min(0.95, LARGEST_PAGE / size)
        n_features = min(len(index), max(FEWEST_FEATURES, int(share * n_features)))
        n_groups = min(n_groups, max(FEWEST_GROUPS, int(share * n_groups)))


def _view(place: int, page: Json, shown: list[int], is_shown: bool) -> Json:
    """Gather what the templates write of one level, in elements that are hidden or not."""
    at = {"class": "at-level", "data-level": place} | ({} if is_shown else {"hidden": ""})
    return {"of": page, "at": at, "cards": _cards(page, shown)}


def _page_data(summary: Json, index: dict[int, int], shown: list[int]) -> Json:
    """Gather what the scripts need of the features listed and of the groups shown."""
    features, chosen, drawn = summary["features"], summary["selection"], summary["correlations"]
    curve, listed = summary["explained"], list(index)

    def indices(of: list[int]) -> list[int]:
        return [index.get(feature, -1) for feature in of]

    position = {i: k for k, i in enumerate(curve["order"], start=1)}
    twins, n_values = features["duplicate_of"], features["n_values"]
    order = indices(curve["order"][: max(curve["stops"], default=0)])
    known = order.index(-1) if -1 in order else len(order)
    stops = [stop for stop in curve["stops"] if stop <= known]
    n_first = sum(j == number for j, number in enumerate(shown))  # these have scores
    scales = summary["scales"]
    fits = scales is not None and len(listed) * len(summary["groups"]) <= MOST_LOADINGS
    verdicts, told = features["verdict"], {name: features[name] for name in OF_A_FEATURE.split()}
    told = {name: of and [of[i] for i in listed] for name, of in told.items()}
    groups = [{name: summary["groups"][j][name] for name in OF_A_GROUP.split()} for j in shown]
    for group in groups:
        group["representative"] = index.get(group["representative"], -1)
    return {
        "n_features": len(features["name"]),
        "features": {**told, "order": [position.get(i) for i in listed]},
        "members": _members(summary, index, shown),
        "loadings": [scales["loadings"][i] for i in listed] if fits else None,
        "lacks_loadings": scales is not None and not fits,
        "near_none": [index[i] for i in summary["ungrouped"]["between"] if i in index],
        "between": [index[i] for i in listed if verdicts[i] == "between two"],
        "twins": {index[i]: features["name"][twins[i]] for i in listed if twins[i] is not None},
        "few_values": {index[i]: n_values[i] for i in listed if verdicts[i] == "too few rows"},
        "words": WORDS,
        "columns": GROUPS_COLUMNS,
        **{name: chosen[name] for name in ("budget", "n_groups_asked", "limit", "output")},
        "groups": groups,
        "n_selected": chosen["n_features"],
        "n_kept": chosen["n_groups"],
        "n_groups": len(summary["groups"]),
        "order": order[:known],
        "stops": stops,
        "explained": _curve(curve, stops),
        "correlations": drawn and {**drawn, "features": indices(drawn["features"])},
        "embedding": {**summary["embedding"], "scores": summary["embedding"]["scores"][:n_first]},
    }


def _members(summary: Json, index: dict[int, int], shown: list[int]) -> Json:
    """List the features in groups by group and place in it, then those that are near to some.

    Of tables with thousands of features most are often in no group, and are not written at all.
    """
    features, group_index = summary["features"], {group: j for j, group in enumerate(shown)}
    inside = [i for i in index if features["group"][i] is not None]
    inside.sort(key=lambda i: (features["group"][i], features["rank"][i]))
    near = [i for i in index if features["group"][i] is None and features["second"][i] is not None]
    every = inside + near
    return {
        "feature": [index[i] for i in every],
        "group": [group_index[features["group"][i]] for i in inside],
        "rank": [features["rank"][i] for i in inside],
        "centrality": [(features["sign"][i] or 1) * features["centrality"][i] for i in inside],
        "stability": [features["stability"][i] for i in inside],
        "item_rest": [features["item_rest"][i] for i in inside],
        "second": [group_index.get(features["second"][i]) for i in every],
        "second_strength": [features["second_strength"][i] for i in every],
    }


def _shown_groups(summary: Json, n_first: int) -> list[int]:
    """Choose the groups to show: the first, then some of selected features and of those to come."""
    n_first = min(n_first, len(summary["groups"]))
    group_of, kept = summary["features"]["group"], summary["features"]["selected"]
    order = summary["explained"]["order"]
    soon = [group_of[i] for i in [*(i for i, k in enumerate(kept) if k), *order]]
    others = [j for j in dict.fromkeys(soon) if j is not None and j >= n_first]
    return [*range(n_first), *sorted(others[:MOST_OTHER_GROUPS])]


def _listed(pages: Sequence[Json], own: int, most: int, shown: Sequence[list[int]]) -> list[int]:
    """Choose the features to list: selected ones, then representatives, then in their order.

    Those of groups that are not shown, at whichever level, are left out.
    """
    features, order = pages[own]["features"], pages[own]["explained"]["order"]
    known = set(range(len(features["name"])))
    for page, groups in zip(pages, shown, strict=True):
        of = {None, *groups}
        known &= {i for i, group in enumerate(page["features"]["group"]) if group in of}
    every = sorted(known)
    if most >= len(every):
        return every
    kept = [i for i in order + every if features["selected"][i]]
    first_of = [group["representative"] for page in pages for group in page["groups"]]
    first = [i for i in dict.fromkeys(kept + first_of + order + every) if i in known]
    return sorted(first[:most])


def _cards(summary: Json, shown: Sequence[int]) -> list[Json]:
    """Give every group shown its place on the page, and the features that are named there."""
    cards = []
    for j, number in enumerate(shown):
        group = summary["groups"][number]
        members = selected_first(summary["features"], group["features"])
        n = _n_fit([summary["features"]["name"][i] for i in members])
        if group["n_selected"] < len(members):  # else none is picked out
            n = max(n, min(group["n_selected"] + 1, MOST_NAMES))
        cards.append({"j": j, "group": group, "features": members[:n]})
    return cards


def _n_fit(names: Sequence[str]) -> int:
    """Count the names that fit; a few more than that are shown as well."""
    letters = 0
    for n, name in enumerate(names):
        letters += len(name) + FRAME
        if letters > MOST_LETTERS and n >= FEWEST_NAMES and len(names) - n > FEW_MORE:
            return n
    return len(names)


def _curve(explained: Json, stops: Sequence[int]) -> Json:
    """Return the curve as whole steps until all is explained, and in rows left out at the stops."""
    steps, new = [round(STEPS * share) for share in explained["share"]], explained["held_out"] or []
    n_steps = steps.index(STEPS) + 1 if STEPS in steps else len(steps)
    held_out = [max(new[k - 1], 0) for k in stops if k <= len(new)]
    known = {name: explained[name] for name in ("n_enough", "n_selected")}
    return {**known, "steps": steps[:n_steps], "held_out": held_out}


def _strongest(groups: Sequence[Json], name: str) -> float:
    """Return the largest absolute value of a quantity, where lines end."""
    values = [abs(value) for group in groups for value in group[name] if value is not None]
    return max(values, default=1e-9) or 1e-9


def _environment() -> Any:
    jinja2 = import_optional("jinja2", NEEDS_JINJA)
    loader, undefined = jinja2.FileSystemLoader(TEMPLATES), jinja2.StrictUndefined
    blanks = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=loader, undefined=undefined, autoescape=True, **blanks)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters.update(count=count, number=_number, p=write_p, share=write_share)
    environment.filters.update(strongest=_strongest, sort_by=_sort_by)
    environment.filters.update(words=sentences.in_no_group_words)
    # a number and its percent sign stay on one line
    environment.filters.update(spaced=lambda text: text.replace(" %", "\u00a0%"))
    environment.globals.update(most_shown=MOST_SHOWN, most_correlated=MOST_CORRELATED)
    return environment


def _sort_by(features: Sequence[int], figure: Sequence[float | None]) -> list[int]:
    """Sort features by a figure of theirs, lowest first; those without one are left out."""
    known = [(of, i) for i in features if (of := figure[i]) is not None]
    return [i for _, i in sorted(known)]


def _number(value: float | None, form: str = ".3g") -> str:
    return "–" if value is None else f"{value:{form}}".replace("-", "−")
