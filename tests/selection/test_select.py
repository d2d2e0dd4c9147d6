"""The selection is a function of the groups found and of what is asked for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from groupfs.groups import Groups, Request
from groupfs.selection.select import features_asked_for, keep_groups, select, spend_budget
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


def request(n_features=None, n_groups=None, allocation="spread", output="features", alpha=0.01):
    return Request(n_features, n_groups, allocation, output, alpha)


@pytest.mark.parametrize(
    ("groups", "wanted", "features", "kept"),
    [
        (found(), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(gates=(1.0, 1.0, 0.0)), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(n_groups=1), [0, 1, 2], [1, 0, 0]),
        (found(), request(n_groups=1, n_features=2), [1, 2], [1, 0, 0]),
        (found(), request(n_features=3), [1, 2, 4], [1, 1, 0]),
        (found(), request(n_features=4, allocation="whole"), [0, 1, 2, 4], [1, 1, 0]),
        (found(), request(n_features=2, allocation="whole"), [1, 2], [1, 0, 0]),
        # the order of the features decides, within groups that are asked for
        (found(), request(n_features=3, allocation="explain"), [1, 4, 6], [1, 1, 1]),
        (found(), request(n_groups=2, n_features=3, allocation="explain"), [1, 2, 4], [1, 1, 0]),
        (found(), request(allocation="explain"), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(output="representatives"), [1, 4], [1, 1, 0]),
        (found(), request(output="representatives", n_features=3), [1, 4, 6], [1, 1, 1]),
        # gates decide where there are any
        (found(gates=(1, 0, 1)), request(), [0, 1, 2, 5, 6, 7, 8], [1, 0, 1]),
        (CLOSED, request(n_features=4, allocation="whole"), [0, 1, 2, 4], [1, 1, 0]),
        # as published, groups are not cut
        (CLOSED, request(n_features=3, allocation="covering"), [0, 1, 2], [1, 0, 0]),
        (CLOSED, request(n_features=4, allocation="covering"), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(n_groups="significant"), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(), request(alpha=0.6), list(range(9)), [1, 1, 1]),
        # nothing stands out: a budget goes to the groups with any score
        (found((1.0, 1.0, 1.0), scores=(2, 1, -1)), request(n_features=2), [1, 4], [1, 1, 0]),
    ],
)
def test_what_is_selected(groups, wanted, features, kept):
    selection = select(groups, ORDER, wanted)
    assert selection.features.tolist() == features
    assert np.flatnonzero(selection.support).tolist() == features and len(selection.support) == 10
    assert selection.groups.tolist() == [bool(k) for k in kept]
    assert selection.notes == []


@pytest.mark.parametrize(
    ("groups", "wanted", "note"),
    [
        (CLOSED, request(), "All gates are closed"),
        (found(p_values=(1.0, 1.0, 1.0)), request(), "No group stands out"),
        (found(p_values=(1.0, 1.0, 1.0)), request(n_groups="significant"), "stands out"),
        (found(), request(n_groups=1, n_features=7), "n_features_to_select=7, but .* only 3"),
    ],
)
def test_rules_that_had_to_be_relaxed_are_noted(groups, wanted, note):
    (said,) = select(groups, ORDER, wanted).notes
    assert re.search(note, said)


def test_a_budget_larger_than_the_groups_goes_on_with_features_in_none():
    order = np.append(ORDER, [10, 9])
    groups = replace(found(), labels=np.append(found().labels, -1))
    for allocation in ("explain", "spread", "whole"):
        wanted = request(n_features=10, allocation=allocation)
        assert select(groups, order, wanted).features.tolist() == [*range(9), 10]
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
    assert not select(empty, order, request(output="representatives")).support.any()


@pytest.mark.parametrize(
    ("n_features", "explain", "number"),
    [(None, None, None), (3, None, 3), (0.5, None, 2), (0.01, None, 1), (None, 0.8, 2)],
)
def test_a_budget_is_a_number_a_share_of_the_features_or_what_explains_a_share(
    n_features, explain, number
):
    explained = np.array([0.5, 0.8 - 1e-12, 0.95, 1.0])
    assert features_asked_for(n_features, explain, explained) == number


def spend(n, allocation, kept=(True, True, True), scores=(3.0, 2.0, 1.0)):
    chosen = spend_budget(found(scores=scores), np.arange(3), np.array(kept), n, allocation)
    return sorted(chosen.tolist())


@pytest.mark.parametrize(
    ("n", "features"), [(3, [0, 1, 2]), (4, [0, 1, 2, 4]), (7, [0, 1, 2, 3, 4, 6, 8])]
)
def test_whole_groups_come_in_rank_order_and_the_last_is_cut_by_centrality(n, features):
    assert spend(n, "whole") == features


@pytest.mark.parametrize(
    ("n", "kept", "scores", "features"),
    [
        (3, [1, 1, 1], (3.0, 2.0, 1.0), [1, 4, 6]),
        (2, [1, 0, 1], (3.0, 2.0, 1.0), [1, 6]),
        (6, [1, 1, 1], (6.0, 0.1, 0.2), [0, 1, 2, 4, 6, 8]),
        (9, [1, 1, 1], (3.0, 2.0, 1.0), list(range(9))),
        # what kept groups cannot hold goes to the next
        (5, [0, 1, 0], (3.0, 2.0, 1.0), [0, 1, 2, 3, 4]),
        # no score is positive
        (3, [1, 1, 1], (-1.0, -2.0, -3.0), [1, 4, 6]),
        (3, [0, 0, 1], (-1.0, -2.0, -3.0), [6, 7, 8]),
    ],
)
def test_a_spread_budget_takes_the_most_central_of_kept_groups_by_their_scores(
    n, kept, scores, features
):
    assert spend(n, "spread", np.array(kept, bool), scores) == features


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
