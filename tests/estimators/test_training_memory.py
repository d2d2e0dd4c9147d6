"""Trainings that are remembered: which fits share one, and that nothing else changes."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.utils.errors import ParameterError

QUICK = {"max_epochs": 5, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(150, random_state=0)


@pytest.fixture
def trainings(monkeypatch):
    """Count trainings."""
    seen = []
    train = GroupFS._train

    def counted(self, X):
        seen.append(len(X))
        train(self, X)

    monkeypatch.setattr(GroupFS, "_train", counted)
    return seen


def test_a_grid_of_budgets_trains_once_for_each_fold(moons, trainings, tmp_path):
    grid = {
        "select__n_features_to_select": [2, 4, 8],
        "select__output": ["features", "representatives"],
    }
    steps = [("select", GroupFS(**QUICK)), ("classify", LogisticRegression())]
    found = {}
    for memory in (None, str(tmp_path)):
        pipeline = Pipeline(steps).set_params(select__memory=memory)
        search = GridSearchCV(pipeline, grid, cv=2).fit(moons.data, moons.target)
        found[memory] = search.cv_results_["mean_test_score"]
        assert len(trainings) == (1 + 2 * 6 if memory is None else 1 + 2)
        trainings.clear()
    np.testing.assert_array_equal(*found.values())


@pytest.mark.parametrize(
    ("changes", "is_shared"),
    [
        ({"explain": 0.5}, True),
        ({"n_groups_to_select": 1, "allocation": "spread", "output": "scores"}, True),
        ({"verbose": 1}, True),
        ({"n_groups_to_select": "open"}, False),  # trained from more seeds
        ({"n_neighbors": 5}, False),
        ({"random_state": 1}, False),
    ],
)
def test_fits_share_a_training_that_would_be_the_same(
    changes, is_shared, moons, trainings, tmp_path
):
    GroupFS(memory=str(tmp_path), **QUICK).fit(moons.data)
    recalled = GroupFS(memory=str(tmp_path), **{**QUICK, **changes}).fit(moons.data)
    assert len(trainings) == (1 if is_shared else 2)
    fresh = GroupFS(**{**QUICK, **changes}).fit(moons.data)
    np.testing.assert_array_equal(recalled.transform(moons.data), fresh.transform(moons.data))
    np.testing.assert_array_equal(recalled.group_selected_, fresh.group_selected_)
    assert recalled.get_params() == {**fresh.get_params(), "memory": str(tmp_path)}


def test_another_table_is_another_training(moons, trainings, tmp_path):
    frame = pd.DataFrame(moons.data, columns=moons.feature_names)
    selector = GroupFS(memory=joblib.Memory(tmp_path, verbose=0), **QUICK).fit(frame)
    assert selector.get_feature_names_out()[0] in frame
    selector.fit(moons.data)
    assert len(trainings) == 2 and not hasattr(selector, "feature_names_in_")
    selector.fit(frame.rename(columns=str.upper))
    assert len(trainings) == 3


def test_seeds_that_differ_each_time_cannot_be_remembered(moons, tmp_path):
    for state in (None, np.random.RandomState(0)):
        with pytest.raises(ParameterError, match="set random_state to a number"):
            GroupFS(memory=str(tmp_path), random_state=state).fit(moons.data)


def test_what_cannot_be_told_apart_is_not_remembered(moons, tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(store=str(tmp_path / "x.zarr"), data=moons.data)
    with pytest.raises(ParameterError, match="whether it has changed since cannot be told"):
        GroupFS(memory=str(tmp_path / "memory"), **QUICK).fit(stored)
    strange = GroupFS(similarity=lambda a: np.corrcoef(a.T), memory=str(tmp_path / "m"), **QUICK)
    with pytest.raises(ParameterError, match="cannot be hashed, as no lambda can"):
        strange.fit(moons.data)


def test_a_saved_selector_has_no_folder_of_this_machine(moons, tmp_path):
    from groupfs.persistence import load, save

    selector = GroupFS(memory=str(tmp_path / "memory"), **QUICK).fit(moons.data)
    save(selector, tmp_path / "model.skops")
    assert load(tmp_path / "model.skops").memory is None
    assert selector.memory == str(tmp_path / "memory")
