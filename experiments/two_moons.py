"""Two moons, the paper's synthetic table: how GroupFS fares as its difficulty grows.

Three studies of ten tables each: moon noise, correlation within the groups, and number of groups C
by number of features d. The paper's grid also has C = d, every feature a group of its own, where
there is nothing to discover and the estimator refuses; it ends at d - 1 here.

Run with ``python -m experiments.two_moons --jobs 15``; what is finished is not computed again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments import paper, store, two_moons_figures
from experiments.store import Key
from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.metrics import relevant_group_similarity, selection_rates

NAME = "two_moons"
STUDIES = ("noise", "correlation", "grid")
VARIANTS = ("default", "paper")
#: The paper does not say how many rows its tables have.
N_SAMPLES = 1000
SEEDS = range(10)
#: Where a study does not vary them.
N_FEATURES, CORRELATION, NOISE = 20, 0.95, 0.05
NOISES = [round(0.05 * i, 2) for i in range(10)]
CORRELATIONS = [round(0.6 + 0.05 * i, 2) for i in range(9)]
GRID = {d: range(2, d) for d in range(17, 25)}
TRUE_GROUPS = [list(range(5)), list(range(5, 10))]
N_INFORMATIVE = 10
#: What is averaged over the seeds.
MEASURES = ("loss", "rg_sim", "tpr", "fdr", "kept_tpr", "kept_fdr", "n_groups_found", "n_open")


def cells(
    studies: Iterable[str] = STUDIES,
    quick: bool = False,
    some: Iterable[str] = VARIANTS,
    n_seeds: int = len(SEEDS),
) -> Iterator[Key]:
    """Yield every table with the variants; quick takes a few of them with two seeds."""
    seeds = SEEDS[:2] if quick else SEEDS[:n_seeds]
    for study, table in _tables(quick):
        if study not in studies:
            continue
        C = table.pop("n_groups") if study == "grid" else paper_settings(study, table)["n_groups"]
        variants = [("default", C), ("paper", C)]
        if study != "grid":
            variants.insert(0, ("default", "auto"))
        for variant, n_groups in variants:
            for seed in seeds if variant in some else ():
                key = {"study": study, "variant": variant, "n_groups": n_groups}
                yield {**key, **table, "seed": seed}


def paper_settings(study: str, table: dict[str, Any]) -> dict[str, Any]:
    """Look up the paper's C, lambda1 and lambda2 for a table of a study."""
    printed = paper.hyperparameters()["two_moons"]
    if study == "noise":
        return printed["ablations"]["noise_std"][f"{table['noise']:.2f}"]
    if study == "correlation":
        return printed["ablations"]["rho"][f"{table['correlation']:.2f}"]
    C, d = table["n_groups"], table["n_features"]
    return {"n_groups": C, **printed["grid_n_groups_by_n_features"][str(C)][str(d)]}


def compute(key: Key, device: str = "cpu") -> dict[str, Any]:
    """Fit one variant to one table; the seed decides the table and the fit."""
    torch.set_num_threads(1)
    shape = {name: key[name] for name in ("n_features", "correlation", "noise")}
    X = load_two_moons(N_SAMPLES, **shape, random_state=key["seed"]).data
    settings: dict[str, Any] = {"n_groups": key["n_groups"]}
    if key["variant"] == "paper":
        printed = paper_settings(key["study"], key)
        settings |= {
            "preset": "paper",
            "smoothness_weight": printed["lambda1"],
            "sparsity_weight": printed["lambda2"],
            "n_init": 1,  # its ten seeds are ten models
        }
    selector = GroupFS(**settings, random_state=key["seed"], device=device)
    with warnings.catch_warnings():  # of closed gates, which n_open tells
        warnings.simplefilter("ignore", UserWarning)
        selector.fit(X)
    groups = [group.tolist() for group in selector.groups_]
    selected = selector.get_support(indices=True).tolist()
    return {
        "settings": {k: v for k, v in selector.get_params().items() if v is not None},
        "n_samples": N_SAMPLES,
        "loss": selector.loss_,
        **measures(groups, selected),
        "n_groups_found": selector.n_groups_,
        "n_open": int((selector.group_gates_ > 0.5).sum()),
        "n_iter": selector.n_iter_,
        "smoothness_weight": selector.smoothness_weight_,
        "sparsity_weight": selector.sparsity_weight_,
        "critical_sparsity_weight": selector.critical_sparsity_weight_,
        "n_selected": len(selected),
        "selected": selected,
        "groups": groups,
        "machine": store.machine(device),
    }


def measures(groups: list[list[int]], selected: list[int]) -> dict[str, float]:
    """Measure RG_sim, TPR and FDR of ranked groups, and the rates of the own selection.

    The paper's selection, for TPR and FDR, takes groups in order until at least ten features, as
    many as are informative, are covered.
    """
    covered: list[int] = []
    for group in groups:
        if len(covered) < N_INFORMATIVE:
            covered = covered + group
    tpr, fdr = selection_rates(range(N_INFORMATIVE), covered)
    kept_tpr, kept_fdr = selection_rates(range(N_INFORMATIVE), selected)
    rg_sim = relevant_group_similarity(TRUE_GROUPS, groups)
    return {"rg_sim": rg_sim, "tpr": tpr, "fdr": fdr, "kept_tpr": kept_tpr, "kept_fdr": kept_fdr}


def aggregate(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Average over the seeds, with deviations, one row for each table and variant."""
    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        cell = tuple((name, value) for name, value in record["key"].items() if name != "seed")
        rows.setdefault(cell, []).append(record)
    summary = []
    for cell, seeds in rows.items():
        row: dict[str, Any] = {"key": dict(cell), "n_seeds": len(seeds)}
        for measure in (*MEASURES, "seconds"):
            values = [record[measure] for record in seeds]
            row[f"{measure}_mean"] = float(np.mean(values))
            row[f"{measure}_std"] = float(np.std(values))
        summary.append(row)
    return summary


def recovered(
    records: Iterable[dict[str, Any]], variant: str, kept: bool = False
) -> tuple[int, int]:
    """Count the fits of the grid with 3 <= C <= d - 8 that found just the two groups, and all.

    ``kept`` asks it of the selector's own selection instead of the paper's.
    """
    tpr, fdr = ("kept_tpr", "kept_fdr") if kept else ("tpr", "fdr")
    hits = [
        record["rg_sim"] == record[tpr] == 1 and record[fdr] == 0
        for record in records
        if record["key"]["study"] == "grid"
        and record["key"]["variant"] == variant
        and 3 <= record["key"]["n_groups"] <= record["key"]["n_features"] - 8
    ]
    return sum(hits), len(hits)


def report(records: store.Store) -> None:
    """Print how much of the grid was recovered."""
    for variant in VARIANTS:
        for kept, rule in ((False, "the first ten features"), (True, "the kept groups")):
            hits, fits = recovered(records, variant, kept)
            if fits:
                share = f"{hits} of {fits} ({hits / fits:.1%})"
                print(f"3 <= C <= d - 8, {variant:>7}: {share} exact by {rule}")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", default=",".join(STUDIES), help="comma-separated")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="comma-separated")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="tables of each kind")
    parser.add_argument("--device", default="cpu", help="tables this small want a CPU")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few cells, two seeds")
    parser.add_argument("--results", type=Path, default=store.RESULTS)
    parser.add_argument("--figures", type=Path, help="folder to draw into")
    options = parser.parse_args(argv)
    studies, variants = options.studies.split(","), options.variants.split(",")
    for kind, given, known in (("study", studies, STUDIES), ("variant", variants, VARIANTS)):
        if unknown := set(given) - set(known):
            parser.error(f"no {kind} {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    todo = cells(studies, options.quick, variants, options.seeds)
    work = partial(compute, device=options.device)
    finished = store.run(NAME, todo, work, options.results, options.jobs)
    report(finished)
    if options.figures:
        two_moons_figures.draw(aggregate(finished), options.figures)


def _tables(quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of every study, with C in the grid."""
    usual = {"n_features": N_FEATURES, "correlation": CORRELATION, "noise": NOISE}
    for noise in [0.05, 0.3] if quick else NOISES:
        yield "noise", {**usual, "noise": noise}
    for correlation in [0.7, 0.95] if quick else CORRELATIONS:
        yield "correlation", {**usual, "correlation": correlation}
    for d, counts in {N_FEATURES: [2, 3, 12, 15]}.items() if quick else GRID.items():
        for C in counts:
            yield "grid", {**usual, "n_features": d, "n_groups": C}


if __name__ == "__main__":
    main()
