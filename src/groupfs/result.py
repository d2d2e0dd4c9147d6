"""Train the models of a problem, choose the best, and put its groups in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import torch

from groupfs._rows import FloatArray, Rows
from groupfs.model import OPEN, GroupModel, NoiseSource
from groupfs.problem import SCORED_ROWS, IntArray, Problem, as_groups
from groupfs.selection import merge_twins, rank_groups
from groupfs.trainer import Schedule, train

#: Relative sparsities that are trained side by side to rank groups by path.
PATH_SPARSITIES = np.geomspace(0.25, 3.0, 12)


@dataclass
class GroupResult:
    """One trained model: its groups from best to worst, indices into the table's own order."""

    groups: list[IntArray]
    membership: FloatArray  #: (d, C)
    centrality: FloatArray  #: (d,)
    scores: FloatArray  #: (C,)
    p_values: FloatArray | None  #: (C,)
    gates: FloatArray  #: (C,)
    sparsity_weight: float
    loss: float
    gain: float
    history: list[dict[str, object]]


def train_and_choose(problem: Problem) -> GroupResult:
    """Train all seeds at the sparsity asked for, keep the best by gain, score its groups."""
    settings = problem.settings
    critical = problem.critical_sparsity_weight
    wanted = settings["sparsity_weight"]
    weights = np.array([settings["sparsity"] * critical if wanted is None else wanted])
    if settings["ranking"] == "path":
        weights = np.concatenate([weights, PATH_SPARSITIES * critical])
    model = problem.model(weights)
    noise = NoiseSource(problem.seeds, settings["gate_noise"], problem.device)
    history = train(
        model,
        problem.objective,
        problem.table.rows,
        schedule(problem),
        noise,
        batch_seed=problem.seeds[0],
        verbose=bool(settings["verbose"]),
    )
    X = evaluation_rows(problem)
    with torch.no_grad():
        gain = model.gain(problem.objective, X).double().cpu().numpy()
        loss = model.settled_loss(problem.objective, X, None).double().cpu().numpy()
    chosen = int(np.argmax(gain[:: len(weights)])) * len(weights)
    result = _read_off(problem, model, chosen, len(weights))
    terms = (1.0, problem.objective.smoothness_weight, float(weights[0]))
    records = history.of(chosen, terms)
    order = result.pop("order")
    for record in records:
        record["gates"] = np.asarray(record["gates"])[order]
    return GroupResult(
        **result,
        sparsity_weight=float(weights[0]),
        loss=float(loss[chosen]),
        gain=float(gain[chosen]),
        history=records,
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
    )


def evaluation_rows(problem: Problem) -> torch.Tensor:
    N = problem.table.rows.shape[0]
    index = np.random.default_rng(problem.seeds[0]).permutation(N)[: min(N, SCORED_ROWS)]
    return problem.table.rows.take(torch.from_numpy(index))


def _read_off(problem: Problem, model: GroupModel, chosen: int, n_weights: int) -> dict[str, Any]:
    """Groups, scores and order of one model."""
    C = problem.n_groups
    logits = merge_twins(model.logits[chosen].double().cpu().numpy(), problem.table.twins)
    gates = model.mu[chosen].double().cpu().numpy()
    labels = logits.argmax(1)
    groups = as_groups(labels, C)
    sizes = np.array([len(group) for group in groups])
    p_values = None
    if problem.settings["ranking"] == "excess":
        rated = problem.score(groups)
        scores = rated.excess
        p_values = problem.p_values(rated, sizes)
    elif problem.settings["ranking"] == "gate":
        scores = gates
    else:
        scores = closing_sparsity(model.mu[chosen + 1 : chosen + n_weights].double().cpu().numpy())
    ranked = rank_groups(scores, gates)
    order = ranked[sizes[ranked] > 0]
    membership = scipy.special.softmax(logits, axis=1)[:, order]
    return {
        "order": order,
        "groups": [groups[j] for j in order],
        "membership": membership / membership.sum(1, keepdims=True),
        "centrality": centrality(problem.table.rows, labels, C),
        "scores": scores[order],
        "p_values": None if p_values is None else p_values[order],
        "gates": gates[order],
    }


def closing_sparsity(gates: FloatArray) -> FloatArray:
    """The largest relative sparsity at which each group is open, 0 if none; (P, C) to (C,)."""
    return np.max(np.where(gates > OPEN, PATH_SPARSITIES[:, None], 0.0), axis=0)


def centrality(rows: Rows, labels: IntArray, n_groups: int) -> FloatArray:
    """Correlation of every feature with the mean of its group, (d,)."""
    sums = rows.combine(np.eye(n_groups)[labels])
    norms = np.linalg.norm(sums, axis=0)[labels] * np.sqrt(rows.column_norms)
    products = rows.project(sums)[np.arange(len(labels)), labels]
    return products / np.maximum(norms, 1e-12)
