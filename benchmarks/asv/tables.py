"""The tables of the timings: groups of features that follow a factor each, and noise."""

import numpy as np


def planted(n_samples: int, n_features: int, n_factors: int = 5) -> np.ndarray:
    """Draw a table of which half the features follow factors, the same every time."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    factors = rng.standard_normal((n_samples, n_factors))
    half = n_features // 2
    X[:, :half] = 0.5 * X[:, :half] + factors[:, np.arange(half) % n_factors]
    return X
