"""Features related in other ways than by a straight line: which similarity finds their groups.

``python -m benchmarks.relations`` plants groups of four features in noise. In each draw all groups
have one shape: straight lines; parabolas (a feature and noisy squares of it); circles (coordinates
of points on a circle, no two of them correlated); a bent, monotone line with outliers. Printed are
the adjusted Rand index of the groups of the planted features (a feature in no group counts as one
of its own) and features of noise in groups. Three questionnaires and tests with known groups
follow, with the time of a fit as a multiple of that by correlation, all in one run.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

from benchmarks.tables import folder
from groupfs import GroupFS

KNOWN = ("bfi", "ability", "holzinger")
SIMILARITIES = ("correlation", "rank", "distance", "mutual_information")
SHAPES = ("line", "parabola", "circle", "bent, outliers")
N_ROWS, N_GROUPS, SIZE, N_NOISE = 500, 5, 4, 20
#: Share of values that are outliers, and how far off.
OUTLIERS, FAR = 0.02, 30


def related_table(shape: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table, and the group of every feature, -1 for noise."""
    rng = np.random.default_rng(seed)
    columns, truth = [], []
    for group in range(N_GROUPS):
        columns += list(_group(shape, rng).T)
        truth += [group] * SIZE
    columns += list(rng.standard_normal((N_NOISE, N_ROWS)))
    return np.column_stack(columns), np.array(truth + [-1] * N_NOISE)


def _group(shape: str, rng: np.random.Generator) -> np.ndarray:
    x, noise = rng.standard_normal(N_ROWS), rng.standard_normal((N_ROWS, SIZE))
    if shape == "line":
        loading = rng.uniform(0.5, 0.8, SIZE)
        return loading * x[:, None] + np.sqrt(1 - loading**2) * noise
    if shape == "parabola":
        signs = np.array([0, 1, 1, -1])
        return np.where(signs == 0, x[:, None], signs * x[:, None] ** 2) + 0.4 * noise
    if shape == "circle":
        angle = rng.uniform(0, 2 * np.pi, N_ROWS)
        # multiples of an angle: no two of these have a correlation
        both = [np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)]
        return np.column_stack(both) + 0.15 * noise
    bent = np.exp(1.5 * (0.8 * x[:, None] + 0.6 * noise))
    far = rng.random(bent.shape) < OUTLIERS
    return np.where(far, FAR * np.abs(rng.standard_cauchy(bent.shape)), bent)


def judged(X: np.ndarray, truth: np.ndarray, similarity: str) -> tuple[float, int, float]:
    """Fit, and return the Rand index, features of noise in groups, and seconds."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = GroupFS(similarity=similarity, random_state=0).fit(X)
    seconds = time.perf_counter() - began
    labels = selector.group_labels_.copy()
    loose = np.flatnonzero(labels < 0)
    n_noise = int((labels[truth < 0] >= 0).sum())
    labels[loose] = labels.max(initial=0) + 1 + np.arange(len(loose))
    return adjusted_rand_score(truth[truth >= 0], labels[truth >= 0]), n_noise, seconds


def _compare(shape: str, seed: int) -> list[tuple[float, int, float]]:
    X, truth = related_table(shape, seed)
    return [judged(X, truth, similarity) for similarity in SIMILARITIES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for shape in SHAPES:
        runs = Parallel(arguments.jobs)(
            delayed(_compare)(shape, seed) for seed in range(arguments.draws)
        )
        found = np.array(runs)  # (draws, similarities, 3)
        print(f"\n{shape}")
        for i, similarity in enumerate(SIMILARITIES):
            index, noise = found[:, i, 0].mean(), found[:, i, 1].mean()
            print(f"  {similarity:19} Rand index {index:.2f}  noise in groups {noise:4.1f}")
    for name in KNOWN:
        with np.load(folder() / "known-groups" / f"{name}.npz") as known:
            X, truth = known["X"], known["g"]
        judged(X, truth, "correlation")  # the first fit of a process takes longer
        print(f"\n{name}, {X.shape[0]} x {X.shape[1]}")
        results = [judged(X, truth, similarity) for similarity in SIMILARITIES]
        for similarity, (index, _, seconds) in zip(SIMILARITIES, results, strict=True):
            slower = seconds / results[0][2]
            print(f"  {similarity:19} Rand index {index:.2f}  time x {slower:.1f}")


if __name__ == "__main__":
    main()
