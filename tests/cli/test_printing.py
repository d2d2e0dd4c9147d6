"""Sentences that the command itself writes: how long a path takes, and what an option would add."""

import pytest

from groupfs.cli import path_time
from groupfs.cli.printing import closed_gates_hint


@pytest.mark.parametrize(("seconds", "written"), [(0.1, "5 s"), (42, "40 s"), (170, "3 min")])
def test_the_time_of_a_path_is_said_beforehand(seconds, written, monkeypatch):
    piece = seconds / path_time.PARTS / path_time.PIECES
    monkeypatch.setattr(path_time, "_measure", lambda n_rows: piece)
    assert f"will take about {written} (" in path_time.path_sentence(1000, "cpu")


def test_groups_that_stand_out_behind_closed_gates_are_named_with_the_way_to_keep_them():
    groups = [
        {"rank": 1, "stands_out": True, "kept": True},
        {"rank": 2, "stands_out": True, "kept": False},
        {"rank": 3, "stands_out": False, "kept": False},
    ]
    selection = {"rule": "open", "budget": None}
    summary = {"groups": groups, "selection": selection}
    assert closed_gates_hint(summary).startswith("Group 2 stands out from chance too")
    selection["rule"] = "significant"
    assert closed_gates_hint(summary) is None
    selection["rule"], selection["budget"] = "open", 5
    assert closed_gates_hint(summary) is None
