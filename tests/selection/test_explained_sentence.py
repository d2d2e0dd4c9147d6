from types import SimpleNamespace

import numpy as np
import pytest

from groupfs.selection.explained_sentence import (
    count_related,
    enough_features,
    explained_sentence,
    selection_sentence,
    write_share,
)


def fitted(n_features=4, p_values=None, weights=None, selected=(), **parameters):
    """A selector that has ordered its features last to first, of which the first are constant."""
    explained = parameters.pop("explained", [0.5, 0.8, 0.95, 1.0])
    support = np.isin(np.arange(n_features), selected)
    found = {
        "n_features_in_": n_features,
        "n_groups_": 2,
        "feature_order_": np.arange(n_features)[::-1][: len(explained)],
        "explained_": np.array(explained),
        "feature_weights_": np.full(n_features, 0.25) if weights is None else np.array(weights),
        "relatedness_pvalues_": None if p_values is None else np.array(p_values),
        "get_support": lambda: support,
    }
    usual = {"n_features_to_select": None, "explain": None}
    return SimpleNamespace(**found, **{**usual, **parameters})


@pytest.mark.parametrize(
    ("n_features", "words"),
    [
        (1, "1 of 4 features explains 50 % of what the table's 4 features say."),
        (2, "2 of 4 features explain 80 % of what the table's 4 features say."),
    ],
)
def test_the_sentence_counts_one_and_many(n_features, words):
    assert explained_sentence(fitted(), n_features) == words


def test_related_features_are_named_where_others_are_known_not_to_be():
    related, varying = [1e-9, 1e-9, 1e-9, 0.7], "the table's 4 features that vary say."
    selector = fitted(p_values=related, weights=[0.3, 0.3, 0.4, 0])
    assert explained_sentence(selector, 2).endswith("what the table's 3 related features say.")
    alone = fitted(p_values=[1e-9, 0.7, 0.7, 0.7], weights=[1, 0, 0, 0])
    assert explained_sentence(alone, 2).endswith("what the table's 1 related feature says.")
    assert explained_sentence(fitted(n_features=1004), 2).endswith(varying)
    assert explained_sentence(fitted(n_features=1004), 2).startswith("2 of 1,004 features explain")


def test_all_features_count_where_those_that_go_with_none_have_weight():
    """So it is where more groups are asked for than related features can fill."""
    assert count_related(fitted(p_values=[1e-9, 1e-9, 0.7, 0.7])) == 4
    assert count_related(fitted(p_values=[0.7, 0.8, 0.9, 0.7])) == 4


def test_a_budget_is_told_with_what_it_explains():
    selector = fitted(selected=[2, 3], n_features_to_select=2)
    assert selection_sentence(selector).startswith("2 of 4 features explain 80 %")


@pytest.mark.parametrize(
    "parameters",
    [
        {"selected": [2, 3]},
        {"selected": [0, 3], "n_features_to_select": 2},
        {"n_features_to_select": 2},
    ],
)
def test_without_a_budget_or_with_one_spent_otherwise_it_tells_how_many_are_enough(parameters):
    assert selection_sentence(fitted(**parameters)).startswith("3 of 4 features explain 95 %")


def test_nothing_is_told_of_a_table_without_groups_unless_there_is_a_budget():
    selector = fitted()
    selector.n_groups_ = 0
    assert selection_sentence(selector) is None
    selector = fitted(selected=[3], n_features_to_select=1)
    selector.n_groups_ = 0
    assert selection_sentence(selector).startswith("1 of 4 features explains 50 %")


def test_enough_is_the_smallest_number_that_explains_so_much():
    assert enough_features(fitted()) == 3
    assert enough_features(fitted(explained=[0.5, 0.9 - 1e-12, 0.95, 1])) == 2


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "less than 1 %"),
        (0.0099, "less than 1 %"),
        (0.29, "29 %"),
        (0.8999, "89 %"),
        (0.9 - 1e-12, "90 %"),
        (0.9994, "99 %"),
        (0.9995, "100 %"),
    ],
)
def test_a_share_is_never_told_as_more_than_it_is(share, text):
    assert write_share(share) == text
