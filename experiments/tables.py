"""Writes the tables of experiments/README.md from the stored results, or checks them.

``python -m experiments.tables`` puts the tables between two marks; the text around them stays.
``python -m experiments.tables --check`` judges some stored selections again and compares.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments import (
    data,
    defaults,
    methods,
    paper,
    render,
    scenario0,
    scenario1,
    scenario2,
    student,
    two_moons,
)
from experiments.aggregate import BEST_DRAW, COMPARED, at_levels, best_choice, by_budget, compare
from experiments.pipeline import rows
from experiments.protocol import judge
from experiments.store import RESULTS, Store

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
#: Points by which an accuracy computed again may differ: k-means rounds differently elsewhere.
TOLERANCE = 0.05


def generated(results: Path) -> str:
    """Write everything between the marks."""
    parts = [
        scenario0_part,
        scenario1_part,
        scenario2_part,
        times_part,
        student_part,
        two_moons_part,
        defaults_part,
    ]
    return "\n\n".join(text for part in parts if (text := part(results)))


def scenario0_part(results: Path) -> str:
    found = rows(scenario0.NAME, results)
    if not found:
        return ""
    tables = {row["table"] for row in found}
    levels = at_levels(found, {table: scenario0.budgets(table) for table in tables})
    names = [m for m in COMPARED if m in scenario0.METHODS]
    parts = ["## Scenario 0: no label anywhere", _origin(scenario0.NAME, results)]
    for level, unsorted in levels.items():
        scores = _in_order(unsorted, scenario0.TABLES)
        title = f"{level} features" if level != "own" else "as many features as GroupFS chooses"
        parts += [f"### {title[0].upper()}{title[1:]}", render.comparison(compare(scores, names))]
        parts += [render.ours_alone(scores, [*names, *methods.ABLATIONS])]
        if level == "own":
            ours = {t: s["GroupFS"] for t, s in scores.items() if "GroupFS" in s}
            chosen = ", ".join(f"{t} {s.n_selected:.0f}" for t, s in ours.items())
            parts += [f"Features that GroupFS chooses, mean over seeds: {chosen}."]
    return "\n\n".join(parts)


def scenario1_part(results: Path) -> str:
    found = rows(scenario1.NAME, results)
    if not found:
        return ""
    parts = ["## Scenario 1: the paper's budgets", _origin(scenario1.NAME, results)]
    for measure, title in (("accuracy", "Accuracy"), ("ari", "Adjusted Rand index")):
        scores = _in_order(by_budget(found, measure), scenario1.TABLES)
        printed = paper.results()[f"scenario1_{measure}"]
        budgets = ", ".join(f"{table} {paper.budget(table)}" for table in scores)
        parts += [
            f"### {title}, in percent (the paper's in brackets)",
            render.beside_the_paper(scores, printed, COMPARED, COMPARED),
            *(render.against_the_paper(scores, printed, COMPARED, m) for m in methods.GROUPFS),
            render.means(scores, COMPARED),
        ]
        if measure == "accuracy":
            ablations = ["warm start only", "gates only", "GroupFS", *methods.ABLATIONS[2:]]
            parts[2:2] = [f"Features selected: {budgets}."]
            ablation = ["### What training adds: accuracy", render.ours_alone(scores, ablations)]
    return "\n\n".join([*parts, *ablation, _moved(results)])


def scenario2_part(results: Path) -> str:
    found = rows(scenario2.NAME, results)
    if not found:
        return ""
    scores = _in_order(best_choice(found), scenario2.TABLES)
    printed = paper.results()["scenario2_accuracy"]
    names = [*COMPARED, BEST_DRAW, scenario2.MATCHED]
    candidates = [
        [name, *(str(s[name].n_candidates) if name in s else render.NONE for s in scores.values())]
        for name in names
    ]
    choices = [f"{t}: {s['GroupFS'].choice}" for t, s in scores.items() if "GroupFS" in s]
    parts = [
        "## Scenario 2: at most 400 features, chosen by accuracy",
        _origin(scenario2.NAME, results),
        "Accuracy in percent [features] (the paper's in brackets).",
        render.beside_the_paper(scores, printed, names, COMPARED, with_n=True),
        *(render.against_the_paper(scores, printed, COMPARED, m) for m in methods.GROUPFS),
        render.means(scores, names),
        "Candidates that the classes chose from:",
        render.markdown(["", *scores], candidates),
        "What they chose for GroupFS: " + "; ".join(choices) + ".",
    ]
    return "\n\n".join(parts)


def student_part(results: Path) -> str:
    records = list(Store(results / f"{student.NAME}.npz"))
    if not records:
        return ""
    scores = by_budget(rows(student.NAME, results))
    grouped = [r for r in records if r["key"]["method"] in methods.GROUPFS and not r["key"]["seed"]]
    parts = [
        "## Students: nine features",
        _origin(student.NAME, results),
        "Ticks or numbers of groups, ours / the paper's, first seed; accuracy over all seeds.",
        render.students(records, scores, paper.results()["student"]),
        *map(render.groups_of_students, grouped),
    ]
    return "\n\n".join(parts)


def times_part(results: Path) -> str:
    """Add up the seconds of GroupFS's cells in the paper's scenarios, by table."""
    seconds: Counter[tuple[str, str]] = Counter()
    for name in (scenario1.NAME, scenario2.NAME):
        for record in Store(results / f"{name}.npz"):
            if record["key"]["method"] == "GroupFS":
                seconds[record["key"]["table"], name] += record["seconds"]
    if not seconds:
        return ""
    names = [scenario1.NAME, scenario2.NAME]
    tables = [t for t in data.NINE if any((t, name) in seconds for name in names)]
    lines = [[t, *(f"{seconds[t, name]:.1f}" for name in names)] for t in tables]
    lines += [["all", *(f"{sum(seconds[t, name] for t in tables):.1f}" for name in names)]]
    about = "Three seeds in the first, three paths of 48 models and their candidates in the second."
    text = render.markdown(["seconds", *names], lines)
    return f"## Time that GroupFS takes\n\n{about}\n\n{text}"


def two_moons_part(results: Path) -> str:
    """Say how often the two groups are found; write the studies of noise and correlation."""
    records = list(Store(results / f"{two_moons.NAME}.npz"))
    if not records:
        return ""
    grid = [
        [variant, *(_share(*two_moons.recovered(records, variant, kept)) for kept in (False, True))]
        for variant in two_moons.VARIANTS
    ]
    parts = [
        "## Two moons",
        _origin(two_moons.NAME, results),
        "Tables of the grid with 3 <= C <= d - 8 on which exactly the two groups are found (RG_sim "
        "and TPR 1, FDR 0), by the first groups that cover ten features, as in the paper, and by "
        "the groups the selector itself keeps:",
        render.markdown(["variant", "first ten features", "kept groups"], grid),
    ]
    for study in ("noise", "correlation"):
        parts += [
            f"### By {study}: RG_sim, TPR and FDR, mean over seeds",
            _by_level(records, study),
        ]
    return "\n\n".join(parts)


def defaults_part(results: Path) -> str:
    """Write mean accuracy by sparsity and by way to spend a budget."""
    found = defaults.compare(Store(results / f"{defaults.NAME}.npz"))
    if not found:
        return ""
    sparsities = list(found[0].accuracy)
    lines = [
        [one.way, str(len(one.tables)), *(f"{one.accuracy[s]:.1f}" for s in sparsities)]
        + [", ".join(f"{s} ({n})" for s, n in Counter(one.best_without).most_common())]
        for one in found
    ]
    head = ["", "tables", *(f"sparsity {s}" for s in sparsities), "best without one table (times)"]
    about = (
        "`python -m experiments.defaults --device cuda`: mean accuracy over tables, three seeds "
        "and three budgets; *own* is what is kept without a budget, on the tables where any group "
        "stands out at every sparsity."
    )
    return "\n\n".join(["## Where the defaults come from", about, render.markdown(head, lines)])


def insert(text: str, tables: str) -> str:
    """Replace what stands between the marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def check(results: Path, n: int, seed: int) -> list[str]:
    """Judge ``n`` stored selections of every scenario again; return what differs."""
    rng = np.random.default_rng(seed)
    wrong = []
    for name in (scenario0.NAME, scenario1.NAME, scenario2.NAME, student.NAME):
        found = rows(name, results)
        for place in rng.permutation(len(found))[:n]:
            row = found[place]
            table = data.load(row["table"])
            again = judge(table.Z, table.y, np.array(row["selected"])).as_dict()
            # scores that the selection has not been judged by differ by what is not a number
            worst = max(np.nan_to_num(abs(again[score] - row[score])) for score in again)
            label = f"{name} {row['table']} {row['method']} seed {row['seed']}"
            print(f"{label}: stored {row['accuracy']:.2f}, again {again['accuracy']:.2f}")
            if worst > TOLERANCE:
                wrong.append(label)
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--readme", type=Path, default=README)
    parser.add_argument("--check", type=int, nargs="?", const=5, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="which selections are checked")
    given = parser.parse_args(argv)
    text = insert(given.readme.read_text(), generated(given.results))
    if given.check is None:
        given.readme.write_text(text)
        return 0
    wrong = check(given.results, given.check, given.seed)
    if text != given.readme.read_text():
        wrong.append(f"{given.readme} is not what the results give")
    print("\n".join(f"wrong: {label}" for label in wrong) or "all agree")
    return min(len(wrong), 1)


def _origin(name: str, results: Path) -> str:
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


def _by_level(records: list[dict[str, Any]], study: str) -> str:
    """Write a line for each level of a study of two moons, a column for each variant."""
    found: dict[float, dict[str, str]] = {}
    for row in two_moons.aggregate(r for r in records if r["key"]["study"] == study):
        key = row["key"]
        name = f"{key['variant']}, {'C auto' if key['n_groups'] == 'auto' else 'C of the paper'}"
        means = [f"{row[f'{m}_mean']:.2f}" for m in ("rg_sim", "tpr", "fdr")]
        found.setdefault(key[study], {})[name] = " / ".join(means)
    names = list(dict.fromkeys(name for variants in found.values() for name in variants))
    lines = [
        [f"{level:.2f}", *(variants.get(name, render.NONE) for name in names)]
        for level, variants in sorted(found.items())
    ]
    return render.markdown([study, *names], lines)


def _share(hits: int, fits: int) -> str:
    return f"{hits} of {fits} ({hits / fits:.1%})" if fits else render.NONE


def _in_order(scores: dict[str, Any], tables: Sequence[str]) -> dict[str, Any]:
    return {table: scores[table] for table in tables if table in scores}


def _moved(results: Path) -> str:
    """Say how many features left the cluster they started in, mean over seeds."""
    shares: dict[str, list[float]] = {}
    for record in Store(results / f"{scenario1.NAME}.npz"):
        if record["key"]["method"] == "GroupFS":
            shares.setdefault(record["key"]["table"], []).append(record["found"]["share_moved"])
    told = ", ".join(f"{t} {np.mean(s):.1%}" for t, s in _in_order(shares, data.NINE).items())
    return f"Features that leave the cluster they start in while GroupFS trains: {told}."


if __name__ == "__main__":
    raise SystemExit(main())
