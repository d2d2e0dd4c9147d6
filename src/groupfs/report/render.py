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

from groupfs.report.tables import check
from groupfs.report.words import count, in_p

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
#: Largest size of a page in bytes; beyond it the list of features is cut.
LARGEST_PAGE = 1_950_000


def render(summary: dict[str, Any]) -> str:
    """One self-contained HTML page of at most 2 MB.

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
    n_listed = len(summary["features"]["name"])
    while True:
        page: str = template.render(data=_data(summary, n_listed), n_listed=n_listed, **shown)
        if len(page.encode()) <= LARGEST_PAGE or n_listed <= 100:
            return page
        n_listed //= 2


def page_data(summary: dict[str, Any], n_listed: int) -> dict[str, Any]:
    """What the scripts need, with the first ``n_listed`` features that a budget would take."""
    features, chosen = summary["features"], summary["selection"]
    n_features = len(features["name"])
    listed = list(range(n_features))
    if n_listed < n_features:
        first = [group["representative"] for group in summary["groups"]] + chosen["order"]
        listed = sorted(list(dict.fromkeys(first + listed))[:n_listed])
    place = {feature: where for where, feature in enumerate(listed)}
    order = [place.get(feature, -1) for feature in chosen["order"]]
    known = order.index(-1) if -1 in order else len(order)
    affinity = summary["affinity"]
    frequency = (summary["stability"] or {}).get("selection_frequency")
    return {
        "n_features": n_features,
        "features": {
            "column": None if n_listed >= n_features else listed,
            "frequency": frequency and [frequency[i] for i in listed],
            **{
                name: [features[name][i] for i in listed]
                for name in ("name", "group", "rank", "centrality", "kept", "reason")
            },
        },
        "reasons": summary["reasons"],
        "groups": [
            {
                **{name: value for name, value in group.items() if name != "features"},
                "representative": place.get(group["representative"], -1),
            }
            for group in summary["groups"]
        ],
        "output": chosen["output"],
        "n_selected": chosen["n_features"],
        "order": order[:known],
        "levels": [level for level in chosen["levels"] if level <= known],
        "affinity": {
            **affinity,
            "features": affinity["features"] and [place.get(i, -1) for i in affinity["features"]],
        },
        "correlations": [
            {**block, "features": [place.get(i, -1) for i in block["features"]]}
            for block in summary["correlations"]
        ],
        **{part: summary[part] for part in ("training", "path", "embedding", "image")},
    }


def _data(summary: dict[str, Any], n_listed: int) -> Any:
    """The json block: no character of it can end the element or start a tag."""
    from markupsafe import Markup

    text = json.dumps(page_data(summary, n_listed), allow_nan=False, separators=(",", ":"))
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
