"""Tell groups that all rows make from those that a few rows make.

Axes: n rows, d features, C groups.
"""

import numpy as np

from groupfs.data.halves import N_BLOCKS, block_of_rows
from groupfs.data.table import Rows
from groupfs.utils.types import BoolArray, IntArray

#: Share of a group that both halves find, at least.
LEAST_FOUND = 0.2
#: Standard errors over blocks of rows that the cohesion of a group is above zero, at least; and
#: numbers in the rows that are looked at, at most, and rows at least.
BLOCK_ERRORS, SCORED_ENTRIES, FEWEST_ROWS = 3.0, 2**22, 20


def holds_in_blocks(
    rows: Rows, dealt: IntArray, labels: IntArray, signs: IntArray, n_groups: int
) -> BoolArray:
    r"""Tell which groups cohere in blocks of rows throughout, so that no few rows make them, (C,).

    The mean correlation of a group's features, turned to agree, is the mean over rows of
    :math:`((\sum_j z_j)^2 - \sum_j z_j^2) / (m (m - 1))`; its mean over the blocks of rows, which
    are given as they were ``dealt``, is to be three standard errors above zero.
    """
    index = dealt[: max(FEWEST_ROWS, SCORED_ENTRIES // len(labels))]
    Z = np.nan_to_num(rows.in_memory().feature_values(index, labels, signs)) * signs
    member = np.eye(n_groups)[labels]
    sizes = np.maximum(member.sum(0), 2)
    common = np.square(Z @ member) - np.square(Z) @ member
    blocks = block_of_rows(len(index))
    counts = np.bincount(blocks, minlength=N_BLOCKS)[:, None]
    sums = np.array([common[blocks == k].sum(0) for k in range(N_BLOCKS)])
    means = (sums / np.maximum(counts, 1))[counts[:, 0] > 0] / (sizes * (sizes - 1))
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    held: BoolArray = means.mean(0) >= BLOCK_ERRORS * error
    return held
