"""A small table that stands in for the real ones in tests of the experiments."""

import numpy as np
import pytest

from experiments import data
from experiments.protocol import standardized


def small_table(name, n_samples=60, n_features=13, n_classes=2):
    """Classes that three groups of features show, and noise; the same for the same name."""
    rng = np.random.default_rng([len(name), n_features])
    y = rng.permutation(np.arange(n_samples) % n_classes)
    signals = rng.standard_normal((n_samples, 3)) + 2 * y[:, None]
    X = rng.standard_normal((n_samples, n_features))
    X[:, :9] = np.repeat(signals, 3, axis=1) + 0.4 * X[:, :9]
    return data.Labelled(X, y, standardized(X), [f"f{i}" for i in range(n_features)])


@pytest.fixture
def stand_in(monkeypatch):
    """Every table is the small one, whatever its name."""
    monkeypatch.setattr(data, "load", small_table)
