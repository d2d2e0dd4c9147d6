"""Replication by rows: in quarters and halves of them, and what more would show."""

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups
from groupfs.discovery.growth import Curves, logit
from groupfs.report import render, summarize


def scales(n, loading, seed=0):
    """Four scales of six items that go together a little."""
    rng = np.random.default_rng(seed)
    scores = rng.multivariate_normal(np.zeros(4), 0.3 + 0.7 * np.eye(4), n)
    own = np.sqrt(1 - loading**2) * rng.standard_normal((n, 24))
    names = [f"{group}{i}" for group in "abcd" for i in range(6)]
    return pd.DataFrame(np.repeat(loading * scores, 6, axis=1) + own, columns=names)


@pytest.fixture(scope="module")
def grown():
    X = scales(240, 0.5)
    selector = FeatureGroups(random_state=0).fit(X)
    return selector, X, selector.rows_needed(X)


def test_all_rows_show_what_the_fit_says_and_fewer_show_less(grown):
    selector, _, found = grown
    frame = found.to_frame()
    for level, groups in zip(selector.levels_, selector._level_groups, strict=True):
        own = frame[frame["level"] == level.n_groups].set_index("group")
        np.testing.assert_allclose(
            own.loc[np.arange(level.n_groups) + 1, "replication"], groups["replication"]
        )
    assert (frame["replication_1/4"] < frame["replication"]).all()
    assert (
        frame["replication_1/4"].mean()
        < frame["replication_1/2"].mean()
        < frame["replication"].mean()
    )
    levels = found.levels_frame()
    np.testing.assert_allclose(levels["agreement"], [level.agreement for level in selector.levels_])
    assert (levels["agreement_1/4"] < levels["agreement"]).all()


def test_more_rows_show_more_with_an_interval_and_targets_lie_in_order(grown):
    frame = grown[2].to_frame()
    assert (frame["replication_x2_low"] < frame["replication_x2"]).all()
    assert (frame["replication_x2"] < frame["replication_x2_high"]).all()
    assert (frame["rows_75"] < frame["rows_90"]).all()
    assert (frame["rows_75_low"] <= frame["rows_75"]).all()


def test_a_curve_reaches_its_target_at_the_rows_it_tells():
    shown = np.array([[0.3, 0.2], [0.5, 0.4]])
    for curves in (
        Curves.of_levels(np.array([50.0, 100.0]), shown),
        Curves.of_groups(np.array([50.0, 100.0]), shown, 0.6),
    ):
        needed = curves.needed(0.75)[0]
        for j in range(2):
            assert curves.at(needed[j] / 100)[0, j] == pytest.approx(0.75)
    assert logit(np.array([0.0, 1.0])).tolist() == pytest.approx(
        [np.log(0.05 / 0.95), np.log(0.985 / 0.015)]
    )


def test_a_level_that_is_not_clear_is_told_with_the_rows_it_needs():
    X = scales(90, 0.5, seed=3)
    selector = FeatureGroups(random_state=0).fit(X)
    found = selector.rows_needed(X)
    assert found.sentences and "you have 90." in found.sentences[-1]
    assert "this split would need about" in found.sentences[-1]
    assert found.sentences[-1] in str(found)


def test_rows_of_a_pilot_study_are_told_by_its_own_groups(grown):
    selector, _, _ = grown
    found = selector.rows_needed(scales(100, 0.8, seed=5))
    frame = found.to_frame()
    assert frame["rows_75"].max() < 150
    assert set(frame["group"].dropna()) <= {1, 2, 3, 4}


def test_the_fit_is_left_as_it_was(grown):
    selector, X, _ = grown
    before = selector.to_frame()
    selector.rows_needed(X.assign(a0=X["a0"] * 2))
    pd.testing.assert_frame_equal(selector.to_frame(), before)


@pytest.mark.parametrize(
    ("fit", "rows", "says"),
    [
        ({}, slice(12), "12 rows, and halves are compared from 20 on"),
        ({"n_groups": 4}, slice(None), 'fit with n_groups="auto"'),
    ],
)
def test_what_cannot_be_told_is_one_sentence(fit, rows, says):
    X = scales(240, 0.5)
    with pytest.raises(ValueError, match=says):
        FeatureGroups(random_state=0, **fit).fit(X).rows_needed(X[rows])


def test_noise_shows_no_groups(grown):
    noise = scales(240, 0.0)
    with pytest.raises(ValueError, match="X shows no groups"):
        grown[0].rows_needed(noise)


def test_the_report_has_a_section(grown):
    selector, X, found = grown
    page = render(summarize(selector, X, growth=found))
    assert "Would more rows help?" in page and "twice as many" in page


def test_columns_are_found_by_name_and_others_beside_change_nothing(grown):
    selector, X, found = grown
    expected = found.to_frame()
    other = X[X.columns[::-1]].assign(more=X["a0"])
    pd.testing.assert_frame_equal(selector.rows_needed(other).to_frame(), expected)
    with pytest.raises(ValueError, match="X lacks 1 column of the fit: a0"):
        selector.rows_needed(X.drop(columns="a0"))


def test_blocks_of_the_fit_are_taken_out_here_too():
    X = scales(240, 0.7)
    cohort = np.repeat(["one", "two"], 120)
    X.loc[cohort == "two", ["a0", "b0", "c0"]] += 3
    selector = FeatureGroups(random_state=0).fit(X, blocks=cohort)
    told = selector.rows_needed(X, blocks=cohort).to_frame()
    assert sorted(told["group"]) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="blocks was not given, unlike in the fit"):
        selector.rows_needed(X)
