"""A problem as ``fit`` prepares it, for tests of what happens before or beside training."""

import numpy as np
import torch
from groupfs.models.all_groups import NoiseSource

from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.selection.describe import schedule
from groupfs.training.loop import train
from groupfs.training.problem import prepare
from groupfs.utils.device import derive_seeds


def prepared(X, **parameters):
    estimator = GroupFS(**{"random_state": 0, "n_init": 1, **parameters})
    table = open_table(estimator, X, estimator.standardize)
    seeds = derive_seeds(np.random.RandomState(0), estimator.n_init)
    return prepare(table, estimator._settings(table), seeds, torch.device("cpu"))


def open_groups_at(problem, relative_sparsities):
    """Open groups after training at each sparsity, side by side."""
    weights = np.array(relative_sparsities) * problem.critical_sparsity_weight
    model = problem.model(weights)
    noise = NoiseSource(problem.seeds, problem.settings["gate_noise"], problem.device)
    train(model, problem.objective, problem.table.rows, schedule(problem), noise, batch_seed=0)
    return (model.mu > 0.5).sum(-1).tolist()
