import pytest

from groupfs.report import summarize
from tests.support.report_tables import fitted, moons_table


@pytest.fixture(scope="package")
def table():
    return moons_table()


@pytest.fixture(scope="package")
def selector(table):
    return fitted(table[0])


@pytest.fixture(scope="package")
def summary(selector, table):
    return summarize(selector, table[0], labels=table[1], label_name="moon", source="moons.csv")
