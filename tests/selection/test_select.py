"""The selection is a function of the groups found and of what is asked for."""

import re
from dataclasses import replace

import numpy as np
import pytest

from groupfs.selection.select import RankedGroups, Request, select


def found(gates=(1.0, 1.0, 0.0), p_values=(1e-6, 1e-6, 0.5), scores=(3.0, 2.0, 1.0)):
    """Three groups of nine features; the tenth is constant."""
    return RankedGroups(
        groups=[np.array([0, 1, 2]), np.array([3, 4]), np.array([5, 6, 7, 8])],
        labels=np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, -1]),
        centrality=np.array([0.1, 0.9, 0.5, 0.2, 0.3, 0.4, 0.8, 0.6, 0.7, 0.0]),
        representatives=np.array([1, 4, 6]),
        scores=np.array(scores),
        gates=np.array(gates),
        p_values=None if p_values is None else np.array(p_values),
        order=np.array([6, 1, 4, 2, 8, 0, 3, 7, 5]),
    )


def request(n_features=None, n_groups=None, allocation="spread", output="features", alpha=0.01):
    return Request(n_features, n_groups, "open", allocation, output, alpha)


@pytest.mark.parametrize(
    ("groups", "wanted", "features", "kept"),
    [
        (found(), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(p_values=None), request(), [0, 1, 2, 3, 4], [1, 1, 0]),
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
        # gates close on groups that have little to do with the others
        (found(gates=(1, 0, 1)), request(), [0, 1, 2], [1, 0, 0]),
        (found(gates=(1, 0, 1)), request(n_groups="significant"), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(gates=(0, 0, 0)), request(n_features=4), [0, 1, 2, 4], [1, 1, 0]),
        (found(), request(alpha=0.6), [0, 1, 2, 3, 4], [1, 1, 0]),
        (found(gates=(1, 1, 1)), request(alpha=0.6), list(range(9)), [1, 1, 1]),
        # nothing stands out: a budget goes to the groups with any score
        (
            found(p_values=(1.0, 1.0, 1.0), scores=(2, 1, -1)),
            request(n_features=2),
            [1, 4],
            [1, 1, 0],
        ),
    ],
)
def test_what_is_selected(groups, wanted, features, kept):
    selection = select(groups, wanted)
    assert selection.features.tolist() == features
    assert np.flatnonzero(selection.support).tolist() == features and len(selection.support) == 10
    assert selection.groups.tolist() == [bool(k) for k in kept]
    assert selection.notes == []


@pytest.mark.parametrize(
    ("groups", "wanted", "note"),
    [
        (found(gates=(0, 0, 0)), request(), "All gates are closed"),
        (found(p_values=(1.0, 1.0, 1.0)), request(), "No group stands out"),
        (found(p_values=(1.0, 1.0, 1.0)), request(n_groups="significant"), "stands out"),
        (found(), request(n_groups=1, n_features=7), "n_features_to_select=7, but .* only 3"),
    ],
)
def test_rules_that_had_to_be_relaxed_are_noted(groups, wanted, note):
    (said,) = select(groups, wanted).notes
    assert re.search(note, said)


def test_a_budget_larger_than_the_groups_goes_on_with_features_in_none():
    labels, order = np.append(found().labels, -1), np.append(found().order, [10, 9])
    groups = replace(found(), labels=labels, order=order)
    for allocation in ("explain", "spread", "whole"):
        wanted = request(n_features=10, allocation=allocation)
        assert select(groups, wanted).features.tolist() == [*range(9), 10]
    # groups that were asked for are not left
    (note,) = select(groups, request(n_groups=1, n_features=7)).notes
    assert "only 3 features" in note


def test_without_groups_nothing_is_selected_but_a_budget():
    none = np.zeros(0)
    empty = RankedGroups(
        groups=[],
        labels=np.full(4, -1),
        centrality=np.zeros(4),
        representatives=np.zeros(0, int),
        scores=none,
        gates=none,
        p_values=none,
        order=np.array([2, 0, 1]),
    )
    nothing = select(empty, request())
    assert not nothing.support.any() and "No feature goes with another" in nothing.notes[0]
    asked = select(empty, request(n_features=2))
    assert asked.features.tolist() == [0, 2] and "what they explain is chance" in asked.notes[0]
    assert "gives no column" in select(empty, request(n_features=2, output="scores")).notes[1]
    assert not select(empty, request(output="representatives")).support.any()
