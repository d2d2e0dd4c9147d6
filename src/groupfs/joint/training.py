"""Train the models of a problem, choose one of them, and describe its groups.

Axes: S seeds, P sparsity weights, d features, C groups.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.special
import torch
from numpy.typing import NDArray

from groupfs.discovery.describe_groups import FEWEST_ROWS, N_SHUFFLES, SCORED_ENTRIES, place_groups
from groupfs.discovery.items import measure_items
from groupfs.discovery.smoothness import SCORED_ROWS
from groupfs.groups import OPEN, Groups
from groupfs.joint.clusters import as_groups
from groupfs.joint.graph import group_smoothness
from groupfs.joint.loop import History, train
from groupfs.joint.problem import Problem
from groupfs.joint.relaxations import CounterNoise
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Models that are trained side by side on the CPU, where more gain nothing. How sums round depends
#: on the models beside, so the number is the same whatever the machine.
MODELS_OF_A_RUN = 8
#: Memberships of all models of a run on other devices, at most (1 GB).
RUN_ENTRIES = 2**28


@dataclass
class Trained:
    """Models of every seed at every weight, as they are after training."""

    sparsities: FloatArray  #: relative to the critical weight, (P,)
    sparsity_weights: FloatArray  #: lambda2, (P,)
    logits: NDArray[np.float32]  #: log(pi), (S, P, d, C)
    projections: NDArray[np.float32]  #: Q, (S, P, C, C)
    gates: FloatArray  #: gate means mu, (S, P, C)
    loss: FloatArray  #: L without noise, (S, P)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    histories: list[History]  #: of all seeds, one per weight

    @property
    def open_features(self) -> BoolArray:
        """Which features are behind open gates, (S, P, d)."""
        return np.take_along_axis(self.gates > OPEN, self.logits.argmax(-1), axis=-1)


def train_models(
    problem: Problem, sparsities: FloatArray, sparsity_weight: float | None = None
) -> Trained:
    """Train every seed of the problem at every sparsity, as many side by side as pay.

    ``sparsity_weight`` is lambda2 itself, in place of sparsities.
    """
    critical = problem.critical_sparsity_weight
    sparsity_weights = sparsities * critical
    if sparsity_weight is not None:
        sparsity_weights = np.array([float(sparsity_weight)])
        sparsities = sparsity_weights / critical
    S, d = len(problem.seeds), problem.table.rows.shape[1]
    at_once = max(1, MODELS_OF_A_RUN // max(S, 2))
    if problem.device.type != "cpu":
        at_once = max(1, RUN_ENTRIES // (S * d * problem.n_groups))
    runs: list[Trained] = []
    places = np.arange(len(sparsities))
    for part in np.array_split(places, -(-len(places) // at_once)):
        runs.append(_train_run(problem, sparsities[part], sparsity_weights[part]))
        if runs[-1].histories[0].interrupted:
            break
    over_weights = [own.name for own in fields(Trained) if own.name != "histories"]
    joined = {name: np.hstack([getattr(run, name) for run in runs]) for name in over_weights}
    return Trained(**joined, histories=[history for run in runs for history in run.histories])


@torch.no_grad()
def _train_run(problem: Problem, sparsities: FloatArray, sparsity_weights: FloatArray) -> Trained:
    settings, S, P = problem.settings, len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    noise, seed = CounterNoise(problem.seeds, problem.device), problem.seeds[0]
    given = (problem.objective, problem.rows, settings, noise, seed, settings.verbose)
    history = train(models, *given)
    judged = problem.rows.random(SCORED_ROWS, np.random.default_rng(seed))
    gain, loss = models.gain_and_loss(problem.objective, judged)
    learned = {"logits": models.logits, "projections": models.Q, "gates": models.mu.double()}
    learned |= {"loss": loss.double(), "gain": gain.double()}
    return Trained(
        sparsities=sparsities,
        sparsity_weights=sparsity_weights,
        histories=[history.every(weight, P) for weight in range(P)],
        **{name: of.cpu().numpy().reshape(S, P, *of.shape[1:]) for name, of in learned.items()},
    )


def choose_model(trained: Trained, by_loss: bool) -> tuple[int, int]:
    """Choose the seed and the lambda2 of the model with the largest gain.

    ``by_loss`` takes the lowest loss of those that leave some features behind open gates and others
    behind shut ones; of all, where there is no such model.
    """
    score = trained.gain
    if by_loss:
        open_share = trained.open_features.mean(-1)
        is_mixed = (open_share > 0) & (open_share < 1)
        score = -np.where(is_mixed | ~is_mixed.any(), trained.loss, np.inf)
    seed, weight = np.unravel_index(int(score.argmax()), score.shape)
    return int(seed), int(weight)


@dataclass(frozen=True)
class LearnedGroups:
    """The groups of one trained model, best first."""

    groups: Groups
    order: IntArray  #: number of each group in the model, (C,)
    membership: FloatArray  #: M without noise, 0 for constant columns, (n_features, C)
    projection: FloatArray  #: Q, a row for each group, (C, ...)
    gates: FloatArray  #: gate means mu, (C,)
    history: list[dict[str, Any]]


def learned_groups(problem: Problem, trained: Trained, seed: int, weight: int) -> LearnedGroups:
    """Describe the groups of one of the trained models, ranked by mu or by smoothness."""
    table, settings = problem.table, problem.settings
    logits = merge_duplicates(trained.logits[seed, weight].astype(np.float64), table.twins)
    labels: IntArray = logits.argmax(1)
    groups, gates = as_groups(labels, problem.n_groups), trained.gates[seed, weight]
    central, _ = table.similarity.with_sums(labels, problem.n_groups)
    smoothness = group_smoothness(problem.rows, groups, settings, problem.seeds[0], N_SHUFFLES)
    ranked = np.lexsort((-gates, -(gates if settings.is_published else smoothness)))
    order = np.array([j for j in ranked if len(groups[j])], dtype=np.int64)
    share = scipy.special.softmax(logits / settings.end_temperature, axis=1)[:, order]
    membership = np.zeros((len(table.names), len(order)))
    membership[table.columns] = share / share.sum(1, keepdims=True)
    loss_weights = (1.0, problem.objective.smoothness_weight, trained.sparsity_weights[weight])
    records = trained.histories[weight].records(seed, loss_weights)
    signs = np.where(central < 0, -1, 1)
    placed = place_groups(table, [groups[j] for j in order], central, signs, smoothness[order])
    rows = np.arange(min(table.rows.shape[0], max(FEWEST_ROWS, SCORED_ENTRIES // len(labels))))
    Z = table.rows.feature_values(rows, labels, signs)
    return LearnedGroups(
        groups=replace(placed, items=measure_items(Z, placed, table.columns)),
        order=order,
        membership=membership,
        projection=trained.projections[seed, weight][order].astype(np.float64),
        gates=gates[order],
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def merge_duplicates(logits: FloatArray, duplicates: IntArray) -> FloatArray:
    """Give columns of one number in ``duplicates`` (d,) the mean of their logits, (d, C)."""
    counts = np.bincount(duplicates)
    sums = np.zeros((len(counts), logits.shape[1]))
    np.add.at(sums, duplicates, logits)
    return (sums / counts[:, None])[duplicates]
