"""The number of dimensions: designs of the literature, and who finds the right number.

- binary: Golino and Epskamp (2017): 2 or 4 factors of 5 or 10 items with loadings .7, 100 to 5,000
  rows, factors correlated by 0 to .7, items cut in two at their mean.
- continuous: the same, not cut.
- categories: as latentFactoR draws: 2 or 4 factors of 6 items, correlated by .3, 500 rows; loadings
  of .4 to .7, 2 to 7 categories, not skewed or skewed by 1, every second item to the other side.

A draw of a cell is a table. Ward and spectral clustering are told the number and compared in what
they find alone.
"""

import argparse
from collections import namedtuple
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from joblib import delayed

from benchmarks import group_competitors, networks
from benchmarks.group_competitors import Method, chosen, compare
from benchmarks.planted_tables import PlantedTable
from benchmarks.questionnaires import in_categories, items, related_factors
from benchmarks.records import Record, averaged, mean

KINDS = ("binary", "continuous", "categories")
TOLD = ("Ward", "spectral")
METHODS: dict[str, Method] = {
    "groupfs": group_competitors.with_groupfs,
    "EGA": networks.with_ega,
    "factors": group_competitors.with_factors,
    "Leiden": networks.with_leiden,
    "Ward": group_competitors.with_ward,
    "spectral": group_competitors.with_spectral,
}
#: Cells are compared one by one where factors are correlated by no more than this.
MODERATE = 0.5


#: How the tables of a cell are drawn; items of 0 categories are not cut.
Cell = namedtuple("Cell", "kind factors items rows correlation loading categories skew")


def cells() -> list[Cell]:
    """List the cells of all designs."""
    sizes = list(product((2, 4), (5, 10), (100, 500, 1000, 5000), (0.0, 0.2, 0.5, 0.7)))
    answers = product((2, 4), (0.4, 0.55, 0.7), (2, 3, 5, 7), (0.0, 1.0))
    return [
        *(Cell("binary", *size, 0.7, 2, 0.0) for size in sizes),
        *(Cell("continuous", *size, 0.7, 0, 0.0) for size in sizes),
        *(Cell("categories", k, 6, 500, 0.3, *answer) for k, *answer in answers),
    ]


def draw(number: int, k: int) -> PlantedTable:
    """Draw the k-th table of a cell."""
    cell = cells()[number]
    rng = np.random.default_rng([k, 3, number])
    one_trait = np.zeros(cell.factors, dtype=np.int64)
    factors = related_factors(rng, cell.rows, one_trait, cell.correlation)
    groups = np.repeat(np.arange(cell.factors), cell.items)
    X = items(rng, factors, groups, np.full(len(groups), cell.loading))
    if cell.categories:
        X = in_categories(rng, X, cell.categories, cell.skew)
    return PlantedTable(X, groups, {"cell": number, "draw": k, **cell._asdict()})


def measure(number: int, k: int, methods: dict[str, Method]) -> list[Record]:
    """Run methods on a draw; those that are told the number cannot be right about it."""
    records = compare(draw(number, k), k, methods)
    for record in (r for r in records if "ari" in r):
        record["right"] = None if record["method"] in TOLD else record["surplus"] == 0
    return records


def calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan n draws of the cells that are asked for."""
    methods = chosen(METHODS, options.methods)
    of_kinds = [i for i, cell in enumerate(cells()) if cell.kind in (options.kinds or KINDS)]
    draws = product(options.cells or of_kinds, range(n))
    return (delayed(measure)(number, k, methods) for number, k in draws)


def tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average who finds the right number, and the groups, by what tells cells apart."""
    sized = [r for r in records if r["kind"] != "categories"]
    cut = [r for r in records if r["kind"] == "categories"]
    shown: dict[str, list[Record]] = {}
    for title, value in (("Right number", "right"), ("Rand", "ari")):
        everywhere = [{"kind": "all", **row} for row in across(records, value)]
        shown[title] = everywhere + across(records, value, "kind")
        shown[f"{title}, by correlation"] = across(sized, value, "kind", "correlation")
        shown[f"{title}, by rows"] = across(sized, value, "kind", "rows")
        shown[f"{title}, by loading"] = across(cut, value, "loading", "skew")
        shown[f"{title}, by categories"] = across(cut, value, "categories", "skew")
    shown["Cells, groupfs and EGA"] = cell_by_cell(records)
    return shown


def across(records: list[Record], value: str, *names: str) -> list[Record]:
    """Average a value of each method, a column each, of the records that agree in some values."""
    known = {r["method"] for r in records if r[value] is not None}

    def by_method(some: list[Record]) -> Record:
        means = {m: mean(r[value] for r in some if m == r["method"]) for m in METHODS if m in known}
        return {"tables": len({(r["cell"], r["draw"]) for r in some}), **means}

    return averaged(records, by_method, *names)


def cell_by_cell(records: list[Record], one: str = "groupfs", other: str = "EGA") -> list[Record]:
    """Count the cells in which a method is right at least as often as another, or more, or less."""
    some = [r for r in records if r["correlation"] <= MODERATE and r["method"] in (one, other)]
    shares = across(some, "right", "kind", "cell")
    rows: list[Record] = []
    for kind in ("all", *KINDS):
        both = [(r.get(one), r.get(other)) for r in shares if kind in ("all", r["kind"])]
        gains = [a - b for a, b in both if a is not None and b is not None]
        if gains:
            more, less = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
            found = {f"{one} >= {other}": len(gains) - less, "more often": more, "less often": less}
            rows.append({"kind": kind, "cells": len(gains), **found})
    return rows
