"""Tables of mixed kinds with gaps, with planted groups; and the students' table as published."""

import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.tables import folder
from groupfs import FeatureGroups

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
        selector = FeatureGroups(random_state=0).fit(frame)
    labels = selector.group_labels_.copy()
    n_noise = int((labels[truth < 0] >= 0).sum())
    loose = np.flatnonzero(labels < 0)
    labels[loose] = labels.max(initial=0) + 1 + np.arange(len(loose))
    planted = truth >= 0
    index = adjusted_rand_score(truth[planted], labels[planted]) if planted.any() else np.nan
    return index, n_noise, int(selector.group_kept_.sum())


def students() -> tuple[pd.DataFrame, np.ndarray]:
    """Read the students' table as published, and whether they pass."""
    table = pd.read_csv(folder() / "student-mat.csv", sep=None, engine="python")
    return table.drop(columns=["G1", "G2", "G3"]), (table["G3"] >= 10).to_numpy()


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
