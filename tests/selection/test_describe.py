"""What is said of groups once they are found."""

from types import SimpleNamespace

import numpy as np

from groupfs.selection.describe import _reliability


def test_reliability_of_a_group_outside_the_halves_is_not_known():
    halves = SimpleNamespace(reliability=lambda labels, n_groups: (np.array([0.9, 0.0]), 0.1))
    problem = SimpleNamespace(table=SimpleNamespace(columns=np.arange(4)), n_groups=2)
    evidence = SimpleNamespace(halves=halves, halved=np.array([0, 1]), replication=None)
    found, again = _reliability(problem, evidence, np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(found, [0.9, np.nan])
    assert again.all()
    found, again = _reliability(problem, evidence, np.array([0, 1, 1, 1]))
    np.testing.assert_array_equal(found, [0.9, 0.0])
    assert again.tolist() == [True, False]
