"""Which estimator, when: FeatureGroups and GroupFS with nothing set, on tables with planted groups.

Structured features are those whose groups say something of the samples: all planted ones but for
shared shifts (``which_tables`` draws them). From outside, FeatureGroups is given what gates may
carry: groups or features ranked, and kept, by how smooth they are on a graph of the samples that
they have no part in. A run goes on with the rows of ``fits.csv`` in its folder; it prints means
over draws with 95 % intervals (Student's t, cut at what is possible).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.group_competitors import rand_index, standardized
from experiments import running
from experiments.which_tables import CASES, Array, Planted, draw
from groupfs import FeatureGroups, GroupFS
from groupfs.discovery.shared_structure import beyond_chance
from groupfs.discovery.smoothness import N_NEIGHBORS
from groupfs.groups import OPEN

N_DRAWS = 20
#: Draws of the paper's settings, which take longest.
FEWER = {"GroupFS, paper": 10}
#: Deviations of chance from which on a candidate keeps what is smooth.
DEVIATIONS = 3.0
#: What is shown of every method, of FeatureGroups beside GroupFS, and of the candidates.
KEYS, BOTH = ["kind", "case", "method", "number"], ("FeatureGroups", "GroupFS")
KEPT = {"ari": "Rand", "recall": "structured kept", "shifts": "shifts kept", "noise": "noise kept"}
FIGURES = KEPT | {"precision": "precision", "F": "F", "order": "first k", "by_groups": "by groups"}
FIGURES |= {"n_groups": "groups", "mixed": "some gates shut", "fit_seconds": "seconds"}
AHEAD = {"ari": "Rand", "F": "F", "order": "first k"}
ORDERS = {"order": "order", "by_groups": "size", "own_order": "own graph"}
ORDERS |= {"others_order": "other groups' graph", "features_order": "features, others' graph"}
FILTERS = {f"{by}_{of}": f"{by}: {KEPT[of]}" for by in ("others", "features") for of in KEPT}
CANDIDATES = ORDERS | {key: title for key, title in FILTERS.items() if not key.endswith("ari")}
METHODS: dict[str, tuple[Any, dict[str, str]]] = {
    "FeatureGroups": (FeatureGroups, {}),
    "GroupFS": (GroupFS, {}),
    "FeatureGroups, distance": (FeatureGroups, {"similarity": "distance"}),
    "GroupFS, paper": (GroupFS, {"preset": "paper"}),
}
#: Where cases and methods stand in tables.
PLACES = {name: place for place, name in enumerate([*(case for _, case in CASES), *METHODS])}


def planned(method: str, kind: str, case: str) -> bool:
    """Tell what is measured: distances where relations are bent, not the paper's at 1,000 rows."""
    if method == "FeatureGroups, distance":
        return kind == "graph alone"
    return method != "GroupFS, paper" or "1000" not in case


def measure(kind: str, case: str, method: str, number: int) -> running.Row:
    """Fit a method to a draw, and compare it with what was planted."""
    estimator, settings = METHODS[method]
    selector = estimator(**settings, device="cpu", random_state=number)
    table = draw(kind, case, number)
    began = time.perf_counter()
    selector.fit(table.X)
    took, gates = time.perf_counter() - began, getattr(selector, "group_gates_", np.array([]))
    row = {"fit_seconds": took, "n_groups": selector.n_groups_, "machine": running.machine()}
    # without gates all that hold, and none where none does; with gates what is kept by default
    asked = {} if len(gates) else {"n_groups_to_select": "significant"}
    kept = np.append(selector.select(**asked).groups, False)[selector.group_labels_]
    row["mixed"] = float(0 < (gates > OPEN).sum() < len(gates)) if len(gates) else np.nan
    row |= found(table, selector.group_labels_, kept)
    row["order"] = first(table, selector.feature_order_)
    row["by_groups"] = first(table, by_groups(selector, -np.arange(selector.n_groups_)))
    return row | (candidates(table, selector, kept) if method == "FeatureGroups" else {})


def found(table: Planted, labels: Array, kept: Array) -> running.Row:
    """Compare labels with planted groups, and kept features with structured ones; F is of these."""
    planted, says = table.groups >= 0, table.structured
    shifts = planted & ~says
    return {
        "ari": rand_index(table.groups[planted], labels[planted]),
        "recall": kept[says].mean(),
        "shifts": kept[shifts].mean() if shifts.any() else np.nan,
        "noise": kept[~planted].mean(),
        "precision": says[kept].mean() if kept.any() else np.nan,
        "F": 2 * (kept & says).sum() / (kept.sum() + says.sum()),
    }


def first(table: Planted, order: Array) -> float:
    """Return the share of structured ones among the first features, as many as there are."""
    return float(table.structured[order[: table.structured.sum()]].mean())


def by_groups(selector: Any, score: Array) -> Array:
    """Order features by a score of their groups, then central ones first; others come last."""
    order = selector.feature_order_
    own = np.append(score, -np.inf)[selector.group_labels_]
    return order[np.lexsort((-selector.centrality_[order], -own[order]))]


def candidates(table: Planted, selector: Any, kept: Array) -> running.Row:
    """Rank by smoothness on a group's own graph, that of other groups, and of other features."""
    Z, labels, every = standardized(table.X), selector.group_labels_, np.arange(table.X.shape[1])
    of_group = selector.shared_structure(table.X)
    graph = (N_NEIGHBORS, "euclidean")
    alone = np.array([beyond_chance(np.delete(Z, j, 1), Z[:, [j]], *graph) for j in every])
    row = {"own_order": first(table, by_groups(selector, selector.group_smoothness_))}
    row["others_order"] = first(table, by_groups(selector, of_group))
    row["features_order"] = first(table, np.argsort(-alone, kind="stable"))
    smooth = np.append(of_group > DEVIATIONS, False)[labels]
    for name, keeps in {"others": kept & smooth, "features": alone > DEVIATIONS}.items():
        row |= {f"{name}_{key}": value for key, value in found(table, labels, keeps).items()}
    return row


def interval(values: pd.Series, low: float = 0.0, high: float = 1.0) -> str:
    """Write a mean over draws and its interval; a dash where there is none."""
    values = values.dropna()
    if len(values) < 2:
        return running.number(values.mean(), ".2f")
    half = student.ppf(0.975, len(values) - 1) * values.sem()
    ends = np.clip([values.mean() - half, values.mean() + half], low, high)
    return f"{values.mean():.2f} [{ends[0]:.2f}, {ends[1]:.2f}]"


def tables(rows: pd.DataFrame, shown: dict[str, str], *names: str) -> str:
    """Write a line for each case, and for each method where ``names`` say so."""
    rows = rows.sort_values(list(names), key=lambda of: of.map(PLACES))
    groups = rows.groupby(list(names), sort=False)
    limits = {"ari": (-1, 1), "fit_seconds": (0, np.inf), "n_groups": (0, np.inf)}
    lines = [
        [*key, str(len(of)), *(interval(of[c], *limits.get(c, (0, 1))) for c in shown)]
        for key, of in groups
    ]
    return running.markdown([*names, "draws", *shown.values()], lines)


def ahead(rows: pd.DataFrame) -> str:
    """Write by how much FeatureGroups is ahead of GroupFS on the same draws."""
    by = rows.pivot(index=["case", "number"], columns="method", values=list(AHEAD))
    lines = [
        [case, *(interval(of[c, "FeatureGroups"] - of[c, "GroupFS"], -1, 1) for c in AHEAD)]
        for case, of in sorted(by.groupby("case"), key=lambda found: PLACES[found[0]])
    ]
    return running.markdown(["case", *AHEAD.values()], lines)


def by_kind(rows: pd.DataFrame) -> str:
    """Write the means of both estimators over all cases of a kind."""
    both = rows[rows["method"].isin(BOTH)]
    means = both.pivot_table(["ari", "F"], "kind", "method", sort=False)
    lines = [
        [kind, *(running.number(line[of, m], ".2f") for of in ("ari", "F") for m in BOTH)]
        for kind, line in means.iterrows()
    ]
    return running.markdown(["kind", *(f"{t}, {m}" for t in ("Rand", "F") for m in BOTH)], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    given = running.options(__file__, __doc__).parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "fits.csv"
    rows = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=KEYS)
    if given.join:
        rows = running.compute([], measure, given)
    for method, (kind, case) in product(list(METHODS)[: 2 if given.quick else None], CASES):
        done = set(rows[KEYS].itertuples(index=False, name=None))
        n_draws = 2 if given.quick else FEWER.get(method, N_DRAWS)
        cells = [(kind, case, method, number) for number in range(n_draws)]
        todo = [dict(zip(KEYS, cell, strict=True)) for cell in cells if cell not in done]
        if todo and planned(method, kind, case) and not given.join:
            new = running.compute(todo, measure, given)
            rows = pd.concat([rows, new]) if len(rows) else new
            rows.to_csv(path, index=False, float_format="%.6g")
    parts = [running.command(rows, "which", " --quick" * given.quick)]
    for kind in dict.fromkeys(kind for kind, _ in CASES):
        of = rows[rows["kind"] == kind]
        parts += [f"## {kind}", tables(of, FIGURES, "case", "method"), ahead(of)]
        parts += [tables(of[of["method"] == "FeatureGroups"], CANDIDATES, "case")]
    running.write(given, rows, parts, by_kind(rows))


if __name__ == "__main__":
    main()
