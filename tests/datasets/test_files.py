"""Broken, packed, absent and downloaded files."""

import dataclasses
import functools
import gzip
import http.server
import io
import shutil
import sys
import threading
import zipfile

import pooch
import pytest

from groupfs.datasets import fetch, fetch_dataset
from groupfs.datasets.fetch import BrokenFileError

DOWNLOADER = pooch.HTTPDownloader


def test_truncated_file_is_refused(yale_home):
    whole = (yale_home / "Yale.mat").read_bytes()
    (yale_home / "Yale.mat").write_bytes(whole[:-100])
    with pytest.raises(
        BrokenFileError, match=r"Yale.mat is truncated .*expected cccd29abd2c5; del"
    ):
        fetch_dataset("yale", data_home=yale_home)


def test_archive_without_the_file_is_refused(data_home):
    with zipfile.ZipFile(data_home / "METABRIC_RNA_Mutation.csv.zip", "w") as archive:
        archive.writestr("other.csv", "")
    with pytest.raises(BrokenFileError, match="no METABRIC_RNA_Mutation.csv in it.*from Kaggle"):
        fetch_dataset("metabric", data_home=data_home)


def test_a_file_may_be_packed_or_not(published, data_home):
    archive = zipfile.ZipFile(published / "METABRIC_RNA_Mutation.csv.zip")
    archive.extract("METABRIC_RNA_Mutation.csv", data_home)
    (data_home / "Yale.mat.gz").write_bytes(gzip.compress((published / "Yale.mat").read_bytes()))
    assert fetch_dataset("metabric", data_home=data_home).data.shape == (1904, 489)
    assert fetch_dataset("yale", data_home=data_home).data.shape == (165, 1024)


def test_absent_and_offline_says_where_to_get_it(data_home):
    with pytest.raises(FileNotFoundError) as error:
        fetch_dataset("allaml", data_home=data_home)
    for part in (f"ALLAML.mat is not in {data_home}", "scikit-feature", "ConnectionError"):
        assert part in str(error.value)
    assert not list(data_home.iterdir())


@pytest.mark.parametrize(("name", "where"), [("lung500", "CRAN package"), ("metabric", "Kaggle")])
def test_absent_without_an_address_is_not_downloaded(name, where, data_home, monkeypatch):
    monkeypatch.setattr(pooch, "HTTPDownloader", None)
    with pytest.raises(FileNotFoundError, match=f"get it from .*{where}.* and put it there"):
        fetch_dataset(name, data_home=data_home)


@pytest.mark.parametrize(
    ("name", "package", "error"),
    [
        ("lung500", "rdata", ImportError),
        ("yale", "pooch", FileNotFoundError),
    ],
)
def test_absent_package_is_named(name, package, error, published, data_home, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    folder = data_home if package == "pooch" else published
    with pytest.raises(error, match=f'{package}.*the extra "data"'):
        fetch_dataset(name, data_home=folder)


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A folder served on this machine under the addresses of the registry."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(pooch, "HTTPDownloader", DOWNLOADER)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))
    )
    for name in ("Yale.mat", "student-mat.csv"):
        file = fetch.FILES[name]
        local = f"http://127.0.0.1:{server.server_port}/{file.url.rsplit('/')[-1]}"
        monkeypatch.setitem(fetch.FILES, name, dataclasses.replace(file, url=local))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


def test_absent_file_is_downloaded_into_the_folder(published, served, tmp_path):
    shutil.copy(published / "Yale.mat", served)
    table = fetch_dataset("yale", data_home=tmp_path / "new")
    assert table.data.shape == (165, 1024)
    assert (tmp_path / "new" / "Yale.mat").read_bytes() == (published / "Yale.mat").read_bytes()


def test_archive_within_an_archive_is_opened(published, served, data_home):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.write(published / "student-mat.csv", "student-mat.csv")
    with zipfile.ZipFile(served / "student+performance.zip", "w") as archive:
        archive.writestr("student.zip", inner.getvalue())
    assert fetch_dataset("student", data_home=data_home).data.shape == (395, 30)
    assert (data_home / "student+performance.zip").is_file()


def test_broken_download_leaves_nothing_behind(served, data_home):
    (served / "Yale.mat").write_bytes(b"<html>not found</html>")
    with pytest.raises(BrokenFileError, match="the download from http.*Yale.mat is truncated or"):
        fetch_dataset("yale", data_home=data_home)
    assert not list(data_home.iterdir())
