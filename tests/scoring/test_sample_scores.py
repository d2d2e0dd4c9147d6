import numpy as np

from groupfs.scoring.sample_scores import score_weights


def test_weights_are_shares_of_centrality_with_the_sign():
    groups = [np.array([0, 2]), np.array([3])]
    weights = score_weights(groups, np.array([0.9, 0.5, 0.3, 0.7]), np.array([1, 1, -1, 1]))
    np.testing.assert_allclose(weights, [[0.75, 0], [0, 0], [-0.25, 0], [0, 1]])


def test_features_without_a_middle_weigh_the_same():
    weights = score_weights([np.array([0, 1])], np.zeros(2), np.array([1, -1]))
    np.testing.assert_allclose(weights, [[0.5], [0.5]])
