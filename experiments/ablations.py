"""What each part of the objective does, on two moons: without L_s, L_f, L_reg, the start, or M.

The printed settings, ten seeds; 500 steps with 100 rows, and 5,000 with 1,000. Also the readings of
a sentence the paper leaves open: the columns of F are centred and scaled inside the loss, with the
gradient through the norm (as in the library), with the norm held fixed, or by projecting Q after
each update. About 3 minutes with 2 processes. Needs no data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from experiments import running, two_moons
from groupfs import GroupFS
from groupfs.joint import relaxations as relaxed
from groupfs.joint.loop import train
from groupfs.joint.losses import (
    Objective,
    apply_laplacian,
    feature_smoothness,
    group_sparsity,
)
from groupfs.joint.model import GatedModel, gated_smoothness
from groupfs.joint.problem import DTYPE, prepare


class Parts(NamedTuple):
    """Which parts of the method are there, and how F is normalised."""

    L_s: bool = True
    L_f: bool = True
    L_reg: bool = True
    warm_start: bool = True
    learns_M: bool = True
    norm: str = "through"


VARIANTS = {
    "as published": Parts(),
    "without L_s": Parts(L_s=False),
    "without L_f": Parts(L_f=False),
    "without L_reg": Parts(L_reg=False),
    "without the warm start": Parts(warm_start=False),
    "without joint training": Parts(learns_M=False),
    "norm of F held fixed": Parts(norm="fixed"),
    "Q projected after updates": Parts(norm="projected"),
}
#: Tables: rows, what differs from the usual one, and where its settings are printed.
TABLES = {
    "rho 0.95, C = 12": (100, "correlation", 0.95),
    "rho 0.70, C = 3": (100, "correlation", 0.7),
    "noise 0.30, C = 12": (100, "noise", 0.3),
    "rho 0.95, C = 12, 1,000 rows": (1000, "correlation", 0.95),
}
N_SEEDS = 10


class PartialModel(GatedModel):
    """The published model with parts left out."""

    parts: ClassVar[Parts] = Parts()

    def loss_and_gradient(
        self, objective: Objective, X: Tensor, noise: relaxed.Noise, temperature: Tensor | float
    ) -> Tensor:
        parts, lambda1 = self.parts, objective.smoothness_weight
        lambda2 = self.sparsity_weight.unsqueeze(-1) * parts.L_reg
        M = relaxed.membership(self.logits, noise.gumbel, temperature)
        z = relaxed.gates(self.mu, noise.gate)
        smooth, grad_weight, grad_z = gated_smoothness(objective, X, M, z)
        sparse, grad_mu, is_open = group_sparsity(self.mu, M.mean(-2), objective.gate_noise)
        if parts.norm == "projected":
            F = M @ self.Q
            mean = F.mean(-2, keepdim=True)
            self.Q.copy_((self.Q - mean) / (F - mean).norm(dim=-2, keepdim=True))
        of_F = feature_smoothness if parts.norm == "through" else fixed_norm
        coherent, grad_M, grad_Q = of_F(M, self.Q, objective.walk, 1 / lambda1)
        grad_M = grad_M * lambda1 * parts.L_f
        grad_M += (is_open / math.prod(M.shape[1:]) * lambda2).unsqueeze(-2)
        grad_M += grad_weight.unsqueeze(-1) * z.unsqueeze(-2) * parts.L_s
        self.logits.grad = relaxed.membership_pullback(M, grad_M, temperature) * parts.learns_M
        self.Q.grad = grad_Q * lambda1 * parts.L_f
        self.mu.grad = relaxed.gates_pullback(z, grad_z) * parts.L_s + lambda2 * grad_mu
        return torch.stack([smooth, coherent, sparse], -1)


def fixed_norm(
    M: Tensor, Q: Tensor, walk: Tensor, orthogonality: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute L_f and its gradients as if mean and norm of the columns of F did not change."""
    d, C = M.shape[-2:]
    F = M @ Q
    F = F - F.mean(-2, keepdim=True)
    norm = F.norm(dim=-2, keepdim=True).clamp_(min=1e-12)
    F = F / norm
    rough, overlap = apply_laplacian(walk, F), F.mT @ F
    overlap.diagonal(dim1=-2, dim2=-1).sub_(1)
    value = (F * rough).sum((-2, -1)) + orthogonality * overlap.square().sum((-2, -1))
    grad_F = (2 * rough + 4 * orthogonality * F @ overlap) / (norm * d * C)
    return value / (d * C), grad_F @ Q.mT, M.mT @ grad_F


def fit(parts: Parts, X: Any, settings: dict[str, Any], seed: int) -> running.Row:
    """Train one model with these parts; measure it as figure 3 does."""
    torch.set_num_threads(1)
    estimator = GroupFS(preset="paper", **settings, n_init=1, random_state=seed, device="cpu")
    problem = prepare(*estimator._open(X))
    columns, seeds, C = problem.table.columns, problem.seeds, problem.n_groups
    clusters = problem.clusters
    if not parts.warm_start:
        clusters = [np.random.default_rng(seed).integers(0, C, len(columns))]
    kind = type("PartialModel", (PartialModel,), {"parts": parts})
    weights = np.array([settings["sparsity_weight"]])
    start = clusters, seeds, problem.gate_start, weights, problem.device, DTYPE
    with torch.no_grad():
        model = kind.start(*start)
        noise = relaxed.CounterNoise(seeds, problem.device)
        rows, objective = problem.rows, problem.objective
        train(model, objective, rows, problem.settings, noise, batch_seed=seeds[0])
    labels, mu = model.labels()[0].numpy(), model.mu[0].double().numpy()
    order = [j for j in np.argsort(-mu, kind="stable") if (labels == j).any()]
    groups = [np.sort(np.asarray(columns)[labels == j]) for j in order]
    moved = float((labels != clusters[0]).mean())
    found = SimpleNamespace(groups_=groups, group_gates_=mu[order])
    return {**two_moons.measures(found), "moved": moved, "machine": running.machine()}


def work(variant: str, table: str, seed: int) -> running.Row:
    n_samples, study, value = TABLES[table]
    X = two_moons.load(n_samples, seed, **{study: value}).data
    return fit(VARIANTS[variant], X, two_moons.printed(study, value), seed)


def table_of(rows: pd.DataFrame) -> str:
    """Write variants down, tables across: exact runs, rates, open gates, features that moved."""
    lines = []
    for variant, own in rows.groupby("variant", sort=False):
        line = [str(variant)]
        for _, some in own.groupby("table", sort=False):
            rates = " / ".join(f"{some[rate].mean():.2f}" for rate in ("rg_sim", "tpr", "fdr"))
            exact, is_open = f"{some['exact'].sum()} of {len(some)}", some["n_open"].mean()
            line.append(f"{exact}; {rates}; {is_open:.1f}; {some['moved'].mean():.0%}")
        lines.append(line)
    tables = list(dict.fromkeys(rows["table"]))
    return running.markdown(["", *tables], lines)


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(__file__, __doc__).parse_args(argv)
    cells = [
        {"variant": variant, "table": table, "seed": seed}
        for variant in VARIANTS
        for table in (list(TABLES)[:1] if given.quick else TABLES)
        for seed in range(2 if given.quick else N_SEEDS)
    ]
    rows = running.compute(cells, work, given)
    about = (
        "Exact runs; RG_sim / TPR / FDR; gates left open; features that leave the cluster they "
        "start in, means over seeds:"
    )
    parts = [running.command(rows, "ablations"), about, table_of(rows)]
    few = rows[rows["table"].str.startswith("rho 0.95")]
    running.write(given, rows, parts, f"{about}\n\n{table_of(few)}")


if __name__ == "__main__":
    main()
