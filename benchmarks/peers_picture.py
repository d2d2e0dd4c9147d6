"""Seconds and accuracy of groupings and selections of genes, beside other packages; a picture.

``python -m benchmarks.peers_picture --peers ENV/bin/python`` simulates counts of genes in cells
(``benchmarks.simulated_cells``) and runs every method once, in a process of its own with one thread
each. It prints a table, writes out/peers_picture.json and draws docs/images/accuracy_seconds.png;
``--draw FILE`` only draws what a run has written. Peers run in the given interpreter, which needs
scikit-learn, torch==2.13.0, featselectlib, skfeature-chappers and hotspotsc. What is missing,
breaks or takes more than ``--limit`` seconds, all included, is reported as such.

All get the same log-normalised table (but for "Hotspot, counts", which is how its authors use it),
no labels, and a small table to warm up. Seconds are those of the fit, without imports and reading.

- Groupings: adjusted Rand index over the genes of modules, each gene in no group being alone; and
  how many of the unrelated genes are put into groups. Ward (FeatureAgglomeration) and factors
  (FactorAnalysis, varimax, largest absolute loading) are told the true number of modules; GroupFS
  and Hotspot are not.
- Selections: accuracy of the nearest neighbour among the cell types with the first 100 genes,
  standardised, 5 folds. Those of Hotspot have the highest autocorrelation, whose seconds count.
  All genes and 100 random ones stand beside them.
"""

from __future__ import annotations

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
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# groupfs is imported where it is used: the interpreter of the peers does not have it.

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "accuracy_seconds.png"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: Genes that are selected.
BUDGET = 100
#: Cells and genes of the table to warm up.
SMALL = (300, 150)
#: Hotspot as in its tutorials: neighbours, least genes of a module, level, components of the cells.
NEIGHBORS, LEAST_GENES, LEVEL, COMPONENTS = 30, 30, 0.05, 20
#: DUFS as in benchmarks.peers.
DUFS = argparse.Namespace(dufs_epochs=200, dufs_rate=0.01)

#: What a method found, and the seconds until then: groups of genes, indices of selected ones.
Found = dict[str, Any]
Method = Callable[[NDArray, NDArray, int], Found]


def with_groupfs(X: NDArray, counts: NDArray, n_modules: int) -> Found:
    from groupfs import GroupFS

    began = time.perf_counter()
    selector = GroupFS(random_state=0, device="cpu").fit(X)
    seconds = time.perf_counter() - began
    selected = selector.select(n_features_to_select=min(BUDGET, X.shape[1])).features
    return grouped(selector.group_labels_, seconds) | chosen(selected, seconds)


def with_ward(X: NDArray, counts: NDArray, n_modules: int) -> Found:
    from sklearn.cluster import FeatureAgglomeration

    from benchmarks.peers import standardized

    began = time.perf_counter()
    model = FeatureAgglomeration(n_modules).fit(standardized(X))
    return grouped(model.labels_, time.perf_counter() - began)


def with_factors(X: NDArray, counts: NDArray, n_modules: int) -> Found:
    from sklearn.decomposition import FactorAnalysis

    from benchmarks.peers import standardized

    began = time.perf_counter()
    model = FactorAnalysis(n_modules, rotation="varimax", random_state=0).fit(standardized(X))
    labels = np.abs(model.components_).argmax(axis=0)
    return grouped(labels, time.perf_counter() - began)


def with_peer(name: str) -> Method:
    """Select with a peer that ``benchmarks.peers`` knows how to call."""

    def method(X: NDArray, counts: NDArray, n_modules: int) -> Found:
        from benchmarks.peers import PEERS, standardized

        if name == "DUFS" and find_spec("featselectlib") is None:
            raise ModuleNotFoundError("No module named 'featselectlib'")
        select = PEERS[name](DUFS)
        began = time.perf_counter()
        selected = select(standardized(X), min(BUDGET, X.shape[1]))
        return chosen(selected, time.perf_counter() - began)

    return method


def with_hotspot(model: str) -> Method:
    """Group and select with Hotspot: counts by the model danb, or the table by the model normal."""

    def method(X: NDArray, counts: NDArray, n_modules: int) -> Found:
        import anndata
        import hotspot
        from scipy.sparse import csr_matrix
        from sklearn.decomposition import PCA

        cells = anndata.AnnData(X)
        cells.layers["values"] = csr_matrix(counts, dtype=float) if model == "danb" else X
        cells.obs["depth"] = counts.sum(axis=1).astype(float)
        began = time.perf_counter()
        cells.obsm["latent"] = PCA(COMPONENTS, random_state=0).fit_transform(X)
        names = {"latent_obsm_key": "latent", "umi_counts_obs_key": "depth"}
        spots = hotspot.Hotspot(cells, layer_key="values", model=model, **names)
        spots.create_knn_graph(weighted_graph=False, n_neighbors=NEIGHBORS)
        scores = spots.compute_autocorrelations(jobs=1)
        ranked = scores.sort_values("Z", ascending=False).index[:BUDGET].astype(int)
        selection = chosen(ranked, time.perf_counter() - began)
        spots.compute_local_correlations(scores.index[scores.FDR < LEVEL], jobs=1)
        modules = spots.create_modules(
            min_gene_threshold=LEAST_GENES, core_only=True, fdr_threshold=LEVEL
        )
        seconds = time.perf_counter() - began
        labels = np.full(X.shape[1], -1)
        labels[modules.index.astype(int)] = modules
        return grouped(labels, seconds) | selection

    return method


def grouped(labels: Any, seconds: float) -> Found:
    return {"labels": np.asarray(labels).tolist(), "seconds_of_groups": seconds}


def chosen(indices: Any, seconds: float) -> Found:
    return {"selected": np.asarray(indices).tolist(), "seconds_of_selection": seconds}


OURS: dict[str, Method] = {"GroupFS": with_groupfs, "Ward": with_ward, "factors": with_factors}
PEERS: dict[str, Method] = {
    "Laplacian score": with_peer("Laplacian score"),
    "MCFS": with_peer("MCFS"),
    "DUFS": with_peer("DUFS"),
    "Hotspot": with_hotspot("normal"),
    "Hotspot, counts": with_hotspot("danb"),
}


def work(name: str, file: str) -> None:
    """Warm up and run one method, as the worker; answer in json on the last line."""
    warnings.simplefilter("ignore")
    method = {**OURS, **PEERS}[name]
    with np.load(file) as arrays, redirect_stdout(sys.stderr):
        X, counts, n_modules = arrays["X"], arrays["counts"], int(arrays["n_modules"])
        cells, genes = SMALL
        varied = np.flatnonzero(X[:cells].std(axis=0) > 0)[:genes]
        with suppress(Exception):  # it may find nothing there; only its loading and compiling count
            method(X[:cells, varied], counts[:cells, varied], 3)
        found = method(X, counts, n_modules)
    print(json.dumps(found))


def ask(name: str, file: Path, options: argparse.Namespace) -> Found:
    """Run a method in a process of its own; a reason where it did not end well."""
    ours = name in OURS
    if not ours and options.peers is None:
        return {"reason": "not run: no --peers"}
    # workers start in another folder; links stay, as an environment is found by its link
    python = sys.executable if ours else os.path.abspath(options.peers)
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}" if ours else str(ROOT)
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": paths}
    command = [python, "-m", "benchmarks.peers_picture", "--work", name, str(file)]
    given: dict[str, Any] = {"capture_output": True, "text": True, "cwd": file.parent}
    try:
        done = subprocess.run(command, env=environment, timeout=options.limit, **given)
    except subprocess.TimeoutExpired:
        return {"reason": f"more than {options.limit:.0f} s"}
    except OSError as reason:
        return {"reason": str(reason)}
    last = ((done.stderr if done.returncode else done.stdout).strip().splitlines() or ["?"])[-1]
    if done.returncode:
        missing = last.startswith("ModuleNotFoundError")
        return {"reason": f"not installed: {last}" if missing else f"broke: {last}"}
    return json.loads(last)


def judge(found: Found, cells: Any) -> Found:
    """Score groups and selection; keep figures and seconds."""
    from sklearn.metrics import adjusted_rand_score

    record = {key: value for key, value in found.items() if key not in ("labels", "selected")}
    if "labels" in found:
        labels = np.array(found["labels"])
        alone = np.where(labels < 0, -1 - np.arange(len(labels)), labels)
        related = cells.modules >= 0
        record["ari"] = float(adjusted_rand_score(cells.modules[related], alone[related]))
        record["groups"] = len(np.unique(labels[labels >= 0]))
        record["related_in_groups"] = int((labels[related] >= 0).sum())
        record["unrelated_in_groups"] = int((labels[~related] >= 0).sum())
    if "selected" in found:
        record["accuracy"] = accuracy(cells, found["selected"])
        record["selected"] = len(set(found["selected"]))
    return record


def accuracy(cells: Any, genes: Any) -> float:
    """Return the share of cells whose nearest neighbour in other folds is of their type."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    return float(cross_val_score(model, cells.X[:, genes], cells.types, cv=folds).mean())


def line(name: str, record: Found) -> str:
    """Write what is known of a method in columns; nothing where it does not apply."""
    if "reason" in record:
        return f"{name:18s}{record['reason']}"
    columns = (("seconds_of_groups", "10.1f"), ("ari", "8.3f"), ("groups", "8d"))
    columns += (("related_in_groups", "9d"), ("unrelated_in_groups", "11d"))
    columns += (("seconds_of_selection", "10.1f"), ("accuracy", "8.3f"))
    blank = {key: "".rjust(int(form[:-1].split(".")[0])) for key, form in columns}
    cells = (format(record[key], form) if key in record else blank[key] for key, form in columns)
    return f"{name:18s}{''.join(cells)}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run all methods; print each as soon as it is known and keep what is known so far."""
    from benchmarks.order_cost import machine
    from benchmarks.simulated_cells import simulated_cells

    cells = simulated_cells(options.cells, options.genes, options.modules, options.seed)
    N, d = cells.X.shape
    about = {"cells": N, "genes": d, "modules": options.modules, "machine": machine()}
    about |= {"unrelated": int((cells.modules < 0).sum()), "limit": options.limit}
    about["load"] = round(os.getloadavg()[0], 1)  # beside others, seconds mean little
    print(", ".join(f"{key} {value}" for key, value in about.items()) + "; one thread each")
    header = f"{'':18s}{'groups, s':>10s}{'ARI':>8s}{'groups':>8s}{'related':>9s}{'unrelated':>11s}"
    print(f"{header}{'select, s':>10s}{'1-nn':>8s}")
    random = np.random.default_rng(0).choice(d, min(BUDGET, d), replace=False)
    records = {"all genes": {"accuracy": accuracy(cells, np.arange(d))}}
    records["random genes"] = {"accuracy": accuracy(cells, random)}
    for name, record in records.items():
        print(line(name, record), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder).resolve() / "cells.npz"
        np.savez(file, X=cells.X, counts=cells.counts, n_modules=options.modules)
        for name in options.methods:
            records[name] = judge(ask(name, file, options), cells)
            print(line(name, records[name]), flush=True)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps({**about, "methods": records}, indent=1) + "\n")
    return {**about, "methods": records}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", help="interpreter that has the other packages")
    parser.add_argument("--methods", nargs="+", default=[*OURS, *PEERS], metavar="NAME")
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--genes", type=int, default=2000)
    parser.add_argument("--modules", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=600, help="seconds of a method")
    parser.add_argument("--out", type=Path, default=Path("out", "peers_picture.json"))
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument(
        "--draw", type=Path, metavar="FILE", help="only draw what a run has written"
    )
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(*options.work)
    from benchmarks.labelled_points import draw

    draw(
        json.loads(options.draw.read_text()) if options.draw else measure(options), options.picture
    )


if __name__ == "__main__":
    main()
