"""One result answers what a report, a notebook, a frame or a figure asks."""

from dataclasses import replace

import numpy as np
import pytest

from groupfs.groups import Groups, Request
from groupfs.result import Result
from groupfs.selection.select import select

NAN = float("nan")
#: Two groups of two; x4 is unrelated, x5 between groups, x6 constant.
GROUPS = Groups(
    members=[np.array([0, 1]), np.array([2, 3])],
    labels=np.array([0, 0, 1, 1, -1, -1, -1]),
    signs=np.array([1, -1, 1, 1, 0, 0, 0]),
    centrality=np.array([0.9, 0.8, 0.6, 0.7, 0, 0, 0]),
    representatives=np.array([0, 3]),
    smoothness=np.array([0.3, 0.2]),
    p_values=np.array([1e-9, 0.4]),
    replication=np.array([0.97, 0.12]),
    replicates=np.array([True, False]),
)
ORDER = np.array([0, 3, 1, 2, 5, 4])
EXPLAINED = np.array([0.5, 0.8, 0.9 - 1e-12, 0.95, 1.0, 1.0])
RELATED = np.array([1e-9, 1e-9, 1e-9, 1e-9, 0.7, 1e-9, NAN])
USUAL = Request(None, None, "features", 0.01)
TWO_WHOLE = {"n_features": 2, "covers": True}
THREE_OF_TWO = {"n_features": 3, "n_groups": 2}
USUAL_SHARE = {"n_features": 4, "explain": 0.95, "is_default": True}
ONE_GROUP = {"n_per_group": 1, "n_groups": 1}
TWO_EACH = {"n_per_group": 1, "n_features": 2}


def result(groups=GROUPS, related=RELATED, weights=None, **asked):
    chosen = select(groups, ORDER, replace(USUAL, **asked))
    weights = np.array([0.2, 0.2, 0.2, 0.2, 0, 0.2, 0]) if weights is None else weights
    names = [f"x{i}" for i in range(7)]
    return Result(names, groups, ORDER, EXPLAINED, weights, related, chosen)


def test_features_in_no_group_are_unrelated_between_groups_or_constant():
    found = {kind: of.tolist() for kind, of in result().in_no_group.items()}
    assert found == {"unrelated": [4], "between": [5], "constant": [6]}
    every = {kind: of.tolist() for kind, of in result(related=None).in_no_group.items()}
    # all that vary took part
    assert every == {"unrelated": [], "between": [], "constant": [4, 5, 6]}


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0, 0), None),
        ((1, 0, 0), "Features in no group: 1 is unrelated (x0)."),
        (
            (3, 1, 2),
            "Features in no group: 3 are unrelated (x0, x1, x2); 1 is related, but near to no "
            "group (x0); 2 are constant (x0, x1).",
        ),
    ],
)
def test_features_in_no_group_are_told_in_one_sentence(counts, words):
    found, kinds = result(), ("unrelated", "between", "constant")
    vars(found)["in_no_group"] = dict(zip(kinds, map(range, counts), strict=True))
    assert found.in_no_group_sentence == words


def test_enough_is_the_smallest_number_that_explains_90_percent():
    assert result().n_enough == 3


def test_the_variance_explained_is_that_of_related_features_unless_all_took_part():
    assert result().n_related == 5 and result().explained_words == "5 related features"
    assert result(weights=np.full(7, 0.2)).n_related == 6
    assert result(related=None).explained_words == "6 features that vary"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "The first 3 of 7 features explain 90 % of the variance of the 5 related features."),
        ({"n_features": 1}, "1 of 7 features explains 50 % of the variance of the 5 related"),
        # spent in another order than that of the features
        (TWO_WHOLE, "The first 3 of 7 features explain 90 %"),
    ],
)
def test_a_budget_is_told_with_what_it_explains_else_how_many_are_enough(asked, words):
    assert result(**asked).explained_sentence.startswith(words)


def test_nothing_is_told_of_a_table_without_groups_unless_there_is_a_budget():
    none = np.zeros(0)
    fields = {"representatives": none.astype(int), "smoothness": none, "p_values": none}
    nothing = {"members": [], "labels": np.full(7, -1), "replication": none, "replicates": None}
    empty = replace(GROUPS, **fields, **nothing)
    assert result(empty).explained_sentence is None and result(empty).kept_sentence == (
        "No groups, 0 of 7 features selected"
    )
    assert result(empty, n_features=1).explained_sentence.startswith("1 of 7 features explains")


@pytest.mark.parametrize(
    ("asked", "feature", "reason"),
    [
        ({}, 1, "In group 1: coheres (adjusted p < 0.001, replication 0.97)."),
        ({}, 2, "In group 2: does not cohere beyond chance (adjusted p = 0.4)."),
        ({}, 4, "Unrelated to every other feature (adjusted p = 0.7)."),
        ({}, 5, "Related to others (adjusted p < 0.001), but near to no group."),
        ({}, 6, "Constant."),
        ({"alpha": 0.5}, 2, "In group 2: not found again in halves of the rows, replication 0.12."),
        ({"n_groups": 1}, 0, "In group 1: number 1 of the 1 asked for."),
        ({"n_groups": 1}, 2, "In group 2: number 2, but only 1 asked for."),
        ({"n_features": 2}, 0, "In group 1: chosen 1st, explains 50 %."),
        ({"n_features": 2}, 3, "In group 2: chosen 2nd, explains 30 % on top of those before it."),
        ({"n_features": 2}, 2, "In group 2: comes 4th in the order; the budget is 2."),
        ({"n_features": 2}, 6, "Constant."),
        (
            {"n_features": 2, "explain": 0.8},
            1,
            "In group 1: comes 3rd in the order; the first 2 explain 80 %.",
        ),
        (
            {"n_features": 6},
            4,
            "Unrelated to every other feature (adjusted p = 0.7); chosen 6th, explains nothing, as "
            "those before it explain all.",
        ),
        (THREE_OF_TWO, 2, "In group 2: not among the 1 of 2 features that the budget of 3 takes."),
        (THREE_OF_TWO, 3, "In group 2: among the 1 of 2 features that the budget of 3 takes."),
        (TWO_WHOLE, 3, "In group 2: the budget of 2 goes to other groups."),
        # nothing was asked for: what is not kept is not selected
        (USUAL_SHARE, 1, "In group 1: chosen 3rd, explains 10 % on top of those before it."),
        (USUAL_SHARE, 3, "In group 2: does not cohere beyond chance (adjusted p = 0.4)."),
        (USUAL_SHARE, 5, "Related to others (adjusted p < 0.001), but near to no group."),
        (ONE_GROUP, 1, "In group 1: x0 represents it; number 1 of the 1 asked for."),
        (
            TWO_EACH,
            3,
            "In group 2: represents it; does not cohere beyond chance (adjusted p = 0.4).",
        ),
    ],
)
def test_every_feature_has_the_reason_of_its_fate(asked, feature, reason):
    assert result(**asked).reasons[feature] == reason


@pytest.mark.parametrize(
    ("gates", "reasons"),
    [
        ([0.9, 0.1], ["gate open", "gate closed"]),
        ([0.1, 0.1], ["gate closed, but the first in rank", "gate closed"]),
    ],
)
def test_gates_are_the_reason_where_they_decide(gates, reasons):
    gated = replace(GROUPS, p_values=None, replication=None, replicates=None, gates=np.array(gates))
    told = result(gated)
    assert told.group_reasons == reasons
    assert told.groups_frame()["gate"].tolist() == gates


def test_the_frame_of_groups_has_a_row_for_each():
    frame = result(replace(GROUPS, names=["a", "b"])).groups_frame()
    assert frame.dropna(axis=1).drop(columns=["p_adjusted", "why"]).values.tolist() == [
        ["a", 2, "x0", True, 2, 0.97, 0.3],
        ["b", 2, "x3", False, 0, 0.12, 0.2],
    ]
    assert frame["why"][0] == "coheres (adjusted p < 0.001, replication 0.97)"
    np.testing.assert_allclose(frame["p_adjusted"], [2e-9, 0.4])


def test_features_are_listed_by_group_and_centrality_with_those_in_none_last():
    frame = result().to_frame()
    assert frame["feature"].tolist() == ["x0", "x1", "x3", "x2", "x4", "x5", "x6"]
    assert frame["centrality"].tolist()[:4] == [0.9, -0.8, 0.7, 0.6]
    assert frame["order"].tolist()[:6] == [1, 3, 2, 4, 6, 5] and frame["order"].isna().sum() == 1
    assert frame["explained"].tolist()[:2] == [0.5, 0.9 - 1e-12]
    assert result().marked_names[:2] == ["x0", "−x1"]
