"""Refits on resampled rows, and what they agree on."""

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.estimators.stability import Refit, resample_rows, summarise
from groupfs.metrics import jaccard_stability, kuncheva_stability


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("resample", ["subsample", "bootstrap"])
def test_resamples_agree_on_the_moons(moons, resample):
    selector = GroupFSPath(
        sparsities=[0.7], n_init=1, n_resamples=4, resample=resample, random_state=0
    ).fit(moons.data)
    stability = selector.stability_
    assert stability.selected.shape == (4, 20)
    assert (stability.selection_frequency[:10] == 1).all()
    assert stability.selection_frequency[10:].max() <= 0.25
    together = stability.cogrouping()
    assert (together[:5, :5] == 1).all() and together[:5, 5:10].max() == 0
    np.testing.assert_array_equal(stability.cogrouping(np.arange(3)), together[:3, :3])
    agreed = [group.tolist() for group in stability.consensus_groups[:2]]
    assert sorted(agreed) == [list(range(5)), list(range(5, 10))]
    assert stability.kuncheva == kuncheva_stability(stability.selected) > 0.8
    assert stability.jaccard == jaccard_stability(stability.selected) > 0.8


@pytest.mark.slow
def test_resampling_sparse_tables_equals_resampling_dense_ones(moons):
    X = np.where(moons.data > 0, moons.data, 0)
    X[:, 3] = np.arange(200) == 7  # constant in most subsamples
    settings = {"n_groups": 3, "sparsities": [0.7], "n_init": 1, "n_resamples": 2}
    dense, sparse = (
        GroupFSPath(**settings, random_state=0).fit(kind(X)) for kind in (np.array, sp.csr_array)
    )
    np.testing.assert_array_equal(dense.stability_.labels, sparse.stability_.labels)


def test_stability_indices_know_their_extremes():
    same = np.tile([True, True, False, False, False], (3, 1))
    assert kuncheva_stability(same) == jaccard_stability(same) == 1
    disjoint = np.array([[True, False, False, False], [False, True, False, False]])
    assert jaccard_stability(disjoint) == 0
    assert kuncheva_stability(disjoint) == pytest.approx(-1 / 3)
    chance = np.random.default_rng(0).random((40, 400)) < 0.3
    assert abs(kuncheva_stability(chance)) < 0.02
    assert kuncheva_stability([[True, True], [True, True]]) == 1
    assert jaccard_stability([[False, False], [False, False]]) == 1
    with pytest.raises(ValueError, match="at least 2 selections"):
        jaccard_stability([[True]])


def test_rows_are_drawn_with_or_without_replacement(rng):
    half, same_size = (resample_rows(50, kind, rng) for kind in ("subsample", "bootstrap"))
    assert len(half) == len(set(half)) == 25 and len(same_size) == 50 > len(set(same_size))


@pytest.mark.parametrize("dense_entries", [2**27, 0])
def test_consensus_groups_are_those_most_refits_found(dense_entries):
    usual, other = np.repeat([0, 1, 2], 4), np.repeat([2, 0, 1], 4)  # numbers mean nothing
    other[0] = 0
    refits = [Refit(labels, labels == labels[4]) for labels in (usual, other, usual)]
    columns = np.array([3, 2, 1, 0, *range(5, 13)])  # the fifth is constant
    found = summarise(refits, columns, 13, 3, dense_entries)
    groups = [group.tolist() for group in found.consensus_groups]
    assert groups[0] == [5, 6, 7, 8] and sorted(groups[1:]) == [[0, 1, 2, 3], [9, 10, 11, 12]]
    assert found.labels[:, 4].tolist() == [-1] * 3 and not found.selected[:, 4].any()
