"""What is said of groups once they are found: of their members, their replication, their order."""

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.discovery.describe_groups import rank_groups
from groupfs.discovery.feature_graph import connect_features
from groupfs.discovery.members import _first_of, assign_members, group_components, nearness
from tests import reference
from tests.support.walks import correlations, standardised


@pytest.fixture
def X(rng):
    """Ten features of one factor, five of them the other way round, and four of another."""
    factors = rng.standard_normal((120, 2))
    groups = np.repeat([0, 1], [10, 4])
    signs = np.where(np.arange(14) % 2, -1, 1)
    return factors[:, groups] * signs + rng.standard_normal((120, 14))


GROUPS = [np.arange(10), np.arange(10, 14)]


def test_components_are_the_oracle_s(X):
    found = group_components(correlations(X), GROUPS)
    for j, group in enumerate(GROUPS):
        assert found.cohesion[j] == pytest.approx(reference.cohesion(X, group))
        component = np.linalg.svd(standardised(X[:, group]), full_matrices=False)[0][:, 0]
        for i in group:
            r = np.corrcoef(X[:, i], component)[0, 1]
            assert found.centrality[i] == pytest.approx(abs(r))
            assert found.rest[i] == pytest.approx(reference.with_rest(X, group, i))
        first = group[found.centrality[group].argmax()]  # signs are relative to it
        np.testing.assert_array_equal(found.signs[group], np.where((group - first) % 2, -1, 1))


def test_a_single_feature_has_no_rest():
    found = group_components(correlations(np.eye(5)[:, :2]), [np.array([0])])
    assert found.centrality[0] == pytest.approx(1)
    assert found.rest[0] == found.cohesion[0] == 0


def test_very_many_features_need_no_matrix(X):
    similarity, group = correlations(X), GROUPS[0]
    whole, multiplied = (_first_of(similarity.columns(group, most), 120) for most in (10, 9))
    np.testing.assert_allclose(multiplied.centrality, whole.centrality, atol=1e-8)
    np.testing.assert_array_equal(multiplied.signs, whole.signs)
    np.testing.assert_allclose(multiplied.cohesion, whole.cohesion, rtol=1e-8)


def test_with_signs_means_count(X):
    Z, groups = standardised(X), [np.arange(4), np.arange(4, 12), np.array([12])]
    found = group_components(correlations(X), groups, signed=True)
    for group in groups[:2]:
        for i in group:
            whole, rest = Z[:, group].sum(1), Z[:, group[group != i]].sum(1)
            assert found.centrality[i] == pytest.approx(np.corrcoef(Z[:, i], whole)[0, 1])
            assert found.rest[i] == pytest.approx(np.corrcoef(Z[:, i], rest)[0, 1])
    assert found.centrality[13] == found.rest[13] == 0  # of no group
    r = np.corrcoef(X[:, :4].T)[np.triu_indices(4, 1)].mean()
    edge = ((1 + np.sqrt(4 / 120)) ** 2 - 1) / 3
    assert found.cohesion[0] == pytest.approx(r / edge) and found.cohesion[2] == 0


def test_cohesion_of_noise_is_about_one(rng):
    X = rng.standard_normal((400, 60))
    found = group_components(correlations(X), np.split(np.arange(60), 4)).cohesion
    assert (np.abs(found - 1) < 0.35).all()


@pytest.mark.parametrize("signed", [False, True])
def test_nearness_is_the_mean_of_the_three_largest_ties_without_the_feature_itself(rng, signed):
    X = rng.standard_normal((50, 8)) + 0.7 * rng.standard_normal((50, 1))
    X[:, 3] -= 2 * X[:, 0]
    labels = np.array([0, 0, 0, 0, 0, 1, 1, -1])
    r = np.corrcoef(X.T)
    r = np.where((r if signed else np.abs(r)) ** 2 * np.sign(r if signed else 1) > 1 / 50, r, 0)
    found = nearness(connect_features(correlations(X), signed), labels, 2)
    for i in range(8):
        near = []
        for j in range(2):
            others = [k for k in np.flatnonzero(labels == j) if k != i]
            largest = np.sort(np.abs(r[i, others]))[::-1][:3]
            near.append(largest.mean() if len(others) else 0)
        own = near[labels[i]] if labels[i] >= 0 else 0
        other = max(near[j] for j in range(2) if j != labels[i])
        assert (found[0][i], found[1][i]) == pytest.approx((own, other), abs=1e-6)
        assert other == 0 or near[found[2][i]] == pytest.approx(other)


def test_features_move_to_a_group_they_are_nearer_to_and_leave_one_they_do_not_go_with(X, rng):
    X = np.hstack([X, rng.standard_normal((120, 1))])
    labels = np.append(np.repeat([0, 1], [10, 4]), 1)
    labels[[2, 12]] = 1, 0
    similarity = correlations(X)
    found = assign_members(similarity, connect_features(similarity, False), labels, 2, False)
    assert found.tolist() == [0] * 10 + [1] * 4 + [-1]


def test_groups_come_by_size_then_by_cohesion_then_by_the_first_feature():
    groups = [np.array([3]), np.array([0, 4]), np.array([1]), np.array([2]), np.array([], int)]
    cohesion = np.array([0.0, 0.0, 0.0, 1.0, 2.0])
    columns = np.array([9, 5, 6, 2, 7])
    assert rank_groups(cohesion, groups, columns).tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("seed", range(4))
def test_the_most_central_feature_is_never_the_one_that_is_turned_round(seed):
    """Gaps weigh pairs for the component, not for centrality, so the two may differ."""
    rng = np.random.default_rng([5, 11, 16, 21][seed])
    X = np.repeat(rng.standard_normal((300, 4)), 4, 1) * np.tile([1, -1, 1, -1], 4)
    X += rng.standard_normal((300, 16))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = FeatureGroups(random_state=0).fit(X)
    assert found.n_groups_ == 4 and (found.group_signs_[found.representatives_] == 1).all()
    assert (np.bincount(found.group_labels_, found.group_signs_) == 0).all()  # two of each turned
