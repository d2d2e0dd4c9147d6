"""What many features cost: time and peak memory of every stage, on planted graphs of features.

``python -m benchmarks.many_features`` goes up to a million features. The graph is made directly, so
no table is needed; times are those of the processor, one thread. ``--compare`` sets the two ways to
eigenvectors against each other, and ``--kept`` the models that keep a few memberships of each
feature against those that keep all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.graphs import eigenvectors
from groupfs.graphs.feature_clusters import (
    cluster_features,
    nearest_clusters,
    representative_rows,
)
from groupfs.graphs.feature_graph import symmetric_walk, walk_tensor
from groupfs.graphs.number_of_groups import (
    MOST_GROUPS,
    choose_n_groups,
    clusters_by_number,
    distortion_curve,
    lone_features,
)
from groupfs.models.candidate_memberships import CandidateMemberships
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import OPEN, Objective
from groupfs.selection.describe import memberships_of
from groupfs.training.problem import prepare
from groupfs.training.run import train_models
from groupfs.utils.device import DTYPE
from groupfs.utils.seeds import derive_seeds

CPU = torch.device("cpu")
N_BLOCKS, N_NEIGHBORS, BATCH = 30, 50, 64


def planted_walk(
    d: int, inside: float, seed: int = 0, n_blocks: int = N_BLOCKS
) -> tuple[sp.csr_array, np.ndarray]:
    """Make a walk on features with a share of their 50 neighbours in their own block, and blocks.

    Blocks differ in size by a factor of four at most; ``inside=0`` is a graph without structure.
    """
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.5, 2.0, n_blocks)
    ends = np.round(np.cumsum(share) / share.sum() * d).astype(np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    labels = np.repeat(np.arange(n_blocks), ends - starts)
    position = rng.random((d, N_NEIGHBORS), dtype=np.float32)
    own = rng.random((d, N_NEIGHBORS), dtype=np.float32) < inside
    low = np.where(own, starts[labels, None], 0)
    high = np.where(own, ends[labels, None], d)
    target = np.minimum(low + position * (high - low), high - 1).astype(np.int32)
    affinity = rng.uniform(0.2, 1.0, target.size).astype(np.float32)
    pointers = np.arange(0, target.size + 1, N_NEIGHBORS)
    kept = sp.csr_array((affinity, target.ravel(), pointers), shape=(d, d))
    kept.sum_duplicates()
    affinity = sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d, dtype=np.float32))
    return symmetric_walk(affinity.astype(np.float64)), labels


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result, processor seconds, and by how many MB memory rose (Linux)."""
    held = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    began = time.process_time()
    result = work()
    seconds = time.process_time() - began
    return result, seconds, _resident("VmHWM") - held


def stages(d: int, inside: float, n_groups: int | None, kept: int) -> None:
    """Print a line for each stage from the graph to a step of training."""

    def stage(name: str, work: Callable[[], Any]) -> Any:
        result, seconds, memory = measured(work)
        print(f"{d:9,d}  {name:34s} {seconds:8.1f} s {memory:8.0f} MB", flush=True)
        return result

    n_blocks = n_groups or N_BLOCKS
    walk, blocks = stage("graph (made)", lambda: planted_walk(d, inside, n_blocks=n_blocks))
    print(f"{d:9,d}  entries of the graph: {walk.nnz:,d}, held {_resident('VmRSS'):.0f} MB")
    most = n_groups or MOST_GROUPS + 1
    vectors = stage(f"{most} eigenvectors", lambda: eigenvectors.leading_eigenvectors(walk, most))
    if n_groups is None:
        n_groups = stage("number of groups", lambda: _chosen(vectors))
    C = n_groups
    labels = stage(
        f"clusters, C = {C}",
        lambda: cluster_features(vectors, C, np.random.default_rng(0)),
    )
    candidates = stage(
        f"nearest {kept} clusters", lambda: nearest_clusters(vectors, labels, C, kept)
    )
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((BATCH, d), dtype=np.float32))
    objective = Objective(7, 2, 0.5, True, walk_tensor(walk, CPU, DTYPE), smoothness_weight=10.0)

    def steps(memberships: DenseMemberships) -> float:
        model = GatedModel.start(memberships, np.full((1, C), 0.5), np.ones(1), CPU, DTYPE)
        noise = NoiseSource([0], 0.5, CPU)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02, fused=True)
        seconds = []
        for _ in range(3):
            began = time.process_time()
            model.loss_and_gradient(objective, X, model.draw(noise), torch.tensor(1.0))
            optimizer.step()
            seconds.append(time.process_time() - began)
        return min(seconds)

    with torch.no_grad():
        best = stage(
            f"3 steps, {kept} memberships kept",
            lambda: steps(CandidateMemberships.from_candidates(candidates[None], C, [0])),
        )
        print(f"{d:9,d}    the fastest of them {best:.2f} s")
        if 64 * d * C <= 2**32:
            best = stage(
                "3 steps, all memberships",
                lambda: steps(DenseMemberships.from_clusters([labels], C, [0])),
            )
            print(f"{d:9,d}    the fastest of them {best:.2f} s")
    if inside:
        print(
            f"{d:9,d}  agreement with what was planted: {adjusted_rand_score(blocks, labels):.3f}"
        )


def _chosen(vectors: np.ndarray) -> int:
    seen = representative_rows(vectors)
    clusters = clusters_by_number(seen)
    return choose_n_groups(distortion_curve(seen, clusters), len(seen), lone_features(clusters))


def compare_eigenvectors(d: int) -> None:
    """Print what eigsh and lobpcg take on three graphs, and the clusters both find."""
    for name, inside, n_blocks in (
        ("clear blocks", 0.9, N_BLOCKS),
        ("faint blocks", 0.4, N_BLOCKS),
        ("100 blocks", 0.9, 100),
        ("no blocks", 0.0, N_BLOCKS),
    ):
        walk, blocks = planted_walk(d, inside, n_blocks=n_blocks)
        ways = {"eigsh": eigenvectors._one_by_one, "lobpcg": eigenvectors._by_blocks}
        for way, solve in ways.items():
            found, seconds, memory = measured(lambda: solve(walk, MOST_GROUPS + 1))  # noqa: B023
            if found is None:
                print(f"{d:9,d}  {name:14s} {way:8s} {seconds:7.1f} s  gave up", flush=True)
                continue
            order = np.argsort(-found[0])
            values, vectors = found[0][order], found[1][:, order]
            residual = np.linalg.norm(walk @ vectors - vectors * values, axis=0).max()
            agreement = adjusted_rand_score(blocks, cluster_features(vectors, N_BLOCKS))
            print(
                f"{d:9,d}  {name:14s} {way:8s} {seconds:7.1f} s {memory:7.0f} MB"
                f"  residual {residual:.1e}  sum of eigenvalues {values.sum():.4f}"
                f"  agreement with blocks {agreement:.3f}",
                flush=True,
            )


def compare_kept(d: int, n_groups: int, kept: list[int]) -> None:
    """Print how far groups and gates depend on how many memberships are kept."""
    rng = np.random.default_rng(0)
    n_planted = n_groups - 4  # the other groups are left to the noise features
    factors = rng.standard_normal((500, n_planted))
    of_group = rng.integers(n_planted, size=int(0.8 * d))
    signal = factors[:, of_group] + 0.8 * rng.standard_normal((500, len(of_group)))
    X = np.hstack([signal, rng.standard_normal((500, d - len(of_group)))])
    planted = np.concatenate([of_group, np.full(d - len(of_group), -1)])
    estimator = GroupFS(n_groups, n_init=1, random_state=0)
    table = open_table(estimator, X, True)
    planted = planted[table.columns]
    settings = estimator._settings(table)
    everything = None
    for k, seed in [(None, 0), (None, 1), *((k, 0) for k in kept)]:
        seeds = derive_seeds(np.random.RandomState(seed), 1)
        problem = prepare(table, settings, seeds, CPU, n_candidates=k)
        trained = train_models(problem, np.array([0.7 * problem.critical_sparsity_weight]))
        labels = memberships_of(problem, trained, 0, 0).labels()
        is_open = trained.gates[0, 0] > OPEN
        if everything is None:
            everything = labels, is_open
        signal, noise = planted >= 0, planted < 0
        print(
            f"kept {k or 'all':>3}, seed {seed}: agreement with all kept "
            f"{adjusted_rand_score(everything[0], labels):.3f} (noise features "
            f"{adjusted_rand_score(everything[0][noise], labels[noise]):.3f}), with what was "
            f"planted {adjusted_rand_score(planted[signal], labels[signal]):.3f}; "
            f"gates that differ {int((everything[1] != is_open).sum())} of {n_groups}; "
            f"loss {trained.loss[0, 0]:.5f}, gain {trained.gain[0, 0]:.5f}",
            flush=True,
        )


def _resident(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--groups", type=int, default=None)
    parser.add_argument("--inside", type=float, default=0.9)
    parser.add_argument("--memberships", type=int, nargs="+", default=[5])
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--kept", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for d in arguments.features:
            if arguments.compare:
                compare_eigenvectors(d)
            elif arguments.kept:
                compare_kept(d, arguments.groups or 40, arguments.memberships)
            else:
                stages(d, arguments.inside, arguments.groups, arguments.memberships[0])


if __name__ == "__main__":
    main()
