"""Seconds and accuracy of groupings and selections of genes, beside other packages; two pictures.

``python -m benchmarks.peers --peers ENV/bin/python`` simulates counts of genes in cells
(``benchmarks.simulated_cells``) and runs every method once, in a process of its own with one thread
each. It prints a table, writes out/peers.json and draws docs/images/accuracy_seconds_groups.png and
_selection.png; ``--draw FILE`` only draws what a run has written. Peers run in the given
interpreter, which needs scikit-learn, skfeature-chappers, fastcan, hotspotsc and cnmf. What takes
more than ``--limit`` seconds is ended.

All get the same log-normalised table, no labels, and a small table to warm up. Seconds are those of
the fit, without imports and reading.

- Groupings: adjusted Rand index over all genes, unrelated ones being a group and genes in no group
  another; and over the genes of modules alone. Ward, spectral clustering and cNMF (20 runs of NMF,
  a gene goes to the programme of its largest score) are told the true number of modules. Factors
  are as many as parallel analysis counts; EGA, Leiden, Hotspot and ours find the number.
- Selections: accuracy of the nearest neighbour among the cell types with the first 100 genes,
  standardised, 5 folds. Those of Hotspot have the highest autocorrelation.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

# groupfs is imported where it is used: the interpreter of the peers does not have it.

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "images"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: Genes that are selected.
BUDGET = 100
#: Hotspot as in its tutorials: neighbours, least genes of a module, level, components of the cells.
NEIGHBORS, LEAST_GENES, LEVEL, COMPONENTS = 30, 30, 0.05, 20

#: What a method found: groups of genes (labels), indices of selected ones.
Found = dict[str, Any]


def with_groupfs(X: NDArray, n_modules: int) -> Found:
    from benchmarks.group_competitors import fitted

    selector = fitted(X, 0)
    selected = selector.select(n_features_to_select=min(BUDGET, X.shape[1])).features
    return {"labels": selector.group_labels_, "selected": selected}


def grouping(name: str) -> Callable[[NDArray, int], Found]:
    """Return a method of ``group_competitors`` or ``networks`` by its name there."""

    def group(X: NDArray, n_modules: int) -> Found:
        from benchmarks import group_competitors, networks

        method = getattr(group_competitors, name, None) or getattr(networks, name)
        varied = X.std(axis=0) > 0
        labels = np.full(X.shape[1], -1)
        labels[varied] = method(X[:, varied], n_modules, 0).labels
        return {"labels": labels}

    return group


def baseline(name: str) -> Callable[[NDArray, int], Found]:
    """Return a selector of ``groupfs.baselines`` by its name."""

    def select(X: NDArray, n_modules: int) -> Found:
        from groupfs import baselines

        selector = getattr(baselines, name)(min(BUDGET, X.shape[1]), device="cpu", random_state=0)
        return {"selected": selector.fit(X).get_support(indices=True)}

    return select


def with_fastcan(X: NDArray, n_modules: int) -> Found:
    """Select without labels, as its manual does: the components are what is to be explained."""
    from fastcan import FastCan

    Z = scale(X)
    n_components = min(BUDGET, *Z.shape)
    target = PCA(n_components, random_state=0).fit_transform(Z)
    model = FastCan(min(BUDGET, Z.shape[1]), verbose=0).fit(Z, target)
    return {"selected": model.indices_}


def with_cnmf(X: NDArray, n_modules: int) -> Found:
    import pandas as pd
    from cnmf import cNMF

    genes, cells = [f"g{i}" for i in range(X.shape[1])], [f"c{i}" for i in range(len(X))]
    with tempfile.TemporaryDirectory() as folder:
        counts = pd.DataFrame(np.expm1(X), cells, genes)
        counts = counts.loc[:, counts.sum() > 0]
        counts.to_csv(file := str(Path(folder, "counts.tsv")), sep="\t")
        model = cNMF(output_dir=folder, name="run")
        n_genes = min(2000, counts.shape[1])
        model.prepare(file, components=[n_modules], n_iter=20, seed=0, num_highvar_genes=n_genes)
        model.factorize(worker_i=0, total_workers=1)
        model.combine()
        model.consensus(k=n_modules, density_threshold=2.0, show_clustering=False)
        scores = model.load_results(K=n_modules, density_threshold=2.0)[2]
    labels = pd.Series(scores.to_numpy().argmax(axis=1), scores.index)
    return {"labels": labels.reindex(genes).fillna(-1).astype(int).to_numpy()}


def with_laplacian_score(X: NDArray, n_modules: int) -> Found:
    from skfeature.function.similarity_based.lap_score import lap_score

    Z = scale(X)
    return {"selected": lap_score(Z, mode="index", W=cosine_graph(Z))[:BUDGET]}


def with_mcfs(X: NDArray, n_modules: int) -> Found:
    from skfeature.function.sparse_learning_based import MCFS

    Z = scale(X)
    best_first = MCFS.mcfs(Z, None, min(BUDGET, Z.shape[1]), mode="index", W=cosine_graph(Z))
    return {"selected": best_first[:BUDGET]}


def with_hotspot(X: NDArray, n_modules: int) -> Found:
    import anndata
    import hotspot

    cells = anndata.AnnData(X)
    cells.layers["values"], cells.obs["depth"] = X, np.expm1(X).sum(axis=1)
    cells.obsm["latent"] = PCA(COMPONENTS, random_state=0).fit_transform(X)
    names = {"latent_obsm_key": "latent", "umi_counts_obs_key": "depth"}
    spots = hotspot.Hotspot(cells, layer_key="values", model="normal", **names)
    spots.create_knn_graph(weighted_graph=False, n_neighbors=NEIGHBORS)
    scores = spots.compute_autocorrelations(jobs=1)
    ranked = scores.sort_values("Z", ascending=False).index[:BUDGET].astype(int)
    spots.compute_local_correlations(scores.index[scores.FDR < LEVEL], jobs=1)
    limits = {"min_gene_threshold": LEAST_GENES, "fdr_threshold": LEVEL}
    modules = spots.create_modules(core_only=True, **limits)
    labels = np.full(X.shape[1], -1)
    labels[modules.index.astype(int)] = modules
    return {"labels": labels, "selected": ranked}


def cosine_graph(Z: NDArray) -> Any:
    from skfeature.utility.construct_W import construct_W

    # a copy, because it scales the rows of the table it is given
    return construct_W(Z.copy(), metric="cosine", neighbor_mode="knn", weight_mode="cosine", k=5)


#: Those that need no other interpreter come first.
OURS: dict[str, Callable[[NDArray, int], Found]] = {
    "FeatureGroups": with_groupfs,
    "Ward": grouping("with_ward"),
    "spectral": grouping("with_spectral"),
    "factors": grouping("with_factors"),
    "Leiden": grouping("with_leiden"),
    "EGA": grouping("with_ega"),
    "CAE": baseline("ConcreteAutoencoderSelector"),
    "DUFS": baseline("DUFS"),
}
#: Those that select; ours and Hotspot do both.
SELECTIONS = ("CAE", "DUFS", "Laplacian score", "MCFS", "fastcan")
METHODS = OURS | {
    "Laplacian score": with_laplacian_score,
    "MCFS": with_mcfs,
    "fastcan": with_fastcan,
    "Hotspot": with_hotspot,
    "cNMF": with_cnmf,
}


def work(name: str, file: str) -> None:
    """Warm up and run one method, as the worker; answer in json on the last line."""
    warnings.simplefilter("ignore")
    with np.load(file) as arrays, redirect_stdout(sys.stderr):
        X, n_modules = arrays["X"], int(arrays["n_modules"])
        varied = np.flatnonzero(X[:300].std(axis=0) > 0)[:150]
        with suppress(Exception):  # it may find nothing there; only its loading and compiling count
            METHODS[name](X[:300, varied], 3)
        began = time.perf_counter()
        result = METHODS[name](X, n_modules)
        seconds = time.perf_counter() - began
    result = {key: np.asarray(value).tolist() for key, value in result.items()}
    print(json.dumps({**result, "seconds": seconds}))


def ask(name: str, file: Path, options: argparse.Namespace) -> Found:
    """Run a method in a process of its own; a reason where it did not end well."""
    if name not in OURS and options.peers is None:
        return {"reason": "not run: no --peers"}
    # workers start in another folder; links stay, as an environment is found by its link
    python = sys.executable if name in OURS else os.path.abspath(options.peers)
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    environment["PYTHONPATH"] = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    command = [python, "-m", "benchmarks.peers", "--work", name, str(file)]
    given: dict[str, Any] = {"capture_output": True, "text": True, "cwd": file.parent}
    try:
        done = subprocess.run(command, env=environment, timeout=options.limit, **given)
    except subprocess.TimeoutExpired:
        return {"reason": f"more than {options.limit:.0f} s"}
    last = ((done.stderr if done.returncode else done.stdout).strip().splitlines() or ["?"])[-1]
    return {"reason": last} if done.returncode else json.loads(last)


def judge(result: Found, cells: Any) -> Found:
    """Score groups and selection; keep figures and seconds."""
    from benchmarks.group_competitors import rand_index

    record = {key: value for key, value in result.items() if key not in ("labels", "selected")}
    if "labels" in result:
        labels = np.array(result["labels"])
        related = cells.modules >= 0
        record["ari"] = float(adjusted_rand_score(cells.modules, labels))
        record["ari_of_modules"] = rand_index(cells.modules[related], labels[related])
        record["groups"] = len(np.unique(labels[labels >= 0]))
        record["unrelated"] = int((labels[~related] >= 0).sum())
    if "selected" in result:
        record["accuracy"] = accuracy(cells, result["selected"])
    return record


def accuracy(cells: Any, genes: Any) -> float:
    """Return the share of cells whose nearest neighbour in other folds is of their type."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    return float(cross_val_score(model, cells.X[:, genes], cells.types, cv=folds).mean())


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run all methods; print each as soon as it is known and keep what is known so far."""
    from benchmarks.machine import machine
    from benchmarks.simulated_cells import simulated_cells

    cells = simulated_cells(options.cells, options.genes, options.modules, seed=0)
    N, d = cells.X.shape
    report: dict[str, Any] = {"cells": N, "genes": d, "modules": options.modules}
    report |= {"unrelated": int((cells.modules < 0).sum()), "machine": machine()}
    report["limit"] = options.limit
    print(", ".join(f"{key} {value}" for key, value in report.items()) + "; one thread each")
    random = np.random.default_rng(0).choice(d, min(BUDGET, d), replace=False)
    records = report["methods"] = {"all genes": {"accuracy": accuracy(cells, np.arange(d))}}
    records["random genes"] = {"accuracy": accuracy(cells, random)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder).resolve() / "cells.npz"
        np.savez(file, X=cells.X, n_modules=options.modules)
        for name in ("all genes", "random genes", *options.methods):
            if name in METHODS:
                records[name] = judge(ask(name, file, options), cells)
            words = (f"{k} {v:.3g}" if k != "reason" else v for k, v in records[name].items())
            print(f"{name:18s}{', '.join(words)}", flush=True)
            options.out.write_text(json.dumps(report, indent=1) + "\n")
    return report


def draw(report: dict[str, Any], folder: Path) -> None:
    """Draw accuracy over seconds, of groups and of selections, every point with its name."""
    from matplotlib.figure import Figure

    from groupfs.plotting.style import COLUMN_WIDTH, DROPPED, KEPT

    folder.mkdir(parents=True, exist_ok=True)
    of_groups = {"ari_of_modules": "Rand index, genes of modules", "ari": "Rand index, all genes"}
    of_selection = {"accuracy": "Nearest neighbour with 100 genes"}
    for kind, titles in {"groups": of_groups, "selection": of_selection}.items():
        late = [n for n, of in report["methods"].items() if "more than" in of.get("reason", "")]
        late = [name for name in late if (name in SELECTIONS) == (kind == "selection")]
        more = f"; more than {report['limit']:.0f}: {', '.join(late)}" if late else ""
        width = (0.4 + 0.85 * len(titles)) * COLUMN_WIDTH
        figure = Figure(figsize=(width, 3), layout="constrained")
        for ax, (score, title) in zip(
            figure.subplots(1, len(titles), squeeze=False)[0], titles.items(), strict=True
        ):
            placed: list[tuple[float, float]] = []
            for name, record in report["methods"].items():
                if score not in record:
                    continue
                if "seconds" not in record:  # all genes and random ones take none
                    ax.axhline(record[score], color="0.75", lw=0.6, ls="--", zorder=0)
                    ax.text(0.01, record[score], name, transform=ax.get_yaxis_transform(), size=7)
                    continue
                point = (record["seconds"], record[score])
                ax.plot(*point, "o", ms=5, color=KEPT if name == "FeatureGroups" else DROPPED)
                near = [0 <= y - point[1] < 0.07 and x / 5 < point[0] < 5 * x for x, y in placed]
                below = {"va": "top", "ha": "right" if sum(near) > 1 else "left"}
                offset = (5, -4) if any(near) else (5, 3)
                style = below if any(near) else {}
                ax.annotate(name, point, offset, textcoords="offset points", fontsize=8, **style)
                placed.append(point)
            ax.set(xscale="log", ylim=(-0.02, 1.05))
            ax.set_xlabel(f"seconds of one core{more}", size=8)
            ax.set_title(title, loc="left", fontsize=9)
            ax.margins(x=0.25)
            ax.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / f"accuracy_seconds_{kind}.png", dpi=200)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", help="interpreter that has the other packages")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--genes", type=int, default=2000)
    parser.add_argument("--modules", type=int, default=20)
    parser.add_argument("--limit", type=float, default=600, help="seconds of a method")
    parser.add_argument("--out", type=Path, default=Path("out", "peers.json"))
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    parser.add_argument("--draw", type=Path, metavar="FILE", help="only draw what a run wrote")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(*options.work)
    report = json.loads(options.draw.read_text()) if options.draw else measure(options)
    draw(report, options.pictures)


if __name__ == "__main__":
    main()
