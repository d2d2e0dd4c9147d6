"""The graphs of MGAGR: one of the samples per group, and the common one learned from them.

Axes: n samples, V groups, b rows of a block. Two matrices of n x n are held, S and the mixture of
the groups' graphs; the groups' graphs themselves are recomputed in blocks of rows.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

#: Groups' graphs are computed for so many rows at once that b V n is about this (64 MB).
BLOCK_ENTRIES = 2**23
#: Added to the groups' products, as a share of their mean square: equal groups share their weight.
RIDGE = 1e-12


class GroupGraphs:
    r"""A graph of the samples per group, handed out in blocks of rows and never held whole.

    :math:`E_{ij} = \exp(-\|x_i - x_j\|^2 / \sigma)` from the group's columns is divided by its row
    sums r and made symmetric: :math:`S^v_{ij} = \frac12 E_{ij} (1/r_i + 1/r_j)`. Only r is kept.
    """

    def __init__(
        self, parts: Sequence[Tensor], sigma: float, block_entries: int = BLOCK_ENTRIES
    ) -> None:
        self.parts, self.sigma, self.block_entries = parts, sigma, block_entries
        self.n_samples = parts[0].shape[0]
        self.inverse_sums = parts[0].new_empty(len(parts), self.n_samples)
        for block in self.blocks():
            self.inverse_sums[:, block] = self._kernel(block).sum(-1).T.reciprocal()

    def blocks(self) -> Iterator[slice]:
        """Return slices that cover the rows, as many rows each as memory allows."""
        V, n = len(self.parts), self.n_samples
        size = max(1, self.block_entries // (V * max(V, n)))
        return (slice(start, min(n, start + size)) for start in range(0, n, size))

    def rows(self, block: slice) -> Tensor:
        """Return rows of all groups' graphs, (b, V, n)."""
        r = self.inverse_sums
        return self._kernel(block).mul_(r[:, block].T.unsqueeze(-1) + r).div_(2)

    def only(self) -> Tensor:
        """Return the whole graph of the only group, (n, n)."""
        S = self.parts[0].new_empty(self.n_samples, self.n_samples)
        for block in self.blocks():
            S[block] = self.rows(block).squeeze(1)
        return S

    def _kernel(self, block: slice) -> Tensor:
        b = block.stop - block.start
        kernel = self.parts[0].new_empty(b, len(self.parts), self.n_samples)
        for v, part in enumerate(self.parts):
            kernel[:, v] = squared_distances(part, block)
        return kernel.div_(-self.sigma).exp_()


def squared_distances(points: Tensor, block: slice) -> Tensor:
    """Return squared distances from the points of the block to all, (b, n)."""
    norms = points.square().sum(1)
    distances = torch.addmm(norms, points[block], points.T, alpha=-2).add_(norms[block, None])
    distances[:, block].diagonal().zero_()
    return distances.clamp_(min=0)


def update_graph(S: Tensor, graphs: GroupGraphs, Y: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    r"""Update the weights, then S (n, n) in place; Y is XZ as far as distances go.

    Row i of S is taken as near :math:`m_i = \sum_v w_{vi} S^v_i - \frac\alpha4 \|y_i - y_p\|^2`
    (p runs) as ``nonnegative_rows`` gets it; then S is made symmetric.

    Returns
    -------
    weights : (V,)
        Mean over the samples.
    misfit : ()
        :math:`\sum_i \|S_{:i} - \sum_v w_{vi} S^v_{:i}\|^2` with the new w and S.
    """
    mixture = torch.empty_like(S)
    total = S.new_zeros(len(graphs.parts))
    for block in graphs.blocks():
        gaps = graphs.rows(block).neg_().add_(S[block].unsqueeze(1))
        weights = group_weights(gaps)
        total += weights.sum(0)
        # the weights sum to one, so the mixture is S less the mixture of the gaps
        mixture[block] = S[block] - torch.bmm(weights.unsqueeze(1), gaps).squeeze(1)
        S[block] = nonnegative_rows(mixture[block] - squared_distances(Y, block).mul_(alpha / 4))
    symmetrize(S, graphs.blocks())
    return total / S.shape[0], mixture.sub_(S).square_().sum()


def group_weights(gaps: Tensor) -> Tensor:
    r"""Return weights of sum one that bring the mixture nearest, from :math:`A_i^\top` (b, V, n).

    :math:`(A_i^\top A_i) w = 1`, scaled to sum one, with :math:`S_{:i} - S^v_{:i}` as the columns
    of :math:`A_i`. Where groups coincide the weights with the smallest squares are taken. (b, V)
    """
    products = torch.bmm(gaps, gaps.transpose(1, 2))
    diagonal = products.diagonal(dim1=1, dim2=2)
    scale = diagonal.mean(-1, keepdim=True)
    # all groups equal to the common graph: any weights do, and this makes them equal
    diagonal.add_(torch.where(scale > 1e-200, RIDGE * scale, 1.0))
    solution = torch.linalg.solve(products, torch.ones_like(diagonal))
    return solution / solution.sum(-1, keepdim=True)


def nonnegative_rows(m: Tensor) -> Tensor:
    r"""Return rows without negative entries that sum to one, near the rows of m (b, n).

    One step of the authors' rule: :math:`t = m - \bar m`, :math:`\psi = \max(-2t, 0)`,
    :math:`s = \max(t + \bar\psi / 2, 0)`, scaled to sum one. This is not the nearest such row, so
    the objective may rise here.
    """
    t = m - m.mean(1, keepdim=True)
    s = (t + (-2 * t).clamp_(min=0).mean(1, keepdim=True) / 2).clamp_(min=0)
    total = s.sum(1, keepdim=True)
    any_left = total > 0
    return torch.where(any_left, s / torch.where(any_left, total, 1.0), 1 / m.shape[1])


def symmetrize(S: Tensor, blocks: Iterator[slice]) -> None:
    """Replace S by the mean of S and its transpose."""
    for block in blocks:
        met = slice(0, block.stop)
        mean = (S[block, met] + S[met, block].T) / 2
        S[block, met] = mean
        S[met, block] = mean.T
