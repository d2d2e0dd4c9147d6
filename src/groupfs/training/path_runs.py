"""Train many sparsity weights in parts: in this process, on several devices, or over joblib."""

import math
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from groupfs.data.memory_plan import memory_of_models
from groupfs.data.table import Table
from groupfs.training.checkpoints import Checkpoint, pack_trained, unpack_trained
from groupfs.training.problem import Problem, model_memory
from groupfs.training.run import Trained, train_models
from groupfs.utils.threads import threads_for
from groupfs.utils.types import FloatArray

#: Sparsity weights of a part that is trained side by side on the CPU, as many for one seed as for
#: two: parts are what processes share.
WEIGHTS_OF_A_PART = 4
#: Bytes above which something is sent to a cluster's workers once, and not with every task. Below,
#: it costs nothing to have the scheduler keep it, which survives the loss of any worker.
SENT_ONCE = 2**20


def train_path(
    problem: Problem,
    weights: FloatArray,
    n_jobs: int | None,
    devices: list[torch.device],
    checkpoint: Checkpoint | None,
    name: str,
) -> Trained:
    """Train all weights, part after part or side by side."""
    problem = problem.for_training()
    parts = np.array_split(weights, _number_of_parts(problem, len(weights), len(devices)))
    ends = np.cumsum([len(part) for part in parts])
    # in tuples, as dask would have lone arrays kept by one worker only
    tasks = [
        ((part,), checkpoint, f"{name}-{end - len(part)}-{end}")
        for part, end in zip(parts, ends, strict=True)
    ]
    runs: list[Trained] = []
    if len(tasks) > 1 and not runs_here(n_jobs):
        n_bytes = table_bytes(problem.table) + (problem.pool.n_bytes if problem.pool else 0)
        on_workers = shared_with_workers(problem, n_bytes)
        runs = Parallel(n_jobs=n_jobs)(delayed(_train_part)(on_workers, *task) for task in tasks)
    elif len(devices) > 1:
        there = [problem.on(device) for device in devices]
        runs = Parallel(n_jobs=len(devices), backend="threading")(
            delayed(_train_part)(there[i % len(there)], *task) for i, task in enumerate(tasks)
        )
    else:
        for task in tasks:
            runs.append(_train_part(problem, *task))
            if runs[-1].interrupted:
                break
    return Trained.joined(runs)


def runs_here(n_jobs: int | None) -> bool:
    """Tell whether joblib would run tasks one after the other in this process."""
    backend, _ = get_active_backend()
    on_this_machine = type(backend).__module__ == "joblib._parallel_backends"
    return bool(on_this_machine and effective_n_jobs(n_jobs) == 1)


def shared_with_workers(thing: Any, n_bytes: int) -> Any:
    """Prepare an argument of many tasks: with dask, if it is large, every worker gets a copy.

    joblib would send it with every task or, if it looked large to dask, to one worker alone, and
    with that worker it would be lost.
    """
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    if client is None or n_bytes < SENT_ONCE:
        return thing
    return client.scatter(thing, broadcast=True, hash=False)


def at_hand(thing: Any) -> Any:
    """Fetch what was given to the workers where a task runs in this process after all.

    With one worker, or when all others are lost, joblib does not send tasks to dask.
    """
    return thing.result() if hasattr(thing, "result") and hasattr(thing, "key") else thing


def table_bytes(table: Table) -> int:
    """Estimate the size of a table that is sent to workers."""
    return 8 * math.prod(table.rows.shape)


def _number_of_parts(problem: Problem, n_weights: int, n_devices: int) -> int:
    """Count the runs that share the weights.

    How the sums of a model round depends on the models beside it. So on the CPU, where more than a
    few side by side gain nothing, the parts are the same whoever trains them; on other devices
    there are as few as devices and memory allow.
    """
    d, S = problem.table.rows.shape[1], len(problem.seeds)
    each = memory_of_models(d, problem.n_groups, S, problem.n_candidates)
    at_once = max(1, model_memory(problem.table.rows, problem.device) // each)
    if problem.device.type == "cpu":
        at_once = min(at_once, max(1, 2 * WEIGHTS_OF_A_PART // max(S, 2)))
        n_devices = 1
    return min(max(n_devices, -(-n_weights // at_once)), n_weights)


def _train_part(
    problem: Problem, part: tuple[FloatArray], checkpoint: Checkpoint | None, name: str
) -> Trained:
    """Train some of the weights, unless that was done before."""
    problem = at_hand(problem)
    stored = None if checkpoint is None else checkpoint.load(name)
    if stored is not None:
        return unpack_trained(stored)
    with threads_for(problem.table.rows.shape):
        trained = train_models(problem, *part)
    if checkpoint is not None and not trained.interrupted:
        checkpoint.save(name, pack_trained(trained))
    return trained
