import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from tests.support.plots import quick
from tests.support.report_tables import mixed_table, nested_table, noise_table


@pytest.fixture(scope="package")
def moons():
    return load_two_moons(200, random_state=0)


@pytest.fixture(scope="package")
def table(moons):
    return pd.DataFrame(moons.data, columns=moons.feature_names)


@pytest.fixture(scope="package")
def selector(table):
    return quick(table, n_groups=12)


@pytest.fixture(scope="package")
def path(table):
    """A selector of the joint method, which has gates and no p-values."""
    settings = {"n_groups": 12, "sparsities": [0.25, 1, 3], "n_init": 1, "max_epochs": 60}
    return GroupFSPath(random_state=0, **settings).fit(table)


@pytest.fixture(scope="package")
def many_kept(table):
    return quick(table, n_groups=12, n_groups_to_select=10)


@pytest.fixture(scope="package")
def mixed():
    X = mixed_table()
    return quick(X), X


@pytest.fixture(scope="package")
def nested():
    """Six groups, three in each of two broader ones."""
    return quick(nested_table())


@pytest.fixture(scope="package")
def nothing():
    X = noise_table()
    return quick(X), X


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
