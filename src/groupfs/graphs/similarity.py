r"""How alike two columns are: their correlation, and what of it is there by construction.

Axes: N samples, d features.

A feature and its negative say the same, so similarity is :math:`|r|` unless signs matter.
Indicator columns of one variable exclude each other: where one is on, the others are off. That
makes them correlate without saying anything, so their correlation counts as none.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.graphs.feature_similarity import similarities
from groupfs.graphs.pair_sums import pair_weights
from groupfs.utils.types import FloatArray, IntArray

#: Deviation from -1 of lowest times highest value at which a standardised column has two values.
TWO_VALUED = 1e-4
#: Features a feature is said to go with.
NEAREST = 3
#: Columns up to which the matrix is kept once it is known (134 MB).
MATRIX_FEATURES = 4096
#: Neighbouring entries of which first the largest is found.
RUN = 32


class Correlations:
    """Correlations of the columns of a table, some rows of the matrix at a time.

    Of features of any kinds their similarities, which are the same for numbers.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.roots = np.sqrt(np.maximum(rows.column_norms, 1e-300))
        if not isinstance(rows, FeatureRows):
            self._on_share, self._on_spread = _indicators(rows)
        self._matrix: Tensor | None = None

    def block(self, start: int, stop: int, single: bool = False) -> Tensor:
        """Correlate columns start..stop with all, (stop - start, d), double precision; a copy.

        With ``single`` in single precision where that is faster.
        """
        if self._matrix is not None:
            return self._matrix[start:stop].clone()
        if isinstance(self.rows, FeatureRows):
            return torch.from_numpy(feature_similarities(self.rows, start, stop).copy())
        # that indicators exclude each other shows in digits that single precision does not have
        single = single and not np.isfinite(self._on_share).any()
        products = self.rows.column_products(start, stop, single)
        device, N = products.device, self.rows.shape[0]
        roots = torch.as_tensor(self.roots, device=device).to(products.dtype)
        r = products.div_(roots[start:stop, None]).div_(roots)
        on = torch.as_tensor(self._on_share, device=device)
        if bool(on[start:stop].isfinite().any()):
            spread = torch.as_tensor(self._on_spread, device=device)
            both = N * (r * spread[start:stop, None] * spread + on[start:stop, None] * on)
            r.masked_fill_(both < 0.5, 0)  # NaN where one of the columns has more values
        own = torch.arange(stop - start, device=device)
        r[own, own + start] = 1
        return r.clamp_(-1, 1)

    def matrix(self) -> Tensor:
        """Correlate all columns, (d, d); not to be written to."""
        d = self.rows.shape[1]
        if self._matrix is not None:
            return self._matrix
        found = self.block(0, d)
        if d <= MATRIX_FEATURES:
            self._matrix = found
        return found

    def strength(self) -> FloatArray:
        """Average the three largest abs(r) of every column with others, (d,)."""
        d, size = self.rows.shape[1], self.rows.columns_at_once
        found = []
        for start in range(0, d, size):
            stop = min(d, start + size)
            r = self.block(start, stop, single=True).abs_()
            if isinstance(self.rows, FeatureRows):  # pairs with few rows are alike by chance
                r *= torch.from_numpy(pair_weights(self.rows.basis, start, stop))
            own = torch.arange(len(r), device=r.device)
            r[own, own + start] = 0
            k = min(NEAREST, d - 1)
            found.append(largest_of_rows(r, k).mean(1).cpu().numpy())
        return np.concatenate(found)


def feature_similarities(rows: FeatureRows, start: int = 0, stop: int | None = None) -> FloatArray:
    """Compare features of any kinds, start..stop with all, (b, d); they are kept if not too many.

    Not to be written to.
    """
    d = rows.shape[1]
    if rows.similarities is None and d > MATRIX_FEATURES:
        return similarities(rows.basis, start, stop)
    if rows.similarities is None:
        rows.similarities = similarities(rows.basis)
    return rows.similarities[start:stop]


def strength_by_group(
    correlations: Correlations, labels: IntArray, n_groups: int, signed: bool
) -> FloatArray:
    """Average the three largest abs(r) of every column with others of each group, (d, C).

    With ``signed`` the largest r, without abs. Smaller groups average what they have; a feature
    alone in its group goes with nothing there.
    """
    d, size = len(labels), correlations.rows.columns_at_once
    by_group = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[by_group], np.arange(n_groups + 1))
    found = np.zeros((d, n_groups))
    for start in range(0, d, size):
        r = correlations.block(start, min(d, start + size), single=True)
        r = r if signed else r.abs_()
        own = torch.arange(len(r), device=r.device)
        r[own, own + start] = -torch.inf
        r = r[:, torch.as_tensor(by_group, device=r.device)]
        for j in range(n_groups):
            among = r[:, ends[j] : ends[j + 1]]
            if among.shape[1]:
                found[start : start + len(r), j] = _mean_of_others(among)
    return found


def largest_of_rows(values: Tensor, k: int) -> Tensor:
    """Find the k largest entries of each row, in any order, (b, d) to (b, k).

    They are among the k runs of neighbours with the largest maxima, so one pass finds the maxima
    and the rest is about few entries.
    """
    b, d = values.shape
    n_runs = d // RUN
    if n_runs <= 2 * k:
        return _top(values, k)
    runs = values[:, : n_runs * RUN].view(b, n_runs, RUN)
    best = runs.amax(2).topk(k, dim=1).indices
    among = runs.gather(1, best.unsqueeze(-1).expand(-1, -1, RUN)).flatten(1)
    return _top(torch.cat([among, values[:, n_runs * RUN :]], 1), k)


def _top(values: Tensor, k: int) -> Tensor:
    if values.device.type == "cpu":  # several times as fast as torch's
        array = values.numpy()
        return torch.from_numpy(np.partition(array, array.shape[1] - k, axis=1)[:, -k:])
    return values.topk(k, dim=1).values


def _mean_of_others(values: Tensor) -> FloatArray:
    """Average the three largest entries of each row that are not minus infinity, (b, m) to (b,)."""
    top = largest_of_rows(values.contiguous(), min(NEAREST, values.shape[1]))
    is_other = top.isfinite()
    total = top.masked_fill(~is_other, 0).sum(1)
    found: FloatArray = (total / is_other.sum(1).clamp(min=1)).cpu().numpy()
    return found


def _indicators(rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Find how often columns with two values have the higher one, and their deviation, (d,) each.

    NaN for other columns. A standardised column has two values if its lowest times its highest is
    -1, and no column has more than that.
    """
    lowest, highest = rows.column_ends()
    deviation = np.sqrt(np.maximum(rows.column_norms, 1e-300) / rows.shape[0])
    lowest, highest = lowest / deviation, highest / deviation
    two = np.abs(lowest * highest + 1) < TWO_VALUED
    share = np.where(two, 1 / (1 + highest**2), np.nan)
    return share, np.sqrt(share * (1 - share))
