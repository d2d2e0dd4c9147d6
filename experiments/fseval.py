"""FSEVAL, a public benchmark, by its own protocol: our selectors beside its published rows.

FSEVAL (github.com/mrajabinasab/FSEVAL, rows in ``dashboard/resources``) ranks the features of a
table once and judges the first .5, 1, ..., 10 %, rounded up, values as they are: by k-means with
ten seeds and as many clusters as classes (CLSACC: accuracy after matching; NMI), and by forests of
100 trees in five stratified folds, shuffled by ten seeds (ACC; AUC, each class against the rest).

What its rows are made of was found from them. Variance: the largest first. Laplacian: the graph of
5 nearest neighbours by Euclidean distance of the values as they are, a row itself not counted;
an edge where either is a neighbour of the other, all weights 1 (no kernel); the lowest score first.
Forests have ten seeds (figures are tenths of a row), where its code now says five. So these two
come out as published, digit by digit, on the four tables below. Random: ten orders of unknown
seeds, a row each, so that only means can agree. MCFS: at chance on the three tables of faces.

A folder has tables as ``.mat`` (X, Y) or ``.npz`` (X, y), such as ALLAML, Yale, warpAR10P and
warpPIE10P. ``--out`` gets a csv per method and measure in FSEVAL's layout, and the first tenth of
every order; what it has is not computed again. ``--published`` has rows to compare with. "Our..."
are our defaults of methods that FSEVAL has, too; CompFS is left out, as it sees the classes.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from experiments import methods, running
from experiments.protocol import KMEANS_SEEDS
from groupfs.baselines import LaplacianScore
from groupfs.metrics import clustering_accuracy

FOLDER = Path(os.environ.get("GROUPFS_DATA") or Path(__file__).parents[2] / "shared" / "data")
#: Shares of the features that are judged, and some that are shown.
SHARES = tuple((np.arange(1, 21) * 0.005).round(3).tolist())
SHOWN = (0.01, 0.03, 0.05, 0.07, 0.1)
MEASURES = ("CLSACC", "NMI", "ACC", "AUC")
N_TREES, N_FOLDS, FOREST_SEEDS = 100, 5, range(10)
#: Neighbours in FSEVAL's Laplacian score, and its draws of random features.
NEIGHBORS, DRAWS = 5, 10
KEYS = ["method", "Dataset", "draw", "share"]
#: Names in files, and those of experiments.methods; the first three are to give FSEVAL's rows.
METHODS = {"Variance": "VARIANCE", "Laplacian": "", "Random": "RANDOM"}
METHODS |= {"FeatureGroups": "FeatureGroups", "GroupFS": "GroupFS default", "CSS": "CSS"}
METHODS |= {"OurMCFS": "MCFS", "OurLaplacian": "LS", "MGAGR": "MGAGR", "DUFS": "DUFS", "CAE": "CAE"}


def load(path: Path) -> tuple[NDArray, NDArray]:
    """Read a table and its classes, numbered from 0."""
    found = loadmat(path) if path.suffix == ".mat" else np.load(path)
    y = np.ravel(found["Y" if "Y" in found else "y"])
    return np.asarray(found["X"], dtype=np.float64), np.unique(y, return_inverse=True)[1]


def ranked(method: str, X: NDArray, draw: int) -> NDArray:
    """Order all features, the best first; one order serves every share."""
    largest = math.ceil(SHARES[-1] * X.shape[1])
    if method == "Laplacian":
        graph = kneighbors_graph(X, NEIGHBORS)  # of the two weights of a pair the larger counts
        selector = LaplacianScore(largest, graph=graph, device="cpu")
    else:
        selector = methods.defaults(METHODS[method], largest, draw, "cpu")
    selector.fit(X)
    order = getattr(selector, "feature_order_", None)
    return np.argsort(selector.ranking_) if order is None else order


def judge(S: NDArray, y: NDArray, **_: str | float) -> running.Row:
    """Judge selected columns by all measures, six digits."""
    with threadpool_limits(1):
        found = np.append(judge_clusters(S, y), judge_forests(S, y))
    return dict(zip(MEASURES, found.round(6).tolist(), strict=True))


def judge_clusters(S: NDArray, y: NDArray) -> NDArray:
    """Give accuracy and mutual information of k-means, means over its seeds."""
    scores = []
    for seed in KMEANS_SEEDS:
        clusters = KMeans(y.max() + 1, n_init="auto", random_state=seed).fit_predict(S)
        scores.append((clustering_accuracy(y, clusters), normalized_mutual_info_score(y, clusters)))
    return np.mean(scores, axis=0)


def judge_forests(S: NDArray, y: NDArray) -> NDArray:
    """Give accuracy and area under the curve of forests in rows left out, means over the folds."""
    scores = []
    for seed in FOREST_SEEDS:
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(S, y):
            forest = RandomForestClassifier(N_TREES, random_state=seed).fit(S[train], y[train])
            P, truth = forest.predict_proba(S[test]), y[test]
            area = roc_auc_score(truth, P[:, 1] if P.shape[1] == 2 else P, multi_class="ovr")
            scores.append((np.mean(P.argmax(axis=1) == truth), area))
    return np.mean(scores, axis=0)


def read(folder: Path) -> pd.DataFrame:
    """Read FSEVAL's layout: a column per measure, a line per table, draw (its rows) and share."""
    found = []
    for measure in MEASURES:
        for path in sorted(folder.glob(f"*_{measure}_10Percent.csv")):
            wide = pd.read_csv(path)
            wide["draw"] = wide.groupby("Dataset").cumcount()
            wide["method"] = path.name.split("_")[0]
            tall = wide.melt(KEYS[:-1], var_name="share").astype({"share": float})
            found.append(tall.assign(measure=measure))
    nothing = pd.DataFrame(columns=[*KEYS, "measure", "value"])
    every = pd.concat([*found, nothing][: max(1, len(found))]).set_index([*KEYS, "measure"])
    return every["value"].unstack().reindex(columns=MEASURES).dropna().astype(float)


def save(folder: Path, values: pd.DataFrame, fits: pd.DataFrame) -> None:
    """Write values in FSEVAL's layout, a row per table and draw, and what was fitted."""
    folder.mkdir(parents=True, exist_ok=True)
    for (method, measure), column in values.stack().groupby(level=[0, 4]):
        wide = column.droplevel([0, 4]).unstack().reset_index().drop(columns="draw")
        wide.to_csv(folder / f"{method}_{measure}_10Percent.csv", index=False, float_format="%.6f")
    fits.to_csv(folder / "fits.csv", index=False)


def fill(given: argparse.Namespace, tables: dict[str, Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute what the folder of the run does not have yet, and write it after every order."""
    values, path = read(given.out), given.out / "fits.csv"
    fits = pd.read_csv(path) if path.exists() else pd.DataFrame()
    wanted = [(m, d) for m in given.methods for d in range(given.draws if m == "Random" else 1)]
    for (method, draw), table in product(wanted, tables):
        of = {"method": method, "Dataset": table, "draw": draw}
        if (*of.values(), SHARES[-1]) in values.index:
            continue
        X, y = load(tables[table])
        began = time.perf_counter()
        order = ranked(method, X, draw)
        of["seconds_to_rank"] = round(time.perf_counter() - began, 3)
        # .07 of 2,400 is rounded up to 169, as in FSEVAL
        numbers = {share: math.ceil(share * X.shape[1]) for share in SHARES}
        cells = [{**of, "share": s, "S": X[:, order[:k]], "y": y} for s, k in numbers.items()]
        rows = running.compute(cells, judge, given)
        if len(rows) < len(SHARES):
            continue  # failures were named
        values = pd.concat([values, rows.set_index(KEYS)[list(MEASURES)]]).sort_index()
        of |= {"seconds": rows["seconds"].sum(), "machine": running.machine()}
        of |= {"order": " ".join(map(str, order[: numbers[SHARES[-1]]]))}
        fits = pd.concat([fits, pd.DataFrame([of])], ignore_index=True)
        save(given.out, values, fits)
    return values, fits


def standings(values: pd.DataFrame) -> pd.DataFrame:
    """Give means, mean ranks (1 is best; equal ones share) and wins over all tables and shares."""
    found = {}
    for measure in MEASURES:
        wide = values[measure].groupby(level=["method", "Dataset", "share"]).mean().round(6)
        wide = wide.unstack("method").dropna()
        found[measure, "mean"] = wide.mean()
        found[measure, "rank"] = wide.rank(axis=1, ascending=False).mean()
        found[measure, "wins"] = wide.eq(wide.max(axis=1), axis=0).sum()
    return pd.DataFrame(found).sort_values(("ACC", "rank"))


def compared(ours: pd.DataFrame, published: pd.DataFrame) -> tuple[str, list[str]]:
    """Write our ranks in short; standings, ACC by share, and what was reproduced of published."""
    if len(published):
        shared = ours.index.unique("Dataset").intersection(published.index.unique("Dataset"))
        ours, published = (v[v.index.isin(shared, "Dataset")] for v in (ours, published))
    theirs = published.index.unique("method")
    everyone = pd.concat([published, ours[~ours.index.isin(theirs, "method")]])
    found, form = standings(everyone), "{mean:.3f} / {rank:.2f} / {wins:.0f}".format
    names = {m: f"{m} (published)" if m in theirs else m for m in found.index}
    lines = [[names[m], *(form(**row[of]) for of in MEASURES)] for m, row in found.iterrows()]
    parts = [running.markdown(["mean / rank / wins", *MEASURES], lines)]
    ranks = found.xs("rank", axis=1, level=1)[list(MEASURES)]
    lines = [[m, *map("{:.1f}".format, row)] for m, row in ranks.iterrows() if m not in theirs]
    if len(theirs):
        best = ranks[ranks.index.isin(theirs)]
        lines.append(["best published", *map("{:.1f} {}".format, best.min(), best.idxmin())])
    short = running.markdown([f"mean rank of {len(found)}", *MEASURES], lines)
    at = everyone["ACC"].groupby(level=[0, 3]).mean().unstack().reindex(found.index, columns=SHOWN)
    lines = [[names[m], *(running.number(v, ".3f") for v in row)] for m, row in at.iterrows()]
    parts.append(running.markdown(["ACC at", *(f"{share:.0%}" for share in SHOWN)], lines))
    gaps = (ours.groupby(level=[0, 1]).mean() - published.groupby(level=[0, 1]).mean()).dropna()
    form = "{:+.4f} ({:.4f})".format
    lines = [
        [name, *(form(gap[of].mean().round(4) + 0.0, gap[of].abs().max()) for of in MEASURES)]
        for name, gap in gaps.groupby(level="method")
    ]
    head = ["here less published (largest of a table)", *MEASURES]
    return short, [*parts, running.markdown(head, lines)] if lines else parts


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(
        __file__,
        __doc__,
        folder={"type": Path, "default": FOLDER, "help": "folder of the tables"},
        tables={"nargs": "+", "metavar": "TABLE", "help": "names, or all"},
        methods={"nargs": "+", "default": list(METHODS), "choices": METHODS, "metavar": "METHOD"},
        draws={"type": int, "default": DRAWS, "help": "orders of random features"},
        published={"type": Path, "help": "folder of published rows"},
    ).parse_args(argv)
    paths = {path.stem: path for path in given.folder.glob("*.[mn][ap][tz]")}
    tables = {name: paths[name] for name in given.tables or sorted(paths)}
    if given.quick:
        tables, given.methods = dict([*tables.items()][:1]), ["Variance"]
    if given.join:
        values = pd.concat([read(folder) for folder in given.join])
        fits = pd.concat([pd.read_csv(folder / "fits.csv") for folder in given.join])
    else:
        values, fits = fill(given, tables)
    if values.empty:
        raise SystemExit("Nothing was computed.")
    short, parts = compared(values, read(given.published) if given.published else values[:0])
    save(given.out, values, fits)
    running.write(given, fits, [running.command(fits, "fseval"), *parts], short)


if __name__ == "__main__":
    main()
