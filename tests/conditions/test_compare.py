"""Groups within categories: what is measured, what is said to change, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from scipy.stats import sem
from scipy.stats import t as student

from groupfs import FeatureGroups, GroupFS
from groupfs.conditions import compare
from tests import reference
from tests.support.planted_groups import SIZE, in_order, known, planted

QUICK = {"n_permutations": 199, "n_bootstrap": 50}


@pytest.fixture(scope="module")
def table():
    """Group 1 is there in "b" alone, group 2 is higher in "c", group 0 is the same everywhere."""
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b", "c"], 300, p=[0.5, 0.3, 0.2])
    shared = np.full((300, 3), 0.5)
    shared[labels != "b", 1] = 0
    X = planted(shared, rng)
    X[labels == "c", 2 * SIZE :] += 1
    X[:, 1] *= -1  # a feature that runs against its group
    return X, labels


@pytest.fixture(scope="module")
def selector(table):
    return known(table[0])


@pytest.fixture(scope="module")
def result(selector, table):
    return compare(selector, *table, **QUICK)


def test_groups_that_change_are_found_and_others_are_not(selector, result):
    assert in_order(selector, result.mean_change.found(0.05)).tolist() == [False, False, True]
    assert in_order(selector, result.cohesion_change.found(0.05)).tolist() == [False, True, False]
    assert np.abs(in_order(selector, result.mean_change.z)[2]).argmax() == 2
    assert in_order(selector, result.cohesion_change.z)[1].argmax() == 1


def test_means_and_cohesion_are_those_of_the_rows_of_the_condition(selector, table, result):
    X, labels = table
    own = selector.groups_, selector.centrality_, selector.group_signs_
    scores = reference.row_scores((X - X.mean(0)) / X.std(0), *own, 0.5)
    for k, condition in enumerate("abc"):
        inside = labels == condition
        np.testing.assert_allclose(result.mean.value[:, k], scores[inside].mean(0), atol=1e-12)
        Z = (X[inside] - X[inside].mean(0)) / X[inside].std(0)
        for j, group in enumerate(selector.groups_):
            expected = reference.mean_correlation(Z[:, group], selector.group_signs_[group])
            assert result.cohesion.value[j, k] == pytest.approx(expected)


@pytest.mark.parametrize(("size", "signed"), [(40, False), (40, True), (SIZE, True)])
def test_the_thirty_most_central_features_are_correlated_with_their_signs(size, signed, rng):
    X = planted(np.full((120, 2), 0.5), rng, size=size)
    X[:, 0] *= -1
    selector = known(X, size, signed=signed)
    result = compare(selector, X, np.arange(120) % 2, **QUICK)
    group = selector.groups_[0]
    central = group[np.argsort(-selector.centrality_[group])[:30]]
    expected = reference.mean_correlation(X[::2, central], selector.group_signs_[central])
    assert result.cohesion.value[0, 0] == pytest.approx(expected)


def test_intervals_are_about_as_wide_as_donors_differ(rng):
    blocks = np.repeat(np.arange(12), 15)
    X = planted(np.full((180, 2), 0.5), rng)
    X += 3 * np.repeat(rng.standard_normal((12, 2)), SIZE, axis=1)[blocks]
    selector = known(X)
    settings = {"n_permutations": 9, "n_bootstrap": 1000}
    result = compare(selector, X, blocks % 2, blocks=blocks, **settings)
    ignored = compare(selector, X, blocks % 2, **settings)
    own = selector.groups_, selector.centrality_, selector.group_signs_
    score = reference.row_scores((X - X.mean(0)) / X.std(0), *own, 0.5)[:, 0]
    donors = np.array([score[blocks == b].mean() for b in range(0, 12, 2)])
    low, high = student.interval(0.95, 5, scale=sem(donors))
    width = result.mean.high[0, 0] - result.mean.low[0, 0]
    assert width == pytest.approx(high - low, rel=0.15)
    assert width > 2 * (ignored.mean.high[0, 0] - ignored.mean.low[0, 0])


def test_the_same_number_gives_the_same_result(selector, table, result):
    again = compare(selector, *table, **QUICK)
    other = compare(selector, *table, random_state=1, **QUICK)
    pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
    pd.testing.assert_frame_equal(again.changes_frame(), result.changes_frame())
    assert (other.mean.low != result.mean.low).any()
    np.testing.assert_allclose(other.mean.value, result.mean.value)


def test_frames_have_a_row_per_group_and_condition_and_intervals_hold_their_values(result):
    frame, changes = result.to_frame(), result.changes_frame()
    assert len(frame) == 9 and len(changes) == 3
    row = frame[(frame["group"] == result.groups[0]) & (frame["condition"] == "b")].iloc[0]
    assert row["mean"] == result.mean.value[0, 1] and row["n_samples"] == result.n_samples[1]
    assert row["cohesion_high"] == result.cohesion.high[0, 1]
    assert changes["mean_q_value"].tolist() == result.mean_change.q_values.tolist()
    assert changes["cohesion_changes"].sum() == 1
    for name in ("cohesion", "mean"):
        assert frame[name].between(frame[f"{name}_low"], frame[f"{name}_high"]).all()


@pytest.mark.parametrize(
    ("missing", "container"), [(None, list), (np.nan, list), (pd.NA, pd.Series)]
)
def test_samples_without_a_condition_are_left_out_and_said(selector, table, missing, container):
    X, labels = table
    gaps = np.array([missing] * 40 + labels[40:].tolist(), dtype=object)
    with pytest.warns(UserWarning, match="40 of 300 samples have no condition and were left out"):
        result = compare(selector, X, container(gaps), **QUICK)
    assert result.conditions == ["a", "b", "c"]
    assert result.n_samples.tolist() == [(labels[40:] == k).sum() for k in "abc"]


def test_conditions_keep_their_name_and_order_and_rare_ones_are_left_out_and_said(selector, table):
    X, labels = table
    labels = np.array(["rare"] * 7 + labels[7:].tolist())
    ordered = pd.Series(pd.Categorical(labels, ["c", "a", "x", "rare", "b"]), name="dose")
    with pytest.warns(UserWarning, match=r"fewer than 10 samples were left out: rare \(7\)"):
        result = compare(selector, X, ordered, **QUICK)
    assert result.conditions == ["c", "a", "b"] and result.name == "dose"
    assert result.n_samples.tolist() == [(labels == k).sum() for k in "cab"]


def test_a_single_feature_has_a_mean_but_no_cohesion(rng):
    X = rng.standard_normal((80, 5))
    X[:, :4] += rng.standard_normal((80, 1))
    X[:40, 4] += 3
    result = compare(known(X, 4), X, np.repeat([1, 2], 40), **QUICK)
    alone = result.sizes.index(1)
    assert np.isnan(result.cohesion.value[alone]).all() and result.mean_change.found(0.05)[alone]
    p_values, q_values = result.cohesion_change.p_values, result.cohesion_change.q_values
    assert np.isnan(p_values[alone]) and q_values[1 - alone] == p_values[1 - alone]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"conditions": ["a"] * 300}, "1 of 1 conditions have 10 samples or more"),
        ({"conditions": range(300)}, "0 of 300 conditions .* use groupfs.conditions.curves"),
        ({"conditions": ["a", "b"] * 20}, "conditions has 40 entries but X has 300 samples"),
        ({"blocks": ["x"] * 299 + [None]}, "1 samples that have a condition have no block"),
        ({"blocks": ["x"] * 299}, "blocks has 299 entries but X has 300 samples"),
        ({"confidence": 95}, "confidence=95 is no share; give a number between 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(selector, table, given, message):
    with pytest.raises(ValueError, match=message):
        compare(selector, table[0], **{"conditions": table[1], **given}, **QUICK)


def test_a_selector_without_groups_is_refused(rng):
    noise = rng.standard_normal((100, 6))
    with pytest.warns(UserWarning, match="No feature is related to another"):
        nothing = FeatureGroups(random_state=0).fit(noise)
    with pytest.raises(ValueError, match="found no groups, so there is nothing to compare"):
        compare(nothing, noise, np.arange(100) % 2)


def test_groups_of_the_joint_method_are_compared_too(table):
    joint = GroupFS(n_groups=3, max_epochs=2, random_state=0).fit(table[0])
    assert compare(joint, *table, **QUICK).mean.value.shape == (joint.n_groups_, 3)


@pytest.mark.parametrize("container", [sp.csr_matrix, torch.from_numpy, pd.DataFrame])
def test_tables_of_any_library_give_the_same(selector, table, result, container):
    X, labels = table
    other = compare(selector, container(X), pd.Categorical(labels), **QUICK)
    np.testing.assert_allclose(other.mean.value, result.mean.value, atol=1e-9)
    np.testing.assert_allclose(other.cohesion.value, result.cohesion.value, atol=1e-9)
    assert other.conditions == result.conditions
