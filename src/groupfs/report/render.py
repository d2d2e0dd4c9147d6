"""From the summary dict to one HTML file that needs nothing else.

Words and the list of groups are written by jinja2, which escapes them; figures are drawn by the
page's own scripts from a block of json. Styles and scripts are put into the page here, and a
content policy allows this one script and no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from groupfs.report.figure_data import MOST_CELLS
from groupfs.report.json_numbers import first_columns
from groupfs.report.schema import check
from groupfs.report.sentences import count, in_p

TEMPLATES = Path(__file__).parent / "templates"
#: The scripts of the page, in the order in which they build on each other.
SCRIPTS = (
    "data.js",
    "selection.js",
    "groups.js",
    "heatmap.js",
    "samples.js",
    "lines.js",
    "pixels.js",
    "features.js",
    "downloads.js",
    "main.js",
)
#: Largest size of a page in bytes; beyond it the lists of features and groups are cut.
LARGEST_PAGE = 1_950_000
#: What is listed however large the page; the affinity map shows so many groups.
FEWEST_FEATURES, FEWEST_GROUPS = 100, MOST_CELLS
#: What the scripts need to know of a group; the rest is in its row.
OF_A_GROUP = (
    "rank",
    "name",
    "title",
    "is_given",
    "size",
    "score",
    "p_value",
    "n_kept",
    "representative_name",
)


def render(summary: dict[str, Any]) -> str:
    """One self-contained HTML page of at most 2 MB.

    Where a table has too many features or groups for that, the selected features are listed first
    and the page says how many are left out.

    Parameters
    ----------
    summary : dict
        What :func:`groupfs.report.summarize` or :func:`groupfs.report.read` gives.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.report import render, summarize
    >>> X = load_two_moons(200, random_state=0).data
    >>> page = render(summarize(GroupFS(n_groups=12, random_state=0).fit(X), X))
    >>> page.startswith("<!doctype html>"), len(page) < 2_000_000
    (True, True)
    """
    check(summary, "summary")
    template = _environment().get_template("report.html")
    script = _script()
    shown = {
        "summary": summary,
        "style": _read("style.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "longest_bar": max([abs(group["score"] or 0) for group in summary["groups"]] + [1e-12]),
    }
    n_features, n_groups = len(summary["features"]["name"]), len(summary["groups"])
    while True:
        data = page_data(summary, n_features, n_groups)
        n_listed = len(data["features"]["name"])
        page: str = template.render(
            data=_as_json(data), n_listed=n_listed, n_groups=n_groups, **shown
        )
        size = len(page.encode())
        if size <= LARGEST_PAGE or (n_features <= FEWEST_FEATURES and n_groups <= FEWEST_GROUPS):
            return page
        part = min(0.95, LARGEST_PAGE / size)
        n_features = min(n_listed, max(FEWEST_FEATURES, int(part * n_features)))
        n_groups = min(n_groups, max(FEWEST_GROUPS, int(part * n_groups)))


def page_data(summary: dict[str, Any], n_listed: int, n_groups: int) -> dict[str, Any]:
    """What the scripts need, of so many features and of the first so many groups."""
    features, chosen = summary["features"], summary["selection"]
    groups, n_features = summary["groups"][:n_groups], len(features["name"])
    listed = _listed(summary, n_listed, n_groups)
    reasons = sorted({features["reason"][i] for i in listed})
    reason_at = {reason: where for where, reason in enumerate(reasons)}
    place = {feature: where for where, feature in enumerate(listed)}
    order = [place.get(feature, -1) for feature in chosen["order"]]
    known = order.index(-1) if -1 in order else len(order)
    affinity = summary["affinity"]
    frequency = (summary["stability"] or {}).get("selection_frequency")
    return {
        "n_features": n_features,
        "features": {
            "column": None if len(listed) == n_features else listed,
            "frequency": frequency and [frequency[i] for i in listed],
            **{
                name: [features[name][i] for i in listed]
                for name in ("name", "group", "rank", "centrality", "kept")
            },
            "reason": [reason_at[features["reason"][i]] for i in listed],
        },
        "reasons": [summary["reasons"][reason] for reason in reasons],
        "groups": [
            {
                **{name: group[name] for name in OF_A_GROUP},
                "representative": place.get(group["representative"], -1),
            }
            for group in groups
        ],
        "output": chosen["output"],
        "n_selected": chosen["n_features"],
        "n_groups_selected": chosen["n_groups"],
        "order": order[:known],
        "levels": [level for level in chosen["levels"] if level <= known],
        "affinity": {
            **affinity,
            "features": affinity["features"] and [place.get(i, -1) for i in affinity["features"]],
        },
        "correlations": [
            {**block, "features": [place.get(i, -1) for i in block["features"]]}
            for block in summary["correlations"][:n_groups]
        ],
        "training": _of_groups(summary["training"], n_groups),
        "path": summary["path"] and _of_groups(summary["path"], n_groups),
        **{part: summary[part] for part in ("embedding", "image")},
    }


def _listed(summary: dict[str, Any], most: int, n_groups: int) -> list[int]:
    """The features to list: selected ones first, then representatives, then as budgets go."""
    features, order = summary["features"], summary["selection"]["order"]
    every = [i for i, group in enumerate(features["group"]) if group is None or group < n_groups]
    if most >= len(every):
        return every
    kept = [i for i in order if features["kept"][i]]
    kept += [i for i in every if features["kept"][i]]
    middle = [group["representative"] for group in summary["groups"]]
    known = set(every)
    first = [i for i in dict.fromkeys(kept + middle + order + every) if i in known]
    return sorted(first[:most])


def _of_groups(part: dict[str, Any], n_groups: int) -> dict[str, Any]:
    """Lines over epochs or sparsities, of the first groups; the page draws nothing else of them."""
    shown = {name: value for name, value in part.items() if name != "closing_sparsity"}
    return {**shown, "gates": first_columns(part["gates"], n_groups)}


def _as_json(data: dict[str, Any]) -> Any:
    """The json block: no character of it can end the element or start a tag."""
    from markupsafe import Markup

    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            'The report needs jinja2: pip install "groupfs[report]" installs it.'
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(count=count, in_p=in_p, number=_number, places=_places)
    return environment


def _script() -> Any:
    from markupsafe import Markup

    parts = "\n".join(_read(name) for name in SCRIPTS)
    return Markup(f'(() => {{\n"use strict";\n{parts}}})();')


def _read(name: str) -> Any:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _number(value: float | None, digits: int = 3) -> str:
    """A number for reading, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}g}".replace("-", "−")


def _places(value: float | None, places: int) -> str:
    """The same with so many digits after the point, for columns of numbers."""
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")
