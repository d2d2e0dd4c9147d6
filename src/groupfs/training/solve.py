"""Solve a fit: prepare the problem and train its models, for one number of groups or several."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from groupfs.data.table import Table
from groupfs.graphs.relatedness import Relatedness
from groupfs.training.checkpoints import Checkpoint
from groupfs.training.path_runs import train_path
from groupfs.training.problem import Problem, prepare
from groupfs.training.run import Trained
from groupfs.training.settings import Settings
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import warn


@dataclass(frozen=True)
class Task:
    """What is to be trained: every seed, sparsity weight and number of groups."""

    table: Table
    settings: Settings
    seeds: list[int]
    devices: list[torch.device]
    sparsity_weights: Callable[[float], FloatArray]  #: from the critical weight of the table
    numbers_of_groups: list[int | str] | None = None  #: None: that of the settings
    known_labels: IntArray | None = None
    relatedness: Relatedness | None = None  #: None where all features take part
    n_jobs: int | None = None
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class Solution:
    """The trained models of the number of groups with the largest gain."""

    problem: Problem
    trained: Trained
    gains: dict[int, float]  #: largest gain by number of groups
    interrupted: bool  #: whether Ctrl-C cut the training short


def solve(task: Task) -> Solution:
    """Train everything that is asked for; on the CPU if a Mac's GPU lacks an operation."""
    try:
        return _solve(task)
    except NotImplementedError as error:
        if task.devices[0].type != "mps":
            raise
        warn(f'device="mps" lacks an operation ({error}); the CPU was used instead.')
        return _solve(replace(task, devices=[torch.device("cpu")], checkpoint=None))


def _solve(task: Task) -> Solution:
    found: list[tuple[Problem, Trained]] = []
    for i, n_groups in enumerate(task.numbers_of_groups or [task.settings.n_groups]):
        settings = replace(task.settings, n_groups=n_groups)
        problem = prepare(
            task.table,
            settings,
            task.seeds,
            task.devices[0],
            known_labels=task.known_labels,
            relatedness=task.relatedness,
        )
        weights = task.sparsity_weights(problem.critical_sparsity_weight)
        trained = train_path(
            problem, weights, task.n_jobs, task.devices, task.checkpoint, f"path-{i}"
        )
        found.append((problem, trained))
        if trained.interrupted:
            break
    gains = {problem.n_groups: float(trained.gain.max()) for problem, trained in found}
    problem, trained = max(found, key=lambda each: each[1].gain.max())
    return Solution(problem, trained, gains, found[-1][1].interrupted)
