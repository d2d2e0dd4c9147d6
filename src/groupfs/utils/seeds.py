"""Seeds of models, derived from one random state."""

import numpy as np


def derive_seeds(random_state: np.random.RandomState, n_seeds: int) -> list[int]:
    """Derive seeds that depend only on their index: the first stay when more are drawn."""
    root = int(random_state.randint(np.iinfo(np.int32).max))
    children = np.random.SeedSequence(root).spawn(n_seeds)
    return [int(child.generate_state(1)[0]) for child in children]
