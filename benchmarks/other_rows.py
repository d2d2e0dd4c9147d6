"""Whether what is said of other rows is right: other tables, conditions, more rows, batches.

``python -m benchmarks.other_rows --part check reversed gaps rows blocks``, 200 draws each:

check: five to eight groups of five to nine features are planted in a table of 500 rows; in other
rows each holds, has its correlations halved, a third of its features replaced (by noise, or by
features of another group), two reversed, or is gone. Printed are the verdicts, and precision and
recall of the features named as lost or reversed. With ``--answers`` numbers become so many skewed
categories, and up to 30 % of the values of each feature are gaps.

reversed: in one of three conditions of 150 rows two of six features of a group, all six, or none
are scored the other way round.

gaps: groups that do not change, in two conditions of 60 rows, of which one has gaps; how often a
change is called at a level of .05.

rows: rows at which replication reaches .75, told from n rows, beside those between n and 4 n rows
at which fits of these show it, of 20 planted and the real tables.

blocks: four batches with other means and variances, two groups in all and one in a single batch.
"""

import argparse
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

from benchmarks.tables import TablesMissing, load, read
from groupfs import FeatureGroups
from groupfs.conditions import compare
from groupfs.discovery.growth import logit

#: What becomes of a group, and what should be said of it.
FATES = {
    "holds": ("preserved",),
    "halved": ("weaker",),
    "replaced": ("weaker", "preserved"),
    "reversed": ("preserved",),
    "gone": ("gone",),
}
ROWS = (100, 300, 1000, 2000)
PARTS = ("check", "reversed", "gaps", "rows", "blocks")
#: Real tables of which rows are told, and rows that are taken of those where all are found again.
REAL = ("bfi", "ability", "holzinger", "student", "breast cancer", "cells", "wine", "heart_disease")
FEW_ROWS = {"bfi": 800, "ability": 1400}


def fit(X: Any, blocks: Any = None, **settings: Any) -> FeatureGroups:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FeatureGroups(random_state=0, **settings).fit(X, blocks=blocks)


def planted(n: int, loadings: list[Any], scores: Any, rng: np.random.Generator) -> list[Any]:
    """Draw the features of every group, (n, m) each."""
    return [
        score[:, None] * of + np.sqrt(1 - of**2) * rng.standard_normal((n, len(of)))
        for of, score in zip(loadings, scores.T, strict=True)
    ]


def check(seed: int, n: int, answers: int, n_fit: int) -> list[dict[str, Any]]:
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
    selector = fit(X, n_groups=C)
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


def reverse(seed: int, n_items: int, answers: int, gaps: float) -> dict[str, Any]:
    """Turn some of six features of a group in one of three conditions, and see what is said."""
    rng = np.random.default_rng(seed)
    n, C, m = 150, int(rng.integers(2, 6)), 6
    labels, own = np.repeat(np.arange(3), n), np.repeat(np.arange(C), m)
    alike = np.full((C, C), rng.uniform(0.1, 0.4))
    np.fill_diagonal(alike, 1)
    sign = rng.choice([-1, 1], C)
    scores = rng.multivariate_normal(np.zeros(C), alike * np.outer(sign, sign), 3 * n)
    scores += rng.normal(0, 0.3, (3, C))[labels]
    loading = rng.uniform(0.5, 0.8, C * m) * rng.choice([-1, 1], C * m, p=[0.25, 0.75])
    X = scores[:, own] * loading + np.sqrt(1 - loading**2) * rng.standard_normal((3 * n, C * m))
    condition, group = int(rng.integers(3)), int(rng.integers(C))
    if answers:
        cuts = np.sort(rng.normal(0, 0.8, (answers - 1, C * m)), axis=0)
        X = (X[None] > cuts[:, None]).sum(0) - (answers - 1) / 2
    items = group * m + rng.choice(m, n_items, replace=False)
    X[np.ix_(labels == condition, items)] *= -1
    X[rng.random(X.shape) < gaps * (labels == rng.integers(3))[:, None]] = np.nan
    selector = fit(X, groups=own.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(selector, X, labels, n_permutations=20, n_bootstrap=2)
    features = found.features_frame()
    features = features[features["state"] == "reversed"]
    said = {
        (c, int(f[1:])) for c, f in zip(features["condition"], features["feature"], strict=True)
    }
    true = {(condition, int(i)) for i in items} if n_items < m else set()
    whole = [
        remark.partition(" looks scored")[0] for remark in found.remarks if "as a whole" in remark
    ]
    right = [of for of in whole if f"is {condition}," in of and f'group "{group}"' in of]
    return {
        "items": n_items,
        "answers": answers,
        "gaps": gaps,
        "exactly named": said == true,
        "false items": bool(said - true),
        "whole group said": bool(whole),
        "rightly": bool(right),
    }


def gaps(seed: int, r: float, answers: int, share: float) -> dict[str, Any]:
    """Compare two groups that do not change between a condition without gaps and one with."""
    rng = np.random.default_rng(seed)
    n, C, m = 120, 2, 6
    X = np.sqrt(r) * np.repeat(rng.standard_normal((n, C)), m, axis=1)
    X += np.sqrt(1 - r) * rng.standard_normal(X.shape)
    if answers:
        cuts = np.sort(rng.normal(0.8, 0.5, (answers - 1, C * m)), axis=0)
        X = (X[None] > cuts[:, None]).sum(0).astype(float)
    labels = np.arange(n) >= n // 2
    X[(rng.random(X.shape) < share) & labels[:, None]] = np.nan
    selector = fit(X, groups=np.repeat(np.arange(C), m).tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(selector, X, labels, n_permutations=199, n_bootstrap=2)
    called = {
        name: (getattr(found, f"{name}_change").p_values < 0.05).mean()
        for name in ("mean", "cohesion")
    }
    return {"answers": answers, "r": r, "gaps": share, **called}


def rows(name: str, seed: int) -> list[dict[str, Any]]:
    """Tell from a quarter of a table the rows that its groups need, and see what more rows show."""
    rng = np.random.default_rng(seed)
    if name == "planted":
        C, n = int(rng.integers(3, 8)), int(rng.choice([400, 800, 1600]))
        own = np.repeat(np.arange(C), rng.integers(4, 9, C))
        alike = np.full((C, C), rng.uniform(0, 0.5))
        np.fill_diagonal(alike, 1)
        scores = rng.multivariate_normal(np.zeros(C), alike, n)
        loading = rng.uniform(0.3, 0.7, C)[own] * rng.uniform(0.8, 1.2, len(own))
        X = loading * scores[:, own] + np.sqrt(1 - loading**2) * rng.standard_normal((n, len(own)))
    else:
        X = load(name)[0] if name in ("student", "heart_disease") else read(name)
        X = X[rng.permutation(len(X))[: FEW_ROWS.get(name)]]
    n = len(X) // 4
    small, *larger = [fit(X[: n * times]) for times in (1, 2, 4)]
    found: list[dict[str, Any]] = []
    if not small.n_groups_:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown = small.rows_needed(X[:n])
    frame, seen = grown.to_frame(), set()
    for level, row in zip(small.levels_, grown.levels_frame().to_dict("records"), strict=True):
        shown = [row["agreement"], *(agreement_on(level.labels, fitted) for fitted in larger)]
        found += told_and_shown(name, seed, "level", row, "rows_70", shown, 0.7, n)
    for row in frame[frame["group"].notna()].to_dict("records"):
        groups = next(g for g in small._level_groups if len(g["members"]) == row["level"])
        own = groups["members"][row["group"] - 1]
        shown = [row["replication"], *(replication_of(own, fitted) for fitted in larger)]
        key = tuple(own.tolist())
        if key not in seen:
            seen.add(key)
            found += told_and_shown(name, seed, "group", row, "rows_75", shown, 0.75, n)
    return found


def told_and_shown(
    name: str, seed: int, what: str, row: Any, key: str, shown: list[float], target: float, n: int
) -> list[dict[str, Any]]:
    """Compare the rows that are told with those at which n, 2 n and 4 n rows show the target."""
    height, line = logit(np.array(shown)), logit(np.array(target))
    if np.isnan(height).any() or height[0] >= line or height.max() < line:
        return []
    k = int(np.flatnonzero(height >= line)[0])
    needed = n * 2 ** (k - 1 + (line - height[k - 1]) / (height[k] - height[k - 1]))
    ratio = row[key] / needed
    record = {"what": what, "table": name, "seed": seed, "within 1.5": 1 / 1.5 <= ratio <= 1.5}
    inside = row[f"{key}_low"] <= needed <= row[f"{key}_high"]
    return [record | {"log2 ratio": np.log2(ratio), "in interval": inside}]


def agreement_on(labels: Any, fitted: FeatureGroups) -> float:
    """Return the agreement on the level that is most like one, NaN if none is like it."""
    alike = [adjusted_rand_score(labels, level.labels) for level in fitted.levels_]
    best = int(np.argmax(alike)) if alike else 0
    return float(fitted.levels_[best].agreement) if alike and alike[best] >= 0.5 else float("nan")


def replication_of(own: Any, fitted: FeatureGroups) -> float:
    """Return the replication of the group that is most like one, NaN if none is like it."""
    best, value = 0.5, float("nan")
    for groups in fitted._level_groups:
        for j, members in enumerate(groups["members"]):
            shared = len(np.intersect1d(own, members)) / len(np.union1d(own, members))
            if shared >= best:
                best, value = shared, float(groups["replication"][j])
    return value


def blocks(seed: int) -> dict[str, Any]:
    """Plant two groups in four batches and one in a single one, and shift the means of others."""
    rng = np.random.default_rng(seed)
    n, batch = 400, np.repeat(np.arange(4), 100)
    X = rng.standard_normal((n, 24))
    X[:, :12] += np.repeat(rng.standard_normal((n, 2)), 6, axis=1)
    one = int(rng.integers(4))
    X[np.ix_(batch == one, range(12, 18))] += 2 * rng.standard_normal((100, 1))
    X[:, 18:] += rng.normal(0, 2, 4)[batch][:, None]
    X *= rng.uniform(0.5, 2, 4)[batch][:, None]
    selector, without = fit(X, blocks=batch), fit(X)
    of = {
        tuple(sorted({int(i) // 6 for i in group})): j for j, group in enumerate(selector.groups_)
    }
    kept = {key for key, j in of.items() if selector.group_kept_[j]}
    alone = of.get((2,))
    held = np.zeros(4, dtype=bool) if alone is None else selector._in_blocks[alone]
    return {
        "two groups kept, nothing else": kept == {(0,), (1,)},
        "that of one batch found": alone is not None,
        "and marked rightly": held.tolist() == (np.arange(4) == one).tolist(),
        "shift kept as a group without blocks": any(
            3 in {int(i) // 6 for i in g}
            for g, k in zip(without.groups_, without.group_kept_, strict=True)
            if k
        ),
    }


def every(of: Any, calls: Iterable[tuple[Any, ...]], jobs: int) -> pd.DataFrame:
    found = Parallel(jobs)(delayed(of)(*call) for call in calls)
    return pd.DataFrame([row for one in found for row in (one if isinstance(one, list) else [one])])


def print_check(found: pd.DataFrame) -> None:
    by = found.groupby(["rows", "fate"])
    table = by["verdict"].value_counts(normalize=True).unstack(fill_value=0).round(3)
    table.insert(0, "groups", by.size())
    table["right"] = by["right"].mean().round(3)
    print(table.to_string())
    named = found.groupby("rows")[["named", "broken", "hits"]].sum()
    named["precision"] = (named["hits"] / named["named"]).round(3)
    named["recall"] = (named["hits"] / named["broken"]).round(3)
    print(named.to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", default=["check"], choices=PARTS)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--fitted", type=int, default=500, help="check: rows of the fit")
    parser.add_argument("--answers", type=int, default=0, help="check: categories, with gaps")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seeds, jobs = range(options.draws), options.jobs
    for part in options.part:
        print(f"\n{part}, {options.draws} draws")
        if part == "check":
            calls = ((s, n, options.answers, options.fitted) for n in options.rows for s in seeds)
            print_check(every(check, calls, jobs))
        elif part == "reversed":
            cells = [(k, a, g) for k in (0, 2, 6) for a in (0, 5) for g in (0.0, 0.3)]
            found = every(reverse, ((s, *of) for of in cells for s in seeds), jobs)
            print(found.groupby(["items", "answers", "gaps"]).mean().round(3).to_string())
        elif part == "gaps":
            cells = [(r, a, g) for a in (0, 2, 4) for r in (0.05, 0.3) for g in (0.0, 0.3, 0.5)]
            found = every(gaps, ((s, *of) for of in cells for s in seeds), jobs)
            print(found.groupby(["answers", "r", "gaps"]).mean().round(3).to_string())
        elif part == "rows":
            calls = [("planted", 1000 + s) for s in range(2 * options.draws // 10)]
            calls += [(name, s) for name in REAL for s in range(min(options.draws, 4))]
            found = every(rows, calls, jobs)
            by = found.groupby(["what", "table"])
            told = by[["within 1.5", "in interval", "log2 ratio"]].mean()
            told.insert(0, "n", by.size())
            print(told.round(3).to_string(), found["within 1.5"].mean().round(3))
        else:
            print(every(blocks, ((s,) for s in seeds), jobs).mean().to_string())


if __name__ == "__main__":
    try:
        main()
    except TablesMissing as reason:
        raise SystemExit(str(reason)) from None
