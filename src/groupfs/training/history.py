"""What happened in each epoch of training, and how to keep it in plain arrays."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.training.checkpoints import State

TERMS = ("sample_smoothness", "feature_smoothness", "group_sparsity")


@dataclass
class History:
    """What happened in each epoch, for the models that were still being trained."""

    models: list[NDArray[np.int64]] = field(default_factory=list)  #: which, (A,) each
    terms: list[Any] = field(default_factory=list)  #: means over batches, (A, 3) each
    gates: list[Any] = field(default_factory=list)  #: gate means, (A, C) each
    temperature: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    n_epochs: dict[int, int] = field(default_factory=dict)  #: epochs until a model settled
    interrupted: bool = False  #: whether Ctrl-C ended training

    def off_device(self) -> History:
        """The same in numpy arrays, fetched together."""
        self.terms, self.gates = _fetched(self.terms), _fetched(self.gates)
        return self

    def of(self, model: int, weights: tuple[float, float, float]) -> list[dict[str, Any]]:
        """One record per epoch of one model; ``weights`` combine the terms into the loss."""
        records = []
        for epoch in range(self.n_epochs.get(model, len(self.terms))):
            place = int(np.flatnonzero(self.models[epoch] == model)[0])
            terms = self.terms[epoch][place]
            records.append(
                {
                    "epoch": epoch,
                    "loss": float(terms @ np.array(weights)),
                    **dict(zip(TERMS, terms.tolist(), strict=True)),
                    "gates": self.gates[epoch][place],
                    "temperature": self.temperature[epoch],
                    "seconds": self.seconds[epoch],
                }
            )
        return records

    def last_terms(self, model: int) -> NDArray[np.float64]:
        """The terms of a model in its last epoch, (3,)."""
        epoch = self.n_epochs.get(model, len(self.terms)) - 1
        return self.terms[epoch][int(np.flatnonzero(self.models[epoch] == model)[0])]

    def state(self) -> State:
        """All of it for a checkpoint; epochs of all models lie one after the other."""
        return State(
            arrays={
                "models": np.concatenate(self.models),
                "terms": _together(self.terms),
                "gates": _together(self.gates),
            },
            facts={
                "sizes": [len(models) for models in self.models],
                "temperature": self.temperature,
                "seconds": self.seconds,
                "n_epochs": list(self.n_epochs.items()),
            },
        )

    @classmethod
    def from_state(cls, state: State, device: torch.device | None = None) -> History:
        """The history that was kept; on the device it is gathered on, or fetched from it."""
        ends = np.cumsum(state.facts["sizes"])[:-1]

        def per_epoch(values: NDArray[Any]) -> list[Any]:
            pieces = np.split(values, ends) if len(values) else []
            if device is None:
                return pieces
            return [torch.tensor(piece, device=device) for piece in pieces]

        return cls(
            models=np.split(state.arrays["models"], ends),
            terms=per_epoch(state.arrays["terms"]),
            gates=per_epoch(state.arrays["gates"]),
            temperature=state.facts["temperature"],
            seconds=state.facts["seconds"],
            n_epochs=dict(state.facts["n_epochs"]),
        )


def _together(pieces: list[Any]) -> NDArray[Any]:
    if not pieces:
        return np.zeros(0)
    if isinstance(pieces[0], Tensor):
        return torch.cat(pieces).cpu().numpy()
    return np.concatenate(pieces)


def _fetched(tensors: list[Tensor]) -> list[NDArray[np.float64]]:
    """Tensors of a few shapes as arrays, with one transfer per run of equal shapes."""
    arrays: list[NDArray[np.float64]] = []
    for _, run in itertools.groupby(tensors, key=lambda tensor: tensor.shape):
        arrays.extend(torch.stack(list(run)).double().cpu().numpy())
    return arrays
