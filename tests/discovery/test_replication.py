import numpy as np

from groupfs.data.correlations import HalvedColumns
from groupfs.discovery.replication import (
    Halves,
    holds_in_blocks,
    n_splits,
    replicates,
)
from tests import reference
from tests.support.walks import correlations


def planted(rng, sizes, n_rows=300, loading=0.8, correlation=0.0):
    """Features that measure one factor each; every second one the other way round."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    shared = np.sqrt(correlation) * rng.standard_normal((n_rows, 1))
    factors = shared + np.sqrt(1 - correlation) * rng.standard_normal((n_rows, len(sizes)))
    noise = rng.standard_normal((n_rows, len(groups)))
    X = loading * factors[:, groups] + np.sqrt(1 - loading**2) * noise
    return X * np.where(np.arange(len(groups)) % 2, -1, 1), groups


def halved(X):
    m = X.shape[1]
    return HalvedColumns(X, np.zeros((m, m), dtype=bool))


def halves_of(X, seed=0, n_vectors=12):
    found = halved(X).similarities(n_splits(X.shape[1]), seed)
    return Halves(found, 7, n_vectors, False, seed)


def test_replication_of_a_group_is_the_jaccard_index_with_the_best_match(rng):
    X, groups = planted(rng, [5, 5, 5])
    halves = halves_of(X)
    labels = groups.copy()
    labels[0] = -1  # of no group: not counted
    found, chance = halves.group_replication(labels, 3)
    expected = [reference.best_jaccard(labels, half, 3) for half in halves.clusters(3)]
    np.testing.assert_allclose(found, np.mean(expected, axis=0))
    assert (found > 0.9).all() and (chance < 0.6).all() and replicates(found, chance).all()
    again, same = halves.group_replication(labels, 3)
    np.testing.assert_array_equal(chance, same)
    mixed, by_chance = halves.group_replication(np.arange(15) % 3, 3)
    assert not replicates(mixed, by_chance).any()


def test_a_few_rows_make_no_group(rng):
    """Five columns of noise that share some far rows cohere in the blocks of these rows alone."""
    X, groups = planted(rng, [5, 5], n_rows=2000, loading=0.4)
    X *= np.where(np.arange(10) % 2, -1, 1)
    for n_far, holds in ((0, True), (1, False), (3, False)):
        Z = X.copy()
        if n_far:
            Z[:, 5:] = rng.standard_normal((2000, 5))
            Z[:n_far, 5:] += 20
        rows = correlations((Z - Z.mean(0)) / Z.std(0)).rows
        found = holds_in_blocks(rows, groups, np.ones(10, dtype=int), 2)
        assert found.tolist() == [True, holds]
