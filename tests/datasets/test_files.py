"""Broken, packed, absent and malformed files are met with sense."""

import dataclasses
import functools
import gzip
import http.server
import io
import shutil
import sys
import threading
import zipfile

import numpy as np
import pooch
import pytest
import scipy.io

from groupfs.datasets import cache, fetch_dataset, readers, registry
from groupfs.datasets.published_files import BrokenFileError, Content

DOWNLOADER = pooch.HTTPDownloader
AMAT = "mnist_background_random_train.amat"

# Files that are broken, packed or absent


def test_truncated_file_is_refused(yale_home):
    whole = (yale_home / "Yale.mat").read_bytes()
    (yale_home / "Yale.mat").write_bytes(whole[:-100])
    with pytest.raises(
        BrokenFileError, match=r"Yale.mat is truncated .*expected cccd29abd2c5; del"
    ):
        fetch_dataset("yale", data_home=yale_home)
    assert not cache.cache_folder().exists()


def test_truncated_archive_is_refused(published, data_home):
    labels = (published / "train-labels-idx1-ubyte.gz").read_bytes()
    (data_home / "train-labels-idx1-ubyte.gz").write_bytes(labels[:-100])
    shutil.copy(published / "train-images-idx3-ubyte.gz", data_home)
    with pytest.raises(BrokenFileError, match="labels-idx1-ubyte.gz cannot be unpacked .*fetch"):
        fetch_dataset("nmnist38", data_home=data_home)


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


def test_absent_is_not_downloaded_against_the_users_will(data_home, monkeypatch):
    monkeypatch.setattr(pooch, "HTTPDownloader", None)
    with pytest.raises(FileNotFoundError, match="Yale.mat is not in"):
        fetch_dataset("yale", data_home=data_home, download_if_missing=False)


@pytest.mark.parametrize(
    ("name", "package", "error"),
    [
        ("lung500", "rdata", ImportError),
        ("heart_disease", "pandas", ImportError),
        ("yale", "pooch", FileNotFoundError),
    ],
)
def test_absent_package_is_named(name, package, error, published, data_home, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    folder = data_home if package == "pooch" else published
    with pytest.raises(error, match=f'{package}.*the extra "data"'):
        fetch_dataset(name, data_home=folder, as_frame=package == "pandas")


# Downloads, from a server on this machine


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
    for name in ("yale", "student"):
        (source,) = registry.REGISTRY[name].sources
        (file,) = source.files
        local = f"http://127.0.0.1:{server.server_port}/{file.url.rsplit('/')[-1]}"
        source = dataclasses.replace(source, files=(dataclasses.replace(file, url=local),))
        entry = dataclasses.replace(registry.REGISTRY[name], sources=(source,))
        monkeypatch.setitem(registry.REGISTRY, name, entry)
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


# Contents that are not what they should be


def mat(**variables):
    file = io.BytesIO()
    scipy.io.savemat(file, variables)
    return file.getvalue()


@pytest.mark.parametrize(
    ("read", "data", "complaint"),
    [
        (readers.read_mat, b"text", "is not a MATLAB file"),
        (readers.read_mat, mat(X=np.ones((3, 2))), "lacks the variable Y"),
        (readers.read_mat, mat(X=np.ones((3, 2)), Y=np.ones(2)), "2 labels"),
        (readers.read_mat, mat(X=np.full((2, 2), np.nan), Y=np.ones(2)), "missing or infinite"),
        (functools.partial(readers.read_rda, variable="a"), b"text", "is not an R data file"),
        (functools.partial(readers.read_csv, n_columns=2), b"\xff\xfe\xff", "is not UTF-8"),
        (functools.partial(readers.read_csv, n_columns=2), b"", "is empty"),
        (functools.partial(readers.read_csv, n_columns=2), b"1,2\n3\n", "has 1 cells in row 2"),
        (functools.partial(readers.read_idx, n_axes=1), b"\0\0\x08", "is not an idx file"),
        (functools.partial(readers.read_idx, n_axes=1), b"\0\0\x0d\1\0\0\0\1\7", "is not an idx"),
        (functools.partial(readers.read_idx, n_axes=1), b"\0\0\x08\1\0\0\0\3\7", "holds 1 values"),
        (functools.partial(readers.read_amat, n_columns=2), b"1 x\n", "is not a table of numbers"),
        (functools.partial(readers.read_amat, n_columns=2), b"1 2 3\n", "has 3 numbers per line"),
        (functools.partial(readers.read_amat, n_columns=2), b"1 nan\n", "missing or infinite"),
        (functools.partial(readers.read_numbers, cells=[["1", ""]]), b"", "cell that is no number"),
    ],
)
def test_malformed_content_is_refused(read, data, complaint):
    with pytest.raises(ValueError, match=f"^some.file .*{complaint}"):
        read(Content("some.file", data, ""))


def test_r_variable_is_asked_for_by_name(published):
    content = Content("lung.rda", (published / "lung.rda").read_bytes(), "")
    with pytest.raises(ValueError, match="lung.rda lacks the variable liver"):
        readers.read_rda(content, "liver")


@pytest.mark.parametrize("found", ([1.0, 2.0], np.ones((2, 2))))
def test_r_variable_must_be_a_matrix_with_names(found, monkeypatch):
    monkeypatch.setattr("rdata.read_rda", lambda _, **settings: {"lung": found})
    with pytest.raises(ValueError, match="lung.rda has no numeric matrix lung with row and column"):
        readers.read_rda(Content("lung.rda", b"", ""), "lung")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([f"{'0 ' * 784}3"] * 20, "has 20 rows"),
        ([f"{'0 ' * 784}11"] * 12000, "labels from 11 to 11"),
        ([f"{'0 ' * 784}3"] * 12000, "fewer than 500 threes or eights"),
    ],
)
def test_other_noisy_digits_are_refused(lines, complaint, data_home):
    (data_home / AMAT).write_text("\n".join(lines))
    with pytest.raises(ValueError, match=complaint):
        fetch_dataset("nmnist38", data_home=data_home)


def test_mnist_files_must_belong_together():
    images = Content("images", b"\0\0\x08\3" + b"\0\0\0\1" * 3 + b"\7", "")
    labels = Content("labels", b"\0\0\x08\1" + b"\0\0\0\1" + b"\7", "")
    with pytest.raises(ValueError, match=r"images has the shape \(1, 1, 1\) and labels 1 labels"):
        registry.REGISTRY["nmnist"].sources[-1].read(images, labels)
