"""What the report says in words follows from what the selector did."""

import copy
import re

import numpy as np
import pytest

from groupfs import Replication
from groupfs.report import groups_table, summarize
from groupfs.utils.false_discovery import adjust_p_values
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


def test_four_sentences_tell_how_many_how_much_which_and_how_sure(summary):
    how_many, how_much, which, how_sure = summary["sentences"]
    assert "200 samples of 20 features" in how_many and "10 features" in how_many
    assert re.match(r"\d+ of 20 features explain 9\d % of what the table's 20 features", how_much)
    first = summary["groups"][0]
    assert which.startswith(f"Group 1 around {first['representative_name']}")
    assert re.match(r"The features of 2 of \d+ groups go together more than", how_sure)


def test_noise_is_not_sold_as_a_finding():
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(SelectionWarning, match="stands out from chance"):
        selector = fitted(X, n_groups=3)
    how_many, _, how_sure = summarize(selector, X)["sentences"]
    assert how_many.endswith("3 groups were found; none of them is kept.")
    assert how_sure.startswith("No group goes together beyond chance")
    with pytest.warns(SelectionWarning, match="stands out from chance"):
        selector = fitted(X, n_groups=3, n_groups_to_select="open")
    assert "as a guess, not as a finding" in summarize(selector, X)["sentences"][3]


def test_every_feature_has_the_reason_of_its_fate(summary):
    for row in groups_table(summary):
        group = summary["groups"][row["group"] - 1]
        assert "gate" not in row["reason"]
        if row["kept"]:
            assert "beyond chance (adjusted p < 0.001), 100 % found again" in row["reason"]
        else:
            assert ("not found again" in row["reason"]) == (not group["found_again"])
            doubt = "not beyond chance" in row["reason"] or "alone" in row["reason"]
            assert doubt == (not group["stands_out"])


def test_a_spread_budget_is_the_reason_where_there_is_one(table):
    selector = fitted(table[0], n_features_to_select=4, allocation="spread")
    summary = summarize(selector, table[0])
    reasons = {row["reason"] for row in groups_table(summary) if row["kept"]}
    assert all("the budget of 4 takes its 2 most central, this among them" in r for r in reasons)
    assert "a budget of 4 features was spent on 2 of them" in summary["sentences"][0]


def test_a_feature_is_chosen_for_what_it_explains_on_top_of_those_before_it(table):
    selector = fitted(table[0], n_features_to_select=4)
    summary = summarize(selector, table[0])
    reasons = [summary["reasons"][i] for i in summary["features"]["reason"]]
    first, second, _, last, late = (int(i) for i in selector.feature_order_[:5])
    group, share = selector.group_labels_ + 1, selector.explained_
    first_share = int(100 * share[0])
    assert reasons[first] == f"In group {group[first]}: chosen 1st, explains {first_share} %."
    assert reasons[second].endswith(" % on top of the one before it.")
    gain = np.floor(1000 * (share[3] - share[2])) / 10
    assert f"chosen 4th, explains {gain:.1f} % on top of the 3 before it." in reasons[last]
    assert reasons[late] == f"In group {group[late]}: comes 5th in the order; the budget was 4."
    assert "a budget of 4 features was spent on 2 of them" in summary["sentences"][0]
    words = f"4 of 20 features explain {int(100 * share[3])} % of what"
    assert summary["sentences"][1].startswith(words)


def test_a_budget_within_some_groups_has_no_position_in_the_order(table):
    selector = fitted(table[0], n_features_to_select=3, n_groups_to_select=2)
    summary = summarize(selector, table[0])
    reasons = [summary["reasons"][i] for i in summary["features"]["reason"]]
    for i in selector.get_support(indices=True):
        group = selector.group_labels_[i] + 1
        assert reasons[i].startswith(f"In group {group}: the budget of 3 takes ")
        assert "of its features, the first in the order, this among them" in reasons[i]


def test_a_share_to_explain_is_the_reason_where_it_is_asked_for(mixed):
    selector, X = copy.copy(mixed[0]), mixed[1]
    selector.set_params(explain=0.9)._select()
    n_features = int(selector.get_support().sum())
    summary = summarize(selector, X)
    words = f"the {n_features} features that explain 90 % come from 2 of them."
    assert summary["sentences"][0].endswith(words)
    reasons = {row["reason"] for row in groups_table(summary) if not row["kept"]}
    limit = f"in the order; the first {n_features} explain 90 %, as asked."
    assert all(limit in reason or "Constant" in reason for reason in reasons)


@pytest.mark.slow
def test_groups_that_a_budget_may_not_take_are_dropped_for_that():
    X, known = blocks((3, 3, 3), 2.0)
    settings = {"groups": known, "n_features_to_select": 2, "n_groups_to_select": 2}
    selector = fitted(X, **settings, **QUICK)
    reasons = reasons_of(selector, X)
    (reason,) = reasons[2]
    assert reason.endswith("number 3, and the first 2 are kept.")
    assert all("the budget of 2 takes 1 of its features" in r for r in reasons[0] | reasons[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "found", "rank", "words"),
    [
        (
            {},
            {"group_pvalues_": [0.9, 0.001, 0.9]},
            0,
            "(adjusted p = 0.9), so the budget",
        ),
        ({"n_groups_to_select": 2}, {"group_scores_": [0.3, -0.1, -0.2]}, 1, "not above zero, so"),
        ({}, {"group_pvalues_": [1e-9] * 3}, 2, "the budget of 2 goes to groups before it"),
    ],
)
def test_a_spread_budget_passes_over_groups_that_are_worth_less(settings, found, rank, words):
    selector, X = three_blocks(n_features_to_select=2, allocation="spread", **settings)
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
        ([0.9, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a cohesion beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a cohesion beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.9, 0.9], 0, "the first in rank, as all gates are closed"),
    ],
)
def test_a_closed_group_is_kept_for_the_reason_the_selector_has(gates, p_values, kept, words):
    selector, X = three_blocks(sparsity=0.7)
    with pytest.warns(SelectionWarning):
        reselected(selector, group_gates_=gates, group_pvalues_=p_values)
    assert np.flatnonzero(selector.group_selected_).tolist() == [kept]
    (reason,) = reasons_of(selector, X)[kept]
    assert words in reason and "gate closed" in reason


def test_reasons_say_that_gates_decide_where_they_do(table):
    selector = fitted(table[0], sparsity=0.7)
    for j, (reason,) in enumerate(reasons_of(selector, table[0])):
        if selector.group_selected_[j]:
            assert "gate open, cohesion beyond chance (adjusted p " in reason
        assert ("gate closed" in reason) == (selector.group_gates_[j] <= 0.5)


def test_a_group_that_is_not_found_again_is_dropped_for_that():
    selector, X = three_blocks()
    reselected(
        selector,
        group_pvalues_=[1e-9, 1e-9, 1e-9],
        group_reliability_=[0.97, 0.9, 0.12],
        _group_replicates=[True, True, False],
    )
    first, _, last = reasons_of(selector, X)
    assert "beyond chance (adjusted p < 0.001), 97 % found again" in "".join(first)
    assert "not found again in halves of the rows (12 %, no more than chance)" in "".join(last)
    text = summarize(selector, X)["sentences"][3]
    assert text.endswith("2 of these are found again in halves of the rows.")


def test_features_in_no_group_have_the_reason_why(mixed):
    selector, X = mixed
    summary = summarize(selector, X)
    reason = {row["feature"]: row["reason"] for row in groups_table(summary)}
    assert reason["same"].startswith("Constant")
    for name, p_value in zip(
        X.columns, adjust_p_values(selector.relatedness_pvalues_), strict=True
    ):
        if name.startswith("noise"):
            assert reason[name].startswith("Unrelated: it goes with no other feature beyond chance")
            assert f"(adjusted p = {p_value:.2g})" in reason[name]
    last = summary["sentences"][-1]
    assert last == "4 features go with no other beyond chance (unrelated) and 1 is constant."


def test_loose_features_are_told_from_unrelated_ones(mixed):
    selector, X = copy.copy(mixed[0]), mixed[1]
    selector.group_labels_ = selector.group_labels_.copy()
    outside = int(selector.groups_[0][0])
    selector.group_labels_[outside] = -1
    selector.groups_ = [selector.groups_[0][1:], *selector.groups_[1:]]
    summary = summarize(selector, X)
    assert summary["table"]["in_no_group"] == {"constant": 1, "unrelated": 4, "loose": 1}
    text = summary["reasons"][summary["features"]["reason"][outside]]
    assert text.startswith("Loose: it goes with others beyond chance (adjusted p < 0.001)")
    assert ", 1 is near to no group (loose) and 1 is constant." in summary["sentences"][-1]


@pytest.mark.parametrize(
    ("allocation", "words"),
    [
        ("explain", r"\(adjusted p = [\d.]+\); chosen 1[12]th, after all"),
        ("spread", "budget of 12 takes it"),
    ],
)
def test_a_budget_beyond_the_groups_says_what_it_was_spent_on(mixed, allocation, words):
    selector, X = copy.copy(mixed[0]), mixed[1]
    selector.set_params(n_features_to_select=12, allocation=allocation)._select()
    summary = summarize(selector, X)
    assert "was spent on 2 of them and on 2 features in no group." in summary["sentences"][0]
    outside = [row for row in groups_table(summary) if row["kept"] and row["group"] is None]
    assert len(outside) == 2
    assert all(re.search(words, row["reason"]) for row in outside)


@pytest.mark.parametrize(
    ("agreement", "others", "words"),
    [
        (
            [0.9, 0.1, 0.2],
            [],
            "common with 2 groups (agreement 0.90; 1 at most, 0 by chance).",
        ),
        ([0.9, 0.1, 0.9], [4], "; 4 groups replicate as well."),
        ([0.1, 0.2, 0.1], [], "No number of groups is found again in halves of the rows; "),
    ],
)
def test_what_halves_of_the_rows_agree_on_is_told(mixed, agreement, others, words):
    selector, X = copy.copy(mixed[0]), mixed[1]
    selector.replication_ = Replication(
        np.array([2, 3, 4]), np.array(agreement), np.array(agreement)
    )
    summary = summarize(selector, X)
    assert summary["replication"]["others"] == others
    assert words in summary["sentences"][4]


def test_one_group_is_told_as_one():
    X, _ = blocks((6,), 2.0, n_samples=80)
    sentences = summarize(fitted(X, n_groups="auto", max_epochs=5), X)["sentences"]
    assert "1 group was found and is kept, with 6 features." in sentences[0]
    assert "is the only one (" in sentences[2]
    assert sentences[3].startswith("The features of the group go together more than")


def test_a_table_without_groups_is_told_in_one_sentence(nothing):
    selector, X = nothing
    assert summarize(selector, X)["sentences"] == [
        "In 60 samples of 8 features, no feature goes with another beyond chance: the table shows "
        "no groups, and nothing is selected."
    ]
    selector = fitted(X, n_groups="auto", n_features_to_select=3)
    spent = summarize(selector, X)
    assert "the budget was spent on the 3 features that explain most" in spent["sentences"][0]
    assert spent["sentences"][1].startswith("3 of 8 features explain 4")
    kept = [row["reason"] for row in groups_table(spent) if row["kept"]]
    assert len(kept) == 3 and all("; chosen " in reason for reason in kept)
    selector.set_params(allocation="spread")._select()
    kept = [row["reason"] for row in groups_table(summarize(selector, X)) if row["kept"]]
    assert len(kept) == 3 and all("as there are no groups" in reason for reason in kept)


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
