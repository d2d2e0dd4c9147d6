"""A graph that was given is checked, and walked as a whole wherever rows are looked at."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from groupfs.discovery.sample_graph import check_affinity, check_metric
from groupfs.utils.errors import ParameterError


def knn(X, k=5):
    return NearestNeighbors(n_neighbors=k).fit(X).kneighbors_graph(mode="connectivity")


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("most_entries", [1, 120, 10**6], ids=["reaches all", "parts", "whole"])
def test_the_walk_of_some_rows_is_that_of_the_whole_graph(steps, most_entries, rng):
    X = rng.standard_normal((80, 3))
    graph = check_metric(knn(X), 80)
    W = np.maximum(knn(X).toarray(), knn(X).toarray().T)
    P = W / W.sum(1, keepdims=True)
    index = rng.permutation(80)[:30]
    found = graph.smoothed(lambda rows: X[rows], index, steps, most_entries)
    np.testing.assert_array_equal(found[0], X[index])
    np.testing.assert_allclose(found[1], (np.linalg.matrix_power(P, steps) @ X)[index], atol=1e-12)


def test_the_larger_affinity_of_a_pair_counts_and_the_diagonal_does_not():
    given = np.array([[7.0, 1, 0], [2, 0, 0], [0, 0.5, 3]])
    found = check_affinity(given, 3).toarray()
    np.testing.assert_array_equal(found, [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])
    assert given[0, 1] == 1  # the user's array is as it was


def test_a_sample_without_neighbours_is_smoothed_to_the_mean():
    graph = check_metric(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), 3)
    X = np.array([[1.0], [2], [3]])
    found = graph.smoothed(lambda rows: X[rows], np.arange(3), 1)[1]
    np.testing.assert_array_equal(found, [[2], [1], [0]])


@pytest.mark.parametrize("kind", [NearestNeighbors, KNeighborsTransformer])
def test_fitted_neighbours_are_the_graph_of_their_rows(kind, rng):
    X = rng.standard_normal((40, 3))
    graph = check_metric(kind(n_neighbors=4).fit(X), 40)
    assert (graph.walk != check_metric(knn(X, 4), 40).walk).nnz == 0


NEGATIVE, MISSING = -np.ones((3, 3)), np.full((3, 3), np.nan)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (np.ones((4, 4)), r"shape \(4, 4\) but X has 3 samples"),
        (np.ones(3), r"shape \(3,\) but X has 3 samples"),
        (NEGATIVE, "negative affinities .the lowest is -1"),
        (sp.csr_array(NEGATIVE), "negative affinities"),
        (MISSING, "6 affinities that are NaN or infinite"),
        (np.eye(3), "without edges"),
        (np.full((3, 3), "near"), "values of type"),
        (NearestNeighbors(), "NearestNeighbors is not fitted"),
    ],
    ids=str,
)
def test_what_is_no_graph_of_the_samples_is_refused_in_words(metric, words):
    with pytest.raises(ParameterError, match=words) as error:
        check_metric(metric, 3)
    assert error.value.parameter == "metric"
