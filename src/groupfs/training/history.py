"""What happened in each epoch of training, in plain arrays.

Axes: E epochs, R models side by side, C groups. After a model has settled its entries are NaN.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

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


@dataclass
class History:
    """All epochs of all models."""

    terms: FloatArray  #: of the loss, unweighted, means over batches, (E, R, 3)
    gates: FloatArray  #: gate means, (E, R, C)
    temperature: FloatArray  #: (E,)
    seconds: FloatArray  #: (E,)
    n_epochs: IntArray  #: until each model settled, (R,)

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


@dataclass
class Recorder:
    """Gather the epochs of models while they are trained; tensors stay on their device."""

    models: list[IntArray] = field(default_factory=list)  #: those still in training, (A,) each
    terms: list[Tensor] = field(default_factory=list)  #: (A, 3) each
    gates: list[Tensor] = field(default_factory=list)  #: (A, C) each
    temperature: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    settled: dict[int, int] = field(default_factory=dict)  #: epochs of models that have settled

    def __len__(self) -> int:
        return len(self.terms)

    def history(self, n_models: int) -> History:
        """Fetch all epochs into arrays over all models."""
        n_epochs = [self.settled.get(model, len(self)) for model in range(n_models)]
        return History(
            terms=self._over_models(self.terms, n_models),
            gates=self._over_models(self.gates, n_models),
            temperature=np.array(self.temperature[: len(self)]),
            seconds=np.array(self.seconds[: len(self)]),
            n_epochs=np.array(n_epochs),
        )

    def _over_models(self, tensors: list[Tensor], n_models: int) -> FloatArray:
        """Put tensors of the models in training among all models, with one transfer a shape."""
        width = tensors[0].shape[-1] if tensors else 0
        found = np.full((len(self), n_models, width), np.nan)
        fetched: list[FloatArray] = []
        for _, run in itertools.groupby(tensors, key=lambda tensor: tensor.shape):
            fetched.extend(torch.stack(list(run)).double().cpu().numpy())
        # Ctrl-C may have come in the middle of an epoch: it counts once its terms are there
        for epoch, values in enumerate(fetched[: len(self)]):
            found[epoch, self.models[epoch]] = values
        return found
