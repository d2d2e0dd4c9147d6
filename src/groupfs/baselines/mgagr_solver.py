r"""The steps of MGAGR: a graph of the samples per group, a common one, a reconstruction.

Axes: n samples, d features, V groups, b rows of a block. All in double precision. The groups'
graphs are recomputed in blocks of rows, and never held whole.

A step for Z is one of reweighted least squares: :math:`(X^\top K X + \gamma Q) Z = X^\top T` with
:math:`K = I + \alpha L_S` and :math:`Q = \mathrm{diag}(1 / (2 \|z_j\|))`. None raises the
objective.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

Step = Callable[[Tensor], Tensor]
#: Groups' graphs are computed for so many rows at once that b V n is about this (64 MB).
BLOCK_ENTRIES = 2**23
#: Added to the groups' products, as a share of their mean square: equal groups share their weight.
RIDGE = 1e-12
OUT_OF_RANGE = (
    "MGAGR cannot be solved in double precision with these weights: sparsity_weight is too small "
    "or smoothness_weight too large; choose them nearer to 1."
)


def direct_step(X: Tensor, T: Tensor, S: Tensor, alpha: float, gamma: float) -> Step:
    r"""Return the step for n >= d: from :math:`Q^{-1}` (d,) to Z, by a system of size d.

    :math:`Z = R (R X^\top K X R + \gamma I)^{-1} R X^\top T` with :math:`R = Q^{-1/2}`.
    """
    products = X.T @ (X + alpha * laplacian(S, X))
    target = X.T @ T

    def step(inverse_q: Tensor) -> Tensor:
        root = inverse_q.sqrt().unsqueeze(1)
        system = products * root * root.T
        system.diagonal().add_(gamma)
        return root * torch.cholesky_solve(root * target, factor(system))

    return step


def push_through_step(X: Tensor, T: Tensor, S: Tensor, alpha: float, gamma: float) -> Step:
    r"""Return the step for n < d: from :math:`Q^{-1}` (d,) to Z, by a system of size n.

    :math:`Z = Q^{-1} X^\top (X Q^{-1} X^\top + \gamma K^{-1})^{-1} K^{-1} T`.
    """
    K = -alpha * S
    K.diagonal().add_(1 + alpha * S.sum(1))
    K_inverse = torch.cholesky_inverse(factor(K))
    target = K_inverse @ T

    def step(inverse_q: Tensor) -> Tensor:
        system = torch.addmm(K_inverse, X * inverse_q, X.T, beta=gamma)
        return inverse_q.unsqueeze(1) * (X.T @ torch.cholesky_solve(target, factor(system)))

    return step


def laplacian(S: Tensor, F: Tensor) -> Tensor:
    """Return :math:`(D - S) F` with the degrees D, (n, n) and (n, m)."""
    return S.sum(1, keepdim=True) * F - S @ F


def factor(system: Tensor) -> Tensor:
    """Return the Cholesky factor of a positive definite matrix."""
    lower, failed = torch.linalg.cholesky_ex(system)
    if failed:
        raise ValueError(OUT_OF_RANGE)
    return lower


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

    def _kernel(self, block: slice) -> Tensor:
        b = block.stop - block.start
        kernel = self.parts[0].new_empty(b, len(self.parts), self.n_samples)
        for v, part in enumerate(self.parts):
            kernel[:, v] = torch.cdist(part[block], part).square_()
        return kernel.div_(-self.sigma).exp_()


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
        distances = torch.cdist(Y[block], Y).square_()
        S[block] = nonnegative_rows(mixture[block] - distances.mul_(alpha / 4))
    S.add_(S.T.clone()).div_(2)
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
