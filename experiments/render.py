"""The numbers as markdown: ours, with the paper's in brackets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments import methods
from experiments.aggregate import Comparison, Score, Scores, measured, rank_of
from experiments.store import Store
from experiments.student import Marks, as_printed, marks_of, printed_marks

NONE = "–"


def origin(name: str, results: Path) -> str:
    """Name the command, the machines and the versions that the records of fits name."""
    records = [record for record in Store(results / f"{name}.npz") if "settings" in record]
    devices = Counter(record["machine"]["device"] for record in records)
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, number in record["machine"].items():
            if package != "device":
                versions.setdefault(package, set()).add(number)
    on_gpu = any("NVIDIA" in device for device in devices)
    machines = ", ".join(f"{device} ({n} fits)" for device, n in devices.items())
    numbers = ", ".join(f"{p} {' and '.join(sorted(v))}" for p, v in versions.items())
    command = f"python -m experiments.{name}{' --device cuda' if on_gpu else ''}"
    return f"`{command}` on {machines}; {numbers}."


def in_order(by_table: dict[str, Any], tables: Sequence[str]) -> dict[str, Any]:
    """Sort what was found by table, tables in the order given."""
    return {table: by_table[table] for table in tables if table in by_table}


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *map(list, lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def beside_the_paper(
    scores: Scores,
    printed: dict[str, Any],
    names: Sequence[str],
    ranked: Sequence[str],
    with_n: bool = False,
) -> str:
    """Write methods down, tables across, our rank below; ``with_n`` adds numbers of features."""
    lines = []
    for name in measured(scores, names):
        theirs = as_printed(name)
        cells = [
            with_paper(of_table.get(name), (printed[table] or {}).get(theirs), with_n)
            for table, of_table in scores.items()
        ]
        lines.append([name, *cells])
    for name in measured(scores, methods.GROUPFS):
        places = [rank_of(of_table, name, ranked) for of_table in scores.values()]
        lines.append([f"rank of {name}", *(NONE if p is None else str(p) for p in places)])
    return markdown(["", *scores], lines)


def with_paper(ours: Score | None, theirs: dict[str, Any] | None, with_n: bool = False) -> str:
    n_ours = f" [{ours.n_selected:.0f}]" if with_n and ours else ""
    n_theirs = f" [{theirs['n_selected']}]" if with_n and theirs else ""
    measured = f"{ours.mean:.1f} ± {ours.std:.1f}{n_ours}" if ours else NONE
    return f"{measured} ({theirs['mean']} ± {theirs['std']}{n_theirs})" if theirs else measured


def against_the_paper(
    scores: Scores, printed: dict[str, Any], ranked: Sequence[str], method: str = "GroupFS"
) -> str:
    """Say on how many tables ours reaches the paper's numbers and leads here."""
    have = {table: of_table for table, of_table in scores.items() if method in of_table}
    n = len(have)
    reached = led = first = 0
    for table, of_table in have.items():
        ours = round(of_table[method].mean, 1)
        theirs = {m: c["mean"] for m, c in printed[table].items() if isinstance(c, dict)}
        theirs = {m: mean for m, mean in theirs.items() if mean <= 100}  # one is a misprint
        reached += ours >= theirs["GroupFS"]
        led += ours >= max(theirs.values())
        first += rank_of(of_table, method, ranked) == 1
    return (
        f"{method}: at least the paper's GroupFS on {reached} of {n} tables, at least the best of "
        f"the paper's row on {led} of {n}, first or equal first of the methods measured here on "
        f"{first} of {n}."
    )


def means(scores: Scores, names: Sequence[str]) -> str:
    """Write the means over the tables that all methods have."""
    names = measured(scores, names)
    tables = [t for t, of_table in scores.items() if set(names) <= set(of_table)]
    if not tables:
        return ""
    mean = {n: sum(scores[t][n].mean for t in tables) / len(tables) for n in names}
    order = sorted(names, key=lambda name: -mean[name])
    return f"Mean over {len(tables)} tables: " + ", ".join(f"{n} {mean[n]:.1f}" for n in order)


def ours_alone(scores: Scores, names: Sequence[str]) -> str:
    """Write means only, methods down, tables across, mean over tables last."""
    lines = []
    for name in measured(scores, names):
        values = [
            of_table[name].mean if name in of_table else math.nan for of_table in scores.values()
        ]
        mean = sum(values) / len(values)
        lines.append([name, *map(_number, [*values, mean])])
    return markdown(["", *scores, "mean"], lines)


def comparison(ranked: dict[str, Comparison], explained: dict[str, float], by: str) -> str:
    """Write means by several measures, leads over RANDOM, mean ranks and tests, best first.

    Methods are sorted ``by`` one of the measures, or by the first where that is not known.
    """
    first, *_ = ranked.values()
    order = ranked[by].mean or first.mean
    head = [""]
    for measure in ranked:
        head += [measure, "above RANDOM"]
    head += ["explained", *(f"rank, {m}" for m in ranked), *(f"p, {m}" for m in ranked)]
    lines = []
    for name in sorted(order, key=lambda name: -order[name]):
        line = [name]
        for ranking in ranked.values():
            mean = ranking.mean.get(name, math.nan)
            line += [_number(mean), _number(mean - ranking.mean.get("RANDOM", math.nan), "+.1f")]
        line += [_number(explained.get(name, math.nan))]
        line += [_number(ranking.rank.get(name, math.nan), ".2f") for ranking in ranked.values()]
        line += [p_value(ranking.p_value.get(name, math.nan)) for ranking in ranked.values()]
        lines.append(line)
    tests = [
        f"by {measure} over {len(ranking.tables)} tables and {len(ranking.mean)} methods, "
        f"p = {p_value(ranking.friedman)}"
        for measure, ranking in ranked.items()
    ]
    return f"{markdown(head, lines)}\n\nFriedman's test: {'; '.join(tests)}."


def students(records: Sequence[dict[str, Any]], scores: Scores, printed: dict[str, Any]) -> str:
    """Write features down, methods across: ticks or groups; ours / the paper's; seed 0."""
    first = {r["key"]["method"]: r for r in records if r["key"]["seed"] == 0}
    names = [m for m in first if m not in ("ALL", "RANDOM")]
    ours = {m: marks_of(first[m]["selections"][0]) for m in names}
    theirs = {m: printed_marks(printed, as_printed(m)) for m in names}
    lines = [
        [feature, *(_pair(feature, ours[m], theirs[m]) for m in names)]
        for feature in printed["features"]
    ]
    shared = [str(len(set(ours[m]) & set(theirs[m]))) if theirs[m] else NONE for m in names]
    of_table = scores.get("student", {})
    accuracy = [with_paper(of_table.get(m), printed["accuracy"].get(as_printed(m))) for m in names]
    lines += [["selected by both", *shared], ["accuracy", *accuracy]]
    return markdown(["", *names], lines)


def groups_of_students(record: dict[str, Any]) -> str:
    """Write all groups of one fit, most important first."""
    groups = "; ".join(f"{i}: {', '.join(g)}" for i, g in enumerate(record["all_groups"], 1))
    return f"Groups of {record['key']['method']}: {groups}."


def _pair(feature: str, ours: Marks, theirs: Marks) -> str:
    """Write a tick or the number of a group, ours / the paper's; nothing if neither has it."""
    told = [str(m[feature] or "✓") if feature in m else NONE for m in (ours, theirs)]
    return "" if told == [NONE, NONE] else " / ".join(told)


def _number(value: float, form: str = ".1f") -> str:
    return NONE if math.isnan(value) else format(value, form)


def p_value(value: float) -> str:
    """Write a p-value with three decimals."""
    if math.isnan(value):
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
