import pickle

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from groupfs import Replication
from groupfs.data.correlations import HalvedColumns
from groupfs.discovery.replication import (
    Halves,
    divide_groups,
    entropy,
    in_common,
    mutual_information,
    n_splits,
    replicates,
)
from tests import reference


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
    return HalvedColumns(torch.from_numpy(X), torch.zeros((m, m), dtype=torch.bool))


def halves_of(X, seed=0, n_vectors=12):
    found = halved(X).similarities(n_splits(X.shape[1]), seed)
    return Halves(found, 7, n_vectors, False, seed)


def test_information_is_that_of_the_textbook(rng):
    some, others = rng.integers(4, size=(5, 60)), rng.integers(3, size=(5, 60))
    shared, entropies = mutual_information(some, others), entropy(some)
    for i, (a, b) in enumerate(zip(some, others, strict=True)):
        assert entropies[i] == pytest.approx(mutual_info_score(a, a))
        assert shared[i] == pytest.approx(mutual_info_score(a, b))
        assert shared[i] == pytest.approx(reference.mutual_information(a, b))


def test_groups_that_are_there_replicate_and_others_do_not(rng):
    X, groups = planted(rng, [5, 7, 4, 6, 5])
    found = halves_of(X).replication()
    assert found.best == 5 and found.n_groups.tolist() == list(range(2, 14))
    assert found.agreement[3] > 0.95 and found.agreement[[0, 8]].max() < 0.9
    assert (found.agreement <= 1).all() and (found.information >= 0).all()
    assert 5 not in found.others


def test_in_noise_nothing_replicates(rng):
    found = halves_of(rng.standard_normal((200, 24))).replication()
    assert found.best is None and found.others == []
    assert found.agreement.max() < 0.2


def test_other_peaks_are_offered_best_first():
    numbers = np.arange(2, 9)
    information = np.array([0.1, 0.95, 0.2, 1.0, 0.3, 0.92, 0.2])
    found = Replication(numbers, np.full(7, 0.8), information)
    assert found.best == 5 and found.others == [3, 7]
    assert Replication(numbers, np.full(7, 0.1), information).best is None
    assert Replication(numbers[:0], information[:0], information[:0]).best is None
    assert pickle.loads(pickle.dumps(found)).best == 5


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


@pytest.mark.parametrize(("sizes", "loading"), [([20, 18, 4, 4, 4], 0.8), ([12, 10], 0.6)])
def test_small_groups_beside_large_ones_are_divided_and_large_ones_stay_whole(sizes, loading, rng):
    X, groups = planted(rng, sizes, n_rows=400, loading=loading)
    r = torch.from_numpy(np.corrcoef(X.T))
    found = divide_groups(halved(X), r, np.minimum(groups, 2), 7, False, 0)
    assert adjusted_rand_score(groups, found) == 1


def test_what_two_groups_have_in_common_is_the_correlation_of_their_factors(rng):
    X, groups = planted(rng, [8, 8], n_rows=20_000, loading=0.7, correlation=0.3)
    assert in_common(np.corrcoef(X.T), groups, False) == pytest.approx(0.3, abs=0.03)
    assert in_common(np.corrcoef(X.T), np.append(groups[:-1], 2), False) == 1
