"""The selection is a function of the groups found and of what is asked for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from groupfs.groups import Groups, Request
from groupfs.selection.select import features_asked_for, keep_groups, select
from groupfs.sentences import Why

ORDER = np.array([6, 1, 4, 2, 8, 0, 3, 7, 5])


def found(p_values=(1e-6, 1e-6, 0.5), scores=(3.0, 2.0, 1.0), gates=None):
    """Three groups of nine features; the tenth is constant."""
    return Groups(
        members=[np.array([0, 1, 2]), np.array([3, 4]), np.array([5, 6, 7, 8])],
        labels=np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, -1]),
        signs=np.ones(10, dtype=int),
        centrality=np.array([0.1, 0.9, 0.5, 0.2, 0.3, 0.4, 0.8, 0.6, 0.7, 0.0]),
        representatives=np.array([1, 4, 6]),
        smoothness=np.array(scores),
        gates=None if gates is None else np.array(gates),
        p_values=np.array(p_values) if gates is None else None,
    )


CLOSED = found(gates=(0, 0, 0))


def request(n_features=None, n_groups=None, output="features", alpha=0.01, **more):
    return Request(n_features, n_groups, output, alpha, **more)


@pytest.mark.parametrize(
    ("groups", "wanted", "features", "kept"),
    [
        (found(), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(gates=(1.0, 1.0, 0.0)), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(n_groups=1), [0, 1, 2], [1, 0, 0]),
        (found(), request(n_groups=1, n_features=2), [1, 2], [1, 0, 0]),
        # the order of the features decides, within groups that are asked for; kept is another thing
        (found(), request(n_features=3), [1, 4, 6], [1, 1, 0]),
        (found(), request(n_groups=2, n_features=3), [1, 2, 4], [1, 1, 0]),
        # where nothing is asked for, what is not kept is not selected
        (found(), request(n_features=4, is_default=True), [1, 2, 4], [1, 1, 0]),
        (found(), request(n_per_group=1), [1, 4], [1, 1, 0]),
        (found(), request(n_per_group=1, n_features=3), [1, 4, 6], [1, 1, 0]),
        # gates decide where there are any
        (found(gates=(1, 0, 1)), request(), [0, 1, 2, 5, 6, 7, 8], [1, 0, 1]),
        # as published, groups are not cut
        (CLOSED, request(n_features=3, covers=True), [0, 1, 2], [1, 0, 0]),
        (CLOSED, request(n_features=4, covers=True), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(n_groups="significant"), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(alpha=0.6), list(range(9)), [1, 1, 1]),
        # nothing stands out: a budget is spent all the same
        (found((1.0, 1.0, 1.0)), request(n_features=2), [1, 6], [0, 0, 0]),
    ],
)
def test_what_is_selected(groups, wanted, features, kept):
    selection = select(groups, ORDER, wanted)
    assert selection.features.tolist() == features
    assert np.flatnonzero(selection.support).tolist() == features and len(selection.support) == 10
    assert selection.groups.tolist() == [bool(k) for k in kept]
    assert selection.notes == []


def test_a_budget_of_representatives_says_of_features_where_it_goes():
    selection = select(found(), ORDER, request(n_per_group=1, n_features=1))
    first = [Why.REPRESENTED, Why.REPRESENTS, Why.REPRESENTED]
    others = 2 * [Why.OUT_OF_BUDGET] + 4 * [Why.AS_GROUP]
    assert selection.features.tolist() == [1] and selection.groups.tolist() == [1, 1, 0]
    assert selection.why.tolist() == [*first, *others, Why.IN_NO_GROUP]
    assert selection.group_why[1] == Why.BEYOND_CHANCE


@pytest.mark.parametrize(
    ("groups", "wanted", "note"),
    [
        (CLOSED, request(), "All gates are closed"),
        (found(p_values=(1.0, 1.0, 1.0)), request(), "No group stands out"),
        (found((1.0, 1.0, 1.0)), request(n_features=4, is_default=True), "nothing is selected"),
        (
            found((1.0, 1.0, 1.0)),
            request(n_features=4, is_default=True, among_related=True),
            "selected are the 4 features that explain 95 %",
        ),
        (found(p_values=(1.0, 1.0, 1.0)), request(n_groups="significant"), "stands out"),
        (found(), request(n_groups=1, n_features=7), "n_features_to_select=7, but .* only 3"),
        (
            found(),
            request(n_per_group=1, n_features=1),
            r"1 leaves 1 of the 2 kept groups without a feature \(group 2\)",
        ),
    ],
)
def test_rules_that_had_to_be_relaxed_are_noted(groups, wanted, note):
    (said,) = select(groups, ORDER, wanted).notes
    assert re.search(note, said)


def test_a_budget_larger_than_the_groups_goes_on_with_features_in_none():
    order = np.append(ORDER, [10, 9])
    groups = replace(found(), labels=np.append(found().labels, -1))
    beyond = select(groups, order, request(n_features=10))
    assert beyond.features.tolist() == [*range(9), 10]
    (note,) = beyond.notes
    assert "only 9 features are in groups, so 1 from" in note
    # those that it takes to explain a share were asked for
    assert not select(groups, order, request(n_features=10, explain=0.9)).notes
    # groups that were asked for are not left
    (note,) = select(groups, order, request(n_groups=1, n_features=7)).notes
    assert "only 3 features" in note


def test_without_groups_nothing_is_selected_but_a_budget():
    none, order = np.zeros(0), np.array([2, 0, 1])
    nothing = {"members": [], "labels": np.full(4, -1), "representatives": np.zeros(0, int)}
    empty = replace(found(), **nothing, smoothness=none, p_values=none)
    nothing = select(empty, order, request())
    assert not nothing.support.any() and "No feature is related to another" in nothing.notes[0]
    asked = select(empty, order, request(n_features=2))
    assert asked.features.tolist() == [0, 2] and "what they explain is chance" in asked.notes[0]
    scored = select(empty, order, request(n_features=2, output="scores"))
    assert "gives no column" in scored.notes[1]
    assert not select(empty, order, request(n_per_group=1)).support.any()


@pytest.mark.parametrize(
    ("n_features", "explain", "number"),
    [(None, None, None), (3, None, 3), (0.5, None, 2), (0.01, None, 1), (None, 0.8, 2)],
)
def test_a_budget_is_a_number_a_share_of_the_features_or_what_explains_a_share(
    n_features, explain, number
):
    explained = np.array([0.5, 0.8 - 1e-12, 0.95, 1.0])
    assert features_asked_for(n_features, explain, explained) == number


@pytest.mark.parametrize(
    ("gates", "kept", "why"),
    [
        ([1.2, 0.6, 0.5], [True, True, False], [Why.GATE_OPEN, Why.GATE_OPEN, Why.GATE_CLOSED]),
        ([0, -1, 0], [True, False, False], [Why.FIRST_OF_CLOSED, Why.GATE_CLOSED, Why.GATE_CLOSED]),
    ],
)
def test_where_gates_decide_something_is_always_kept(gates, kept, why):
    chosen, reasons, note = keep_groups(found(gates=gates), None, 0.01)
    assert chosen.tolist() == kept and reasons.tolist() == why
    assert (note is None) == (max(gates) > 0.5)


@pytest.mark.parametrize(
    ("rule", "p_values", "replicates", "kept"),
    [
        ("significant", [0.001, 0.5, 0.001], None, [1, 0, 1]),
        (None, [0.001, 0.001, 0.001], [1, 0, 1], [1, 0, 1]),
        (None, [0.5, 0.5, 0.5], None, [0, 0, 0]),
        (None, [0.001, 0.5, 0.5], [0, 1, 1], [0, 0, 0]),
        (2, [0.5, 0.5, 0.001], None, [1, 1, 0]),
    ],
)
def test_groups_that_stand_out_and_are_found_again_are_kept(rule, p_values, replicates, kept):
    again = None if replicates is None else np.array(replicates, bool)
    chosen, _, note = keep_groups(replace(found(p_values), replicates=again), rule, 0.01)
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert ("nothing is selected" in note) if not any(kept) else note is None
