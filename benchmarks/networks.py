"""Methods that look for communities in a network of features, and take their number for its groups.

- EGA: exploratory graph analysis (Golino and Epskamp 2017). A graphical lasso on the correlations,
  its penalty chosen by the extended BIC, and Walktrap on absolute partial correlations. As in R's
  EGAnet, gamma is lowered from .5 to .25 and 0 while features are without edges. Correlations are
  Pearson's; EGAnet's of answers are polychoric.
- Leiden: modularity at resolution 1, on squared correlations beyond those of unrelated features.

Communities of one feature are none.
"""

import random
from functools import partial

import igraph
import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import graphical_lasso

from benchmarks.group_competitors import Found, absolute_correlation, everything, standardized

#: Penalties of the path, and the least as a share of the one that leaves no edge.
N_PENALTIES, LEAST_PENALTY = 30, 0.1
#: How much the extended BIC asks of an edge; the next where a feature is left without edges.
GAMMAS = (0.5, 0.25, 0.0)
WALK_STEPS = 4
network = partial(igraph.Graph.Weighted_Adjacency, mode="undirected", loops=False)
#: Partial correlations below this are no edges.
NO_EDGE = 1e-8


def with_ega(X: NDArray, n_groups: int, seed: int) -> Found:
    """Find communities of the partial correlations that a graphical lasso leaves."""
    Z = standardized(X)
    weights = np.abs(partial_correlations(Z.T @ Z / len(Z), len(Z)))
    tied = np.flatnonzero(weights.any(axis=0))
    if not len(tied):
        return everything(np.full(len(weights), -1))
    walks = network(weights[np.ix_(tied, tied)]).community_walktrap("weight", steps=WALK_STEPS)
    labels = np.full(len(weights), -1)
    labels[tied] = walks.as_clustering().membership
    return everything(without_single_ones(labels))


def with_leiden(X: NDArray, n_groups: int, seed: int) -> Found:
    """Find communities of squared correlations by modularity."""
    weights = np.maximum(absolute_correlation(X) ** 2 - 1 / len(X), 0)
    igraph.set_random_number_generator(random.Random(seed))
    settings = {"objective_function": "modularity", "resolution": 1, "n_iterations": -1}
    found = network(weights).community_leiden(weights="weight", **settings)
    return everything(without_single_ones(np.array(found.membership)))


def partial_correlations(S: NDArray, n: int) -> NDArray:
    """Return the partial correlations of the graphical lasso that the extended BIC takes, (d, d).

    Of precision K with E edges the criterion is
    :math:`-n(\\log|K| - \\mathrm{tr}(SK)) + E\\log n + 4\\gamma E\\log d`.
    """
    d = len(S)
    strongest = np.abs(S - np.diag(np.diag(S))).max()
    fits: list[tuple[float, int, NDArray]] = []
    for penalty in np.geomspace(strongest, LEAST_PENALTY * strongest, N_PENALTIES):
        try:
            K = graphical_lasso(S, penalty)[1]
        except FloatingPointError:  # the rest of the path is too near to singular
            break
        scale = 1 / np.sqrt(np.diag(K))
        partial = -K * np.outer(scale, scale)
        partial[np.abs(partial) < NO_EDGE] = 0
        np.fill_diagonal(partial, 0)
        deviance = n * (np.sum(S * K) - np.linalg.slogdet(K)[1])
        fits.append((float(deviance), np.count_nonzero(partial) // 2, partial))
    for gamma in GAMMAS:
        best = min(fits, key=lambda fit: fit[0] + fit[1] * (np.log(n) + 4 * gamma * np.log(d)))
        if best[2].any(axis=0).all():
            break
    return best[2]


def without_single_ones(labels: NDArray) -> NDArray[np.int64]:
    """Put features that are alone into no community."""
    _, place, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.where(sizes[place] > 1, labels, -1)
