"""Features and relations of groups within conditions: reversed scoring, features that are off."""

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups
from groupfs.conditions import compare
from groupfs.conditions.invariance import turned_groups
from groupfs.report import render, summarize

NAMES = [f"{group}{i}" for group in "abc" for i in range(6)]
QUICK = {"n_permutations": 99, "n_bootstrap": 50}


def table(n=150, seed=0):
    """Three scales that go together, in three conditions, of which the third is higher on one."""
    rng = np.random.default_rng(seed)
    days = np.repeat(["one", "two", "three"], n)
    scores = rng.multivariate_normal(np.zeros(3), 0.35 + 0.65 * np.eye(3), 3 * n)
    scores[days == "three", 0] += 0.8
    values = 0.65 * np.repeat(scores, 6, axis=1) + 0.76 * rng.standard_normal((3 * n, 18))
    return pd.DataFrame(values, columns=NAMES), pd.Series(days, name="day")


def known(X):
    return FeatureGroups(groups=[name[0] for name in X.columns], random_state=0).fit(X)


def test_nothing_is_said_where_scales_are_the_same(recwarn):
    X, day = table()
    found = compare(known(X), X, day, **QUICK)
    assert found.remarks == [] and not [w for w in recwarn if "scored" in str(w.message)]
    features = found.features_frame()
    assert features["state"].eq("holds").all() and not features["is_off"].any()
    assert len(features) == 18 * 3
    assert not found.relations_frame()["changes"].any()


def test_items_scored_the_other_way_round_in_a_condition_are_named():
    X, day = table()
    X.loc[day == "two", ["b1", "b4"]] *= -1
    with pytest.warns(UserWarning, match="reversed scoring"):
        found = compare(known(X), X, day, **QUICK)
    assert len(found.remarks) == 1
    assert found.remarks[0].startswith("Where day is two, b") and "b1" in found.remarks[0]
    features = found.features_frame().set_index(["feature", "condition"])["state"]
    assert set(features.index[features == "reversed"]) == {("b1", "two"), ("b4", "two")}


def test_a_scale_that_is_turned_as_a_whole_is_told_by_its_relations():
    X, day = table()
    X.loc[day == "one", [f"c{i}" for i in range(6)]] *= -1
    with pytest.warns(UserWarning, match="as a whole looks scored the other way round"):
        found = compare(known(X), X, day, **QUICK)
    (said,) = found.remarks
    assert said.startswith('Where day is one, group "c" (c') and "or else" not in said
    relations = found.relations_frame()
    changing = relations[relations["changes"]]
    assert {
        tuple(sorted(pair)) for pair in zip(changing["group"], changing["other"], strict=True)
    } == {
        ("a", "c"),
        ("b", "c"),
    }
    assert (changing.loc[changing["condition"] == "one", "r_high"] < 0).all()


def test_relations_are_correlations_of_scores_within_conditions():
    X, day = table()
    selector = known(X)
    found = compare(selector, X, day, **QUICK)
    scores = selector.scores_frame(X)
    rows = found.relations_frame().set_index(["group", "other", "condition"])["r"]
    order = list(dict.fromkeys(found.groups))
    for condition in ("one", "two", "three"):
        r = scores[day == condition].corr().to_numpy()
        for i in range(3):
            for j in range(i):
                pair = (order[j], order[i], condition)
                assert rows[pair] == pytest.approx(r[i, j], abs=1e-9)


def test_a_feature_that_a_condition_raises_beyond_its_group_is_off_and_others_are_not():
    X, day = table(300)
    X.loc[day == "one", "a2"] += 0.7
    features = compare(known(X), X, day, **QUICK).features_frame()
    off = features[features["is_off"]]
    assert set(off["feature"]) == {"a2"} and "one" in set(off["condition"])
    raised = off.set_index("condition").loc["one", "beyond"]
    assert 0.2 < raised < 0.7  # in deviations of the feature, beside the mean of all conditions


def test_differences_of_two_conditions_have_intervals():
    X, day = table()
    found = compare(known(X), X, day, n_permutations=99, n_bootstrap=400)
    frame = found.differences_frame().set_index(["group", "condition", "other"])
    assert len(frame) == 9
    rows = found.to_frame().set_index(["group", "condition"])
    row = frame.loc[("a", "one", "three")]
    expected = rows.loc[("a", "one"), "mean"] - rows.loc[("a", "three"), "mean"]
    assert row["mean"] == pytest.approx(expected) and row["mean_high"] < 0
    assert row["cohesion_low"] < 0 < row["cohesion_high"]
    row = frame.loc[("b", "one", "three")]
    assert row["mean_low"] < 0 < row["mean_high"]


def test_of_two_groups_that_are_turned_against_each_other_the_one_whose_mean_jumps_is_named():
    relation = np.array([[0.5], [0.5], [-0.5]])
    off = np.array([[0.1, 0.1, 0.2], [0.5, 0.4, 6.0]])
    assert turned_groups(relation, [(0, 1)], np.full(3, 200), off) == [(2, 1, [0], [0])]


def test_the_page_tells_remarks_features_and_relations():
    X, day = table()
    X.loc[day == "two", ["b1", "b4"]] *= -1
    selector = known(X)
    with pytest.warns(UserWarning, match="reversed scoring"):
        found = compare(selector, X, day, **QUICK)
    summary = summarize(selector, X, conditions=found)
    page = render(summary)
    assert "unlike elsewhere: this looks like reversed scoring" in page
    assert "Features that differ beyond their group" in page
    assert {row["feature"] for row in summary["conditions"]["features"]} >= {"b1", "b4"}


@pytest.mark.parametrize("seed", range(8))
def test_a_group_that_holds_in_one_condition_alone_is_not_called_reversed(seed):
    X, day = table(seed=seed)
    rng = np.random.default_rng(seed)
    X.loc[day != "one", [f"c{i}" for i in range(6)]] = rng.standard_normal((300, 6))
    assert compare(known(X), X, day, **QUICK).remarks == []


@pytest.mark.parametrize("sizes", [(200, 100), (150, 150)])
@pytest.mark.parametrize("seed", range(4))
def test_of_two_conditions_the_one_that_was_turned_after_the_fit_is_named(sizes, seed):
    X, day = table(sizes[0], seed)
    X, day = X[day != "three"], day[day != "three"]
    rows = np.r_[0 : sizes[0], sizes[0] : sizes[0] + sizes[1]]
    X, day = X.iloc[rows].reset_index(drop=True), day.iloc[rows].reset_index(drop=True)
    selector = known(X)
    X.loc[day == "two", ["b1", "b4"]] *= -1
    with pytest.warns(UserWarning, match="reversed scoring"):
        (said,) = compare(selector, X, day, **QUICK).remarks
    assert said.startswith("Where day is two, b") and "b1" in said and "b4" in said
