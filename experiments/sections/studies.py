"""The sections of single studies: the students' table and two moons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import methods, paper, render, student, two_moons
from experiments.aggregate import by_budget
from experiments.pipeline import rows
from experiments.store import Store


def student_section(results: Path) -> str:
    records = list(Store(results / f"{student.NAME}.npz"))
    if not records:
        return ""
    scores = by_budget(rows(student.NAME, results))
    grouped = [r for r in records if r["key"]["method"] in methods.GROUPFS and not r["key"]["seed"]]
    parts = [
        "## Students: nine features",
        render.origin(student.NAME, results),
        "Ticks or numbers of groups, ours / the paper's, first seed; accuracy over all seeds.",
        render.students(records, scores, paper.results()["student"]),
        *map(render.groups_of_students, grouped),
    ]
    return "\n\n".join(parts)


def two_moons_section(results: Path) -> str:
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
        render.origin(two_moons.NAME, results),
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


def _by_level(records: list[dict[str, Any]], study: str) -> str:
    """Write a line for each level of a study of two moons, a column for each variant."""
    by_level: dict[float, dict[str, str]] = {}
    for row in two_moons.aggregate(r for r in records if r["key"]["study"] == study):
        key = row["key"]
        name = f"{key['variant']}, {'C auto' if key['n_groups'] == 'auto' else 'C of the paper'}"
        means = [f"{row[f'{m}_mean']:.2f}" for m in ("rg_sim", "tpr", "fdr")]
        by_level.setdefault(key[study], {})[name] = " / ".join(means)
    names = list(dict.fromkeys(name for variants in by_level.values() for name in variants))
    lines = [
        [f"{level:.2f}", *(variants.get(name, render.NONE) for name in names)]
        for level, variants in sorted(by_level.items())
    ]
    return render.markdown([study, *names], lines)


def _share(hits: int, fits: int) -> str:
    return f"{hits} of {fits} ({hits / fits:.1%})" if fits else render.NONE
