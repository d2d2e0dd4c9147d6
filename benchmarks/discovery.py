"""Whether GroupFS finds groups that are known or planted, and none where there are none.

``python -m benchmarks.discovery`` prints tables and writes what they were made of (json lines, and
the tables as markdown) to ``--results``. Its parts, ``--part known level`` takes some of them:

- known: three tables of psychological tests whose items were written for known scales, beside other
  methods.
- cells: blood cells, and programmes of genes that biology knows to go together.
- planted: tables of many sizes and kinds with planted groups among noise, beside other methods, and
  with ``--landed SRC`` an older version of the library in that folder.
- level: tables without structure; how often any group is kept at all.

Fits but those of the cells stop after one epoch: by default gates alone are trained, and which
groups are found and kept does not depend on them. An older version is trained to the end. Rand
indices are adjusted for chance; 1 is all right, 0 is what chance gives. Fits that break are listed,
and count in no mean.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
from joblib import Parallel, delayed

from benchmarks.cell_programmes import cell_tables, judge, read_cells
from benchmarks.group_competitors import compare, fitted
from benchmarks.planted_tables import (
    COLUMNS,
    LEVEL_KINDS,
    PLANTED_KINDS,
    ROWS,
    PlantedTable,
    planted_table,
    unstructured_table,
)
from benchmarks.tables import folder

KNOWN = ("bfi", "ability", "holzinger")
#: Levels at which groups are kept in tables without structure; the first is the default.
LEVELS = (0.01, 0.05)
#: Seeds and tables of a quick run.
QUICK_SEEDS, QUICK_TABLES = 2, 4

Record = dict[str, Any]
#: rows of a table, by column
Rows = list[Record]


@dataclass(frozen=True)
class Part:
    """The calls of a part, some records each, and the tables that are made of them."""

    calls: Callable[[argparse.Namespace], Iterable[Any]]
    tables: Callable[[list[Record]], dict[str, Rows]]
    n_seeds: int = 0
    n_tables: int = 0


def known_calls(options: argparse.Namespace) -> Iterable[Any]:
    """Plan the comparison on every table, with every seed."""
    return (
        delayed(known)(name, seed, options.landed)
        for name in KNOWN
        for seed in range(options.n_seeds)
    )


def known(name: str, seed: int, landed: str | None) -> list[Record]:
    """Run all methods on a table whose items were written for known scales."""
    with np.load(Path(folder(), "known-groups", f"{name}.npz")) as arrays:
        X, scales = arrays["X"], np.unique(arrays["g"], return_inverse=True)[1]
    return compare(PlantedTable(X, scales, {"table": name, "seed": seed}), seed, landed)


def known_tables(records: list[Record]) -> dict[str, Rows]:
    """Average over the seeds, a row for each table and method."""
    pairs = dict.fromkeys((record["table"], record["method"]) for record in records)
    rows = [{"table": t, "method": m, **averages(records, table=t, method=m)} for t, m in pairs]
    return {"Known groups": rows} | failures(records)


def cells_calls(options: argparse.Namespace) -> Iterable[Any]:
    """Plan a fit of the cells for every seed."""
    X, names = read_cells(options.cells)
    return (delayed(cells)(X, names, seed) for seed in range(options.n_seeds))


def cells(X: np.ndarray, names: list[str], seed: int) -> list[Record]:
    """Fit the cells, and see what becomes of the programmes."""
    return [{"seed": seed, **judge(fitted(X, seed), names)}]


def planted_calls(options: argparse.Namespace) -> Iterable[Any]:
    """Plan the comparison on every planted table."""
    kinds = options.kinds or PLANTED_KINDS
    numbers = range(options.n_tables)
    wanted = [n for n in numbers if list(PLANTED_KINDS)[n % len(PLANTED_KINDS)] in kinds]
    return (delayed(planted)(number, options.landed) for number in wanted)


def planted(number: int, landed: str | None) -> list[Record]:
    """Run all methods on one planted table."""
    return compare(planted_table(number), number, landed)


def planted_tables(records: list[Record]) -> dict[str, Rows]:
    """Average over all tables, over those of a kind, and over those with and without noise."""
    names = dict.fromkeys(record["method"] for record in records)
    every = [{"method": name, **averages(records, method=name)} for name in names]
    kinds = [
        {"kind": kind, "method": name, **averages(records, method=name, kind=kind)}
        for kind in dict.fromkeys(record["kind"] for record in records)
        for name in names
    ]
    noisy = [{**record, "noisy": record["noise"] > 0} for record in records]
    noise = [
        {"noise": word, "method": name, **averages(noisy, method=name, noisy=value)}
        for word, value in (("yes", True), ("no", False))
        for name in names
    ]
    tables = {"Planted groups": every, "By kind of data": kinds, "By noise": noise}
    return tables | failures(records)


def averages(records: list[Record], **where: Any) -> Record:
    """Average the scores of the records that are as asked for; failed ones have none."""
    chosen = [r for r in records if "ari" in r and all(r[k] == v for k, v in where.items())]

    def mean(values: Iterable[float | None]) -> float | None:
        known_values = [value for value in values if value is not None]
        return float(np.mean(known_values)) if known_values else None

    return {
        "tables": len(chosen),
        "Rand, planted": mean(r["ari"] for r in chosen),
        "Rand, all": mean(r["ari_all"] for r in chosen),
        "groups too many": mean(r["surplus"] for r in chosen),
        "groups off": mean(abs(r["surplus"]) for r in chosen),
        "noise kept": mean(r["noise_kept"] for r in chosen),
        "planted lost": mean(r["lost"] for r in chosen),
        "seconds": mean(r["seconds"] for r in chosen),
    }


def failures(records: list[Record]) -> dict[str, Rows]:
    """List the fits that broke, and why; no table where none did."""
    named = ("kind", "table", "method", "rows", "features", "failure")
    rows = [{k: r[k] for k in named if k in r} for r in records if "failure" in r]
    return {"Failures": rows} if rows else {}


def level_calls(options: argparse.Namespace) -> Iterable[Any]:
    """Plan a fit for every table without structure."""
    kinds = [kind for kind in LEVEL_KINDS if kind in (options.kinds or LEVEL_KINDS)]
    return (delayed(level)(kind, number) for kind in kinds for number in range(options.n_tables))


def level(kind: str, number: int) -> list[Record]:
    """Fit a table without structure, and count what is kept at each level."""
    X = unstructured_table(kind, number)
    record = {
        "kind": kind,
        "table": number,
        "rows": X.shape[0],
        "features": X.shape[1],
        "size": min(COLUMNS, key=lambda columns: abs(columns - X.shape[1])),
    }
    try:
        selector = fitted(X, number, max_epochs=1, alpha=LEVELS[0])
    except Exception as reason:  # a finding as others are
        return [record | {"failure": f"{type(reason).__name__}: {reason}"}]
    chosen = {str(alpha): selector.select(alpha=alpha) for alpha in LEVELS}
    record["groups"] = int(selector.n_groups_)
    record["kept"] = {alpha: int(found.groups.sum()) for alpha, found in chosen.items()}
    record["selected"] = {alpha: float(found.support.mean()) for alpha, found in chosen.items()}
    return [record]


def level_tables(records: list[Record]) -> dict[str, Rows]:
    """Count the tables in which groups are found and kept, by kind and by size."""
    broken, records = failures(records), [r for r in records if "failure" not in r]
    kinds = dict.fromkeys(record["kind"] for record in records)
    by_kind = [{"kind": k, **kept(r for r in records if r["kind"] == k)} for k in kinds]
    sizes = [(rows, size) for rows in ROWS for size in COLUMNS]
    by_size = [
        {
            "rows": rows,
            "columns": size,
            **kept(r for r in records if (r["rows"], r["size"]) == (rows, size)),
        }
        for rows, size in sizes
    ]
    by_size = [row for row in by_size if row["tables"]]
    return {"Tables without structure": by_kind, "By size": by_size, **broken}


def kept(records: Iterable[Record]) -> Record:
    """Count tables, and take the share of those in which any group is found, or kept."""
    chosen = list(records)
    shares = {"any found": float(np.mean([r["groups"] > 0 for r in chosen]))} if chosen else {}
    for alpha in map(str, LEVELS if chosen else ()):
        shares[f"any kept at {alpha}"] = float(np.mean([r["kept"][alpha] > 0 for r in chosen]))
        shares[f"features kept at {alpha}"] = float(np.mean([r["selected"][alpha] for r in chosen]))
    return {"tables": len(chosen), **shares}


PARTS = {
    "known": Part(known_calls, known_tables, n_seeds=5),
    "cells": Part(cells_calls, cell_tables, n_seeds=3),
    "planted": Part(planted_calls, planted_tables, n_tables=60),
    "level": Part(level_calls, level_tables, n_tables=200),
}


def markdown(title: str, rows: Rows) -> str:
    """Write rows as a table that is easy to read as text, too."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [columns, *([shown(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
    cells.insert(1, ["-" * width for width in widths])
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    return "\n".join([f"## {title}", "", *lines, ""])


def shown(value: Any) -> str:
    """Write a number with three digits after the point, and nothing for what is not known."""
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def run(name: str, options: argparse.Namespace) -> None:
    """Compute a part, a line on the disk for each record as it comes, and show its tables."""
    part, records = PARTS[name], []
    options.n_seeds = QUICK_SEEDS if options.quick else part.n_seeds
    options.n_tables = options.tables or (QUICK_TABLES if options.quick else part.n_tables)
    workers = Parallel(n_jobs=options.jobs, return_as="generator")
    with Path(options.results, f"{name}.jsonl").open("w") as file:
        for found in workers(part.calls(options)):
            records += found
            file.writelines(json.dumps(record) + "\n" for record in found)
            file.flush()
    text = "\n".join(markdown(title, rows) for title, rows in part.tables(records).items())
    Path(options.results, f"{name}.md").write_text(text)
    print(text, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tables", type=int, help="planted tables; without structure, of a kind")
    parser.add_argument("--kinds", nargs="+", choices={**PLANTED_KINDS, **LEVEL_KINDS}, help="some")
    parser.add_argument("--landed", metavar="SRC", help="source folder of an older version")
    parser.add_argument("--cells", metavar="FILE", help="npz with X and names, without anndata")
    parser.add_argument("--quick", action="store_true", help="few seeds and tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("out/discovery"))
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    for name in options.part:
        run(name, options)


if __name__ == "__main__":
    main()
