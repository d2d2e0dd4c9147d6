"""Gates of single features trained side by side, for DUFS: how they start and what becomes of them.

Axes: R models, d features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import FixedMemberships
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import OPEN, Objective
from groupfs.training.loop import train
from groupfs.training.step import Schedule
from groupfs.utils.device import DTYPE
from groupfs.utils.types import FloatArray

#: Gates start at one half, give or take so much.
START_SPREAD = 0.01
#: Rows on which models are compared.
COMPARED_ROWS = 512
#: Keeps the ratio of the terms finite when all gates are shut.
SMALLEST_SHARE = 1e-6


@dataclass
class TrainedGates:
    """Models of every seed with every weight, seed-major."""

    mu: FloatArray  #: gate means, (R, d)
    search: list[dict[str, Any]]  #: what is known of each model
    losses: FloatArray  #: in every epoch, (epochs, R)
    terms: FloatArray  #: of the loss in every epoch, (epochs, R, 3)

    @property
    def best(self) -> int:
        """The model with the largest gain."""
        return int(np.argmax([model["gain"] for model in self.search]))

    def records(self, model: int) -> list[dict[str, Any]]:
        """The history of one model."""
        return [
            {
                "epoch": epoch,
                "loss": float(loss[model]),
                "sample_smoothness": float(terms[model, 0]),
                "open_share": float(terms[model, 2]),
            }
            for epoch, (loss, terms) in enumerate(zip(self.losses, self.terms, strict=True))
        ]


def train_gates(
    rows: Rows,
    objective: Objective,
    schedule: Schedule,
    weights: FloatArray | None,
    seeds: list[int],
    verbose: bool,
) -> TrainedGates:
    """Train every seed with every weight; without weights the loss is the ratio of its terms."""
    N, d = rows.shape
    index = np.random.default_rng(seeds[0]).permutation(N)[:COMPARED_ROWS]
    compared = rows.take(torch.from_numpy(index))
    model = _start(d, weights, seeds, compared.device)
    noise = NoiseSource(seeds, objective.gate_noise, compared.device)
    history, _ = train(model, objective, rows, schedule, noise, seeds[0], verbose, name="DUFS")
    with torch.no_grad():
        gain, loss = (values.tolist() for values in model.gain_and_loss(objective, compared))
    seed_index = model.seed_index.tolist()
    search = [
        {
            "sparsity_weight": None if weights is None else float(weights[r % len(weights)]),
            "seed": seed_index[r],
            "loss": loss[r],
            "gain": gain[r],
            "n_open": int((model.mu[r] > OPEN).sum()),
        }
        for r in range(len(model))
    ]
    losses = (
        model.total(objective, torch.as_tensor(history.terms).to(model.mu)).double().cpu().numpy()
    )
    return TrainedGates(model.mu.double().cpu().numpy(), search, losses, history.terms)


class RatioModel(GatedModel):
    r"""Gates with the loss :math:`L_s / L_{reg}`."""

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        smooth, _, sparse = terms.unbind(-1)
        return smooth / (sparse + SMALLEST_SHARE)

    def _gate_gradient(
        self, smooth: Tensor, sparse: Tensor, grad_smooth: Tensor, grad_sparse: Tensor
    ) -> Tensor:
        share = (sparse + SMALLEST_SHARE).unsqueeze(-1)
        ratio = smooth.unsqueeze(-1) / share
        return (grad_smooth - ratio * grad_sparse) / share


def _start(
    d: int, weights: FloatArray | None, seeds: list[int], device: torch.device
) -> GatedModel:
    """Start models; those of one seed share their start and their noise."""
    starts = [0.5 + START_SPREAD * np.random.default_rng(seed).standard_normal(d) for seed in seeds]
    own_gates = FixedMemberships(len(seeds), None, torch.ones((1, d)))
    kind = RatioModel if weights is None else GatedModel
    weights = np.ones(1) if weights is None else weights
    return kind.start(own_gates, np.stack(starts), weights, device, DTYPE)
