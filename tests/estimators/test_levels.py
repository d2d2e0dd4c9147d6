"""Levels of groups, the place of every feature, and what is selected where nothing is asked for."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from groupfs import FeatureGroups
from groupfs.result import Result
from tests.discovery.test_tree import nested


@pytest.fixture(scope="module")
def drawn():
    return nested(np.random.default_rng(0))


@pytest.fixture(scope="module")
def fitted(drawn):
    return FeatureGroups(random_state=0).fit(drawn[0])


def test_levels_are_nested_and_one_of_them_is_shown(drawn, fitted):
    _, of_facet, of_trait = drawn
    broad, narrow = fitted.levels_
    assert (broad.n_groups, narrow.n_groups) == (3, 12)
    assert adjusted_rand_score(broad.labels, of_trait) == 1
    assert adjusted_rand_score(narrow.labels, of_facet) == 1
    np.testing.assert_array_equal(narrow.labels, fitted.group_labels_)
    np.testing.assert_array_equal(narrow.parent[narrow.labels], broad.labels)
    assert (broad.parent == -1).all() and broad.agreement > 0.9
    assert len(narrow.split) == 12 and (narrow.split <= 1).all()


@pytest.mark.parametrize(("level", "n_groups"), [("broad", 3), (3, 3), ("narrow", 12), (12, 12)])
def test_another_level_needs_no_second_fit_and_is_that_of_one(level, n_groups, drawn, fitted):
    there = fitted.at_level(level)
    again = FeatureGroups(level=level, random_state=0).fit(drawn[0])
    assert there.n_groups_ == n_groups and there.level == level and fitted.level == "auto"
    for name, value in vars(again).items():
        if name.endswith("_") and name not in ("levels_", "groups_"):
            np.testing.assert_array_equal(getattr(there, name), value, err_msg=name)
    np.testing.assert_array_equal(there.feature_order_, fitted.feature_order_)
    np.testing.assert_array_equal(there.get_support(), again.get_support())
    assert there.set_params(output="scores").transform(drawn[0]).shape == (800, n_groups)


def test_a_level_that_is_not_there_is_refused_with_those_that_are(drawn, fitted):
    with pytest.raises(ValueError, match="level=5, but the table has levels of 3 and 12 groups"):
        fitted.at_level(5)
    with pytest.raises(ValueError, match="levels of 3 and 12 groups; choose one"):
        FeatureGroups(level=4).fit(drawn[0])
    with pytest.raises(ValueError, match="has one level, of 2 groups; n_groups=3 cuts the tree"):
        FeatureGroups(level=3).fit(drawn[0][:, drawn[1] < 2])
    with pytest.raises(ValueError, match="both n_groups=3 and level='broad' are given"):
        FeatureGroups(level="broad", n_groups=3).fit(drawn[0])
    with pytest.raises(ValueError, match="known groups have no levels"):
        FeatureGroups(level="broad", groups=drawn[1]).fit(drawn[0])


def test_levels_survive_pickling_setting_and_frames_of_polars(drawn, fitted):
    loaded = pickle.loads(pickle.dumps(fitted)).at_level("broad")
    np.testing.assert_array_equal(loaded.group_labels_, fitted.levels_[0].labels)
    frame = pl.DataFrame(drawn[0], schema=[f"q{i}" for i in range(60)])
    set_later = FeatureGroups(random_state=0).set_params(level="broad").fit(frame)
    np.testing.assert_array_equal(set_later.group_labels_, fitted.levels_[0].labels)


def test_a_grid_search_goes_over_levels_and_budgets(drawn):
    steps = make_pipeline(FeatureGroups(output="scores", random_state=0), KMeans(3, random_state=0))
    grid = {"featuregroups__level": ["broad", "narrow"]}
    search = GridSearchCV(steps, grid, cv=2).fit(drawn[0])
    assert search.best_params_["featuregroups__level"] in ("broad", "narrow")
    steps.set_params(featuregroups__output="features")
    grid = {"featuregroups__n_features_to_select": [3, 6], "featuregroups__level": ["broad"]}
    assert len(GridSearchCV(steps, grid, cv=2).fit(drawn[0]).cv_results_["params"]) == 2


def test_the_first_lines_name_the_levels_and_say_where_one_is_near_the_line(fitted):
    told = Result.of(fitted).levels_sentence
    assert told.startswith("Groups at 2 levels: 3 and 12 (halves of the rows agree by")
    assert told.endswith("shown are 12.") and "the line" not in told
    near = Result.of(fitted)
    object.__setattr__(near.levels[1], "agreement", 0.72)
    assert "That on 12 is near 0.70, the line" in near.levels_sentence


@pytest.fixture(scope="module")
def places():
    """Two groups of six, a feature of both, a duplicate, a stranger, few values, a constant."""
    rng = np.random.default_rng(2)
    F = rng.standard_normal((500, 2))
    X = 0.75 * F[:, np.repeat([0, 1], 6)] + 0.66 * rng.standard_normal((500, 12))
    both = 0.55 * F.sum(1) + 0.6 * rng.standard_normal(500)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    few = np.where(np.arange(500) < 12, rng.standard_normal(500), np.nan)
    frame = frame.assign(both=both, twin=3 * X[:, 2] + 1, stranger=rng.standard_normal(500))
    return FeatureGroups(random_state=0).fit(frame.assign(few=few))


def test_every_feature_has_a_verdict_and_a_sentence(places):
    frame = places.to_frame().set_index("feature")
    words = frame["verdict"]
    assert (words[[f"x{i}" for i in range(12)]] == "member").all()
    assert words["both"] == "between two" and words["twin"] == "duplicate of"
    assert words["stranger"] == "alone" and words["few"] == "too few rows"
    assert frame["place"]["twin"] == "The same as x2 up to scale."
    assert frame["place"]["few"].startswith("Has only 12 values")
    assert "of the halves of the rows put it, and goes with group" in frame["place"]["both"]
    assert places.duplicate_of_.tolist()[13] == 2 and (places.duplicate_of_ >= 0).sum() == 1
    second = frame.loc["both", "second_group"]
    assert second != frame.loc["both", "group"] and frame.loc["both", "second_strength"] > 0.4


def test_stability_is_the_share_of_halves_that_put_a_feature_into_its_group(places):
    members = places.group_labels_ >= 0
    assert (places.feature_stability_[:12] > 0.95).all()
    assert not places.feature_stability_[~members].any()
    assert places.feature_stability_[12] <= places.feature_stability_[:12].min()


def test_nothing_asked_for_selects_what_explains_95_percent_of_the_kept_groups(fitted):
    k = int(fitted.get_support().sum())
    assert fitted.explained_[k - 1] >= 0.95 > fitted.explained_[k - 2]
    assert set(fitted.get_support(indices=True)) == set(fitted.feature_order_[:k])
    every = fitted.select(n_groups_to_select="significant")
    assert fitted.group_kept_.all() and every.support.all() and k < 60
    assert fitted.select(n_features_to_select=5).support.sum() == 5
    assert fitted.select(explain=0.5).support.sum() < k
    assert fitted.select(n_per_group=1).support.sum() == 12
