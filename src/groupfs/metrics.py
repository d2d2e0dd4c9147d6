"""Measures of a selection against what is known: sample labels and true groups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of samples whose cluster, matched one to one with the classes, is theirs.

    The matching is the best possible one (Hungarian algorithm).

    Examples
    --------
    >>> from groupfs.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def relevant_group_similarity(
    true_groups: Sequence[ArrayLike], predicted_groups: Sequence[ArrayLike]
) -> float:
    r"""Measure how well groups reproduce the informative ones (RG\ :sub:`sim` of the paper).

    Predicted groups that touch no informative group are set aside. The best Jaccard index of each
    true group with a remaining one is summed and divided by the number of true groups or of
    remaining predicted groups, whichever is larger; so splitting and merging both cost.

    Examples
    --------
    >>> from groupfs.metrics import relevant_group_similarity
    >>> relevant_group_similarity([[0, 1], [2, 3]], [[0, 1], [2, 3], [4, 5]])
    1.0
    """
    true_sets = [set(np.asarray(group).tolist()) for group in true_groups]
    predicted_sets = [set(np.asarray(group).tolist()) for group in predicted_groups]
    informative = set().union(*true_sets)
    kept = [group for group in predicted_sets if group & informative]
    if not kept:
        return 0.0
    best = [max(len(true & group) / len(true | group) for group in kept) for true in true_sets]
    return float(sum(best) / max(len(true_sets), len(kept)))


def selection_rates(informative: ArrayLike, selected: ArrayLike) -> tuple[float, float]:
    """Return true positive rate and false discovery rate of a selection of feature indices.

    Examples
    --------
    >>> from groupfs.metrics import selection_rates
    >>> selection_rates([0, 1, 2, 3], [0, 1, 2, 9])
    (0.75, 0.25)
    """
    truth, chosen = set(np.asarray(informative).tolist()), set(np.asarray(selected).tolist())
    if not truth:
        raise ValueError("informative is empty; the true positive rate is not defined without any.")
    hits = len(truth & chosen)
    discoveries = (len(chosen) - hits) / len(chosen) if chosen else 0.0
    return hits / len(truth), discoveries
