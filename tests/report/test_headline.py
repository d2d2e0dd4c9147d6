"""The first words of the page: right in number, and what a reader asks first."""

import copy

import numpy as np
import pandas as pd
import pytest

from benchmarks.tables import TablesMissing, folder
from groupfs import GroupFS
from groupfs.report import render, summarize
from groupfs.report.cards import FEW_MORE, group_cards, outside_cards
from tests.support.report_tables import blocks, fitted


def told(selector, X):
    summary = summarize(selector, X)
    return summary["headline"], summary["selected"]


def kept(selector, groups):
    """A selector as if it had kept other groups."""
    selector = copy.copy(selector)
    selector._group_mask = np.isin(np.arange(selector.n_groups_), groups)
    features = np.concatenate([selector.groups_[j] for j in groups]) if groups else []
    support = np.isin(np.arange(selector.n_features_in_), features)
    selector._support_mask = support
    return selector


@pytest.mark.parametrize(
    ("which", "headline", "selected"),
    [
        ([0, 1], "2 groups found, both kept", "10 of 15 features are selected: those of the"),
        ([1], "2 groups found, 1 kept", "5 of 15 features are selected: those of the group kept."),
        ([], "2 groups found, none kept", "Nothing is selected."),
    ],
)
def test_the_headline_counts_what_is_found_and_kept(mixed, which, headline, selected):
    found = told(kept(mixed[0], which), mixed[1])
    assert found[0] == headline and found[1].startswith(selected)


def test_one_group_and_none_are_told_as_such(nothing):
    assert told(*nothing) == ("No groups found", "Nothing is selected.")
    X, _ = blocks((6,), 2.0, n_samples=80)
    selector = fitted(X, n_groups="auto", max_epochs=5)
    assert told(selector, X) == ("1 group found and kept", "All 6 features are selected.")
    assert told(kept(selector, []), X)[0] == "1 group found, but not kept"


@pytest.mark.parametrize(
    ("settings", "headline", "selected"),
    [
        (
            {"n_features_to_select": 1},
            "2 groups found, 1 in the selection",
            "1 of 15 features is selected, as asked.",
        ),
        (
            {"n_features_to_select": 4},
            "2 groups found, both in the selection",
            "4 of 15 features are selected, as asked.",
        ),
        (
            {"explain": 0.9},
            "2 groups found, both in the selection",
            "10 of 15 features are selected: together they explain 90 % of what the features say,",
        ),
        (
            {"output": "representatives"},
            "2 groups found, both kept",
            "2 of 15 features are selected, one for each group kept.",
        ),
    ],
)
def test_budgets_and_representatives_are_told_as_asked_for(mixed, settings, headline, selected):
    selector = copy.copy(mixed[0]).set_params(**settings)
    selector._select()
    found = told(selector, mixed[1])
    assert found[0] == headline
    n_selected = int(selector.get_support().sum())
    assert found[1].startswith(selected.replace("10 of", f"{n_selected} of"))


def test_names_that_fit_are_shown_and_the_others_counted(mixed):
    summary = summarize(*mixed)
    index = {i: i for i in range(15)}
    names = summary["features"]["name"]
    assert [card["n_more"] for card in group_cards(summary, [0, 1], index)] == [0, 0]
    summary["features"]["name"] = [f"{name} {'of a long name ' * 4}" for name in names]
    for card in group_cards(summary, [0, 1], index):
        assert len(card["chips"]) + card["n_more"] == card["group"]["size"]
        assert card["chips"][0]["is_representative"]
        assert card["n_more"] == 0 or card["n_more"] > FEW_MORE


def test_many_features_in_no_group_are_cut_and_counted(mixed, monkeypatch):
    monkeypatch.setattr("groupfs.report.cards.MOST_OUTSIDE", 3)
    unrelated, constant = outside_cards(summarize(*mixed), {})
    assert unrelated["words"] == "4 go with no other beyond chance"
    assert len(unrelated["chips"]) == 3 and unrelated["n_more"] == 1
    assert constant["words"] == "1 is constant" and constant["n_more"] == 0


@pytest.mark.slow
def test_a_questionnaire_shows_its_five_scales_with_all_their_items():
    try:
        path = folder() / "known-groups" / "bfi.npz"
    except TablesMissing as reason:
        pytest.skip(str(reason))
    if not path.exists():
        pytest.skip("no known-groups/bfi.npz in the folder of tables")
    with np.load(path) as known:
        X = pd.DataFrame(known["X"], columns=known["names"])
    summary = summarize(GroupFS(random_state=0).fit(X), X)
    assert summary["headline"] == "5 groups found, all kept"
    cards = group_cards(summary, range(5), {i: i for i in range(25)})
    scales = [{chip["name"][0] for chip in card["chips"]} for card in cards]
    assert sorted("".join(scale) for scale in scales) == ["A", "C", "E", "N", "O"]
    assert all(len(card["chips"]) == 5 and card["n_more"] == 0 for card in cards)
    page = render(summary)
    assert "A1" in [chip["name"] for card in cards for chip in card["chips"] if chip["is_reversed"]]
    assert len(page.encode()) < 500_000
