"""How much of each group every cell has, and what these scores are called."""

from typing import Any

import numpy as np

from groupfs.anndata.matrix import blocks_of
from groupfs.data.checks import find_missing, refuse_missing
from groupfs.data.standardize import ColumnMoments
from groupfs.estimators.group_fs import GroupFS
from groupfs.scoring.sample_scores import score_rows, score_weights
from groupfs.utils.fitted_selector import feature_names, group_names
from groupfs.utils.types import FloatArray


def measure_genes(X: Any, genes: list[str]) -> ColumnMoments:
    """Measure means and deviations of the genes, in a dense matrix by the values that are there."""
    moments = ColumnMoments(len(genes))
    for block in blocks_of(X):
        missing = find_missing(block)
        if missing is not None and isinstance(X, np.ndarray) and not np.isinf(X).any():
            known = ~np.isnan(X)
            moments.mean = np.where(known, X, 0).sum(0) / np.maximum(known.sum(0), 1)
            squares = np.where(known, np.square(X - moments.mean), 0).sum(0)
            moments.squares = squares * len(X) / np.maximum(known.sum(0), 1)
            moments.n_rows = len(X)
            return moments
        refuse_missing(missing, genes, "GroupFS")
        moments.add(block)
    return moments


def score_cells(X: Any, moments: ColumnMoments, selector: GroupFS) -> FloatArray:
    """Average z-scores of each group's genes, weighted by centrality and sign, (n_obs, C)."""
    weights = score_weights(selector.groups_, selector.centrality_, selector.group_signs_)
    scores = [score_rows(block, moments.mean, moments.spread, weights) for block in blocks_of(X)]
    return np.concatenate(scores)


def score_names(selector: GroupFS) -> list[str]:
    """Call scores by rank and representative, or by rank and the name that was given, (C,)."""
    genes = feature_names(selector)
    named = group_names(selector) or [genes[i] for i in selector.representatives_]
    # a slash would make a folder in a file
    return [f"group{j + 1}_{name.replace('/', '-')}" for j, name in enumerate(named)]
