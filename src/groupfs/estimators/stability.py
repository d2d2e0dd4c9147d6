"""How far a selection depends on the samples: refits on resampled rows, and what they agree on."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from joblib import Parallel, delayed

from groupfs.data.table import Table
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.metrics import jaccard_stability, kuncheva_stability
from groupfs.models.objective import OPEN
from groupfs.scoring.significance import discoveries
from groupfs.selection.describe import describe
from groupfs.selection.keep import keep_groups
from groupfs.training.checkpoints import Checkpoint
from groupfs.training.path_runs import at_hand, shared_with_workers, table_bytes
from groupfs.training.problem import Problem, prepare
from groupfs.training.run import train_models
from groupfs.training.settings import Settings
from groupfs.utils.threads import threads_for
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Share of the rows in a subsample.
SUBSAMPLE = 0.5
#: Memberships of all features in all refits are kept dense up to this number.
DENSE_ENTRIES = 2**27


@dataclass
class Stability:
    """What n refits found, features in the user's order; constant columns have label -1."""

    __module__ = "groupfs"

    labels: IntArray  #: group of each feature in each refit, (n, d)
    selected: BoolArray  #: features of the groups kept in each refit, (n, d)
    consensus_groups: list[IntArray]  #: groups the refits agree on, most often selected first

    @property
    def selection_frequency(self) -> FloatArray:
        """Share of refits that selected each feature, (d,)."""
        return self.selected.mean(axis=0)

    def cogrouping(self, features: IntArray | None = None) -> FloatArray:
        """Count the share of refits with two features in one group, for some or all, (m, m)."""
        labels = self.labels if features is None else self.labels[:, features]
        together = np.zeros((labels.shape[1], labels.shape[1]))
        for row in labels:
            together += (row[:, None] == row[None, :]) & (row[:, None] >= 0)
        return together / len(labels)

    @property
    def kuncheva(self) -> float:
        """Agreement of the selections beyond chance, 1 at most."""
        return kuncheva_stability(self.selected)

    @property
    def jaccard(self) -> float:
        """Mean overlap of the selections."""
        return jaccard_stability(self.selected)


@dataclass
class Refit:
    """What one refit found, (d,) each, in the table's own order."""

    labels: IntArray
    selected: BoolArray
    interrupted: bool = False


@dataclass(frozen=True)
class Resamples:
    """How many resamples of the rows, of which kind, and who refits them."""

    n_refits: int
    kind: str  #: "subsample" or "bootstrap"
    seed: int
    n_jobs: int | None


def refit_all(
    problem: Problem, sparsity: float, resamples: Resamples, checkpoint: Checkpoint | None
) -> list[Refit]:
    """Refit the chosen number of groups and sparsity on resampled rows."""
    table = problem.table
    rng = np.random.default_rng(resamples.seed)
    seeds = rng.integers(2**31, size=resamples.n_refits).tolist()
    rows = [resample_rows(table.rows.shape[0], resamples.kind, rng) for _ in seeds]
    common = (
        replace(problem.settings, n_groups=problem.n_groups),
        sparsity,
        problem.device,
        problem.n_candidates,
    )
    on_workers = shared_with_workers(table, table_bytes(table))
    found: list[Refit] = Parallel(n_jobs=resamples.n_jobs)(
        delayed(_refit_once)(on_workers, (rows[i], seeds[i], *common), checkpoint, f"resample-{i}")
        for i in range(resamples.n_refits)
    )
    return found


def resample_rows(n_rows: int, kind: str, rng: np.random.Generator) -> IntArray:
    """Draw rows of a bootstrap sample or of a subsample of half of them."""
    if kind == "bootstrap":
        return rng.integers(n_rows, size=n_rows)
    return np.sort(rng.choice(n_rows, max(2, int(SUBSAMPLE * n_rows)), replace=False))


def refit(
    table: Table,
    index: IntArray,
    seed: int,
    settings: Settings,
    sparsity: float,
    device: torch.device,
    n_candidates: int | None = None,
) -> Refit:
    """Find groups and selection on some of the rows, (d,) each, in the table's own order."""
    part = replace(table, rows=table.rows.resampled(index, settings.standardize))
    settings = settings.for_rows(index)
    problem = prepare(part, settings, [seed], device, n_candidates=n_candidates)
    trained = train_models(problem, np.array([sparsity * problem.critical_sparsity_weight]))
    result = describe(problem, trained, 0, 0)
    significant = None
    if result.p_values is not None:
        significant = discoveries(result.p_values, settings.alpha)
    rule = settings.n_groups_to_select
    kept, _ = keep_groups(rule, result.gates > OPEN, significant, result.replicates)
    labels = np.full(table.rows.shape[1], -1)
    selected = np.zeros(len(labels), dtype=bool)
    for rank, group in enumerate(result.groups):
        labels[group] = rank
        selected[group] = kept[rank]
    return Refit(labels, selected, trained.interrupted)


def _refit_once(
    table: Table, task: tuple[Any, ...], checkpoint: Checkpoint | None, name: str
) -> Refit:
    """Refit, unless that was done before."""
    table = at_hand(table)
    stored = None if checkpoint is None else checkpoint.load(name)
    if stored is not None:
        return Refit(stored["labels"], stored["selected"])
    with threads_for(table.rows.shape):
        found = refit(table, *task)
    if checkpoint is not None and not found.interrupted:
        checkpoint.save(name, {"labels": found.labels, "selected": found.selected})
    return found


def summarise(
    found: list[Refit],
    columns: IntArray,
    n_features: int,
    C: int,
    dense_entries: int = DENSE_ENTRIES,
) -> Stability:
    """Put refits together, in the user's order of the columns."""
    labels = np.full((len(found), n_features), -1)
    selected = np.zeros((len(found), n_features), dtype=bool)
    for i, refitted in enumerate(found):
        labels[i, columns] = refitted.labels
        selected[i, columns] = refitted.selected
    agreed = _agreed_groups(labels[:, columns], C, dense_entries)
    consensus = [columns[group] for group in agreed]
    frequency = selected.mean(axis=0)
    consensus.sort(key=lambda group: -frequency[group].mean())
    return Stability(labels, selected, [np.sort(group) for group in consensus])


def _agreed_groups(labels: IntArray, n_groups: int, dense_entries: int) -> list[IntArray]:
    """Cluster the features by their memberships in all refits, (n, d) labels.

    Inner products of memberships count the refits that put two features together, so their leading
    directions stand in for those of the d x d table of co-grouping.
    """
    n, d = labels.shape
    most = labels.max() + 1
    if d * n * most > dense_entries:
        column = (labels + most * np.arange(n)[:, None]).T.ravel()
        indicators = sp.csr_array(
            (np.ones(n * d), column, np.arange(0, n * d + 1, n)), shape=(d, n * most)
        )
        _, directions = np.linalg.eigh((indicators.T @ indicators).toarray())
        embedding = indicators @ directions[:, : -n_groups - 1 : -1]
    else:
        indicators = np.concatenate([np.eye(most)[row] for row in labels], axis=1)
        leading, sizes, _ = np.linalg.svd(indicators, full_matrices=False)
        embedding = leading[:, :n_groups] * sizes[:n_groups]
    found = cluster_features(embedding, n_groups)
    return [group for group in as_groups(found, n_groups) if len(group)]
