"""What happened in each epoch of training, in plain arrays.

Axes: E epochs, R models side by side, C groups. Entries of models that have left training are NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self, TypedDict

import numpy as np
import torch
from torch import Tensor

from groupfs.utils.types import FloatArray, IntArray


class EpochRecord(TypedDict):
    """One epoch of one model."""

    epoch: int
    loss: float
    sample_smoothness: float
    feature_smoothness: float
    group_sparsity: float
    gates: FloatArray
    temperature: float
    seconds: float


class Epoch(NamedTuple):
    """One epoch of all models, as training leaves it on its device."""

    terms: Tensor  #: of the loss, unweighted, means over batches, (R, 3)
    gates: Tensor  #: gate means, (R, C)
    temperature: float
    seconds: float


@dataclass
class History:
    """All epochs of all models."""

    terms: FloatArray  #: (E, R, 3)
    gates: FloatArray  #: (E, R, C)
    temperature: FloatArray  #: (E,)
    seconds: FloatArray  #: (E,)
    n_epochs: IntArray  #: until each model converged, (R,)

    @classmethod
    def of(cls, epochs: list[Epoch], n_epochs: IntArray) -> Self:
        """Fetch all epochs into arrays."""
        terms, gates, temperature, seconds = zip(*epochs, strict=True)
        return cls(
            terms=torch.stack(terms).double().cpu().numpy(),
            gates=torch.stack(gates).double().cpu().numpy(),
            temperature=np.array(temperature),
            seconds=np.array(seconds),
            n_epochs=n_epochs,
        )

    @property
    def last_terms(self) -> FloatArray:
        """Terms of every model in its last epoch, (R, 3)."""
        return self.terms[self.n_epochs - 1, np.arange(len(self.n_epochs))]

    def records(self, model: int, weights: Sequence[float]) -> list[EpochRecord]:
        """Return one record per epoch of one model; ``weights`` combine the terms into the loss."""
        combine = np.array(weights)
        return [
            {
                "epoch": epoch,
                "loss": float(self.terms[epoch, model] @ combine),
                "sample_smoothness": float(self.terms[epoch, model, 0]),
                "feature_smoothness": float(self.terms[epoch, model, 1]),
                "group_sparsity": float(self.terms[epoch, model, 2]),
                "gates": self.gates[epoch, model],
                "temperature": float(self.temperature[epoch]),
                "seconds": float(self.seconds[epoch]),
            }
            for epoch in range(self.n_epochs[model])
        ]
