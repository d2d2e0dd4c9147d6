import numpy as np
import pytest

from groupfs.metrics import clustering_accuracy, relevant_group_similarity, selection_rates


@pytest.mark.parametrize(
    ("truth", "clusters", "accuracy"),
    [
        (np.repeat([0, 1, 2], 10), np.repeat([1, 2, 0], 10), 1.0),  # names do not matter
        ([0, 0, 1, 1, 1], [7, 7, 7, 7, 7], 3 / 5),  # one cluster, so only one class can be right
        ([0, 0, 0, 1], [0, 1, 2, 3], 2 / 4),  # more clusters than classes
    ],
)
def test_accuracy_matches_each_cluster_to_one_class_only(truth, clusters, accuracy):
    assert clustering_accuracy(truth, clusters) == pytest.approx(accuracy)


TRUE = [np.arange(5), np.arange(5, 10)]


@pytest.mark.parametrize(
    ("found", "similarity"),
    [
        ([*TRUE, [10], [11, 12]], 1.0),  # groups of noise alone do not count
        ([[0, 1, 2], [3, 4], TRUE[1]], (3 / 5 + 1) / 3),  # splitting costs
        ([np.arange(10), np.arange(10, 20)], 0.5),  # merging costs
        ([TRUE[0], np.arange(5, 20)], (1 + 5 / 15) / 2),  # so does noise in a group
        ([[11], [12]], 0.0),
    ],
)
def test_group_similarity_is_one_for_the_truth_only(found, similarity):
    assert relevant_group_similarity(TRUE, found) == pytest.approx(similarity)


def test_rates():
    assert selection_rates(range(10), range(5, 20)) == (0.5, pytest.approx(10 / 15))
    assert selection_rates([1], []) == (0.0, 0.0)
    with pytest.raises(ValueError, match="informative is empty"):
        selection_rates([], [1])
