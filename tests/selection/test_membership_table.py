import numpy as np
import pytest
import scipy.sparse as sp

from groupfs.selection.membership_table import MembershipTable, merge_twins, place_rows


def test_twins_get_the_mean_of_their_logits():
    logits = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    merged = merge_twins(logits, np.array([0, 0, 1]))
    np.testing.assert_allclose(merged, [[2, 2], [2, 2], [0, 1]])


def test_twins_share_the_candidates_of_the_first_and_the_mean_of_their_logits():
    found = MembershipTable(
        np.array([[1.0, 0.0], [4.0, 3.0], [0.0, 5.0]]),
        n_groups=4,
        candidates=np.array([[0, 1], [2, 0], [3, 2]]),
    ).merged(np.array([0, 0, 1]))
    np.testing.assert_array_equal(found.candidates, [[0, 1], [0, 1], [3, 2]])
    np.testing.assert_allclose(found.logits, [[2.0, 1.5], [2.0, 1.5], [0.0, 5.0]])


@pytest.mark.parametrize("twins", [[0, 0, 1, 2, 3, 3, 3, 4, 5], range(9)], ids=["some", "none"])
def test_memberships_in_all_candidates_are_those_in_all_groups(twins, rng):
    logits, twins = rng.standard_normal((9, 5)), np.array(twins)
    candidates = np.tile(rng.permutation(5), (9, 1))
    full = MembershipTable(logits, 5).merged(twins)
    few = MembershipTable(np.take_along_axis(logits, candidates, 1), 5, candidates).merged(twins)
    order = np.array([3, 0, 4])
    np.testing.assert_array_equal(few.labels(), full.labels())
    np.testing.assert_allclose(few.probabilities(order).toarray(), full.probabilities(order))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_are_placed_among_zeros(kind):
    placed = place_rows(kind(np.array([[0.2, 0.8], [1.0, 0.0]])), np.array([2, 0]), 4)
    full = placed.toarray() if sp.issparse(placed) else placed
    np.testing.assert_array_equal(full, [[1, 0], [0, 0], [0.2, 0.8], [0, 0]])
