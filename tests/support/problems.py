"""Problems as ``fit`` prepares them, for tests of what happens before or beside training."""

import numpy as np
import torch

from groupfs import GroupFS
from groupfs.groups import OPEN
from groupfs.joint.problem import prepare
from groupfs.joint.training import train_models

CPU = torch.device("cpu")


def prepared(X, **parameters):
    """Prepare the problem that GroupFS would solve with these parameters."""
    estimator = GroupFS(**{"random_state": 0, "n_init": 1, "device": "cpu", **parameters})
    return prepare(*estimator._open(X))


def open_groups_at(problem, relative_sparsities):
    """Train at each sparsity, side by side, and count the open groups of the first seed."""
    trained = train_models(problem, np.array(relative_sparsities))
    return (trained.gates[0] > OPEN).sum(-1).tolist()
