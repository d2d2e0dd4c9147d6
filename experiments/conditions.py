"""Groups between conditions: how often a change is found, and how often one is seen in chance.

Planted tables have six groups of six features. Of 200 draws each: one group is active in one of
three conditions; one moves its mean there; one swells over time; and none changes, also with blocks
that have levels of their own. Then two real tables: heart disease by sex, blood cells by type.

Run with ``python -m experiments.conditions``, or name parts: planted, alone, heart, cells.
``GROUPFS_DATA`` is the folder of the published files.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.tables import CELLS, folder
from groupfs import FeatureGroups
from groupfs.conditions import Comparison, Curves, compare, curves, only_in
from groupfs.datasets import fetch_dataset
from groupfs.utils.warn import SelectionWarning

Array = NDArray[Any]
N_DRAWS, N_SAMPLES, N_GROUPS, SIZE = 200, 240, 6, 6
#: How much of a feature's variance its group has.
SHARED = 0.5
ALPHA = 0.05
#: Group that changes, where one does.
CHANGED = 2
#: Draws in which groups are found first, which takes longer.
N_ALONE = 50
#: Enough for a level of 5 %, and intervals are not looked at.
QUICK = {"n_permutations": 199, "n_bootstrap": 50}


class Planted(NamedTuple):
    """A table with known groups, and what is known of its samples."""

    X: Array
    labels: Array  #: condition or time of each sample
    blocks: Array | None = None


def fitted(X: Any, **settings: Any) -> FeatureGroups:
    return FeatureGroups(device="cpu", random_state=0, **settings).fit(X)


def factors(rng: np.random.Generator, shared: Array) -> Array:
    """Draw six groups; ``shared`` is the share of variance they have in each sample, (n, 6)."""
    n = len(shared)
    common = np.repeat(np.sqrt(shared) * rng.standard_normal((n, N_GROUPS)), SIZE, axis=1)
    own = np.sqrt(1 - np.repeat(shared, SIZE, axis=1)) * rng.standard_normal((n, N_GROUPS * SIZE))
    return common + own


def constant_share() -> Array:
    return np.full((N_SAMPLES, N_GROUPS), SHARED)


def no_change(rng: np.random.Generator) -> Planted:
    return Planted(factors(rng, constant_share()), np.arange(N_SAMPLES) % 3)


def active_in_one(rng: np.random.Generator) -> Planted:
    """Let one group go together in the last of three conditions only."""
    labels, shared = np.arange(N_SAMPLES) % 3, constant_share()
    shared[labels < 2, CHANGED] = 0
    return Planted(factors(rng, shared), labels)


def shifted_in_one(rng: np.random.Generator) -> Planted:
    """Raise one group in the last of three conditions, by half a standard deviation."""
    labels = np.arange(N_SAMPLES) % 3
    X = factors(rng, constant_share())
    X[:, CHANGED * SIZE : (CHANGED + 1) * SIZE] += 0.5 * (labels == 2)[:, None]
    return Planted(X, labels)


def all_shifted(rng: np.random.Generator) -> Planted:
    """Raise every group in the last condition by two deviations; cohesion stays."""
    labels = np.arange(N_SAMPLES) % 3
    return Planted(factors(rng, constant_share()) + 2.0 * (labels == 2)[:, None], labels)


def donors(rng: np.random.Generator) -> Planted:
    """Give 24 donors, each in one condition, levels of their own; conditions do nothing."""
    blocks = np.arange(N_SAMPLES) // 10
    levels = np.repeat(rng.standard_normal((24, N_GROUPS)), SIZE, axis=1)
    return Planted(factors(rng, constant_share()) + levels[blocks], blocks % 3, blocks)


def times(rng: np.random.Generator) -> Planted:
    return Planted(factors(rng, constant_share()), rng.uniform(0, 10, N_SAMPLES))


def swells(rng: np.random.Generator) -> Planted:
    """Let one group grow together over time, from nothing to as much as the others."""
    time_of, shared = rng.uniform(0, 10, N_SAMPLES), constant_share()
    shared[:, CHANGED] *= time_of / 10
    return Planted(factors(rng, shared), time_of)


def rises(rng: np.random.Generator) -> Planted:
    """Let the level of every group rise by four deviations over time; cohesion stays."""
    time_of = rng.uniform(0, 10, N_SAMPLES)
    return Planted(factors(rng, constant_share()) + 0.4 * time_of[:, None], time_of)


#: What is drawn, whether conditions are numbers, and whether one group changes: mean, cohesion.
DRAWS: dict[str, tuple[Callable[[np.random.Generator], Planted], bool, tuple[str, ...]]] = {
    "nothing changes": (no_change, False, ()),
    "1 of 6 active in 1 of 3": (active_in_one, False, ("cohesion",)),
    "1 of 6 raised in 1 of 3": (shifted_in_one, False, ("mean",)),
    "all raised in 1 of 3": (all_shifted, False, ("all means",)),
    "24 donors, nothing changes": (donors, False, ()),
    "the same, blocks not given": (lambda rng: donors(rng)._replace(blocks=None), False, ()),
    "over time, nothing changes": (times, True, ()),
    "1 of 6 swells over time": (swells, True, ("cohesion",)),
    "all rise over time": (rises, True, ("all means",)),
}


def measure_draws(draw: Callable[[np.random.Generator], Planted], is_number: bool) -> Array:
    """Find which groups change by q-value, of each quantity, (draws, 2, groups)."""
    known = np.repeat(np.arange(N_GROUPS), SIZE)
    q_values = []
    for seed in range(N_DRAWS):
        planted = draw(np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SelectionWarning)
            selector = fitted(planted.X, groups=known)
        follow = curves if is_number else compare
        given: Any = follow(selector, planted.X, planted.labels, blocks=planted.blocks, **QUICK)
        order = np.argsort(np.asarray(selector.group_names_, dtype=int))
        changes = (given.mean_change, given.cohesion_change)
        q_values.append([change.q_values[order] for change in changes])
    return np.array(q_values) <= ALPHA


def planted() -> None:
    print(f"{N_DRAWS} draws of {N_SAMPLES} samples, {N_GROUPS} groups of {SIZE} features")
    print("found: the group that changes; false: share of draws in which another one is said to")
    print(f"{'':28} {'mean':>13} {'cohesion':>15}")
    print(f"{'':28} {'found':>6} {'false':>6} {'found':>8} {'false':>6}  seconds")
    for name, (draw, is_number, changing) in DRAWS.items():
        started = time.perf_counter()
        called = measure_draws(draw, is_number)
        cells = []
        for i, quantity in enumerate(("mean", "cohesion")):
            others = np.delete(called[:, i], CHANGED, 1) if quantity in changing else called[:, i]
            power = f"{called[:, i, CHANGED].mean():6.3f}" if quantity in changing else "     -"
            false = f"{others.any(1).mean():6.3f}"
            if quantity == "mean" and "all means" in changing:
                power, false = f"{called[:, i].mean():6.3f}", "     -"
            cells.append(f"{power} {false}")
        print(
            f"{name:28} {cells[0]}   {cells[1]}  {time.perf_counter() - started:7.0f}", flush=True
        )


def alone() -> None:
    """Look for groups of one condition alone, where there is one and where there is none."""
    print(f"\nonly_in, groups found by default, {N_ALONE} draws, conditions of 80 samples")
    for name, draw in (("1 of 6 active in 1 of 3", active_in_one), ("nothing changes", no_change)):
        n_found = n_false = 0
        for seed in range(N_ALONE):
            planted = draw(np.random.default_rng(seed))
            selector = fitted(planted.X)
            result = only_in(selector, planted.X, planted.labels)
            hits = [
                result.found_in[j] == 2 and set(result.features[j] // SIZE) == {CHANGED}
                for j in np.flatnonzero(result.is_only_here)
            ]
            n_found += any(hits)
            n_false += not all(hits) if draw is active_in_one else bool(hits)
        print(f"{name:28} found {n_found} times, others {n_false} times", flush=True)


def print_tables(result: Comparison | Curves) -> None:
    """Print both tables with few digits."""
    with pd.option_context("display.width", 160, "display.max_columns", 30, "display.precision", 3):
        print(result.changes_frame().to_string(index=False, float_format="%.3f"))
        print(result.to_frame().to_string(index=False, float_format="%.2f"))


def heart() -> None:
    """Compare heart disease by sex; the column itself is set aside first."""
    table = fetch_dataset("heart_disease")
    X = pd.DataFrame(table.data, columns=table.feature_names)
    sex = X.pop("sex").map({0.0: "female", 1.0: "male"})
    selector = fitted(X)
    names = np.array(X.columns)
    print("\nheart_disease by sex:", [names[group].tolist() for group in selector.groups_])
    print_tables(compare(selector, X, sex))
    print(only_in(selector, X, sex).to_frame().to_string(index=False, float_format="%.3f"))


def cells() -> None:
    """Compare blood cells by type."""
    import anndata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        adata = anndata.read_h5ad(folder() / CELLS)
    X = adata.raw.to_adata().to_df()
    selector = fitted(X)
    print(f"\ncells by type: {selector.n_groups_} groups")
    started = time.perf_counter()
    comparison = compare(selector, X, adata.obs["bulk_labels"])
    print(f"compared in {time.perf_counter() - started:.1f} s")
    print(comparison.changes_frame().to_string(index=False, float_format="%.3f"))
    means = comparison.to_frame().pivot(index="group", columns="condition", values="mean")
    print(means.to_string(float_format="%.2f"))


if __name__ == "__main__":
    parts = {"planted": planted, "alone": alone, "heart": heart, "cells": cells}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts) + "; all if none")
    for part in parser.parse_args().parts or parts:
        if part not in parts:
            parser.error(f"there is no part {part}; the parts are {', '.join(parts)}.")
        parts[part]()
