"""Tables with known groups, some of which change with a condition."""

import numpy as np

from groupfs import FeatureGroups

SIZE = 5


def planted(shared, rng, size=SIZE):
    """Groups of features; ``shared`` (n, C) is the share of variance each has in each sample."""
    n, C = shared.shape
    common = np.repeat(np.sqrt(shared) * rng.standard_normal((n, C)), size, axis=1)
    own = np.sqrt(1 - np.repeat(shared, size, axis=1)) * rng.standard_normal((n, C * size))
    return common + own


def known(X, size=SIZE, **settings):
    """A selector that was told the groups, in the order of the columns."""
    settings = {"groups": np.arange(X.shape[1]) // size, "n_groups_to_select": 1, **settings}
    return FeatureGroups(random_state=0, **settings).fit(X)


def in_order(selector, values):
    """Values of groups in the order in which they were planted."""
    return np.asarray(values)[np.argsort(np.asarray(selector.group_names_, dtype=int))]
