"""The models still in training: those that have settled leave, so that others cost less."""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import Objective
from groupfs.training.early_stopping import AT_REST, RESTING_SHARE, EarlyStopping
from groupfs.training.history import Recorder
from groupfs.training.row_pool import RowPool
from groupfs.training.step import Schedule, TrainStep
from groupfs.utils.types import BoolArray


class ActiveModels:
    """Train copies of all models, and write each back when it has settled."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows | RowPool,
        schedule: Schedule,
        noise: NoiseSource,
    ) -> None:
        self.all = model
        self.index = np.arange(len(model))  # of the models in training among all
        self.active = np.ones(len(model), dtype=bool)  # which of them have not settled
        self.model = model.select(self._tensor(self.index))
        self.step = TrainStep(self.model, objective, rows, schedule, noise)
        self.at_rest = self._at_rest(schedule)
        self.stopping = EarlyStopping(self.model, self.at_rest)

    def _at_rest(self, schedule: Schedule) -> float:
        """Find how little gates at rest may move between two checks: with small steps, less."""
        n_steps = schedule.check_every * self.step.steps_per_epoch
        return min(AT_REST, RESTING_SHARE * schedule.learning_rate * n_steps)

    def stop_settled(self, recorder: Recorder) -> bool:
        """Write back the models that have just settled; return True when none is left."""
        settled = self.stopping.settled().cpu().numpy() & self.active
        self._write_back(settled)
        for model in self.index[settled]:
            recorder.settled[int(model)] = len(recorder)
        self.active &= ~settled
        if 2 * self.active.sum() <= len(self.index) and self.active.any():
            self._drop_settled()
        return not self.active.any()

    def write_back_rest(self) -> None:
        """Write back the models that have not settled."""
        self._write_back(self.active)

    def _write_back(self, which: BoolArray) -> None:
        self.all.copy_from(
            self.model, self._tensor(self.index[which]), self._tensor(np.flatnonzero(which))
        )

    def _drop_settled(self) -> None:
        rest = self._tensor(np.flatnonzero(self.active))
        self.index = self.index[self.active]
        self.model = self.model.select(rest)
        self.step = self.step.for_models(self.model, rest)
        self.stopping = EarlyStopping(self.model, self.at_rest, self.stopping.n_quiet[rest])
        self.active = np.ones(len(self.index), dtype=bool)

    def _tensor(self, index: np.ndarray) -> Tensor:
        return torch.from_numpy(index).to(self.all.mu.device)
