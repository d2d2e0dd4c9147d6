import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.scoring import cohesion
from groupfs.scoring.cohesion import correlations_with_groups, group_components, mean_cohesion
from tests import reference
from tests.support.walks import standardised


@pytest.fixture
def X(rng):
    """Ten features of one factor, five of them the other way round, and four of another."""
    factors = rng.standard_normal((120, 2))
    groups = np.repeat([0, 1], [10, 4])
    signs = np.where(np.arange(14) % 2, -1, 1)
    return factors[:, groups] * signs + rng.standard_normal((120, 14))


GROUPS = [np.arange(10), np.arange(10, 14)]


def test_components_are_the_oracle_s(X):
    found = group_components(DenseRows(standardised(X)), GROUPS)
    for j, group in enumerate(GROUPS):
        assert found.cohesion[j] == pytest.approx(reference.cohesion(X, group))
        component = np.linalg.svd(standardised(X[:, group]), full_matrices=False)[0][:, 0]
        for i in group:
            r = np.corrcoef(X[:, i], component)[0, 1]
            assert found.centrality[i] == pytest.approx(abs(r))
            assert found.rest[i] == pytest.approx(reference.with_rest(X, group, i))


def test_signs_are_relative_to_the_most_central_feature(X):
    found = group_components(DenseRows(standardised(X)), GROUPS)
    for group in GROUPS:
        first = group[found.centrality[group].argmax()]
        expected = np.where((group - first) % 2, -1, 1)
        np.testing.assert_array_equal(found.signs[group], expected)


def test_features_in_no_group_have_no_sign_and_no_centrality(X):
    found = group_components(DenseRows(standardised(X)), [GROUPS[0], np.array([], int)])
    assert not found.signs[10:].any() and not found.centrality[10:].any()
    assert found.cohesion[1] == 0


def test_a_single_feature_has_no_rest():
    found = group_components(DenseRows(standardised(np.eye(5)[:, :2])), [np.array([0])])
    assert found.centrality[0] == pytest.approx(1)
    assert found.rest[0] == found.cohesion[0] == 0


@pytest.mark.parametrize("limit", [12, 5, 1])
def test_many_features_need_no_matrix(X, monkeypatch, limit):
    rows = DenseRows(standardised(X))
    whole = group_components(rows, GROUPS)
    monkeypatch.setattr(cohesion, "MATRIX_FEATURES", limit)
    parts = group_components(rows, GROUPS)
    np.testing.assert_allclose(parts.centrality, whole.centrality, atol=1e-8)
    np.testing.assert_array_equal(parts.signs, whole.signs)
    np.testing.assert_allclose(parts.cohesion, whole.cohesion, rtol=1e-8)


def test_with_signs_means_count(X):
    Z = standardised(X)
    labels = np.repeat([0, 1, -1], [9, 4, 1])
    central, rest = correlations_with_groups(DenseRows(Z), labels, 2, signed=True)
    for j in range(2):
        group = np.flatnonzero(labels == j)
        for i in group:
            others = [k for k in group if k != i]
            assert central[i] == pytest.approx(np.corrcoef(Z[:, i], Z[:, group].sum(1))[0, 1])
            assert rest[i] == pytest.approx(np.corrcoef(Z[:, i], Z[:, others].sum(1))[0, 1])
    assert central[13] == rest[13] == 0
    r = np.corrcoef(X[:, :4].T)
    edge = ((1 + np.sqrt(4 / 120)) ** 2 - 1) / 3
    found = mean_cohesion(DenseRows(Z), [np.arange(4), np.array([5])])
    assert found[0] == pytest.approx(r[np.triu_indices(4, 1)].mean() / edge) and found[1] == 0


def test_cohesion_of_noise_is_about_one(rng):
    rows = DenseRows(standardised(rng.standard_normal((400, 60))))
    rows.to(torch.device("cpu"), torch.float32)
    found = group_components(rows, np.split(np.arange(60), 4)).cohesion
    assert (np.abs(found - 1) < 0.35).all()
