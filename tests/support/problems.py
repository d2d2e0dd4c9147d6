"""Problems as ``fit`` prepares them, for tests of what happens before or beside training."""

import numpy as np
import torch

from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.models.objective import OPEN
from groupfs.training.problem import prepare
from groupfs.training.run import train_models
from groupfs.utils.seeds import derive_seeds

CPU = torch.device("cpu")


def prepared(X, n_candidates=None, **parameters):
    """Prepare the problem that GroupFS would solve with these parameters."""
    estimator = GroupFS(**{"random_state": 0, "n_init": 1, **parameters})
    table = open_table(estimator, X, estimator.standardize)
    seeds = derive_seeds(np.random.RandomState(0), estimator.n_init)
    return prepare(table, estimator._settings(table), seeds, CPU, n_candidates=n_candidates)


def open_groups_at(problem, relative_sparsities):
    """Train at each sparsity, side by side, and count the open groups of the first seed."""
    weights = np.array(relative_sparsities) * problem.critical_sparsity_weight
    return (train_models(problem, weights).gates[0] > OPEN).sum(-1).tolist()
