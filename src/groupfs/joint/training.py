"""Train the models of a problem, judge what came out, and describe the groups of one model.

Axes: S seeds, P sparsity weights, d features, C groups.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import torch
from numpy.typing import NDArray

from groupfs.discovery.clusters import as_groups
from groupfs.discovery.describe_groups import N_SHUFFLES, place_groups
from groupfs.discovery.smoothness import SCORED_ROWS
from groupfs.groups import Groups
from groupfs.joint.loop import History, train
from groupfs.joint.problem import Problem, group_smoothness
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import FloatArray, IntArray

#: Models that are trained side by side on the CPU, where more gain nothing. How sums round depends
#: on the models beside, so the number is the same whatever the machine.
MODELS_OF_A_RUN = 8
#: Memberships of all models of a run on other devices, at most (1 GB).
RUN_ENTRIES = 2**28


@dataclass
class Trained:
    """Models of every seed at every weight, as they are after training."""

    sparsity_weights: FloatArray  #: (P,)
    logits: NDArray[np.float32]  #: of the memberships, (S, P, d, C)
    gates: FloatArray  #: (S, P, C)
    loss: FloatArray  #: without noise, (S, P)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    histories: list[History]  #: of all seeds, one per weight


def train_models(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, as many side by side as pay."""
    S, d = len(problem.seeds), problem.table.rows.shape[1]
    at_once = max(1, MODELS_OF_A_RUN // max(S, 2))
    if problem.device.type != "cpu":
        at_once = max(1, RUN_ENTRIES // (S * d * problem.n_groups))
    runs: list[Trained] = []
    for weights in np.array_split(sparsity_weights, -(-len(sparsity_weights) // at_once)):
        runs.append(_train_run(problem, weights))
        if runs[-1].histories[0].interrupted:
            break
    over_weights = ("logits", "gates", "loss", "gain")
    return Trained(
        sparsity_weights=np.concatenate([run.sparsity_weights for run in runs]),
        histories=[history for run in runs for history in run.histories],
        **{name: np.hstack([getattr(run, name) for run in runs]) for name in over_weights},
    )


@torch.no_grad()
def _train_run(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, S, P = problem.settings, len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    history = train(
        models,
        problem.objective,
        problem.table.rows,
        settings,
        CounterNoise(problem.seeds, problem.device),
        batch_seed=problem.seeds[0],
        verbose=settings.verbose,
    )
    rng = np.random.default_rng(problem.seeds[0])
    judged = problem.table.rows.random_rows(SCORED_ROWS, rng)
    gain, loss = models.gain_and_loss(problem.objective, judged)
    logits = models.logits.cpu().numpy()
    return Trained(
        sparsity_weights=sparsity_weights,
        logits=logits.reshape(S, P, *logits.shape[1:]),
        gates=models.mu.double().cpu().numpy().reshape(S, P, -1),
        loss=loss.double().cpu().numpy().reshape(S, P),
        gain=gain.double().cpu().numpy().reshape(S, P),
        histories=[history.every(weight, P) for weight in range(P)],
    )


@dataclass(frozen=True)
class LearnedGroups:
    """The groups of one trained model, best first."""

    groups: Groups
    order: IntArray  #: number of each group in the model, (C,)
    membership: FloatArray  #: probabilities, 0 for constant columns, (n_features, C)
    gates: FloatArray  #: gate means, (C,)
    history: list[dict[str, Any]]


def learned_groups(problem: Problem, trained: Trained, seed: int, weight: int) -> LearnedGroups:
    """Describe the groups of one of the trained models, ranked as its settings ask for."""
    table, settings = problem.table, problem.settings
    logits = merge_duplicates(trained.logits[seed, weight].astype(np.float64), table.twins)
    labels: IntArray = logits.argmax(1)
    groups = as_groups(labels, problem.n_groups)
    gates = trained.gates[seed, weight]
    central, _ = table.similarity.with_sums(labels, problem.n_groups)
    smoothness = group_smoothness(table, groups, settings, problem.seeds[0], N_SHUFFLES)
    ranked = np.lexsort((-gates, -(gates if settings.ranks_by_gates else smoothness)))
    order = np.array([j for j in ranked if len(groups[j])], dtype=np.int64)
    share = scipy.special.softmax(logits, axis=1)[:, order]
    membership = np.zeros((len(table.names), len(order)))
    membership[table.columns] = share / share.sum(1, keepdims=True)
    loss_weights = (1.0, problem.objective.smoothness_weight, trained.sparsity_weights[weight])
    records = trained.histories[weight].records(seed, loss_weights)
    signs = np.where(central < 0, -1, 1)
    return LearnedGroups(
        groups=place_groups(table, [groups[j] for j in order], central, signs, smoothness[order]),
        order=order,
        membership=membership,
        gates=gates[order],
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def merge_duplicates(logits: FloatArray, duplicates: IntArray) -> FloatArray:
    """Give equal columns the mean of their logits, so that they share a group, (d, C).

    ``duplicates`` (d,) has one number for equal columns.
    """
    counts = np.bincount(duplicates)
    sums = np.zeros((len(counts), logits.shape[1]))
    np.add.at(sums, duplicates, logits)
    return (sums / counts[:, None])[duplicates]
