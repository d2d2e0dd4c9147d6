"""How many features are enough where nobody says: shares of the variance to explain, compared.

The first features that explain a share of the variance of the related ones, all features of kept
groups, and all features, judged by k-means and the nearest neighbour on the thirteen tables of
``without_labels``, with one seed each. The share with fewest features among those that lose at most
half a percent in 1-nn beside all features is chosen again leaving each table out. Needs the
published data (``GROUPFS_DATA``); five minutes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import data, protocol, running
from experiments.without_labels import TABLES
from groupfs import FeatureGroups

SHARES = (0.8, 0.9, 0.95, 0.99)
#: What 1-nn may lose beside all features, in percent.
MAY_LOSE = 0.5


def measure(table: str) -> list[running.Row]:
    """Fit a table once, and judge what each rule selects."""
    X, y, Z, _ = data.load(table)
    selector = FeatureGroups(random_state=0).fit(X)
    rules = {f"explain {share}": selector.select(explain=share).features for share in SHARES}
    rules["nothing set"] = selector.get_support(indices=True)
    rules["kept groups"] = selector.select(n_groups_to_select="significant").features
    rules["all"] = np.arange(X.shape[1])
    return [
        {"table": table, "rule": rule, "features": len(chosen), "share": len(chosen) / X.shape[1]}
        | protocol.judge(Z, y, chosen).as_dict()
        for rule, chosen in rules.items()
    ]


def best(rows: pd.DataFrame) -> str:
    """Choose the share with fewest features that loses little in 1-nn, else that losing least."""
    means = rows.groupby("rule")[["share", "neighbor"]].mean()
    shares = means.loc[[f"explain {share}" for share in SHARES]]
    enough = shares[shares["neighbor"] >= means.loc["all", "neighbor"] - MAY_LOSE]
    return str(enough["share"].idxmin() if len(enough) else shares["neighbor"].idxmax())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--out", type=Path, default=Path("out/own_number"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = pd.DataFrame([row for table in options.tables for row in measure(table)])
    rows.to_csv(options.out / "rows.csv", index=False)
    shown = rows.groupby("rule", sort=False)[["features", "share", "accuracy", "neighbor"]].mean()
    print(shown.round(3).to_string())
    print(rows.pivot(index="table", columns="rule", values="neighbor").round(1).to_string())
    print(rows.pivot(index="table", columns="rule", values="features").to_string())
    left_out = Counter(best(rows[rows["table"] != table]) for table in options.tables)
    print(f"best: {best(rows)}; leaving one table out: {dict(left_out)}")


if __name__ == "__main__":
    main()
