"""The models still in training: those that have converged leave, so that others cost less.

A model has converged when its groups have stopped changing and its gates are decided.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.table import Rows
from groupfs.groups import OPEN
from groupfs.joint.model import GatedModel
from groupfs.joint.noise import NoiseSource
from groupfs.joint.objective import Objective
from groupfs.joint.settings import Schedule
from groupfs.joint.step import TrainStep
from groupfs.utils.types import BoolArray

#: Epochs between two checks of whether training has converged.
CHECK_EVERY = 10
#: Checks in a row without change that end it.
PATIENCE = 3
#: Features that may still change groups between two checks, as a share of all.
MOVING_SHARE = 0.002
#: A gate mean that moved less than this between two checks is at rest, and less than this share of
#: what steps all in one direction would have moved it.
AT_REST, RESTING_SHARE = 0.02, 0.1


class ActiveModels:
    """Train copies of all models, and write each back when it has converged."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows,
        schedule: Schedule,
        noise: NoiseSource,
    ) -> None:
        self.all = model
        self.index = np.arange(len(model))  # of the models in training among all
        self.active = np.ones(len(model), dtype=bool)  # which of them have not converged
        self.n_epochs = np.zeros(len(model), dtype=np.int64)  # of all models, once written back
        self.model = model.select(self._tensor(self.index))
        self.step = TrainStep(self.model, objective, rows, schedule, noise)
        n_steps = CHECK_EVERY * self.step.steps_per_epoch
        self.at_rest = min(AT_REST, RESTING_SHARE * schedule.learning_rate * n_steps)
        self.n_quiet = torch.zeros_like(self.model.seed_index)  # checks in a row without change
        self.labels, self.mu = self.model.labels(), self.model.mu.clone()  # at the last check

    def stop_converged(self, n_epochs: int) -> bool:
        """Write back the models that have just converged; return True when none is left."""
        converged = self._converged().cpu().numpy() & self.active
        self._write_back(converged, n_epochs)
        self.active &= ~converged
        if 2 * self.active.sum() <= len(self.index) and self.active.any():
            self._drop_converged()
        return not self.active.any()

    def write_back_rest(self, n_epochs: int) -> None:
        """Write back the models that have not converged."""
        self._write_back(self.active, n_epochs)

    def among_all(self, values: Tensor) -> Tensor:
        """Put values of the models in training among those of all, NaN for the others."""
        spread = values.new_full((len(self.all), *values.shape[1:]), torch.nan)
        spread[self._tensor(self.index)] = values
        return spread

    def _converged(self) -> Tensor:
        """Check which models have been quiet for long enough, (R,)."""
        labels, mu = self.model.labels(), self.model.mu.clone()
        moved = (self.labels != labels).double().mean(-1)
        same = (moved <= MOVING_SHARE) & ((self.mu > OPEN) == (mu > OPEN)).all(-1)
        decided = ((mu <= 0) | (mu >= 1) | ((mu - self.mu).abs() < self.at_rest)).all(-1)
        self.n_quiet = torch.where(same & decided, self.n_quiet + 1, 0)
        self.labels, self.mu = labels, mu
        return self.n_quiet >= PATIENCE

    def _write_back(self, which: BoolArray, n_epochs: int) -> None:
        index, own = self.index[which], np.flatnonzero(which)
        self.all.copy_from(self.model, self._tensor(index), self._tensor(own))
        self.n_epochs[index] = n_epochs

    def _drop_converged(self) -> None:
        rest = self._tensor(np.flatnonzero(self.active))
        self.index = self.index[self.active]
        self.model = self.model.select(rest)
        self.step = self.step.for_models(self.model, rest)
        self.n_quiet, self.labels, self.mu = self.n_quiet[rest], self.labels[rest], self.mu[rest]
        self.active = np.ones(len(self.index), dtype=bool)

    def _tensor(self, index: np.ndarray) -> Tensor:
        return torch.from_numpy(index).to(self.all.mu.device)
