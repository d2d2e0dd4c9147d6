import numpy as np
import pytest

from groupfs.metrics import clustering_accuracy, relevant_group_similarity, selection_rates


def test_accuracy_does_not_depend_on_cluster_names():
    truth = np.repeat([0, 1, 2], 10)
    assert clustering_accuracy(truth, (truth + 1) % 3) == 1.0


def test_accuracy_matches_each_cluster_to_one_class_only():
    # one cluster holds both classes: only one of them can be right
    assert clustering_accuracy([0, 0, 1, 1, 1], [7, 7, 7, 7, 7]) == pytest.approx(3 / 5)


def test_accuracy_with_more_clusters_than_classes():
    assert clustering_accuracy([0, 0, 0, 1], [0, 1, 2, 3]) == pytest.approx(2 / 4)


TRUE = [np.arange(5), np.arange(5, 10)]


def test_group_similarity_of_the_truth_is_one_whatever_the_noise_groups():
    assert relevant_group_similarity(TRUE, [*TRUE, [10], [11, 12]]) == 1.0


def test_splitting_a_group_costs():
    split = [[0, 1, 2], [3, 4], list(range(5, 10))]
    assert relevant_group_similarity(TRUE, split) == pytest.approx((3 / 5 + 1) / 3)


def test_merging_noise_in_costs():
    assert relevant_group_similarity(TRUE, [np.arange(10), np.arange(10, 20)]) == pytest.approx(0.5)
    merged = [np.arange(5), np.arange(5, 20)]
    assert relevant_group_similarity(TRUE, merged) == pytest.approx((1 + 5 / 15) / 2)


def test_group_similarity_without_relevant_groups_is_zero():
    assert relevant_group_similarity(TRUE, [[11], [12]]) == 0.0


def test_rates():
    assert selection_rates(range(10), range(5, 20)) == (0.5, pytest.approx(10 / 15))
    assert selection_rates([1], []) == (0.0, 0.0)
    with pytest.raises(ValueError, match="informative is empty"):
        selection_rates([], [1])
