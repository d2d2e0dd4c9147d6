"""What the report says in words follows from what the selector did."""

import re

import numpy as np
import pytest

from groupfs.report import groups_table, summarize
from groupfs.utils.warn import ConstantColumnsWarning, SelectionWarning
from tests.support.report_tables import blocks, fitted

QUICK = {"n_groups": "auto", "max_epochs": 2}


def reasons_of(selector, X):
    """The reasons given for the features of every group, first in rank first."""
    summary = summarize(selector, X)
    reasons = [summary["reasons"][i] for i in summary["features"]["reason"]]
    return [{reasons[i] for i in group} for group in selector.groups_]


def three_blocks(**settings):
    """Three groups of three features, fitted as known groups."""
    X, known = blocks((3, 3, 3), 2.0)
    return fitted(X, groups=known, **QUICK, **settings), X


def reselected(selector, **attributes):
    """A selector as if it had found other scores, p-values or gates."""
    for name, values in attributes.items():
        setattr(selector, name, np.array(values))
    selector._select()
    return selector


def test_three_sentences_tell_how_many_which_and_how_sure(summary):
    how_many, which, how_sure = summary["sentences"]
    assert "200 samples of 20 features" in how_many and "10 features" in how_many
    first = summary["groups"][0]
    assert which.startswith(f"Group 1 around {first['representative_name']}")
    assert re.match(r"2 of \d+ scores stand out", how_sure)


def test_noise_is_not_sold_as_a_finding():
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(SelectionWarning, match="stands out from chance"):
        selector = fitted(X, n_groups=3)
    text = summarize(selector, X)["sentences"][2]
    assert text.startswith("No group's score stands out from chance") and "guess" in text


def test_every_feature_has_the_reason_of_its_fate(summary):
    for row in groups_table(summary):
        group = summary["groups"][row["group"] - 1]
        if row["kept"]:
            assert "gate open, score beyond chance" in row["reason"]
        else:
            assert ("gate closed" in row["reason"]) == (not group["open"])
            doubt = "not beyond chance" in row["reason"] or "alone" in row["reason"]
            assert doubt == (not group["stands_out"])


def test_a_budget_is_the_reason_where_there_is_one(table):
    summary = summarize(fitted(table[0], n_features_to_select=4), table[0])
    reasons = {row["reason"] for row in groups_table(summary) if row["kept"]}
    assert all("the budget of 4 takes its 2 most central, this among them" in r for r in reasons)
    assert "a budget of 4 features was spent on 2 of them" in summary["sentences"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "found", "rank", "words"),
    [
        ({}, {"group_pvalues_": [0.9, 0.001, 0.9]}, 0, "beyond chance (p = 0.9), so the budget"),
        ({"n_groups_to_select": 2}, {"group_scores_": [0.3, -0.1, -0.2]}, 1, "not above zero, so"),
        ({}, {"group_pvalues_": [1e-9] * 3}, 2, "the budget of 2 goes to groups before it"),
    ],
)
def test_a_spread_budget_passes_over_groups_that_are_worth_less(settings, found, rank, words):
    selector, X = three_blocks(n_features_to_select=2, **settings)
    (reason,) = reasons_of(reselected(selector, **found), X)[rank]
    assert words in reason


def test_a_whole_budget_goes_to_groups_in_rank_order():
    reasons = reasons_of(*three_blocks(n_features_to_select=4, allocation="whole"))
    assert all("takes all 3" in reason for reason in reasons[0])
    assert any("its 1 most central, not this one" in reason for reason in reasons[1])
    assert all("the budget of 4 goes to groups before it" in reason for reason in reasons[2])


@pytest.mark.slow
@pytest.mark.parametrize("output", ["features", "representatives"])
def test_a_number_of_groups_is_the_reason_though_there_is_a_budget(output):
    with pytest.warns(SelectionWarning, match="give only"):
        selector, X = three_blocks(n_features_to_select=8, n_groups_to_select=1, output=output)
    (reason,) = reasons_of(selector, X)[1]
    assert "number 2, and only the first is kept" in reason and "budget" not in reason
    spent = int(selector.get_support().sum())
    assert f"of a budget of 8 features {spent} w" in summarize(selector, X)["sentences"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gates", "p_values", "kept", "words"),
    [
        ([0.9, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a score beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a score beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.9, 0.9], 0, "the first in rank, as all gates are closed"),
    ],
)
def test_a_closed_group_is_kept_for_the_reason_the_selector_has(gates, p_values, kept, words):
    selector, X = three_blocks()
    with pytest.warns(SelectionWarning):
        reselected(selector, group_gates_=gates, group_pvalues_=p_values)
    assert np.flatnonzero(selector.group_selected_).tolist() == [kept]
    (reason,) = reasons_of(selector, X)[kept]
    assert words in reason and "gate closed" in reason


def test_reasons_say_what_stands_out_where_gates_do_not_count(table):
    selector = fitted(table[0], n_groups_to_select="significant")
    reasons = reasons_of(selector, table[0])
    kept = [reasons[j] for j in np.flatnonzero(selector.group_selected_)]
    assert kept and all("score beyond chance (p " in r and "gate" not in r for (r,) in kept)


def test_constant_columns_are_listed_last_with_their_reason(table):
    X = table[0].assign(same=1.0)
    with pytest.warns(ConstantColumnsWarning):
        selector = fitted(X)
    row = groups_table(summarize(selector, X))[-1]
    assert row["feature"] == "same" and row["group"] is None and not row["kept"]
    assert row["reason"].startswith("Constant")


@pytest.mark.slow
def test_known_groups_keep_their_names(table):
    X = table[0]
    known = {"first": X.columns[:5], "second": X.columns[5:10], "rest": X.columns[10:]}
    summary = summarize(fitted(X, groups=known, **QUICK), X)
    assert {row["group"] for row in groups_table(summary)} == set(known)
    assert "were given" in summary["sentences"][0]
