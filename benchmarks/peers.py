"""GroupFS beside other packages: seconds and k-means accuracy, same tables, budget and threads.

Run with ``python -m benchmarks.peers``; prints a table and writes out/peers.json. The peers are no
dependencies: the run makes a throw-away environment for them (it downloads torch; ``--keep-env``
keeps it for the next run) and starts this file in it, once for each peer and table. What cannot be
installed or breaks shows as n/a with the reason.

Every method standardises the table, sees no labels, and keeps as many features as GroupFS did.
Seconds are those of the fastest of a few fits on the CPU, from the table as published to the kept
columns, without imports. Accuracy is that of
k-means (n_init=1, ten seeds) on the kept columns, mean and standard deviation.

- FeatureAgglomeration (scikit-learn): as many clusters as GroupFS found groups, largest first; they
  give one feature each in turn, the one nearest to the cluster's mean first.
- DUFS (featselectlib): its parameter-free loss, the settings of its README but for the epochs, the
  highest gates. Its own SGD does not leave the random start on wide tables (the loss is a mean over
  features), so Adam takes its place, as in the GroupFS paper.
- Laplacian score, MCFS (skfeature-chappers): on its default graph, 5 neighbours by cosine.

Each of these three is followed by ours (groupfs.baselines) with the same settings: the same graph,
and for DUFS the same kernel, batches of the same size and the same number of steps. "times" is how
many times faster ours was in this run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.cluster import FeatureAgglomeration, KMeans
from threadpoolctl import threadpool_limits

# groupfs and benchmarks are imported where they are used: the environment of the peers has neither.

PROJECT = Path(__file__).resolve().parents[1]
#: torch is pinned here too: any other version would be another, much larger download
REQUIREMENTS = ("torch==2.13.0", "featselectlib==0.1.0", "skfeature-chappers==1.2.1")
TABLES = "yale,allaml,nmnist38,lung500,heart_disease"
#: a peer that takes longer for one table is given up
LIMIT_SECONDS = 900
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SEEDS = range(10)
#: rows of a step of DUFS at most; smaller tables are taken whole, as ours does by default
DUFS_BATCH = 256
#: options that the worker gets too
SETTINGS = ("threads", "repeats", "dufs_epochs", "dufs_rate")

#: from a table and a budget to the indices of the kept features
Select = Callable[[NDArray, int], NDArray]


def timed(select: Select, X: NDArray, budget: int, repeats: int) -> dict:
    """Time the fastest of a few runs; return seconds and indices of the kept features."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        indices = select(X, budget)
        times.append(time.perf_counter() - began)
    return {"seconds": min(times), "indices": np.sort(indices).tolist()}


def standardized(X: NDArray) -> NDArray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def on_standardized(select: Select) -> Select:
    """Standardise the table for a peer; ours does that itself."""
    return lambda X, budget: select(standardized(X), budget)


# In the environment of the peers: each function imports one and returns a way to call it.


def dufs(options: argparse.Namespace) -> Select:
    # Importing the package would need torchvision, lifelines, h5py and six, which it does not
    # declare and this model does not use; so only the model's own file is loaded.
    package = importlib.util.find_spec("featselectlib").submodule_search_locations[0]
    file = Path(package, "unsupervised_feature_selection", "src", "lscae", "gated_laplacian.py")
    spec = importlib.util.spec_from_file_location("gated_laplacian", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def select(Z: NDArray, budget: int) -> NDArray:
        model = module.GatedLaplacianModel(
            Z.shape[1], seed=0, fac=2, knn=5, num_epochs=options.dufs_epochs, verbose=False
        )
        model.optimizer = torch.optim.Adam(model.parameters(), lr=options.dufs_rate)
        rows = torch.utils.data.TensorDataset(torch.as_tensor(Z, dtype=torch.float32))
        batches = torch.utils.data.DataLoader(
            rows, min(DUFS_BATCH, len(Z)), shuffle=True, drop_last=True
        )
        model.select_features(batches)
        return np.argsort(-model.get_gates("raw"), kind="stable")[:budget]

    return select


def cosine_graph(Z: NDArray):
    from skfeature.utility.construct_W import construct_W

    # a copy, because it scales the rows of the table it is given
    return construct_W(Z.copy(), metric="cosine", neighbor_mode="knn", weight_mode="cosine", k=5)


def laplacian_score(options: argparse.Namespace) -> Select:
    from skfeature.function.similarity_based.lap_score import lap_score

    return lambda Z, budget: lap_score(Z, mode="index", W=cosine_graph(Z))[:budget]


def mcfs(options: argparse.Namespace) -> Select:
    from skfeature.function.sparse_learning_based import MCFS

    return lambda Z, budget: MCFS.mcfs(Z, None, budget, mode="index", W=cosine_graph(Z))[:budget]


PEERS = {"DUFS": dufs, "Laplacian score": laplacian_score, "MCFS": mcfs}


def work(options: argparse.Namespace) -> None:
    """Run one peer on one table, as the worker, and answer in json on the last line."""
    name, task = options.worker
    torch.set_num_threads(options.threads)
    with np.load(task) as content:
        X, budget = content["X"], int(content["budget"])
    select = on_standardized(PEERS[name](options))
    print(json.dumps(timed(select, X, budget, options.repeats)))


# On this side: the environment, the methods that need none, the evaluation.


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def make_environment(folder: Path) -> tuple[Path, str | None]:
    """Make the environment, or reuse it; return its Python and, where that failed, why."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = folder / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if done.exists() and done.read_text() == wanted:
        return python, None
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constrained = ["-c", PROJECT / "constraints.txt", *REQUIREMENTS]
    for command in ([sys.executable, "-m", "venv", folder], [*install, *constrained]):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            return python, f"no environment: {last_line(result.stderr or result.stdout)}"
    done.write_text(wanted)
    return python, None


def versions(python: Path, reason: str | None) -> dict[str, dict[str, str]]:
    here = {name: version(name) for name in ("groupfs", "scikit-learn", "torch", "numpy", "scipy")}
    if reason:
        return {"groupfs": here, "peers": {}}
    command = [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {"groupfs": here, "peers": {each["name"]: each["version"] for each in listed}}


def ask_peer(python: Path, options: argparse.Namespace, name: str, X: NDArray, budget: int) -> dict:
    """Return the seconds and indices that the worker found, or the error."""
    task = python.parents[1] / "task.npz"
    np.savez(task, X=X, budget=budget)
    command = [python, "-P", __file__, "--worker", name, task]
    for option in SETTINGS:
        command += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
    threads = dict.fromkeys(THREAD_VARIABLES, str(options.threads))
    limits = {"env": {**os.environ, **threads}, "timeout": LIMIT_SECONDS}
    try:
        result = subprocess.run(command, capture_output=True, text=True, **limits)
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {LIMIT_SECONDS} s"}
    if result.returncode:
        return {"error": last_line(result.stderr)}
    answer = json.loads(last_line(result.stdout))
    if len(set(answer["indices"])) != budget:
        return {"error": f"gave {len(set(answer['indices']))} features instead of {budget}"}
    return answer


def our_dufs(options: argparse.Namespace) -> Select:
    from groupfs.baselines import DUFS

    def select(X: NDArray, budget: int) -> NDArray:
        batch = min(DUFS_BATCH, len(X))
        # the peer drops the last, smaller batch of an epoch; ours fills it up
        n_steps = options.dufs_epochs * (len(X) // batch)
        selector = DUFS(
            budget,
            kernel="median",
            n_neighbors=4,  # the peer counts the sample itself
            learning_rate=options.dufs_rate,
            batch_size=batch,
            max_epochs=max(1, round(n_steps / -(-len(X) // batch))),
            device="cpu",
            random_state=0,
        )
        return selector.fit(X).get_support(indices=True)

    return select


def our_laplacian_score(options: argparse.Namespace) -> Select:
    from groupfs.baselines import LaplacianScore

    def select(X: NDArray, budget: int) -> NDArray:
        selector = LaplacianScore(budget, graph="cosine", n_neighbors=5, device="cpu")
        return selector.fit(X).get_support(indices=True)

    return select


def our_mcfs(options: argparse.Namespace) -> Select:
    from groupfs.baselines import MCFS

    def select(X: NDArray, budget: int) -> NDArray:
        selector = MCFS(budget, graph="cosine", n_neighbors=5, device="cpu")
        return selector.fit(X).get_support(indices=True)

    return select


OURS = {"DUFS": our_dufs, "Laplacian score": our_laplacian_score, "MCFS": our_mcfs}


def agglomeration(n_clusters: int) -> Select:
    """Take members of each cluster of features in turn, nearest to the cluster's mean first."""

    def select(Z: NDArray, budget: int) -> NDArray:
        labels = FeatureAgglomeration(n_clusters).fit(Z).labels_
        clusters = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        turns = []
        for place, members in enumerate(sorted(clusters, key=len, reverse=True)):
            center = Z[:, members].mean(axis=1, keepdims=True)
            nearest = members[np.argsort(((Z[:, members] - center) ** 2).sum(axis=0))]
            turns += [(turn, place, feature) for turn, feature in enumerate(nearest)]
        return np.array([feature for _, _, feature in sorted(turns)[:budget]])

    return select


def accuracy(Z: NDArray, y: NDArray) -> dict[str, float]:
    from groupfs.metrics import clustering_accuracy

    n_classes = len(np.unique(y))
    models = [KMeans(n_classes, n_init=1, random_state=seed) for seed in SEEDS]
    scores = [clustering_accuracy(y, model.fit_predict(Z)) for model in models]
    return {"accuracy": float(np.mean(scores)), "accuracy_std": float(np.std(scores))}


def print_row(table: str, method: str, n_features: int, entry: dict) -> None:
    if "error" in entry:
        print(f"{table:>14}  {method:<21} {n_features:>8} {'n/a':>9}  {entry['error'][:100]}")
        return
    seconds = f"{entry['seconds']:.4f}" if "seconds" in entry else "-"
    percent = f"{100 * entry['accuracy']:.1f} +- {100 * entry['accuracy_std']:.1f}"
    times = f"{entry['times']:.1f}" if "times" in entry else ""
    line = f"{table:>14}  {method:<21} {n_features:>8} {seconds:>9}  {percent:>13} {times:>6}"
    print(line.rstrip(), flush=True)


def compare(table: str, python: Path, reason: str | None, options: argparse.Namespace) -> dict:
    """Run all methods on one table; print each row as soon as it is known."""
    from benchmarks.tables import load
    from groupfs import GroupFS

    X, y = load(table)
    Z = standardized(X)
    everything = accuracy(Z, y)
    print_row(table, "all features", Z.shape[1], everything)
    methods: dict[str, dict] = {}

    def add(method: str, entry: dict) -> None:
        if "error" not in entry:
            entry |= accuracy(Z[:, entry["indices"]], y)
        methods[method] = entry
        print_row(table, method, budget, entry)

    selector = GroupFS(device="cpu", random_state=0)
    ours = timed(lambda X, _: selector.fit(X).get_support(indices=True), X, 0, options.repeats)
    budget, n_groups = len(ours["indices"]), selector.n_groups_
    add("GroupFS", ours)
    clusters = on_standardized(agglomeration(n_groups))
    add("FeatureAgglomeration", timed(clusters, X, budget, options.repeats))
    for name in PEERS:
        theirs = {"error": reason} if reason else ask_peer(python, options, name, X, budget)
        add(name, theirs)
        ours = timed(OURS[name](options), X, budget, options.repeats)
        if "seconds" in theirs:
            ours["times"] = theirs["seconds"] / ours["seconds"]
        add(f"{name}, ours", ours)
    sizes = {"samples": len(Z), "features": Z.shape[1], "groups": n_groups, "budget": budget}
    return {**sizes, "all_features": everything, "methods": methods}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5, help="fits, of which the fastest counts")
    parser.add_argument("--dufs-epochs", type=int, default=200)
    parser.add_argument("--dufs-rate", type=float, default=0.01, help="learning rate of Adam")
    parser.add_argument("--out", type=Path, default=Path("out", "peers.json"))
    parser.add_argument("--keep-env", type=Path, metavar="DIR", help="environment to make or reuse")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    torch.set_num_threads(options.threads)
    settings = {option: getattr(options, option) for option in SETTINGS}
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(options.threads):
        python, reason = make_environment((options.keep_env or Path(folder, "env")).resolve())
        report = {"settings": settings, "versions": versions(python, reason), "tables": {}}
        print(", ".join(f"{option} {value}" for option, value in settings.items()))
        header = f"{'table':>14}  {'method':<21} {'features':>8} {'seconds':>9}  {'accuracy %':>13}"
        print(f"{header} {'times':>6}", flush=True)
        for table in options.tables.split(","):
            report["tables"][table] = compare(table, python, reason, options)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
