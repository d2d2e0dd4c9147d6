"""Selections to choose from in the second scenario: unions of groups of the models of a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groupfs import GroupFSPath
from groupfs.models.all_groups import OPEN
from groupfs.selection.describe import Trained, centrality
from groupfs.selection.keep import merge_twins, rank_groups
from groupfs.training.problem import Problem, as_groups

IntArray = NDArray[np.int64]


class KeptPath(GroupFSPath):
    """A path that keeps all its models, not only the one it chooses."""

    def _falling_back(self, solve: Callable[[torch.device], Any], device: torch.device) -> Any:
        found = super()._falling_back(solve, device)
        self.problem_, self.trained_ = found[:2]
        return found


def along_path(path: KeptPath, budgets: Sequence[int], most: int) -> list[dict[str, Any]]:
    """Distinct candidates with at most ``max(budgets)`` features, at most ``most`` of them.

    First what the chosen model selects at the budgets, then the unions of its groups in rank order,
    then those of the open groups of every model, ranked by excess, largest gain first.
    """
    limit = max(budgets)
    found: dict[tuple[int, ...], str] = {}
    for budget in budgets:
        path.n_features_to_select = budget
        path._select()
        found.setdefault(_name(path.get_support(indices=True)), f"budget {budget}")
    for text, selected in nested_unions(path.groups_, path.centrality_, limit):
        found.setdefault(tuple(selected), f"chosen model, {text}")
    for text, selected in _unions_of_models(path, limit):
        if len(found) >= most:
            break
        found.setdefault(tuple(selected), text)
    kept = list(found.items())[:most]
    return [{"choice": text, "selected": list(selected)} for selected, text in kept]


def nested_unions(
    groups: list[IntArray], centrality: NDArray[np.float64], limit: int
) -> Iterator[tuple[str, list[int]]]:
    """The first group, the first two, and so on; the last union is filled up to the limit.

    The group that does not fit gives its most central features, as it does to a budget.
    """
    taken: IntArray = np.array([], dtype=np.int64)
    for place, group in enumerate(groups, 1):
        if len(taken) + len(group) > limit:
            central = group[np.argsort(-centrality[group], kind="stable")]
            taken = np.concatenate([taken, central])[:limit]
            yield f"filled up to {limit}", sorted(taken.tolist())
            return
        taken = np.concatenate([taken, group])
        yield f"{place} group{'s' if place > 1 else ''}", sorted(taken.tolist())


def _unions_of_models(path: KeptPath, limit: int) -> Iterator[tuple[str, list[int]]]:
    problem, trained = path.problem_, path.trained_
    columns = problem.table.columns
    by_gain = np.argsort(-trained.gain, axis=None, kind="stable")
    models = [np.unravel_index(place, trained.gain.shape) for place in by_gain]
    groups = [_open_groups(problem, trained, int(s), int(p)) for s, p in models]
    excess = _scores(problem, [group for found, _, _ in groups for group in found])
    for (s, p), (found, gates, labels) in zip(models, groups, strict=True):
        if not found:
            continue
        order = rank_groups(np.array([excess[group.tobytes()] for group in found]), gates)
        central = np.zeros(path.n_features_in_)
        central[columns] = centrality(problem.table.rows, labels, problem.n_groups)
        ranked = [columns[found[j]] for j in order]
        sparsity = path.path_.sparsities[p]
        for text, selected in nested_unions(ranked, central, limit):
            yield f"sparsity {sparsity:.2f}, model {s + 1}, {text}", selected


def _open_groups(
    problem: Problem, trained: Trained, seed: int, weight: int
) -> tuple[list[IntArray], NDArray[np.float64], IntArray]:
    """Groups with open gates, their gates, and the group of every feature."""
    logits = merge_twins(trained.logits[seed, weight].astype(np.float64), problem.table.twins)
    labels = logits.argmax(1)
    gates = trained.gates[seed, weight]
    groups = as_groups(labels, problem.n_groups)
    kept = [j for j, group in enumerate(groups) if len(group) and gates[j] > OPEN]
    return [groups[j] for j in kept], gates[kept], labels


def _scores(problem: Problem, groups: list[IntArray]) -> dict[bytes, float]:
    """Excess of every distinct group; models along a path share most of theirs."""
    distinct = {group.tobytes(): group for group in groups}
    excess = problem.score(list(distinct.values())).excess
    return dict(zip(distinct, excess.tolist(), strict=True))


def _name(selected: IntArray) -> tuple[int, ...]:
    return tuple(selected.tolist())
