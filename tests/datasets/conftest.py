"""Folders of published files, real and made up, and no network."""

import shutil

import pooch
import pytest

from benchmarks.tables import TablesMissing, folder


@pytest.fixture(scope="module")
def published():
    """The folder of published files; it is never written to."""
    try:
        return folder()
    except TablesMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home, no folder named by the environment, no network."""

    def offline():
        raise ConnectionError("no network")

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GROUPFS_DATA", raising=False)
    monkeypatch.setattr(pooch, "HTTPDownloader", offline)
    return tmp_path / "home"


@pytest.fixture
def data_home(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def yale_home(published, data_home):
    shutil.copyfile(published / "Yale.mat", data_home / "Yale.mat")
    return data_home
