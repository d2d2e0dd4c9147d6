"""Draw the picture of the page on other rows and conditions.

Run ``python docs/guide/draw_conditions.py FOLDER``; FOLDER holds
``single-cell/10x_pbmc68k_reduced.h5ad`` (the cells that scanpy ships). Patients are
``fetch_dataset("heart_disease")``.
"""

import sys
import warnings
from pathlib import Path

import anndata
import matplotlib.pyplot as plt
import pandas as pd

from groupfs import FeatureGroups
from groupfs.conditions import compare, curves
from groupfs.datasets import fetch_dataset
from groupfs.plotting import plot_conditions, plot_curves
from groupfs.plotting.style import COLUMN_STYLE

IMAGES = Path(__file__).resolve().parents[1] / "images"
SEED = 0


def cells(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Read the logarithms of normalised counts, and the type of every cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        adata = anndata.read_h5ad(folder / "single-cell/10x_pbmc68k_reduced.h5ad")
    return adata.raw.to_adata().to_df(), adata.obs["bulk_labels"].rename("type")


def patients() -> pd.DataFrame:
    table = fetch_dataset("heart_disease")
    return pd.DataFrame(table.data, columns=table.feature_names)


def main(folder: Path) -> None:
    X, kinds = cells(folder)
    by_type = compare(FeatureGroups(device="cpu", random_state=SEED).fit(X), X, kinds)
    X = patients()
    age = X.pop("age")
    by_age = curves(FeatureGroups(device="cpu", random_state=SEED, n_groups=3).fit(X), X, age)
    with plt.rc_context(COLUMN_STYLE):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7, 3.2), layout="constrained", width_ratios=(1.2, 1)
        )
        plot_conditions(by_type, ax=left)
        plot_curves(by_age, ax=right)
        figure.savefig(IMAGES / "conditions.png", dpi=200)
    print(by_age.changes_frame().to_string(index=False, float_format="%.3f"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
