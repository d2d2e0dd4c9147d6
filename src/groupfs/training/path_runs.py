"""The parts of a path: who trains them, and what of them is kept in a checkpoint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

from groupfs.data.table import Table
from groupfs.estimators.stability import Refit, refit, resample_rows
from groupfs.models.candidate_groups import memory_of_models
from groupfs.selection.describe import Trained, train_models
from groupfs.training.checkpoint_content import (
    pack_problem,
    pack_refit,
    pack_trained,
    unpack_problem,
    unpack_refit,
    unpack_trained,
)
from groupfs.training.checkpoints import Checkpoint, Keeper
from groupfs.training.parallel import runs_here, shared
from groupfs.training.problem import Problem, models_budget, prepare
from groupfs.utils.types import FloatArray

#: Models that are trained side by side on the CPU.
MODELS_OF_A_PART = 8


def prepared(
    task: tuple[Table, dict[str, Any], list[int], torch.device],
    checkpoint: Checkpoint | None,
    name: str,
) -> Problem:
    """The problem of a table, its settings, seeds and device, unless it was prepared before."""
    if checkpoint is None:
        return prepare(*task)
    return checkpoint.recall(
        name, lambda: prepare(*task), pack_problem, lambda state: unpack_problem(state, *task)
    )


def train_path(
    problem: Problem,
    weights: FloatArray,
    n_jobs: int | None,
    devices: list[torch.device],
    checkpoint: Checkpoint | None,
    name: str,
) -> Trained:
    """Train all weights, part after part or side by side."""
    parts = np.array_split(weights, _number_of_parts(problem, len(weights), len(devices)))
    ends = np.cumsum([len(part) for part in parts])
    # in tuples, as dask would have lone arrays kept by one worker only
    tasks = [
        ((part,), checkpoint, f"{name}-{end - len(part)}-{end}")
        for part, end in zip(parts, ends, strict=True)
    ]
    runs: list[Trained] = []
    if not runs_here(n_jobs):
        everyone = shared(problem, _bytes(problem.table))
        runs = Parallel(n_jobs=n_jobs)(delayed(_train_part)(everyone, *task) for task in tasks)
    elif len(devices) > 1:
        there = [problem.on(device) for device in devices]
        runs = Parallel(n_jobs=len(devices), backend="threading")(
            delayed(_train_part)(there[place % len(there)], *task)
            for place, task in enumerate(tasks)
        )
    else:
        for task in tasks:
            runs.append(_train_part(problem, *task))
            if runs[-1].interrupted:
                break
    return Trained(
        sparsity_weights=np.concatenate([run.sparsity_weights for run in runs]),
        logits=np.concatenate([run.logits for run in runs], axis=1),
        gates=np.concatenate([run.gates for run in runs], axis=1),
        loss=np.concatenate([run.loss for run in runs], axis=1),
        gain=np.concatenate([run.gain for run in runs], axis=1),
        terms=np.concatenate([run.terms for run in runs], axis=1),
        histories=[run.histories[0] for run in runs],
        smoothness_weight=runs[0].smoothness_weight,
        candidates=problem.candidates,
    )


def refit_all(
    selector: Any, problem: Problem, seed: int, checkpoint: Checkpoint | None
) -> list[Refit]:
    """Refits of a selector's chosen number of groups and sparsity on resampled rows."""
    table, n_refits = problem.table, selector.n_resamples
    rng = np.random.default_rng(seed)
    seeds = rng.integers(2**31, size=n_refits).tolist()
    rows = [resample_rows(table.rows.shape[0], selector.resample, rng) for _ in range(n_refits)]
    settings = {**problem.settings, "n_groups": problem.n_groups}
    common = settings, selector.sparsity_, problem.device
    everyone = shared(table, _bytes(table))
    found: list[Refit] = Parallel(n_jobs=selector.n_jobs)(
        delayed(_refit)(everyone, (rows[place], seeds[place], *common), checkpoint, place)
        for place in range(n_refits)
    )
    return found


def _number_of_parts(problem: Problem, n_weights: int, n_devices: int) -> int:
    """How many runs share the weights.

    How the sums of a model round depends on the models beside it. So on the CPU, where more than a
    few side by side gain nothing, the parts are the same whoever trains them; on other devices
    there are as few as devices and memory allow.
    """
    d, S = problem.table.rows.shape[1], len(problem.seeds)
    each = memory_of_models(d, problem.n_groups, S, problem.settings["best_memberships"])
    at_once = max(1, models_budget(problem.table.rows, problem.device) // each)
    if problem.device.type == "cpu":
        at_once = min(at_once, max(1, MODELS_OF_A_PART // S))
        n_devices = 1
    return min(max(n_devices, -(-n_weights // at_once)), n_weights)


def _train_part(
    problem: Problem, part: tuple[FloatArray], checkpoint: Checkpoint | None, name: str
) -> Trained:
    """Train some of the weights, unless that was done before."""
    (weights,) = part
    if checkpoint is None:
        return train_models(problem, weights)
    state = checkpoint.load(name)
    if state is not None:
        return unpack_trained(state)
    keeper = Keeper(checkpoint, f"{name}-training")
    trained = train_models(problem, weights, keeper)
    if not trained.interrupted:
        checkpoint.save(name, pack_trained(trained))
        checkpoint.forget(keeper.name)
    return trained


def _refit(table: Table, task: tuple[Any, ...], checkpoint: Checkpoint | None, place: int) -> Refit:
    """One refit, unless that was done before."""
    rows, seed, settings, sparsity, device = task
    if checkpoint is None:
        return refit(table, rows, settings, sparsity, seed, device)
    name = f"resample-{place}"
    state = checkpoint.load(name)
    if state is not None:
        return unpack_refit(state)
    keeper = Keeper(checkpoint, f"{name}-training")
    found = refit(table, rows, settings, sparsity, seed, device, keeper)
    if not found.interrupted:
        checkpoint.save(name, pack_refit(found))
        checkpoint.forget(keeper.name)
    return found


def _bytes(table: Table) -> int:
    return 8 * math.prod(table.rows.shape)
