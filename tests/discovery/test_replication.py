import numpy as np

from groupfs.data.halves import row_blocks
from groupfs.discovery.describe_groups import holds_in_blocks


def planted(rng, sizes, n_rows=300, loading=0.8, correlation=0.0):
    """Features that measure one factor each; every second one the other way round."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    shared = np.sqrt(correlation) * rng.standard_normal((n_rows, 1))
    factors = shared + np.sqrt(1 - correlation) * rng.standard_normal((n_rows, len(sizes)))
    noise = rng.standard_normal((n_rows, len(groups)))
    X = loading * factors[:, groups] + np.sqrt(1 - loading**2) * noise
    return X * np.where(np.arange(len(groups)) % 2, -1, 1), groups


def test_a_few_rows_make_no_group(rng):
    """Five columns of noise that share some far rows cohere in the blocks of these rows alone."""
    X, groups = planted(rng, [5, 5], n_rows=2000, loading=0.4)
    X *= np.where(np.arange(10) % 2, -1, 1)
    for n_far, holds in ((0, True), (1, False), (3, False)):
        Z = X.copy()
        if n_far:
            Z[:, 5:] = rng.standard_normal((2000, 5))
            Z[:n_far, 5:] += 20
        Z = ((Z - Z.mean(0)) / Z.std(0))[rng.permutation(2000)]
        found = holds_in_blocks(Z, row_blocks(2000), groups, 2)
        assert found.tolist() == [True, holds]
