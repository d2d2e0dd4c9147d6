"""Known groups are taken however they are written down, and refused in one sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from groupfs.data.known_groups import parse_groups, refuse_ambiguous_members

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "groups",
    [
        [1, 0, 1, 0, -1],
        np.array([1.0, 0.0, 1.0, 0.0, np.nan]),
        ["one", "two", "one", "two", None],
        pd.Series(["one", "two", "one", "two", None]),
        [["a", "c"], ["b", "d"]],
        [[0, 2], (1, 3)],
        [np.array([0, 2]), np.array([1, 3])],
        {"one": ["a", "c"], "two": {"b", 3}},
        {"one": pd.Index(["a", "c"]), "two": pd.Series(["b", "d"])},
        [pl.Series(["a", "c"]), range(1, 4, 2)],
        list(np.array([1, 0, 1, 0, -1])),
        [1.0, 0.0, 1.0, 0.0, -1.0],
        [np.float32(v) for v in (1, 0, 1, 0, np.nan)],
        pd.Series([1, 0, 1, 0, None], dtype="Int64"),
        pd.Series(["one", "two", "one", "two", None], dtype="string"),
        pd.Series([0, 1, 1, 0, None], index=["b", "c", "a", "d", "e"]),
        pl.Series([1, 0, 1, 0, None]),
        torch.tensor([1, 0, 1, 0, -1]),
    ],
)
def test_every_way_to_write_a_partition_gives_the_same_labels(groups):
    labels, _ = parse_groups(groups, NAMES)
    assert labels.tolist() == [0, 1, 0, 1, -1]


def test_a_series_that_is_indexed_by_something_else_is_refused():
    with pytest.raises(ValueError, match="index .* is not the features of X"):
        parse_groups(pd.Series([0, 1, 0, 1, 0], index=list("vwxyz")), NAMES)


def test_numbers_that_may_be_names_or_places_are_refused():
    frame = pd.DataFrame(np.zeros((2, 3)), columns=[2, 0, 1])
    with pytest.raises(ValueError, match="called by numbers"):
        refuse_ambiguous_members([[0, 1], [2]], frame)
    refuse_ambiguous_members([0, 1, 0], frame)  # labels need no names
    refuse_ambiguous_members([[0, 1], [2]], frame[[0, 1, 2]])
    refuse_ambiguous_members([[0, 1], [2]], np.zeros((2, 3)))


def test_groups_keep_the_names_they_were_given():
    assert parse_groups({"x": ["a"], "y": ["b", "c"]}, NAMES)[1] == ["x", "y"]
    assert parse_groups(["q", "p", "q", "p", "p"], NAMES)[1] == ["q", "p"]
    assert parse_groups([["a"], ["b"]], NAMES)[1] == [0, 1]
    assert [type(name) for name in parse_groups(list(np.arange(5)), NAMES)[1]] == [int] * 5


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1, 0], "3 labels but X has 5 features"),
        ([["a", "b"], ["b"]], "feature b is in two groups, 0 and 1"),
        ([["a", "z"]], "lists feature 'z', which X does not have; its features are a, b, c, d, e"),
        ([["a", 5]], "lists feature 5, but X has 5 features; indices run from 0 to 4"),
        ({"x": "ab"}, "group 'x' is 'ab'; give a list"),
        ("abcde", "give one label per feature"),
        (3, "give one label per feature"),
        (np.zeros((5, 2)), "5 x 2 labels but X has 5 features"),
    ],
)
def test_what_is_no_partition_is_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        parse_groups(groups, NAMES)
