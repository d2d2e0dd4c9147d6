"""Feature graphs with known groups."""

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.joint.graph import feature_walk


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
