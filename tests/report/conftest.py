import pytest

from groupfs import GroupFS
from groupfs.report import summarize
from tests.support.report_tables import fitted, mixed_table, moons_table, noise_table


@pytest.fixture(scope="package")
def table():
    return moons_table()


@pytest.fixture(scope="package")
def selector(table):
    return fitted(table[0])


@pytest.fixture(scope="package")
def summary(selector, table):
    return summarize(selector, table[0], labels=table[1], label_name="moon", source="moons.csv")


@pytest.fixture(scope="package")
def mixed():
    """A selector that found groups with reversed features, and features in no group; its table."""
    X = mixed_table()
    return GroupFS(random_state=0, max_epochs=20).fit(X), X


@pytest.fixture(scope="package")
def nothing():
    """A selector that found no groups, and its table."""
    X = noise_table()
    return GroupFS(random_state=0).fit(X), X
