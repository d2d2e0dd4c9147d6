"""Selections to choose from in the second scenario: unions of groups of the models of a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from groupfs import GroupFSPath
from groupfs.data.open_table import open_table
from groupfs.graphs.feature_clusters import as_groups
from groupfs.models.objective import OPEN
from groupfs.scoring.cohesion import correlations_with_groups
from groupfs.scoring.excess import GroupScores, score_on_rows
from groupfs.selection.describe import FINAL_SHUFFLES, describe, memberships_of
from groupfs.selection.keep import rank_groups
from groupfs.training.problem import Problem
from groupfs.training.run import Trained
from groupfs.training.solve import Task, solve
from groupfs.utils.device import resolve_devices
from groupfs.utils.seeds import derive_seeds
from groupfs.utils.types import IntArray


class KeptPath(GroupFSPath):
    """A path that keeps all its models, not only the one it chooses."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the path, choose a model and describe it; ``y`` is ignored."""
        sparsities = self._checked_sparsities()
        table = open_table(self, X, self.standardize, self.max_memory, self.n_init)
        settings = self._settings(table)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        relatedness = self._relatedness(table, settings, seeds[0])
        task = Task(
            table,
            settings,
            seeds,
            resolve_devices(self.device),
            lambda critical: sparsities * critical,
            self._numbers_of_groups(settings),
            relatedness=relatedness,
            n_jobs=self.n_jobs,
        )
        solution = solve(task)
        self.problem_, self.trained_ = solution.problem, solution.trained
        gain = self.trained_.gain
        seed, weight = map(int, np.unravel_index(int(gain.argmax()), gain.shape))
        self._describe(self.problem_, describe(self.problem_, self.trained_, seed, weight))
        self._order(table, relatedness, seeds[0], settings.metric)
        self._select()
        return self


def along_path(path: KeptPath, budgets: Sequence[int], most: int) -> list[dict[str, Any]]:
    """List at most ``most`` distinct candidates with at most ``max(budgets)`` features.

    First what the chosen model selects at the budgets, then the unions of its groups in rank order,
    then those of the open groups of every model, ranked by excess, largest gain first.
    """
    limit = max(budgets)
    found: dict[tuple[int, ...], str] = {}
    for budget in budgets:
        selected = path.select(n_features_to_select=budget).features
        found.setdefault(tuple(selected.tolist()), f"budget {budget}")
    for text, union in nested_unions(path.groups_, path.centrality_, limit):
        found.setdefault(tuple(union), f"chosen model, {text}")
    for text, union in _unions_of_models(path, limit):
        if len(found) >= most:
            break
        found.setdefault(tuple(union), text)
    kept = list(found.items())[:most]
    return [{"choice": text, "selected": list(features)} for features, text in kept]


def nested_unions(
    groups: list[IntArray], centrality: NDArray[np.float64], limit: int
) -> Iterator[tuple[str, list[int]]]:
    """Unite the first group, the first two, and so on; fill the last union up to the limit.

    The group that does not fit gives its most central features, as it does to a budget.
    """
    taken: IntArray = np.array([], dtype=np.int64)
    for n_groups, group in enumerate(groups, 1):
        if len(taken) + len(group) > limit:
            central = group[np.argsort(-centrality[group], kind="stable")]
            taken = np.concatenate([taken, central])[:limit]
            yield f"filled up to {limit}", sorted(taken.tolist())
            return
        taken = np.concatenate([taken, group])
        yield f"{n_groups} group{'s' if n_groups > 1 else ''}", sorted(taken.tolist())


def _unions_of_models(path: KeptPath, limit: int) -> Iterator[tuple[str, list[int]]]:
    problem, trained = path.problem_, path.trained_
    columns = problem.table.columns
    by_gain = np.argsort(-trained.gain, axis=None, kind="stable")
    models = [np.unravel_index(index, trained.gain.shape) for index in by_gain]
    groups = [_open_groups(problem, trained, int(s), int(p)) for s, p in models]
    excess = _scores(problem, [group for found, _, _ in groups for group in found])
    for (s, p), (found, gates, labels) in zip(models, groups, strict=True):
        if not found:
            continue
        order = rank_groups(np.array([excess[group.tobytes()] for group in found]), gates)
        central = np.zeros(path.n_features_in_)
        central[columns], _ = correlations_with_groups(
            problem.table.rows, labels, problem.n_groups, problem.settings.signed
        )
        ranked = [columns[found[j]] for j in order]
        sparsity = trained.sparsity_weights[p] / problem.critical_sparsity_weight
        for text, selected in nested_unions(ranked, central, limit):
            yield f"sparsity {sparsity:.2f}, model {s + 1}, {text}", selected


def _open_groups(
    problem: Problem, trained: Trained, seed: int, weight: int
) -> tuple[list[IntArray], NDArray[np.float64], IntArray]:
    """Return the groups with open gates, their gates, and the group of every feature."""
    memberships = memberships_of(problem, trained, seed, weight)
    if not problem.start.fixed:
        memberships = memberships.merged(problem.table.twins)
    labels = memberships.labels()
    gates = trained.gates[seed, weight]
    groups = as_groups(labels, problem.n_groups)
    kept = [j for j, group in enumerate(groups) if len(group) and gates[j] > OPEN]
    return [groups[j] for j in kept], gates[kept], labels


def score(problem: Problem, groups: list[IntArray]) -> GroupScores:
    """Score groups as those of a trained model are scored."""
    return score_on_rows(
        problem.table.rows,
        groups,
        n_neighbors=problem.settings.n_neighbors,
        steps=problem.settings.diffusion_steps,
        n_shuffles=FINAL_SHUFFLES,
        seed=problem.seeds[0],
    )


def _scores(problem: Problem, groups: list[IntArray]) -> dict[bytes, float]:
    """Compute the excess of every distinct group; models along a path share most of theirs."""
    distinct = {group.tobytes(): group for group in groups}
    excess = score(problem, list(distinct.values())).excess
    return dict(zip(distinct, excess.tolist(), strict=True))
