import pytest

from tests.support.command import KEPT_OF_TWO, people, run

for package in ("typer", "skops", "jinja2"):
    pytest.importorskip(package)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def table(folder):
    path = folder / "people.csv"
    people().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def selected(folder, table):
    """One run that many tests look at: what it printed, and its folder of results."""
    out = folder / "results"
    result = run("select", table, "--label", "outcome", *KEPT_OF_TWO, "-o", out)
    assert result.exit_code == 0, result.output
    return result, out
