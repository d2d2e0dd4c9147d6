"""Notice when the groups of a model have stopped changing and its gates are decided."""

import torch
from torch import Tensor

from groupfs.models.gated_model import GatedModel
from groupfs.models.objective import OPEN

#: Epochs between two checks of whether training has settled; of a pool of rows, steps.
CHECK_EVERY = 10
#: Checks in a row without change that end it.
PATIENCE = 3
#: Features that may still change groups between two checks, as a share of all.
MOVING_SHARE = 0.002
#: A gate mean that moved less than this between two checks is at rest, and less than this share of
#: what steps all in one direction would have moved it.
AT_REST, RESTING_SHARE = 0.02, 0.1


class EarlyStopping:
    """Compare models with what they were at the last check."""

    def __init__(
        self, model: GatedModel, at_rest: float = AT_REST, n_quiet: Tensor | None = None
    ) -> None:
        self.model, self.at_rest = model, at_rest
        self.n_quiet = torch.zeros_like(model.seed_index) if n_quiet is None else n_quiet
        self._remember()

    def settled(self) -> Tensor:
        """Check which models have been quiet for long enough, (R,)."""
        labels, mu = self.labels, self.mu
        self._remember()
        moved = (labels != self.labels).double().mean(-1)
        same = (moved <= MOVING_SHARE) & ((mu > OPEN) == (self.mu > OPEN)).all(-1)
        decided = ((self.mu <= 0) | (self.mu >= 1) | ((self.mu - mu).abs() < self.at_rest)).all(-1)
        self.n_quiet = torch.where(same & decided, self.n_quiet + 1, 0)
        return self.n_quiet >= PATIENCE

    def _remember(self) -> None:
        self.labels = self.model.labels()
        self.mu = self.model.mu.clone()
