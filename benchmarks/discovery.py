"""Whether groups are found that are known or planted, and none where there are none.

``python -m benchmarks.discovery`` prints tables and writes what they were made of (json lines, and
the tables as markdown) to ``--results``. Its parts, ``--part known level`` takes some of them:

- known: three tables of psychological tests whose items were written for known scales.
- planted: tables of many sizes and kinds with planted groups among noise.
- level: tables without structure; how often any group is kept at all.
- designs: questionnaires of the literature on the number of dimensions (``benchmarks.designs``).
- levels: questionnaires of facets and traits, and of one level (``benchmarks.levels``).
- wide: planted groups among up to 30,000 features (``benchmarks.wide``).
- stability: real tables, changed in what does not matter (``benchmarks.stability``).

The first two and designs are given to other methods as well (``benchmarks.group_competitors`` and
``networks``). An older version of the library is measured with its ``src`` folder in PYTHONPATH.
Rand indices are adjusted for chance; 1 is all right, 0 is what chance gives. Fits that break are
listed and count in no mean.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
from joblib import Parallel, delayed

from benchmarks import designs, levels, stability, wide
from benchmarks.group_competitors import METHODS, chosen, compare, fitted
from benchmarks.planted_tables import (
    COLUMNS,
    LEVEL_KINDS,
    PLANTED_KINDS,
    PlantedTable,
    planted_table,
    unstructured_table,
)
from benchmarks.records import Record, attempt, averaged, failures, markdown, mean
from benchmarks.tables import KNOWN, known_groups

#: Levels at which groups are kept in tables without structure; the first is the default.
LEVELS = (0.01, 0.05)


class Part(NamedTuple):
    """What a part fits and shows, and how many seeds, tables of a kind, or draws it has."""

    n: int
    calls: Callable[[int, argparse.Namespace], Iterable[Any]]
    tables: Callable[[list[Record]], dict[str, list[Record]]]


def known_calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of tables whose items were written for known scales."""
    methods = chosen(METHODS, options.methods)
    for name, seed in product(KNOWN, range(n)):
        table = PlantedTable(*known_groups(name), {"table": name, "seed": seed})
        yield delayed(compare)(table, seed, methods)


def planted_calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of planted tables."""
    methods, kinds = chosen(METHODS, options.methods), list(PLANTED_KINDS)
    wanted = [i for i in range(n) if kinds[i % len(kinds)] in (options.kinds or kinds)]
    return (delayed(compare)(planted_table(number), number, methods) for number in wanted)


def level_calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of tables without structure."""
    wanted = [kind for kind in LEVEL_KINDS if kind in (options.kinds or LEVEL_KINDS)]
    return (delayed(level)(kind, number) for kind in wanted for number in range(n))


def level(kind: str, number: int) -> list[Record]:
    """Fit a table without structure, and count what is kept at each level."""
    X = unstructured_table(kind, number)
    record = {"kind": kind, "table": number, "rows": X.shape[0], "features": X.shape[1]}
    record["size"] = min(COLUMNS, key=lambda columns: abs(columns - X.shape[1]))

    def counted() -> Record:
        selector = fitted(X, number, alpha=LEVELS[0])
        every = {"n_groups_to_select": "significant"}
        selections = {str(alpha): selector.select(alpha=alpha, **every) for alpha in LEVELS}
        return {
            "groups": int(selector.n_groups_),
            "kept": {alpha: int(s.groups.sum()) for alpha, s in selections.items()},
            "selected": {alpha: float(s.support.mean()) for alpha, s in selections.items()},
        }

    return [attempt(record, counted)]


def planted_tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average what was found in planted tables, by what tells them apart."""
    records = [{**r, "noisy": "yes" if r["noise"] else "no"} for r in records]
    return {
        "Planted groups": averaged(records, averages, "method"),
        "By kind of data": averaged(records, averages, "kind", "method"),
        "By noise": averaged(records, averages, "noisy", "method"),
    }


def level_tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average what was kept in tables without structure."""
    return {
        "Tables without structure": averaged(records, kept, "kind"),
        "By size": averaged(records, kept, "rows", "size"),
    }


def averages(records: list[Record]) -> Record:
    """Average scores; failed fits have none."""
    scored = [r for r in records if "ari" in r]
    return {
        "tables": len(scored),
        "Rand, planted": mean(r["ari"] for r in scored),
        "Rand, all": mean(r["ari_all"] for r in scored),
        "groups too many": mean(r["surplus"] for r in scored),
        "groups off": mean(abs(r["surplus"]) for r in scored),
        "noise kept": mean(r["noise_kept"] for r in scored),
        "planted lost": mean(r["lost"] for r in scored),
        "seconds": mean(r["seconds"] for r in scored),
    }


def kept(records: list[Record]) -> Record:
    """Count tables, and take the share of those in which any group is found, or kept."""
    shares = {"any found": float(np.mean([r["groups"] > 0 for r in records]))}
    for alpha in map(str, LEVELS):
        shares[f"any kept at {alpha}"] = float(np.mean([r["kept"][alpha] > 0 for r in records]))
        selected = [r["selected"][alpha] for r in records]
        shares[f"features kept at {alpha}"] = float(np.mean(selected))
    return {"tables": len(records), **shares}


PARTS = {
    "known": Part(
        5, known_calls, lambda found: {"Known groups": averaged(found, averages, "table", "method")}
    ),
    "planted": Part(60, planted_calls, planted_tables),
    "level": Part(200, level_calls, level_tables),
    "designs": Part(20, designs.calls, designs.tables),
    "levels": Part(100, levels.calls, levels.tables),
    "wide": Part(5, wide.calls, wide.tables),
    "stability": Part(10, stability.calls, stability.tables),
}
#: Kinds of tables of all parts; one that a part does not have is none of its.
KINDS = dict.fromkeys((*PLANTED_KINDS, *LEVEL_KINDS, *designs.KINDS, *levels.KINDS))


def tables_of(part: str, records: list[Record]) -> dict[str, list[Record]]:
    """Average what was found, by what tells tables of a part apart; list failures last."""
    whole = [r for r in records if "failure" not in r]
    shown = PARTS[part].tables(whole) | failures(records)
    return {title: rows for title, rows in shown.items() if rows}


def run(part: str, options: argparse.Namespace) -> None:
    """Compute a part, a line on the disk for each record as it comes, and show its tables."""
    n = options.tables or PARTS[part].n
    records: list[Record] = []
    workers = Parallel(n_jobs=options.jobs, return_as="generator")
    with Path(options.results, f"{part}.jsonl").open("w") as file:
        for measured in workers(PARTS[part].calls(n, options)):
            records += measured
            file.writelines(json.dumps(record) + "\n" for record in measured)
            file.flush()
    text = "\n".join(markdown(title, rows) for title, rows in tables_of(part, records).items())
    Path(options.results, f"{part}.md").write_text(text)
    print(text, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tables", type=int, help="seeds, tables of a kind, draws or changes")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, help="some")
    parser.add_argument("--methods", nargs="+", choices={**METHODS, **designs.METHODS}, help="some")
    parser.add_argument("--cells", nargs="+", type=int, help="designs: some, from 0")
    parser.add_argument("--sizes", nargs="+", type=int, help="wide: numbers of features")
    parser.add_argument("--rows", nargs="+", type=int, help="wide: numbers of rows")
    parser.add_argument("--names", nargs="+", choices=stability.NAMES, help="stability: some")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("out/discovery"))
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    for part in options.part:
        run(part, options)


if __name__ == "__main__":
    main()
