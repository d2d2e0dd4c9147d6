"""Whether groups are found in tables of mixed kinds with gaps: columns as they are, or as codes.

``python -m benchmarks.kinds`` prints, for planted tables (numbers, truth values, ordered and
unordered categories of 2 to 12 levels around common factors, noise columns of the same kinds, up to
30 % of the values missing at random): the adjusted Rand index of the groups of planted columns (a
column in no group counts as one of its own), noise columns in groups, and the level: how often any
group is kept in tables of noise alone. Codes are places of the levels in alphabetical order, gaps
the mean. ``--real`` adds the students' and the patients' table from their published files.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

from benchmarks.tables import folder
from groupfs import GroupFS, metrics

N_ROWS, N_GROUPS, N_NOISE = 400, 6, 20
#: Columns of a group, loadings on its factor, levels of categories, and gaps at most.
SIZES, LOADINGS, LEVELS, MOST_GAPS = (5, 8), (0.65, 0.85), (2, 12), 0.3
KINDS = ("number", "truth value", "ordered", "unordered")


def mixed_table(seed: int, n_groups: int = N_GROUPS) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table, and the group of every column, -1 for noise; without groups, noise alone."""
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(0, MOST_GAPS)
    columns, truth = [], []
    for group in range(n_groups):
        factor = rng.standard_normal(N_ROWS)
        for _ in range(rng.integers(SIZES[0], SIZES[1] + 1)):
            loading = rng.uniform(*LOADINGS) * rng.choice([-1, 1])
            noise = np.sqrt(1 - loading**2) * rng.standard_normal(N_ROWS)
            columns.append(loading * factor + noise)
            truth.append(group)
    n_noise = N_NOISE if n_groups else 2 * N_NOISE
    columns += list(rng.standard_normal((n_noise, N_ROWS)))
    truth += [-1] * n_noise
    made = [_with_gaps(_as_kind(x, rng), gaps, rng) for x in columns]
    order = rng.permutation(len(made))
    frame = pd.DataFrame({f"x{i}": made[place] for i, place in enumerate(order)})
    return frame, np.array(truth)[order]


def as_codes(frame: pd.DataFrame) -> pd.DataFrame:
    """Encode levels by their place in the alphabet, and fill gaps with means."""
    coded = pd.DataFrame(index=frame.index)
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column):
            codes = column.astype(object).astype("category").cat.codes.astype(float)
            column = codes.where(codes >= 0)
        coded[name] = column.fillna(column.mean())
    return coded


def judged(frame: pd.DataFrame, truth: np.ndarray) -> tuple[float, int, int]:
    """Fit, and return the Rand index, noise columns in groups, and groups that are kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = GroupFS(max_epochs=1, random_state=0).fit(frame)
    labels = selector.group_labels_.copy()
    n_noise = int((labels[truth < 0] >= 0).sum())
    loose = np.flatnonzero(labels < 0)
    labels[loose] = labels.max(initial=0) + 1 + np.arange(len(loose))
    planted = truth >= 0
    index = adjusted_rand_score(truth[planted], labels[planted]) if planted.any() else np.nan
    return index, n_noise, int(selector.group_selected_.sum())


def _as_kind(x: np.ndarray, rng: np.random.Generator) -> pd.Series:
    kind = rng.choice(KINDS)
    if kind == "number":
        return pd.Series(x)
    if kind == "truth value":
        return pd.Series((x > rng.uniform(-0.7, 0.7)).astype(float))
    n_levels = int(rng.integers(LEVELS[0], LEVELS[1] + 1))
    codes = np.searchsorted(np.quantile(x, np.arange(1, n_levels) / n_levels), x)
    names = [f"level {chr(97 + i)}" for i in range(n_levels)]
    if kind == "unordered":
        codes = rng.permutation(n_levels)[codes]
    return pd.Series(pd.Categorical.from_codes(codes, names, ordered=kind == "ordered"))


def _with_gaps(column: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    return column.mask(rng.random(len(column)) < share)


def _compare(seed: int, n_groups: int) -> list[tuple[float, int, int]]:
    frame, truth = mixed_table(seed, n_groups)
    return [judged(frame, truth), judged(as_codes(frame), truth)]


def planted(n_draws: int, n_jobs: int) -> None:
    """Print what is found in planted tables, and in noise."""
    for n_groups, what in ((N_GROUPS, "planted"), (0, "noise alone")):
        runs = Parallel(n_jobs)(delayed(_compare)(seed, n_groups) for seed in range(n_draws))
        found = np.array(runs)  # (draws, ways, 3)
        for way, name in enumerate(("as they are", "codes, means")):
            index, noise, kept = found[:, way].T
            if n_groups:
                print(
                    f"{what:12} {name:13} Rand index {index.mean():.3f} (lowest {index.min():.2f}, "
                    f"{(index >= 0.9).sum()} of {n_draws} at least .9)  noise in groups "
                    f"{noise.sum()} of {n_draws * N_NOISE}"
                )
            else:
                print(f"{what:12} {name:13} any group kept in {(kept > 0).sum()} of {n_draws}")


def students() -> tuple[pd.DataFrame, np.ndarray]:
    """Read the students' table as published, and whether they pass."""
    table = pd.read_csv(folder() / "student-mat.csv", sep=None, engine="python")
    return table.drop(columns=["G1", "G2", "G3"]), (table["G3"] >= 10).to_numpy()


def patients() -> tuple[pd.DataFrame, np.ndarray]:
    """Read the patients' table as published, categories declared, and whether they are ill."""
    names = [
        *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
        *("thalach", "exang", "oldpeak", "slope", "ca", "thal", "num"),
    ]
    table = pd.read_csv(folder() / "processed.cleveland.data", names=names, na_values="?")
    label = (table.pop("num") > 0).to_numpy()
    return table.astype(dict.fromkeys(("cp", "restecg", "thal"), "category")), label


def real() -> None:
    """Print groups and accuracies of the two tables, as they are and as codes."""
    readers: dict[str, Callable[[], tuple[Any, Any]]] = {"students": students, "patients": patients}
    for name, read in readers.items():
        frame, label = read()
        for way, X in (("as they are", frame), ("codes, means", as_codes(frame))):
            selector = GroupFS(random_state=0).fit(X)
            replication = selector.replication_
            print(
                f"\n{name}, {way}: {selector.n_groups_} groups, best by halves "
                f"{replication and replication.best}"
            )
            for rank, group in enumerate(selector.groups_):
                kept = "kept" if selector.group_selected_[rank] else "not kept"
                members = ", ".join(frame.columns[group])
                print(f"  {kept}, reliability {selector.group_reliability_[rank]:.2f}: {members}")
            out = ", ".join(frame.columns[selector.group_labels_ < 0])
            print(f"  in none: {out or '-'}")
            for what, features in (
                ("selected", selector.get_support(indices=True)),
                ("first 5 of the order", selector.feature_order_[:5]),
                ("first 10 of the order", selector.feature_order_[:10]),
                ("all", np.arange(frame.shape[1])),
            ):
                print(f"  {what:21} {len(features):2} columns: {_accuracy(X, label, features)}")


def _accuracy(X: pd.DataFrame, label: np.ndarray, features: np.ndarray) -> str:
    """Cluster samples by some columns, standardised blocks, and compare with the label."""
    from sklearn.cluster import KMeans
    from sklearn.neighbors import NearestNeighbors

    from groupfs.data.feature_rows import sample_columns
    from groupfs.data.feature_table import numbers
    from groupfs.data.kinds import encode_columns, has_kinds

    encoded = encode_columns(X) if has_kinds(X) else numbers(X.to_numpy(dtype=float))
    Z, owner = sample_columns(encoded.values, encoded.kinds, True)
    Z = np.nan_to_num(Z[:, np.isin(owner, features)])
    scores = [
        metrics.clustering_accuracy(label, KMeans(2, n_init=10, random_state=seed).fit_predict(Z))
        for seed in range(5)
    ]
    nearest = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(Z, return_distance=False)
    own = np.where(nearest[:, 0] == np.arange(len(Z)), nearest[:, 1], nearest[:, 0])
    again = (label[own] == label).mean()
    return f"k-means accuracy {np.mean(scores):.3f}, nearest neighbour {again:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--real", action="store_true", help="the two published tables, too")
    arguments = parser.parse_args()
    planted(arguments.draws, arguments.jobs)
    if arguments.real:
        real()


if __name__ == "__main__":
    main()
