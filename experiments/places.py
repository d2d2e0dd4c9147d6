"""Whether features are called what they are: members, between two groups, alone.

``python -m experiments.places`` draws tables (normal, five answers, yes or no; 200 to 2,000 rows, 2
to 8 factors correlated by up to .5) of members with loadings of .5 to .8, two features with equal
loadings of .45 to .6 on two factors, two weak members (.35 to .45) and three strangers, and prints
how often each is called what. The draws were written after the method and changed nothing in it.
"""

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.group_competitors import fitted
from benchmarks.planted_tables import log_uniform
from benchmarks.questionnaires import related_factors

KINDS = ("normal", "five answers", "yes or no")
N_DRAWS, N_JOBS = 500, 2


def draw(number: int) -> tuple[NDArray[np.float64], list[str]]:
    """Draw a table, and what each of its features is."""
    rng = np.random.default_rng([number, 9])
    n, C, shared = round(log_uniform(rng, 200, 2000)), int(rng.integers(2, 9)), rng.uniform(0, 0.5)
    F = related_factors(rng, n, np.zeros(C, dtype=np.int64), shared)
    members = np.repeat(np.arange(C), rng.integers(4, 11, C)).tolist()
    loads = [(rng.uniform(0.5, 0.8), [j], "member") for j in members]
    for _ in range(2):
        loads.append((rng.uniform(0.45, 0.6), rng.choice(C, 2, replace=False), "between two"))
        loads.append((rng.uniform(0.35, 0.45), [rng.integers(C)], "weak member"))
    loads += [(0.0, [0], "alone")] * 3
    signal = np.column_stack([loading * F[:, of].sum(1) for loading, of, _ in loads])
    own = np.sqrt(np.maximum(1 - signal.var(0), 0.1))
    X = (signal + own * rng.standard_normal(signal.shape)) * rng.choice([-1, 1], len(loads))
    kind = KINDS[number % 3]
    if kind != "normal":
        cuts = rng.uniform(-0.7, 0.7, len(loads))
        X = np.clip(np.rint(3 + X), 1, 5) if kind == "five answers" else (cuts < X).astype(float)
    return X, [what for _, _, what in loads]


def measure(number: int) -> list[tuple[str, str]]:
    """Fit a table, and say what each feature is and is called."""
    X, are = draw(number)
    frame = fitted(X, 0).to_frame()
    called = dict(zip(frame["feature"], frame["verdict"], strict=True))
    return [(what, called[f"x{i}"]) for i, what in enumerate(are)]


def main() -> None:
    found = Parallel(N_JOBS)(delayed(measure)(number) for number in range(N_DRAWS))
    are, called = zip(*(pair for pairs in found for pair in pairs), strict=True)
    print(pd.crosstab(are, called, normalize="index", rownames=["is"], colnames=["called"]))


if __name__ == "__main__":
    main()
