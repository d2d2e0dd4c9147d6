"""Train the models of a problem, and read the groups of one of them off, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from groupfs.data.rows import Rows
from groupfs.models.all_groups import OPEN, NoiseSource
from groupfs.selection.keep import rank_groups
from groupfs.selection.memberships import Memberships
from groupfs.training.checkpoints import Keeper
from groupfs.training.history import History
from groupfs.training.loop import Schedule, train
from groupfs.training.problem import SCORED_ROWS, Problem, as_groups
from groupfs.utils.types import FloatArray, IntArray


@dataclass
class GroupResult:
    """One trained model: its groups from best to worst, indices into the table's own order."""

    groups: list[IntArray]
    membership: FloatArray | sp.csr_array  #: (d, C); sparse where few memberships are kept
    centrality: FloatArray  #: (d,)
    scores: FloatArray  #: (C,)
    p_values: FloatArray | None  #: (C,)
    gates: FloatArray  #: (C,)
    places: IntArray  #: place of each group among the model's own, (C,)
    sparsity_weight: float
    loss: float
    gain: float
    history: list[dict[str, Any]]


@dataclass
class Trained:
    """Every seed trained at every sparsity weight, (S, P, ...) arrays."""

    sparsity_weights: FloatArray  #: (P,)
    logits: NDArray[np.float32]  #: (S, P, d, C), or k with candidates
    gates: FloatArray  #: (S, P, C)
    loss: FloatArray  #: without noise, (S, P)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    terms: FloatArray  #: of the loss in the last epoch, unweighted, (S, P, 3)
    histories: list[History]  #: one per run
    smoothness_weight: float
    candidates: IntArray | None = None  #: the k groups a feature may belong to, (S, d, k)

    def memberships(self, seed: int, weight: int) -> Memberships:
        """What one model says of the groups of the features."""
        candidates = None if self.candidates is None else self.candidates[seed]
        return Memberships(self.logits[seed, weight], self.gates.shape[-1], candidates)

    def records(self, seed: int, weight: int) -> list[dict[str, Any]]:
        """The history of one model; runs divide the weights among them in order."""
        sizes = [len(part) for part in np.array_split(self.sparsity_weights, len(self.histories))]
        ends = np.cumsum(sizes)
        run = int(np.searchsorted(ends, weight, side="right"))
        place = seed * sizes[run] + weight - int(ends[run] - sizes[run])
        terms = (1.0, self.smoothness_weight, float(self.sparsity_weights[weight]))
        return self.histories[run].of(place, terms)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the training of some of the models."""
        return any(history.interrupted for history in self.histories)

    def best_seed(self, weight: int) -> int:
        """The seed with the largest gain at one weight."""
        return int(np.argmax(self.gain[:, weight]))


def train_models(
    problem: Problem,
    sparsity_weights: FloatArray,
    keeper: Keeper | None = None,
    name: str = "GroupFS",
) -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, objective = problem.settings, problem.objective
    S, P = len(problem.seeds), len(sparsity_weights)
    model = problem.model(sparsity_weights)
    history = train(
        model,
        objective,
        problem.table.rows,
        schedule(problem),
        NoiseSource(problem.seeds, settings["gate_noise"], problem.device),
        batch_seed=problem.seeds[0],
        verbose=bool(settings["verbose"]),
        name=name,
        keeper=keeper,
    )
    X = evaluation_rows(problem)
    with torch.no_grad():
        gain = model.gain(objective, X).double().cpu().numpy()
        loss = model.settled_loss(objective, X, None).double().cpu().numpy()
    logits = model.membership_logits().cpu().numpy()
    return Trained(
        sparsity_weights=sparsity_weights,
        logits=logits.reshape(S, P, *logits.shape[1:]),
        gates=model.mu.double().cpu().numpy().reshape(S, P, -1),
        loss=loss.reshape(S, P),
        gain=gain.reshape(S, P),
        terms=np.array([history.last_terms(r) for r in range(S * P)]).reshape(S, P, 3),
        histories=[history],
        smoothness_weight=objective.smoothness_weight,
        candidates=problem.candidates,
    )


def read_off(problem: Problem, trained: Trained, seed: int, weight: int) -> GroupResult:
    """One of the trained models: its groups, scored, ranked and described."""
    C = problem.n_groups
    memberships = trained.memberships(seed, weight)
    if not problem.is_fixed:
        memberships = memberships.merged(problem.table.twins)
    gates = trained.gates[seed, weight]
    labels = memberships.labels()
    groups = as_groups(labels, C)
    sizes = np.array([len(group) for group in groups])
    p_values = None
    if problem.settings["ranking"] == "excess":
        rated = problem.score(groups)
        scores = rated.excess
        if (sizes > 1).any():
            p_values = problem.p_values(rated, sizes)
    elif problem.settings["ranking"] == "gate":
        scores = gates
    else:
        relative = trained.sparsity_weights / problem.critical_sparsity_weight
        scores = closing_sparsity(trained.gates[seed], relative)
    ranked = rank_groups(scores, gates)
    order = ranked[sizes[ranked] > 0]
    records = trained.records(seed, weight)
    return GroupResult(
        groups=[groups[j] for j in order],
        membership=memberships.probabilities(order),
        centrality=centrality(problem.table.rows, labels, C),
        scores=scores[order],
        p_values=None if p_values is None else p_values[order],
        gates=gates[order],
        places=order,
        sparsity_weight=float(trained.sparsity_weights[weight]),
        loss=float(trained.loss[seed, weight]),
        gain=float(trained.gain[seed, weight]),
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def schedule(problem: Problem) -> Schedule:
    settings = problem.settings
    return Schedule(
        max_epochs=settings["max_epochs"],
        batch_size=settings["batch_size"],
        learning_rate=settings["learning_rate"],
        start_temperature=settings["start_temperature"],
        end_temperature=settings["end_temperature"],
        stop_early=settings["early_stopping"],
        steps_per_epoch=settings["steps_per_epoch"],
    )


def evaluation_rows(problem: Problem) -> torch.Tensor:
    return problem.table.rows.some(SCORED_ROWS, np.random.default_rng(problem.seeds[0]))


def closing_sparsity(gates: FloatArray, sparsities: FloatArray) -> FloatArray:
    """The largest sparsity at which each group is open, 0 if none; (P, C) and (P,) to (C,)."""
    return np.max(np.where(gates > OPEN, sparsities[:, None], 0.0), axis=0)


def centrality(rows: Rows, labels: IntArray, n_groups: int) -> FloatArray:
    """Correlation of every feature with the mean of its group, (d,)."""
    products, norms = rows.group_products(labels, n_groups)
    return products / np.maximum(norms[labels] * np.sqrt(rows.column_norms), 1e-12)
