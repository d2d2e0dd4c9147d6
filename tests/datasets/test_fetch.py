"""Every table looks as published."""

import json

import numpy as np
import pytest

from groupfs.datasets import DATASETS, fetch_dataset

FACES = ("yale", "ar10p", "pie10p")


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


def test_the_draw_of_noisy_digits_is_fixed(published):
    X, y = fetch_dataset("nmnist", data_home=published, return_X_y=True)
    assert X.sum() == 1334321462
    assert X[0, :5].tolist() == [76, 119, 177, 241, 29]
    assert y[:8].tolist() == [3, 6, 6, 6, 0, 3, 6, 2]


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
