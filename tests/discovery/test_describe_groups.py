"""What is said of groups once they are found."""

from types import SimpleNamespace

import numpy as np

from groupfs.discovery.describe_groups import _replication, rank_groups


def test_replication_of_a_group_outside_the_halves_is_not_known():
    halves = SimpleNamespace(group_replication=lambda labels, n_groups: (np.array([0.9, 0.0]), 0.1))
    table = SimpleNamespace(columns=np.arange(4), names=list("abcd"))
    evidence = SimpleNamespace(halves=halves, halved=np.array([0, 1]), replication=None)
    for labels, known, again in (
        ([0, 0, 1, 1], [0.9, np.nan], [True, True]),
        ([0, 1, 1, 1], [0.9, 0.0], [True, False]),
    ):
        division = SimpleNamespace(table=table, n_groups=2, labels=np.array(labels))
        replication, replicates = _replication(division, evidence)
        np.testing.assert_array_equal(replication, known)
        assert replicates.tolist() == again


def test_ties_are_broken_by_size_and_then_by_the_first_feature():
    groups = [np.array([3]), np.array([0, 4]), np.array([1]), np.array([2]), np.array([], int)]
    scores = np.array([0.0, 0.0, 0.0, 1.0, 2.0])
    columns = np.array([9, 5, 6, 2, 7])
    assert rank_groups(scores, groups, columns).tolist() == [3, 1, 0, 2]
