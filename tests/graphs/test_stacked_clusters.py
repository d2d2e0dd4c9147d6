"""Clusters of many embeddings at once are those of each on its own."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from groupfs.graphs.feature_clusters import cluster_features
from groupfs.graphs.stacked_clusters import cluster_stack


@pytest.mark.parametrize(("h", "m"), [(1, 30), (6, 45), (20, 12)])
def test_a_stack_gives_what_each_embedding_gives(rng, h, m):
    factors = rng.standard_normal((h, 200, 4))[:, :, np.arange(m) % 4]
    X = factors + rng.standard_normal((h, 200, m))
    vectors = np.stack([np.linalg.eigh(np.corrcoef(x.T))[1][:, ::-1] for x in X])
    for C in range(2, 9):
        found = cluster_stack(vectors, C)
        for labels, own in zip(found, vectors, strict=True):
            assert len(np.unique(labels)) == C
            assert adjusted_rand_score(labels, cluster_features(own, C)) == 1


def test_equal_rows_leave_no_cluster_empty():
    rows = np.tile(np.eye(3)[[0, 0, 0, 0, 1, 1, 2]], (2, 1, 2))
    for labels in cluster_stack(rows, 5):
        assert sorted(np.unique(labels)) == [0, 1, 2, 3, 4]
    assert cluster_stack(np.eye(3)[None], 3).tolist() == [[0, 1, 2]]  # as many as features
