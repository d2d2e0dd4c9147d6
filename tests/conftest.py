import numpy as np
import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_datasets(tmp_path_factory):
    """Keep parsed copies of tables in a temporary folder, not in the home of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPFS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)
