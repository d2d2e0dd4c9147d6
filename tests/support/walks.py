"""Feature graphs with known groups."""

import numpy as np
import scipy.sparse as sp

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.discovery.graph import feature_walk, symmetric_walk


def standardised(X):
    return (X - X.mean(0)) / X.std(0)


def correlations(X):
    """Compare the columns of X, standardised."""
    return Correlations(DenseRows(standardised(X)))


def walk_of(X, n_kept=None):
    """Build the walk of the columns of X, standardised."""
    return feature_walk(correlations(X), 7, n_kept)


def moons_walk(n_kept=None, **settings):
    return walk_of(load_two_moons(random_state=0, **settings).data, n_kept)


def planted_walk(sizes, rng, n_kept=12, stray=0.1):
    """Draw a sparse walk on features that know others of their own block, now and then of another.

    Blocks of equal size have nearly equal eigenvalues.
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    d = len(labels)
    source = np.repeat(np.arange(d), n_kept)
    own = np.concatenate(
        [rng.choice(np.flatnonzero(labels == labels[i]), n_kept) for i in range(d)]
    )
    target = np.where(rng.random(len(own)) < stray, rng.integers(d, size=len(own)), own)
    kept = sp.csr_array((rng.uniform(0.5, 1, len(own)), (source, target)), shape=(d, d))
    return symmetric_walk(sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d))), labels
