"""Whether groups are found that are known or planted, and none where there are none.

``python -m benchmarks.discovery`` prints tables and writes what they were made of (json lines, and
the tables as markdown) to ``--results``. Its parts, ``--part known level`` takes some of them:

- known: three tables of psychological tests whose items were written for known scales.
- planted: tables of many sizes and kinds with planted groups among noise.
- level: tables without structure; how often any group is kept at all.

The first two are given to other methods as well (``benchmarks.group_competitors``). An older
version of the library is measured with its ``src`` folder in PYTHONPATH. Rand indices are adjusted
for chance; 1 is all right, 0 is what chance gives. Fits that break are listed and count in no mean.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
from joblib import Parallel, delayed

from benchmarks.group_competitors import METHODS, compare, fitted
from benchmarks.planted_tables import (
    COLUMNS,
    LEVEL_KINDS,
    PLANTED_KINDS,
    PlantedTable,
    planted_table,
    unstructured_table,
)
from benchmarks.tables import known_groups

KNOWN = ("bfi", "ability", "holzinger")
#: Levels at which groups are kept in tables without structure; the first is the default.
LEVELS = (0.01, 0.05)
#: Parts, and how many seeds, planted tables, or tables without structure of a kind they have.
PARTS = {"known": 5, "planted": 60, "level": 200}

Record = dict[str, Any]


def calls(part: str, n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of a part."""
    names, kinds = options.methods, options.kinds
    if part == "known":
        return (delayed(known)(name, seed, names) for name in KNOWN for seed in range(n))
    if part == "planted":
        all_kinds = list(PLANTED_KINDS)
        numbers = [i for i in range(n) if all_kinds[i % len(all_kinds)] in (kinds or all_kinds)]
        return (delayed(planted)(number, names) for number in numbers)
    wanted = [kind for kind in LEVEL_KINDS if kind in (kinds or LEVEL_KINDS)]
    return (delayed(level)(kind, number) for kind in wanted for number in range(n))


def known(name: str, seed: int, names: list[str]) -> list[Record]:
    """Run methods on a table whose items were written for known scales."""
    X, scales = known_groups(name)
    return compare(PlantedTable(X, scales, {"table": name, "seed": seed}), seed, names)


def planted(number: int, names: list[str]) -> list[Record]:
    """Run methods on one planted table."""
    return compare(planted_table(number), number, names)


def level(kind: str, number: int) -> list[Record]:
    """Fit a table without structure, and count what is kept at each level."""
    X = unstructured_table(kind, number)
    record = {"kind": kind, "table": number, "rows": X.shape[0], "features": X.shape[1]}
    record["size"] = min(COLUMNS, key=lambda columns: abs(columns - X.shape[1]))
    try:
        selector = fitted(X, number, alpha=LEVELS[0])
    except Exception as reason:  # a finding as others are
        return [record | {"failure": f"{type(reason).__name__}: {reason}"}]
    chosen = {str(alpha): selector.select(alpha=alpha) for alpha in LEVELS}
    record["groups"] = int(selector.n_groups_)
    record["kept"] = {alpha: int(selection.groups.sum()) for alpha, selection in chosen.items()}
    record["selected"] = {
        alpha: float(selection.support.mean()) for alpha, selection in chosen.items()
    }
    return [record]


def tables_of(part: str, records: list[Record]) -> dict[str, list[Record]]:
    """Average what was found, by what tells tables of a part apart; list failures last."""
    if part == "level":
        whole = [r for r in records if "failure" not in r]
        tables = {
            "Tables without structure": averaged(whole, kept, "kind"),
            "By size": averaged(whole, kept, "rows", "size"),
        }
    elif part == "known":
        tables = {"Known groups": averaged(records, averages, "table", "method")}
    else:
        records = [{**r, "noisy": "yes" if r["noise"] else "no"} for r in records]
        tables = {
            "Planted groups": averaged(records, averages, "method"),
            "By kind of data": averaged(records, averages, "kind", "method"),
            "By noise": averaged(records, averages, "noisy", "method"),
        }
    return tables | failures(records)


def averaged(records: list[Record], average: Any, *names: str) -> list[Record]:
    """Average the records that agree in the named values, a row for each combination."""
    combinations = list(dict.fromkeys(tuple(r[name] for name in names) for r in records))
    if "size" in names:
        combinations.sort()
    return [
        dict(zip(names, values, strict=True))
        | average([r for r in records if tuple(r[name] for name in names) == values])
        for values in combinations
    ]


def averages(records: list[Record]) -> Record:
    """Average scores; failed fits have none."""
    chosen = [r for r in records if "ari" in r]

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


def kept(records: list[Record]) -> Record:
    """Count tables, and take the share of those in which any group is found, or kept."""
    shares = {"any found": float(np.mean([r["groups"] > 0 for r in records]))}
    for alpha in map(str, LEVELS):
        shares[f"any kept at {alpha}"] = float(np.mean([r["kept"][alpha] > 0 for r in records]))
        selected = [r["selected"][alpha] for r in records]
        shares[f"features kept at {alpha}"] = float(np.mean(selected))
    return {"tables": len(records), **shares}


def failures(records: list[Record]) -> dict[str, list[Record]]:
    """List the fits that broke, and why; no table where none did."""
    named = ("kind", "table", "method", "rows", "features", "failure")
    rows = [{k: r[k] for k in named if k in r} for r in records if "failure" in r]
    return {"Failures": rows} if rows else {}


def markdown(title: str, rows: list[Record]) -> str:
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


def run(part: str, options: argparse.Namespace) -> None:
    """Compute a part, a line on the disk for each record as it comes, and show its tables."""
    n = options.tables or PARTS[part]
    records: list[Record] = []
    workers = Parallel(n_jobs=options.jobs, return_as="generator")
    with Path(options.results, f"{part}.jsonl").open("w") as file:
        for measured in workers(calls(part, n, options)):
            records += measured
            file.writelines(json.dumps(record) + "\n" for record in measured)
            file.flush()
    text = "\n".join(markdown(title, rows) for title, rows in tables_of(part, records).items())
    Path(options.results, f"{part}.md").write_text(text)
    print(text, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tables", type=int, help="seeds, planted tables, or tables of a kind")
    parser.add_argument("--kinds", nargs="+", choices={**PLANTED_KINDS, **LEVEL_KINDS}, help="some")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("out/discovery"))
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    for part in options.part:
        run(part, options)


if __name__ == "__main__":
    main()
