"""Folders of published files, real and made up, and no network."""

import shutil

import pooch
import pytest

from benchmarks.tables import TablesMissing, folder

FACES = ("yale", "ar10p", "pie10p")
RETRIEVE = pooch.retrieve
AMAT = "mnist_background_random_train.amat"


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

    def offline(url, **_):
        raise ConnectionError(f"no route to {url}")

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GROUPFS_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", offline)
    return tmp_path / "home"


@pytest.fixture
def data_home(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def yale_home(published, data_home):
    shutil.copyfile(published / "Yale.mat", data_home / "Yale.mat")
    return data_home
