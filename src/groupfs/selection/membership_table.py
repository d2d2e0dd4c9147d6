"""Memberships of the features in one trained model: labels, probabilities, equal columns.

Axes: d features, C groups, k candidate groups of a feature. Nothing but numpy and scipy here.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.special
from numpy.typing import NDArray

from groupfs.utils.types import FloatArray, IntArray


@dataclass
class MembershipTable:
    """Memberships of one model.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.selection.membership_table import MembershipTable
    >>> found = MembershipTable(np.array([[0.0, 2.0]]), n_groups=9, candidates=np.array([[7, 4]]))
    >>> found.labels()
    array([4])
    >>> found.probabilities(np.arange(9)).nnz
    2
    """

    logits: NDArray[np.floating]  #: (d, C), or (d, k) with candidates
    n_groups: int
    candidates: IntArray | None = None  #: groups that a feature may belong to, (d, k)

    def labels(self) -> IntArray:
        """Find the group of every feature, (d,)."""
        best: IntArray = self.logits.argmax(1)
        if self.candidates is None:
            return best
        return self.candidates[np.arange(len(best)), best]

    def probabilities(self, order: IntArray) -> FloatArray | sp.csr_array:
        """Compute memberships in some of the groups, rows sum to one, (d, m)."""
        share = scipy.special.softmax(self.logits.astype(np.float64), axis=1)
        if self.candidates is None:
            share = share[:, order]
            return share / share.sum(1, keepdims=True)
        d, k = share.shape
        starts = np.arange(0, d * k + 1, k)
        everywhere = sp.csr_array(
            (share.ravel(), self.candidates.ravel(), starts), shape=(d, self.n_groups)
        )
        chosen = sp.csr_array(everywhere[:, order])
        chosen.sort_indices()
        chosen.data /= np.repeat(chosen.sum(axis=1), np.diff(chosen.indptr))
        return chosen

    def merged(self, twins: IntArray) -> "MembershipTable":
        """Give equal columns the mean of their logits, and so one group; ``twins`` (d,) names them.

        Of candidates they share those of the first; a group that one of them did not have counts as
        its least likely.
        """
        logits = self.logits.astype(np.float64)
        if self.candidates is None:
            return MembershipTable(merge_twins(logits, twins), self.n_groups)
        _, first = np.unique(twins, return_index=True)
        several = np.flatnonzero((np.bincount(twins) > 1)[twins])
        candidates = self.candidates.copy()
        candidates[several] = self.candidates[first[twins[several]]]
        same = candidates[several, :, None] == self.candidates[several, None, :]
        least = logits[several].min(1, keepdims=True)
        found = np.where(same, logits[several, None, :], -np.inf).max(2)
        logits[several] = np.where(same.any(2), found, least)
        _, sets = np.unique(twins[several], return_inverse=True)
        if len(several):
            logits[several] = merge_twins(logits[several], sets)
        return MembershipTable(logits, self.n_groups, candidates)


def place_rows(
    membership: FloatArray | sp.csr_array, rows: IntArray, n_rows: int
) -> FloatArray | sp.csr_array:
    """Put rows among others that are zero, (d, C) to (n_rows, C)."""
    shape = (n_rows, membership.shape[1])
    if not sp.issparse(membership):
        placed = np.zeros(shape)
        placed[rows] = membership
        return placed
    entries = sp.coo_array(membership)
    return sp.csr_array((entries.data, (rows[entries.row], entries.col)), shape=shape)


def merge_twins(logits: FloatArray, twins: IntArray) -> FloatArray:
    """Give equal columns the mean of their logits, so that they share a group, (d, C)."""
    counts = np.bincount(twins)
    sums = np.zeros((len(counts), logits.shape[1]))
    np.add.at(sums, twins, logits)
    merged: FloatArray = (sums / counts[:, None])[twins]
    return merged
