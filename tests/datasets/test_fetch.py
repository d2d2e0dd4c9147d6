"""Every table looks as published, and a parsed copy serves the second time."""

import gzip
import hashlib
import json

import numpy as np
import pytest
import scipy.io

from groupfs.datasets import DATASETS, cache, fetch_dataset, registry

FACES = ("yale", "ar10p", "pie10p")
AMAT = "mnist_background_random_train.amat"


def parsed_copies(folder=None):
    return sorted((folder or cache.cache_folder()).glob("*"))


# What the tables look like


@pytest.mark.slow
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
    two = fetch_dataset("nmnist38", data_home=published)
    rows = np.flatnonzero(np.isin(digits.target, (3, 8)))
    digit_of = {digits.data[row].tobytes(): digits.target[row] for row in rows}
    found = [digit_of[row.tobytes()] for row in two.data]
    assert found == [int(two.target_names[code]) for code in two.target]


@pytest.mark.slow
def test_the_published_noisy_digits_are_preferred(data_home, monkeypatch):
    lines = [f"{'0.25 ' * 783}0.5 {digit}.0" for digit in range(10)]
    (data_home / AMAT).write_text("\n".join(lines * 1200))
    table = fetch_dataset("nmnist38", data_home=data_home)
    assert table.data[0, 782:].tolist() == [0.25, 0.5]
    assert AMAT in table.DESCR and "made from MNIST" not in table.DESCR
    monkeypatch.setattr(np, "loadtxt", None)
    again = fetch_dataset("nmnist38", data_home=data_home)
    np.testing.assert_array_equal(again.data, table.data)


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
    first = fetch_dataset("heart_disease", data_home=published)
    first.feature_names[0] = "changed"
    parsed_copies()[0].unlink()  # so that the names of the parser itself serve again
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


def test_damaged_copy_is_ignored_and_made_anew(yale_home, monkeypatch):
    before = fetch_dataset("yale", data_home=yale_home).data
    (copy,) = parsed_copies()
    copy.write_bytes(copy.read_bytes()[:-1000])
    np.testing.assert_array_equal(fetch_dataset("yale", data_home=yale_home).data, before)
    monkeypatch.setattr(scipy.io, "loadmat", no_reader)
    np.testing.assert_array_equal(fetch_dataset("yale", data_home=yale_home).data, before)
    assert parsed_copies() == [copy]


def test_copy_of_an_older_parser_is_not_used(yale_home, monkeypatch):
    fetch_dataset("yale", data_home=yale_home)
    monkeypatch.setattr(cache, "PARSERS_VERSION", cache.PARSERS_VERSION + 1)
    fetch_dataset("yale", data_home=yale_home)
    assert len(parsed_copies()) == 2


@pytest.mark.parametrize("mode", (0o755, 0o555))
def test_the_folder_of_published_files_is_only_read(mode, yale_home):
    def found():
        return [(p.name, hashlib.sha256(p.read_bytes()).hexdigest()) for p in yale_home.iterdir()]

    yale_home.chmod(mode)
    before = found(), yale_home.stat().st_mtime_ns
    assert fetch_dataset("yale", data_home=yale_home).data.shape == (165, 1024)
    assert (found(), yale_home.stat().st_mtime_ns) == before
    assert len(parsed_copies()) == 1


def test_the_cache_folder_is_in_the_environment_or_in_the_home(
    yale_home, home, tmp_path, monkeypatch
):
    assert home in cache.cache_folder().parents
    monkeypatch.setenv("GROUPFS_CACHE", str(tmp_path / "cache"))
    fetch_dataset("yale", data_home=yale_home)
    assert len(parsed_copies(tmp_path / "cache")) == 1 and not home.exists()


def test_a_table_is_read_where_no_copy_can_be_kept(yale_home, home):
    home.write_text("a file where the home should be")
    assert fetch_dataset("yale", data_home=yale_home).data.shape == (165, 1024)
