"""Fetching: every table looks as published; broken, absent and damaged files are met with sense."""

import dataclasses
import functools
import gzip
import http.server
import io
import json
import shutil
import sys
import threading
import zipfile

import numpy as np
import pooch
import pytest
import scipy.io

from benchmarks.tables import TablesMissing, folder
from groupfs.datasets import DATASETS, cache, fetch_dataset, readers, registry
from groupfs.datasets.files import BrokenFileError, Content

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


def parsed_copies(place):
    return sorted(place.glob("groupfs-parsed/*"))


# What the tables look like


@pytest.mark.parametrize("name", DATASETS)
def test_table_looks_as_expected(name, published):
    expected = json.loads((published / "expected.json").read_text())[name]
    table = fetch_dataset(name, data_home=published)
    assert table.data.shape == (expected["n_samples"], expected["n_features"])
    assert table.data.dtype == np.float64 and table.target.dtype == np.int64
    assert len(table.feature_names) == len(set(table.feature_names)) == expected["n_features"]
    assert list(table.image_shape or ()) == expected["image_shape"]
    assert len(table.target_names) == table.target.max() + 1
    if "X_sum" in expected:
        assert table.data.sum() == pytest.approx(expected["X_sum"], abs=5e-4)
        assert np.abs(table.data).max() == pytest.approx(expected["X_abs_max"], abs=5e-5)
        np.testing.assert_allclose(table.data[0, :5], expected["X_first_row"], atol=5e-5)
        assert table.feature_names[:3] == expected["feature_names_head"]
        assert table.target_names == expected["class_names"]
    if name != "nmnist":
        assert np.bincount(table.target).tolist() == expected["class_counts"]


@pytest.mark.parametrize("name", FACES)
def test_faces_stand_upright(name, published):
    table = fetch_dataset(name, data_home=published)
    face = table.data.mean(axis=0).reshape(table.image_shape, order="F")

    def likeness(mirrored):
        return np.corrcoef(face.ravel(), mirrored.ravel())[0, 1]

    assert likeness(face[:, ::-1]) > 0.75 and likeness(face[::-1]) < 0.5
    assert np.abs(np.diff(face, axis=0)).mean() < 0.3 * face.std()  # neighbours are alike


def test_pixel_names_say_where_the_pixel_is(published):
    table = fetch_dataset("pie10p", data_home=published)
    image = np.array(table.feature_names).reshape(table.image_shape, order="F")
    assert image[54, 3] == "px_r054_c003"


def test_noisy_digits_have_the_class_frequencies_of_mnist(published):
    raw = gzip.decompress((published / "train-labels-idx1-ubyte.gz").read_bytes())
    digits = np.frombuffer(raw, np.uint8, offset=8)
    drawn = fetch_dataset("nmnist", data_home=published).target
    assert np.abs(np.bincount(drawn) - np.bincount(digits) / 5).max() < 1


def test_noisy_digits_are_upright_digits_on_uniform_noise(published):
    table = fetch_dataset("nmnist", data_home=published)
    corner = table.data[:, 0]
    assert np.abs(np.histogram(corner, 8, (0, 256))[0] - 1500).max() < 150
    one = table.data[table.target == 1].mean(axis=0).reshape(28, 28, order="F") - corner.mean()
    assert np.argmax(one.sum(axis=0)) in (13, 14)  # a stroke in the middle column
    assert one.sum(axis=0).max() > 1.5 * one.sum(axis=1).max()


def test_noisy_digits_are_never_darker_than_the_digit(published):
    raw = gzip.decompress((published / "train-images-idx3-ubyte.gz").read_bytes())
    originals = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 28, 28).transpose(0, 2, 1)
    row = fetch_dataset("nmnist38", data_home=published).data[0]
    could_be = (originals.reshape(-1, 784) <= row).all(axis=1)
    assert could_be.sum() == 1


def test_the_draw_of_noisy_digits_is_fixed(published):
    X, y = fetch_dataset("nmnist", data_home=published, return_X_y=True)
    assert X.sum() == 1334321462
    assert X[0, :5].tolist() == [76, 119, 177, 241, 29]
    assert y[:8].tolist() == [3, 6, 6, 6, 0, 3, 6, 2]


def test_threes_and_eights_are_rows_of_the_noisy_digits(published):
    digits = fetch_dataset("nmnist", data_home=published)
    some = fetch_dataset("nmnist38", data_home=published)
    rows = np.flatnonzero(np.isin(digits.target, (3, 8)))
    place = {digits.data[row].tobytes(): digits.target[row] for row in rows}
    found = [place[row.tobytes()] for row in some.data]
    assert found == [int(some.target_names[code]) for code in some.target]


@pytest.mark.parametrize("name", ("nmnist", "nmnist38"))
def test_the_published_noisy_digits_are_preferred(name, data_home, monkeypatch):
    lines = [f"{'0.25 ' * 783}0.5 {digit}.0" for digit in range(10)]
    (data_home / AMAT).write_text("\n".join(lines * 1200))
    table = fetch_dataset(name, data_home=data_home)
    assert table.data[0, 782:].tolist() == [0.25, 0.5]
    assert AMAT in table.DESCR and "made from MNIST" not in table.DESCR
    monkeypatch.setattr(np, "loadtxt", None)
    np.testing.assert_array_equal(fetch_dataset(name, data_home=data_home).data, table.data)


# The face of the function


def test_as_frame(published):
    table = fetch_dataset("heart_disease", data_home=published, as_frame=True)
    plain = fetch_dataset("heart_disease", data_home=published)
    assert plain.frame is None
    assert list(table.frame.columns) == [*plain.feature_names, "target"]
    np.testing.assert_array_equal(table.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(table.target.to_numpy(), plain.target)


@pytest.mark.parametrize("as_frame", (False, True))
def test_return_X_y(as_frame, published):
    X, y = fetch_dataset("student", data_home=published, return_X_y=True, as_frame=as_frame)
    assert X.shape == (395, 30) and y.shape == (395,)
    assert hasattr(X, "columns") == as_frame


def test_names_are_the_callers_to_change(published):
    fetch_dataset("heart_disease", data_home=published).feature_names[0] = "changed"
    shutil.rmtree(cache.default_home())
    assert fetch_dataset("heart_disease", data_home=published).feature_names[0] == "age"


def test_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match="no dataset 'jale'; choose one of allaml, .*student"):
        fetch_dataset("jale")


def test_the_folder_is_given_or_in_the_environment_or_in_the_home(
    yale_home, home, tmp_path, monkeypatch
):
    with pytest.raises(FileNotFoundError, match=str(home / "groupfs_data")):
        fetch_dataset("yale")
    monkeypatch.setenv("GROUPFS_DATA", str(yale_home))
    assert fetch_dataset("yale").data.shape == (165, 1024)
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        fetch_dataset("pie10p", data_home=tmp_path / "elsewhere")


@pytest.mark.parametrize("name", DATASETS)
def test_every_table_says_what_it_is(name):
    description = registry.REGISTRY[name].description
    assert "CC BY 4.0" in description or "research use" in description or "No terms" in description
    assert all(source.files for source in registry.REGISTRY[name].sources)


# Files that are broken, packed or absent


def test_truncated_file_is_refused(yale_home):
    whole = (yale_home / "Yale.mat").read_bytes()
    (yale_home / "Yale.mat").write_bytes(whole[:-100])
    with pytest.raises(
        BrokenFileError, match=r"Yale.mat is truncated .*expected cccd29abd2c5; del"
    ):
        fetch_dataset("yale", data_home=yale_home)
    assert not parsed_copies(yale_home)


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
    monkeypatch.setattr(pooch, "retrieve", None)
    with pytest.raises(FileNotFoundError, match=f"get it from .*{where}.* and put it there"):
        fetch_dataset(name, data_home=data_home)


def test_absent_is_not_downloaded_against_the_users_will(data_home, monkeypatch):
    monkeypatch.setattr(pooch, "retrieve", None)
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
    place = data_home if package == "pooch" else published
    with pytest.raises(error, match=f'{package}.*the extra "data"'):
        fetch_dataset(name, data_home=place, as_frame=package == "pandas")


# Downloads, from a server on this machine


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A folder served on this machine under the addresses of the registry."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(pooch, "retrieve", RETRIEVE)
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


# Parsed copies


def no_reader(*_, **__):
    raise AssertionError("the file was read again")


def test_second_time_the_parsed_copy_is_used(yale_home, monkeypatch):
    first = fetch_dataset("yale", data_home=yale_home)
    monkeypatch.setattr(scipy.io, "loadmat", no_reader)
    (yale_home / "Yale.mat").unlink()
    second = fetch_dataset("yale", data_home=yale_home)
    assert first.keys() == second.keys() and first.feature_names == second.feature_names
    assert first.target_names == second.target_names and first.DESCR == second.DESCR
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)


def truncated(copy):
    copy.write_bytes(copy.read_bytes()[:-1000])


def garbled(copy):
    copy.write_bytes(b"not an archive")


def emptied(copy):
    copy.write_bytes(b"")


def of_another_table(copy):
    arrays = dict(np.load(copy))
    np.savez(copy, **arrays | {"data": arrays["data"][:5]})


def pickled(copy):
    arrays = dict(np.load(copy))
    np.savez(copy, **arrays | {"data": arrays["data"].astype(object)})


@pytest.mark.parametrize("damage", (truncated, garbled, emptied, of_another_table, pickled))
def test_damaged_copy_is_ignored_and_made_anew(damage, yale_home, monkeypatch):
    before = fetch_dataset("yale", data_home=yale_home).data
    (copy,) = parsed_copies(yale_home)
    damage(copy)
    np.testing.assert_array_equal(fetch_dataset("yale", data_home=yale_home).data, before)
    monkeypatch.setattr(scipy.io, "loadmat", no_reader)
    np.testing.assert_array_equal(fetch_dataset("yale", data_home=yale_home).data, before)
    assert parsed_copies(yale_home) == [copy]


def test_copy_of_an_older_recipe_is_not_used(yale_home, monkeypatch):
    fetch_dataset("yale", data_home=yale_home)
    monkeypatch.setattr(cache, "RECIPES_VERSION", cache.RECIPES_VERSION + 1)
    fetch_dataset("yale", data_home=yale_home)
    assert len(parsed_copies(yale_home)) == 2


def test_read_only_folder_stays_untouched(yale_home):
    yale_home.chmod(0o555)
    assert fetch_dataset("yale", data_home=yale_home).data.shape == (165, 1024)
    assert [path.name for path in yale_home.iterdir()] == ["Yale.mat"]
    assert len(parsed_copies(cache.default_home())) == 1


def test_a_table_is_read_where_no_copy_can_be_kept(yale_home, home):
    yale_home.chmod(0o555)
    home.write_text("a file where the home should be")
    assert fetch_dataset("yale", data_home=yale_home).data.shape == (165, 1024)


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
    monkeypatch.setattr("rdata.read_rda", lambda _: {"lung": found})
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
