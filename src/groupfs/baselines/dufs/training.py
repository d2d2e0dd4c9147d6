"""Gates of single features trained side by side, for DUFS: how they start and what becomes of them.

Axes: R models, d features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from groupfs.data.rows import Rows
from groupfs.models.all_groups import OPEN, NoiseSource, Objective
from groupfs.models.fixed_groups import GateModel
from groupfs.training.loop import Schedule, train
from groupfs.utils.device import DTYPE
from groupfs.utils.types import FloatArray

#: Gates start at one half, give or take so much.
START_SPREAD = 0.01
#: Rows on which models are compared.
COMPARED_ROWS = 512


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
    history = train(model, objective, rows, schedule, noise, seeds[0], verbose, name="DUFS")
    with torch.no_grad():
        gain = model.gain(objective, compared).tolist()
        loss = model.settled_loss(objective, compared, None).tolist()
    terms = np.array(history.terms)
    places = model.stream.tolist()
    search = [
        {
            "sparsity_weight": None if weights is None else float(weights[r % len(weights)]),
            "seed": places[r],
            "loss": loss[r],
            "gain": gain[r],
            "n_open": int((model.mu[r] > OPEN).sum()),
        }
        for r in range(len(model))
    ]
    losses = model.total(objective, torch.as_tensor(terms).to(model.mu)).double().cpu().numpy()
    return TrainedGates(model.mu.double().cpu().numpy(), search, losses, terms)


def _start(d: int, weights: FloatArray | None, seeds: list[int], device: torch.device) -> GateModel:
    """Models of one seed share their start and their noise."""
    is_ratio = weights is None
    weights = np.ones(1) if weights is None else weights
    starts = [0.5 + START_SPREAD * np.random.default_rng(seed).standard_normal(d) for seed in seeds]
    mu = torch.as_tensor(np.stack(starts), dtype=DTYPE).repeat_interleave(len(weights), 0)
    return GateModel(
        mu=mu.to(device),
        membership=None,
        share=torch.ones((1, d), dtype=DTYPE, device=device),
        sparsity_weight=torch.as_tensor(np.tile(weights, len(seeds)), dtype=DTYPE, device=device),
        stream=torch.arange(len(seeds), device=device).repeat_interleave(len(weights)),
        is_ratio=is_ratio,
    )
