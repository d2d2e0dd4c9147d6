import os
import tempfile

import numpy as np
import pytest

#: Where programs and libraries keep what they remember of a user.
HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR", "GROUPFS_CACHE")


def pytest_configure(config):
    """Give the tests a home of their own, so that they leave nothing in that of who runs them."""
    if not hasattr(config, "workerinput"):  # worker processes inherit it
        config.home = tempfile.TemporaryDirectory(
            prefix="groupfs-home-", ignore_cleanup_errors=True
        )
        os.environ.update(dict.fromkeys(HOMES, config.home.name))


def pytest_unconfigure(config):
    if hasattr(config, "home"):
        config.home.cleanup()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
