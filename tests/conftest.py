import numpy as np
import pytest

#: Not tests, and not to be imported where what they read with is missing.
collect_ignore = ["fuzz"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)
