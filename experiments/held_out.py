"""Whether the share explained in rows left out is that of rows nobody has seen.

Each table is halved at random; FeatureGroups is fitted to one half, and the features it selects
explain the related ones of the other half by regressions on the first. Beside it stand the shares
that the fit tells: in sample, and in rows left out. Means of three draws.
``python -m experiments.held_out`` (``GROUPFS_DATA``; two minutes).
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.tables import KNOWN, known_groups
from experiments import data
from groupfs import FeatureGroups

TABLES = (*KNOWN, *data.SCIKIT_LEARN, "student", "heart_disease", "metabric", "nmnist38", "yale")
DRAWS = 3


def in_fresh_rows(A: NDArray, B: NDArray, chosen: NDArray, weights: NDArray) -> float:
    """Predict the columns of B from chosen ones by regressions on A; share explained, weighted."""
    mean, deviation = A.mean(0), A.std(0)
    deviation = np.where(deviation > 0, deviation, 1)
    A, B = (A - mean) / deviation, (B - mean) / deviation
    missing = B - B[:, chosen] @ np.linalg.lstsq(A[:, chosen], A, rcond=None)[0]
    return float(1 - np.square(missing).sum(0) @ weights / (np.square(B).sum(0) @ weights))


def measure(table: str, draw: int) -> dict[str, object]:
    X = known_groups(table)[0] if table in KNOWN else data.load(table).X
    order = np.random.default_rng(draw).permutation(len(X))
    A, B = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    selector = FeatureGroups(random_state=0).fit(A)
    k = int(selector.get_support().sum())
    chosen, weights = selector.feature_order_[:k], selector.feature_weights_
    shares = {
        "in sample": selector.explained_[k - 1],
        "left out": selector.explained_held_out_[k - 1],
    }
    shares["fresh half"] = in_fresh_rows(A, B, chosen, weights)
    return {"table": table, "rows": len(A), "columns": X.shape[1], "features": k, **shares}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    options = parser.parse_args()
    rows = pd.DataFrame([measure(table, k) for table in options.tables for k in range(DRAWS)])
    shown = rows.groupby("table", sort=False).mean()
    shown["off"] = shown["left out"] - shown["fresh half"]
    print(shown.round(3).to_string())


if __name__ == "__main__":
    main()
