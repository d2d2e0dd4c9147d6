"""Do groups of real tables hold in other rows? Halves, schools, sexes, ages, types of cells.

Run with ``python -m experiments.other_rows``. ``GROUPFS_DATA`` is the folder of published files;
men and women, young and old need ``bfi.csv`` there, the answers of ``bfi`` of the R package psych
with gender and age, which the Python package pydataset holds (``data("bfi").to_csv(...)``).
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tables import KNOWN, folder, known_groups
from groupfs import FeatureGroups


def told(title: str, fit: Any, other: Any, show: bool = False) -> None:
    """Fit some rows, check others, and print what became of the groups of every level."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = FeatureGroups(random_state=0).fit(fit)
        started = time.perf_counter()
        checked = selector.check(other)
    seconds = time.perf_counter() - started
    frame = checked.to_frame()
    print(f"\n{title}: {len(fit):,} rows, checked in {len(other):,} ({seconds:.1f} s)")
    for level, of in frame.groupby("level"):
        counts = of["verdict"].value_counts()
        print(f"  {level} groups: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    if show:
        print(checked)


def main() -> None:
    for name in KNOWN:
        halves(name)
    schools = pd.DataFrame(known_groups("holzinger")[0]).add_prefix("test")
    told("holzinger, by school", schools[:156], schools[156:])  # the second school comes last
    students = pd.read_csv(folder() / "student-mat.csv", sep=";")
    first = students.pop("school") == "GP"
    told("students, by school", students[first], students[~first], show=True)
    if (folder() / "bfi.csv").exists():
        people = pd.read_csv(folder() / "bfi.csv")
        items = people.filter(regex="^[ACENO][1-5]$")
        told("bfi, men and women", items[people["gender"] == 1], items[people["gender"] == 2])
        told("bfi, under 20 and over 40", items[people["age"] < 20], items[people["age"] > 40])
    else:
        print("\nbfi by sex and age: no bfi.csv in the folder")
    cells()


def halves(name: str, n_draws: int = 20) -> None:
    """Fit one half of a table and check the other, several times."""
    X, verdicts = pd.DataFrame(known_groups(name)[0]).add_prefix("item"), Counter[str]()
    for seed in range(n_draws):
        order = np.random.default_rng(seed).permutation(len(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = FeatureGroups(random_state=0).fit(X.iloc[order[::2]])
            verdicts.update(selector.check(X.iloc[order[1::2]]).to_frame()["verdict"])
    print(f"{name}, {n_draws} halvings: " + ", ".join(f"{n} {of}" for of, n in verdicts.items()))


def cells() -> None:
    """Fit half of the cells and check the other; fit all but monocytes and check these."""
    from benchmarks.cells import read_cells  # needs scanpy's reader

    adata = read_cells()
    X = pd.DataFrame(adata.X.toarray(), columns=adata.var_names)
    order = np.random.default_rng(0).permutation(len(X))
    told("cells, halves", X.iloc[order[:350]], X.iloc[order[350:]])
    monocytes = adata.obs["bulk_labels"].isin(["CD14+ Monocyte", "Dendritic"]).to_numpy()
    told("cells, all but myeloid ones, and these", X[~monocytes], X[monocytes], show=True)


if __name__ == "__main__":
    main()
