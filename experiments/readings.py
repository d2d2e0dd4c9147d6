"""What the paper leaves open, decided on two moons alone: each reading beside the others.

1. How the columns of F are normalised (``ablations`` has the variants), on the tables of figure 3.
2. Which lambda2 where none is given, how many seeds, and which loss is the lowest: 40 tables that
   no other script looks at, 100 rows each.
3. The result, ``GroupFS(preset="paper")`` with nothing else: on 20 tables that had been looked at
   when the weight was chosen, and on 40 that had not.
4. What the lowest loss chooses along the sweep of ``GroupFSPath(preset="paper")``.
About 5 minutes with 2 processes. Needs no data.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from experiments import ablations, running, two_moons
from groupfs import GroupFS, GroupFSPath
from groupfs.groups import OPEN
from groupfs.joint.problem import prepare
from groupfs.joint.training import train_models
from groupfs.utils.warn import SelectionWarning

NORMS = {
    "as published": "gradient through the norm",
    "norm of F held fixed": "norm held fixed",
    "Q projected after updates": "Q projected after each update",
}
#: Features and numbers of groups of the first part, from the frame of figure 3.
GRID = {d: range(3, d - 7, 3) for d in (17, 20, 24)}
SPARSITIES = (1.03, 1.05, 1.07, 1.09, 1.11)
MOST_SEEDS = 10
#: Tables of the second part; of the third, those looked at before the choice, and those not.
CHOSEN_ON, LOOKED_AT, UNSEEN = range(100, 140), range(20), range(200, 240)
INFORMATIVE = list(range(two_moons.N_INFORMATIVE))


def norm(variant: str, n_features: int, C: int, seed: int) -> running.Row:
    X = two_moons.load(100, seed, n_features=n_features).data
    settings = two_moons.printed("grid", C=C, d=n_features)
    return ablations.fit(ablations.VARIANTS[variant], X, settings, seed)


def weights(seed: int) -> list[running.Row]:
    """Train ten seeds at each sparsity; say which models open just the moons' gates."""
    torch.set_num_threads(1)
    estimator = GroupFS(preset="paper", n_init=MOST_SEEDS, random_state=seed, device="cpu")
    problem = prepare(*estimator._open(two_moons.load(100, seed).data))
    trained = train_models(problem, np.array(SPARSITIES))
    lambda1 = problem.objective.smoothness_weight
    is_informative = np.isin(problem.table.columns, INFORMATIVE)
    rows = []
    for p, (sparsity, lambda2) in enumerate(
        zip(trained.sparsities, trained.sparsity_weights, strict=True)
    ):
        last = trained.histories[p].last_terms @ np.array([1, lambda1, lambda2])
        right = (trained.open_features[:, p] == is_informative).all(-1)
        for s in range(MOST_SEEDS):
            figures = {"loss": trained.loss[s, p], "noisy_loss": last[s], "exact": right[s]}
            rows.append({"model": s, "sparsity": round(float(sparsity), 4), **figures})
    return [{**row, "C": problem.n_groups, "lambda1": lambda1} for row in rows]


def nothing_set(n_samples: int, seed: int) -> running.Row:
    torch.set_num_threads(1)
    X = two_moons.load(n_samples, seed).data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SelectionWarning)
        selector = GroupFS(preset="paper", random_state=seed, device="cpu").fit(X)
    return {
        "C": selector.n_groups_,
        "exact": selector.get_support(indices=True).tolist() == INFORMATIVE,
        "n_open": int((selector.group_gates_ > OPEN).sum()),
        "gain": selector.gain_,
        "warns": bool(caught),
    }


def swept(seed: int) -> running.Row:
    torch.set_num_threads(1)
    X = two_moons.load(100, seed).data
    path = GroupFSPath(preset="paper", random_state=seed, device="cpu").fit(X)
    n_open, gain = path.path_.is_open.sum(-1), path.path_.gain
    return {
        "n_open": int((path.group_gates_ > OPEN).sum()),
        "gain": path.gain_,
        "sparsity": path.sparsity_,
        "n_open_by_gain": int(n_open.flat[gain.argmax()]),
        "largest_gain": float(gain.max()),
    }


PARTS = {"norm": norm, "weights": weights, "nothing set": nothing_set, "swept": swept}


def cells(part: str, quick: bool) -> list[running.Row]:
    few = 1 if quick else 10
    if part == "norm":
        places = [(d, C) for d, numbers in GRID.items() for C in numbers][: 1 if quick else None]
        return [
            {"variant": variant, "n_features": d, "C": C, "seed": seed}
            for variant in NORMS
            for d, C in places
            for seed in range(few)
        ]
    if part == "nothing set":
        some = {100: [*LOOKED_AT[: 2 * few], *UNSEEN[: 4 * few]], 1000: LOOKED_AT[: 2 * few]}
        return [{"n_samples": n, "seed": seed} for n, seeds in some.items() for seed in seeds]
    seeds = CHOSEN_ON[: 1 if quick else None] if part == "weights" else range(few)
    return [{"seed": seed} for seed in seeds]


def norm_table(rows: pd.DataFrame) -> str:
    lines = [
        [NORMS[str(name)], *(f"{own[k].sum():.0f} of {len(own)}" for k in ("exact", "kept_exact"))]
        for name, own in rows.groupby("variant", sort=False)
    ]
    return running.markdown(["", "exact", "just the moons' gates open"], lines)


def weights_table(rows: pd.DataFrame) -> str:
    """Count the tables on which the model of the lowest loss opens just the moons' gates."""
    lines = []
    for loss, words in (("loss", "without noise"), ("noisy_loss", "of the last epoch")):
        for n_init in (n for n in (1, 2, 3, 5, 10) if n <= rows["model"].max() + 1):
            some = rows[rows["model"] < n_init]
            best = some.loc[some.groupby(["sparsity", "seed"])[loss].idxmin()]
            counts = best.groupby("sparsity")["exact"].sum()
            lines.append([f"{words}, {n_init} seeds", *(f"{count:.0f}" for count in counts)])
    head = [f"lowest loss, of {rows['seed'].nunique()} tables", *map(str, SPARSITIES)]
    return running.markdown(head, lines)


def nothing_set_table(rows: pd.DataFrame) -> str:
    lines = []
    unseen = rows["seed"] >= UNSEEN.start
    for (n_samples, is_new), own in rows.groupby(["n_samples", unseen]):
        numbers = ", ".join(f"{C:.0f} ({n})" for C, n in own["C"].value_counts().items())
        exact = f"{own['exact'].sum():.0f} of {len(own)}"
        trivial = own[own["gain"] <= 0]
        told = f"{trivial['warns'].sum():.0f} of {len(trivial)}"
        tables = "not looked at before" if is_new else "looked at before"
        lines.append([f"{n_samples:,.0f}, {tables}", exact, numbers, str(len(trivial)), told])
    head = ["rows, tables", "exact", "C (tables)", "trivial", "of these with a warning"]
    return running.markdown(head, lines)


def swept_table(rows: pd.DataFrame) -> str:
    by_loss = ["lowest loss, as published", _list(rows["n_open"]), f"{rows['gain'].mean():+.2f}"]
    by_gain = ["largest gain", _list(rows["n_open_by_gain"]), f"{rows['largest_gain'].mean():+.2f}"]
    return running.markdown(["chosen by", "gates open, table by table", "gain"], [by_loss, by_gain])


def _list(values: pd.Series) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


TABLES = {
    "norm": norm_table,
    "weights": weights_table,
    "nothing set": nothing_set_table,
    "swept": swept_table,
}
TITLES = {
    "norm": "How F is normalised, on two moons with the printed settings:",
    "weights": "Tables on which just the moons' gates are open, by λ2 relative to critical:",
    "nothing set": '`GroupFS(preset="paper")`, nothing else set:',
    "swept": '`GroupFSPath(preset="paper")`, ten tables; two gates are the moons\':',
}


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(__file__, __doc__).parse_args(argv)
    if given.join:
        joined = running.compute([], norm, given)
        found = {part: joined[joined["part"] == part] for part in PARTS}
    else:
        found = {
            part: running.compute(cells(part, given.quick), work, given).assign(
                part=part, machine=running.machine()
            )
            for part, work in PARTS.items()
        }
    rows = pd.concat(found.values(), ignore_index=True)
    parts = [running.command(rows, "readings")]
    for part, own in found.items():
        parts += [TITLES[part], TABLES[part](own)]
    weights = found["weights"]
    shown = {**found, "weights": weights[weights["model"] < 2]}
    short = [text for part, own in shown.items() for text in (TITLES[part], TABLES[part](own))]
    running.write(given, rows, parts, "\n\n".join(short))


if __name__ == "__main__":
    main()
