"""Whether ``check`` says rightly what became of groups in other rows.

``python -m benchmarks.other_rows --draws 200`` plants five to ten groups in a table of 500 rows,
and makes of each something else in other rows: it holds, its correlations are halved, a third of
its features are replaced (by noise, or by features of another group), two are reversed, or it is
gone. Printed are the verdicts, and precision and recall of the features named as lost or reversed.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from groupfs import FeatureGroups

#: What becomes of a group, and what should be said of it.
FATES = {
    "holds": ("preserved",),
    "halved": ("weaker",),
    "replaced": ("weaker", "preserved"),
    "reversed": ("preserved",),
    "gone": ("gone",),
}
ROWS = (100, 300, 1000, 2000)


def planted(n: int, loadings: list[Any], scores: Any, rng: np.random.Generator) -> list[Any]:
    """Draw the features of every group, (n, m) each."""
    return [
        score[:, None] * of + np.sqrt(1 - of**2) * rng.standard_normal((n, len(of)))
        for of, score in zip(loadings, scores.T, strict=True)
    ]


def draw(seed: int, n: int, answers: int, n_fit: int) -> list[dict[str, Any]]:
    """Check one table, with as many rows as are asked for; ``answers`` of 0 are numbers."""
    rng = np.random.default_rng(seed)
    C = len(FATES) + int(rng.integers(0, 4))
    fates = rng.permutation([*FATES, *rng.choice(list(FATES), C - len(FATES))])
    loadings = [rng.uniform(0.5, 0.8, rng.integers(5, 10)) for _ in range(C)]
    loadings = [of * rng.choice([-1, 1], len(of), p=[0.25, 0.75]) for of in loadings]
    alike = np.full((C, C), rng.uniform(0, 0.3)) + 0
    np.fill_diagonal(alike, 1)
    both = [rng.multivariate_normal(np.zeros(C), alike, size) for size in (n_fit, n)]
    fitted, other = planted(n_fit, loadings, both[0], rng), planted(n, loadings, both[1], rng)
    broken: list[set[int]] = [set() for _ in range(C)]
    for j, fate in enumerate(fates):
        m = len(loadings[j])
        if fate == "halved":
            other[j] = planted(n, [loadings[j] * np.sqrt(0.5)], both[1][:, [j]], rng)[0]
        elif fate == "gone":
            other[j] = rng.standard_normal((n, m))
        elif fate == "reversed":
            broken[j] = set(rng.choice(m, 2, replace=False).tolist())
            other[j][:, list(broken[j])] *= -1
        elif fate == "replaced":
            broken[j] = set(rng.choice(m, m // 3, replace=False).tolist())
            new = rng.standard_normal((n, len(broken[j])))
            if rng.random() < 0.5 and C > 1:
                new = new * 0.8 + 0.6 * both[1][:, [(j + 1) % C]]
            other[j][:, list(broken[j])] = new
    X, Y = np.hstack(fitted), np.hstack(other)
    if answers:
        cuts = np.sort(rng.normal(0.5, 0.8, (answers - 1, X.shape[1])), axis=0)
        X, Y = ((Z[None] > cuts[:, None]).sum(0).astype(float) for Z in (X, Y))
        Y[rng.random(Y.shape) < rng.uniform(0, 0.3, Y.shape[1])] = np.nan
    true = np.repeat(np.arange(C), [len(of) for of in loadings])
    start = np.searchsorted(true, np.arange(C))
    selector = FeatureGroups(n_groups=C, random_state=0).fit(X)
    checked = selector.check(Y)
    records = []
    for of, members in zip(checked.shown, selector.groups_, strict=True):
        j = int(np.bincount(true[members]).argmax())
        if set(members.tolist()) != set(np.flatnonzero(true == j).tolist()):
            continue  # the group itself was not found exactly
        named = {int(name[1:]) - start[j] for s in ("lost", "reversed") for name in of.named(s)}
        records.append(
            {
                "rows": n,
                "fate": fates[j],
                "verdict": str(of.verdict),
                "right": str(of.verdict) in FATES[fates[j]],
                "named": len(named),
                "broken": len(broken[j]),
                "hits": len(named & broken[j]),
            }
        )
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--fitted", type=int, default=500, help="rows of the fit")
    parser.add_argument("--answers", type=int, default=0, help="categories of answers, with gaps")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    calls = (
        delayed(draw)(seed, n, options.answers, options.fitted)
        for n in options.rows
        for seed in range(options.draws)
    )
    found = pd.DataFrame([row for rows in Parallel(options.jobs)(calls) for row in rows])
    by = found.groupby(["rows", "fate"])
    table = by["verdict"].value_counts(normalize=True).unstack(fill_value=0).round(3)
    table.insert(0, "groups", by.size())
    table["right"] = by["right"].mean().round(3)
    print(table.to_string())
    named = found.groupby("rows")[["named", "broken", "hits"]].sum()
    named["precision"] = (named["hits"] / named["named"]).round(3)
    named["recall"] = (named["hits"] / named["broken"]).round(3)
    print(named.to_string())


if __name__ == "__main__":
    main()
