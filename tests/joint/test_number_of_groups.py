import numpy as np
import pytest
import torch

from groupfs.datasets import load_two_moons
from groupfs.joint.clusters import (
    choose_n_groups,
    cluster_features,
    distortion,
    embed,
    find_n_groups,
    leading_eigenvectors,
    lowest_distortion,
)
from tests import reference
from tests.support.walks import standardised, walk_of

FALLING = {C: 100.0 - C for C in range(2, 32)}
NOWHERE = dict.fromkeys(FALLING, 0)


def test_distortion_equals_the_literal_one():
    Z = standardised(load_two_moons(random_state=0).data)
    L = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 7))
    vectors = leading_eigenvectors(walk_of(Z), 12)
    for C in (2, 3, 5, 12):
        labels = cluster_features(vectors, C)
        expected = reference.distortion(L, labels, C)
        assert distortion(embed(vectors, C), labels) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 6])
@pytest.mark.parametrize("size", [5, 20])
def test_clean_blocks_are_counted(n_blocks, size, rng):
    d = n_blocks * size
    X = np.repeat(rng.standard_normal((300, n_blocks)), size, axis=1)
    C, _, _ = find_n_groups(walk_of(X + 0.1 * rng.standard_normal((300, d))), d)
    assert n_blocks == C


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_noise", "shift"), [(34, 0.0), (34, 2.5), (5, 0.0)])
def test_tight_groups_beside_noise_are_not_taken_apart(n_noise, shift, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 300)
    blocks = []
    for index, size in enumerate((8, 7, 6)):
        factor = rng.standard_normal(300) + shift * (kind == index) * (index < 2)
        blocks.append(0.9 * factor[:, None] + 0.44 * rng.standard_normal((300, size)))
    X = np.hstack([*blocks, rng.standard_normal((300, n_noise))])
    C, _, eigenvectors = find_n_groups(walk_of(X), X.shape[1])
    labels = cluster_features(eigenvectors, C)
    tight = np.split(labels[:21], [8, 15])
    assert [len(set(group)) for group in tight] == [1, 1, 1]
    assert len({group[0] for group in tight}) == 3


def test_the_published_rule_takes_the_lowest_distortion_up_to_forty_groups(rng):
    # as printed: 12 where the groups are tight, each noise feature alone, and 3 where they are not
    for correlation, printed in ((0.95, 12), (0.65, 3)):
        walk = walk_of(load_two_moons(correlation=correlation, random_state=0).data)
        C, curve, _ = lowest_distortion(walk)
        assert printed == C == min(curve, key=curve.get) and list(curve) == list(range(2, 20))
    _, curve, eigenvectors = lowest_distortion(walk_of(rng.standard_normal((30, 60))))
    assert max(curve) == eigenvectors.shape[1] == 40


def test_numbers_at_which_features_stand_alone_do_not_count():
    noisy = {**FALLING, 4: 60.0, 9: 10.0}
    assert choose_n_groups(noisy, 50, NOWHERE) == 9
    assert choose_n_groups(noisy, 50, {**NOWHERE, 9: 1}) == 9  # one may really be alone
    shattered = {C: max(C - 5, 0) for C in FALLING}
    assert choose_n_groups(noisy, 50, shattered) == 4
    assert choose_n_groups(FALLING, 50, shattered) == 5
    everywhere = dict.fromkeys(FALLING, 3)
    assert choose_n_groups(FALLING, 50, everywhere) == 10


def test_without_a_clear_dip_the_number_of_groups_follows_the_number_of_features():
    assert choose_n_groups(FALLING, 50) == 10
    assert choose_n_groups(FALLING, 5000) == 20
    noisy = {**FALLING, 13: 80.0, 4: 20.0 + 75.0, 29: 60.0}
    assert choose_n_groups(noisy, 50) == 13  # 29 is deeper, but far from sqrt(2 d)
    assert choose_n_groups({**noisy, 5: 10.0}, 50) == 5
    assert choose_n_groups({2: 0.0}, 2) == 2


@pytest.mark.parametrize("left_over", [0.0, 1e-29, 3e-14])
def test_rounding_does_not_choose_the_number_of_groups(left_over):
    """A graph in four pieces, of which three eigenvectors of four happen to show three."""
    curve = {2: 12.0, 3: left_over, 4: 2e-14, 5: 0.41, 6: 0.08, 7: 1.5}
    assert choose_n_groups(curve, 40) == 4


def test_a_fall_of_the_eigenvalues_tells_the_number_of_groups():
    curve = dict.fromkeys(range(2, 12), 0.1)
    falling = np.array([1, 0.9, 0.9, 0.9, 0.9, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2])
    assert choose_n_groups(curve, 1000, None, falling) == 5
    loose = {**curve, 6: 0.05}  # the features that belong nowhere are a group too
    assert choose_n_groups(loose, 1000, None, falling) == 6
