"""The student table: which nine features each method selects, and in which groups.

Expected: the paper's GroupFS has seven groups, of which the first three are alcohol (Dalc, Walc),
motivation (absences, failures, romantic, higher) and parents (Medu, Fedu, Mjob).
Settings as printed; GroupFS along a sweep of lambda2 (``published``), ten seeds.
Needs the published data (``GROUPFS_DATA``); about 1 minute with ``--device cuda --jobs 16``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import matplotlib.colors
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from experiments import data, methods, paper, published, running
from experiments.protocol import judge_clusters
from experiments.table1 import NOT_COUNTED
from groupfs.plotting import CYCLE

TABLE = "student"
SHOWN = tuple(m for m in methods.OF_PAPER if m not in ("ALL", "RANDOM"))
QUICK = ("LS", "MCFS", "MGAGR", "FeatureGroups")
BY_PRINTED, BY_LOSS, BY_GAIN = "printed λ2", "lowest loss", "largest gain"
N_SEEDS = 10
TICK, SHARED = "✓", "#D6E6F2"


def work(method: str, seed: int, device: str, quick: bool) -> running.Row:
    """Fit a method with its printed settings, and judge the nine features."""
    X, y, Z, names = data.load(TABLE)
    budget = paper.results()[TABLE]["n_selected"]
    selector = methods.build(method, TABLE, budget, seed, device)
    selector = methods.shortened(selector) if quick else selector
    methods.fit(selector, method, X, y, seed)
    (selected,) = methods.at_budgets(selector, [budget])
    return {
        **judge_clusters(Z, y, selected),
        "features": marks([names[i] for i in selected], groups_of(selector, selected)),
        "machine": running.machine(device),
    }


def judge_model(name: str, model: published.Model, device: str) -> running.Row:
    """Judge whole groups of a swept model that cover nine features."""
    _, y, Z, names = data.load(TABLE)
    selected = published.covering(model, paper.results()[TABLE]["n_selected"])
    ranks = np.empty(len(names), dtype=np.int64)
    for rank, group in enumerate(model.groups, 1):
        ranks[group] = rank
    every = "; ".join(" ".join(names[i] for i in group) for group in model.groups)
    return {
        "method": f"GroupFS paper, {name}",
        **model.facts(),
        **judge_clusters(Z, y, selected),
        "features": marks([names[i] for i in selected], ranks[selected].tolist()),
        "groups": every,
        "machine": running.machine(device),
    }


def groups_of(selector: Any, selected: Iterable[int]) -> list[int] | None:
    """Number each selected feature's group, from 1; None if the method has no groups.

    CompFS's groups may overlap or leave a feature out: a feature counts for the learner whose gate
    is likeliest open, learners numbered as they first appear.
    """
    selected = list(selected)
    if hasattr(selector, "group_labels_"):
        return [int(selector.group_labels_[i]) + 1 for i in selected]
    if hasattr(selector, "gate_probabilities_"):
        learners = np.argmax(selector.gate_probabilities_[:, selected], axis=0).tolist()
        numbers = {learner: place for place, learner in enumerate(dict.fromkeys(learners), 1)}
        return [numbers[learner] for learner in learners]
    return None


def marks(features: list[str], groups: list[int] | None) -> str:
    """Write features as ``name`` or ``name:group``, one after the other."""
    if groups is None:
        return " ".join(features)
    return " ".join(f"{name}:{group}" for name, group in zip(features, groups, strict=True))


def read(text: str) -> dict[str, int | None]:
    """Read what :func:`marks` wrote: the group of every feature, None without groups."""
    pairs = (mark.partition(":") for mark in text.split())
    return {name: int(group) if group else None for name, _, group in pairs}


def printed(method: str) -> dict[str, int | None]:
    """Look up what the paper's method selects; nothing where it prints none."""
    given = paper.results()[TABLE]
    found: dict[str, int | None] = dict.fromkeys(given["selected"].get(method, []))
    for number, features in given["groups"].get(method, {}).items():
        found |= dict.fromkeys(features, int(number))
    return found


def in_paper(method: str) -> str:
    return "GroupFS" if "GroupFS paper" in method else method


def columns(rows: pd.DataFrame) -> list[tuple[str, str, dict[str, int | None]]]:
    """List method, label and marks of every column: ours by the first seed, then the paper's."""
    found = []
    for method, own in rows.groupby("method", sort=False):
        label = str(method).partition(", ")[2] or "here"
        name = in_paper(str(method))
        found.append((name, label, read(own.iloc[0]["features"])))
    names = list(dict.fromkeys(name for name, *_ in found))
    found += [(name, "the paper", printed(name)) for name in names if printed(name)]
    return sorted(found, key=lambda column: names.index(column[0]))


def draw(rows: pd.DataFrame) -> Figure:
    """Draw features down, columns across; shaded where the paper's selection agrees."""
    features, drawn = paper.results()[TABLE]["features"], columns(rows)
    lefts, left = [], 0.0
    for place, (name, *_) in enumerate(drawn):
        left += 1.0 if place and drawn[place - 1][0] == name else 1.7
        lefts.append(left)
    figure = Figure(figsize=(1.6 + 0.3 * lefts[-1], 7.4), layout="constrained")
    ax = figure.subplots()
    for row in range(0, len(features), 2):
        ax.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    for (name, label, own), at in zip(drawn, lefts, strict=True):
        for row, feature in enumerate(features):
            if feature in own:
                shared = label != "the paper" and feature in printed(name)
                _draw_mark(ax, at, row, own[feature], shared)
        style = "italic" if label == "the paper" else "normal"
        ax.text(at + 0.5, -0.8, label, size=7, rotation=90, ha="center", style=style)
    for name in dict.fromkeys(name for name, *_ in drawn):
        own_lefts = [at for (other, *_), at in zip(drawn, lefts, strict=True) if other == name]
        ax.text(own_lefts[0] + 0.1, -5.2, name, size=8, weight="bold", rotation=35)
        ax.plot([own_lefts[0] + 0.1, own_lefts[-1] + 0.9], [-5.0] * 2, "k", lw=0.8, clip_on=False)
    ax.set_yticks(range(len(features)), features, size=7.5)
    ax.set(xlim=(1, lefts[-1] + 1.5), ylim=(len(features), -8.5), xticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(
        f"{TICK} selected     1, 2, ... selected, number of its group     "
        "shaded: selected in the paper too",
        size=7.5,
    )
    return figure


def _draw_mark(ax: Any, left: float, row: int, group: int | None, shared: bool) -> None:
    if shared:
        ax.add_patch(Rectangle((left, row - 0.5), 1, 1, facecolor=SHARED, linewidth=0))
    style = {"ha": "center", "va": "center", "size": 7.5}
    if group is None:
        ax.text(left + 0.5, row, TICK, **style)
        return
    color = CYCLE[(group - 1) % len(CYCLE)]
    red, green, blue = matplotlib.colors.to_rgb(color)
    ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
    ax.scatter(left + 0.5, row, 75, color=color, linewidths=0, zorder=2)
    ax.text(left + 0.5, row + 0.04, str(group), color=ink, **style)


def table_of(rows: pd.DataFrame) -> str:
    """Write accuracy and features shared with the paper's selection, a line per method."""
    accuracy = paper.results()[TABLE]["accuracy"]
    lines = []
    for method, own in rows.groupby("method", sort=False):
        theirs, name = printed(in_paper(str(method))), in_paper(str(method))
        shared = [len(set(read(text)) & set(theirs)) for text in own["features"]]
        mean = f"{own['accuracy'].mean():.1f} ± {own['accuracy_std'].mean():.1f}"
        both = f"{np.mean(shared):.1f} of {len(theirs)}" if theirs else running.NONE
        was = f"{accuracy[name]['mean']} ± {accuracy[name]['std']}" if name in accuracy else ""
        lines.append([str(method), str(len(own)), mean, was or running.NONE, both])
    head = ["", "models", "accuracy", "the paper's", "features shared with the paper's"]
    return running.markdown(head, lines)


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(
        __file__, __doc__, device={"default": "cpu", "choices": ["cpu", "cuda"]}
    ).parse_args(argv)
    rows = pd.DataFrame()
    if not given.join:
        n_seeds = 2 if given.quick else N_SEEDS
        models = published.sweep(TABLE, given.device, n_seeds, given.quick)
        by_loss = published.lowest_loss(models)
        by_gain = published.largest_gain(models)
        named = [(BY_PRINTED, m) for m in models if m.printed]
        named += [(name, m) for name, m in ((BY_LOSS, by_loss), (BY_GAIN, by_gain)) if m]
        cells = [{"name": name, "model": m, "device": given.device} for name, m in named]
        n_mixed = f"{sum(m.is_mixed for m in models)} of {len(models)}"
        rows = running.compute(cells, judge_model, given).assign(n_mixed=n_mixed)
    cells = [
        {"method": method, "seed": seed}
        for method in (QUICK if given.quick else SHOWN)
        for seed in range(methods.n_seeds(method, given.quick))
    ]
    work_on = partial(work, device=given.device, quick=given.quick)
    rows = pd.concat([rows, running.compute(cells, work_on, given)], ignore_index=True)
    swept = rows[rows["groups"].notna()].drop_duplicates("method")
    told = [
        f"{own.method} ({own.n_open:.0f} of {own.n_groups:.0f} gates open, gain {own.gain:+.3f}): "
        f"{own.groups}."
        for own in swept.itertuples()
    ]
    parts = [
        running.command(rows, "table_student", " --device cuda --jobs 16", NOT_COUNTED),
        table_of(rows),
        f"{swept['n_mixed'].iloc[0]} swept models have some gates open and some shut.",
        *told,
    ]
    running.write(given, rows, parts, table_of(rows), {"table_student": draw(rows)})


if __name__ == "__main__":
    main()
