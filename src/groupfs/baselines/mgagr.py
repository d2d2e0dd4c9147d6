r"""MGAGR: blocks of columns, one sample graph per block, a sparse reconstruction of X.

Axes: n samples, d features, V groups, b rows of a block. All in double precision. The groups'
graphs are recomputed in blocks of rows, and never held whole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.baselines.base import DeviceSelector, Table
from groupfs.utils.device import resolve_device
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, parameter

Step = Callable[[Tensor], Tensor]
#: Groups' graphs are computed for so many rows at once that b V n is about this (64 MB).
BLOCK_ENTRIES = 2**23
#: Added to the groups' products, as a share of their mean square: equal groups share their weight.
RIDGE = 1e-12
#: Keeps Q finite where a row of Z is zero; the steps use its inverse, which always is.
TINY = 1e-15
OUT_OF_RANGE = (
    "MGAGR cannot be solved in double precision with these weights: sparsity_weight is too small "
    "or smoothness_weight too large; choose them nearer to 1."
)


@dataclass(eq=False, repr=False, kw_only=True)
class MGAGR(DeviceSelector):
    r"""Keep the features from which the others are rebuilt best, on a graph the groups agree on.

    Multi-group adaptive graph representation. Every group v of features has a graph :math:`S^v`
    over the n samples; a common graph S is learned near their mixture, with weights
    :math:`w_{vi}` of its own for every sample. Meanwhile X is rebuilt from few of its columns,
    smoothly on S:

    .. math:: \sum_i \|S_{:i} - \sum_v w_{vi} S^v_{:i}\|^2 + \|X - XZ\|_F^2
              + \alpha\,\mathrm{tr}(Z^\top X^\top L_S X Z) + \gamma \|Z\|_{2,1}

    and the score of a feature is the squared norm of its row of Z.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.
    n_groups : int or "auto", default="auto"
        Blocks of neighbouring columns, of equal size but for one, that the features that vary are
        cut into in the order they came. "auto" is 10, or half the number of these features if that
        is less. The order of the columns matters here.
    smoothness_weight : float, default=0.1
        :math:`\alpha`, weight of the smoothness of the rebuilt samples on the common graph.
    sparsity_weight : float, default=0.1
        :math:`\gamma`, weight of the sum of the norms of Z's rows.
    kernel_width : float, default=100.0
        :math:`\sigma` of all graphs, :math:`\exp(-\|x_i - x_j\|^2 / \sigma)`. Squared distances of
        standardised samples average twice the number of features of the group: a width far below
        that leaves samples without neighbours, one far above makes all neighbours alike.
    max_iter, max_inner_iter : int, default=10
        Most rounds of updating weights, graph and Z; most steps for Z within a round.
    tol : float, default=1e-4
        Rounds, and steps within a round, end early once the norms of Z's rows, taken as one vector,
        move by less than this share of its length. 0 takes all of them.
    standardize, device
        As in :class:`groupfs.GroupFS`; double precision is needed, which "mps" does not have.

    Attributes
    ----------
    groups_ : list of ndarray
        Indices of the features of every group.
    group_weights_ : ndarray of shape (n_groups,)
        :math:`w_{vi}`, mean over the samples; they sum to one and may be negative.
    n_iter_, converged_ : int, bool
        Rounds that were run, and whether the last one moved Z by less than ``tol``.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every round. Updates of the weights and of Z never raise it; the
        authors' rule for S, kept here, may.

    Notes
    -----
    A round costs about :math:`n^2 (d + V^2)` for the graphs and, for each step of Z, :math:`n^2 d`
    if n < d and :math:`d^3` else; memory is some :math:`8 (6 n^2 + 10 nd)` bytes.

    With standardised data :math:`\alpha/4` times the distances of rebuilt samples, of the order of
    :math:`\alpha d`, outweighs the entries of the groups' graphs, which are below one. Unless
    :math:`\alpha d` is small, groups and kernel width then hardly change the ranking.

    Examples
    --------
    >>> from groupfs.baselines import MGAGR
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(100, random_state=0).data
    >>> selector = MGAGR(5, n_groups=4).fit(X)
    >>> selector.transform(X).shape, len(selector.group_weights_)
    ((100, 5), 4)
    """

    __module__ = "groupfs.baselines"

    n_groups: int | str = parameter("auto", COUNT, {"auto"})
    smoothness_weight: float = parameter(0.1, NOT_NEGATIVE)
    sparsity_weight: float = parameter(0.1, POSITIVE)
    kernel_width: float = parameter(100.0, POSITIVE)
    max_iter: int = parameter(10, COUNT)
    max_inner_iter: int = parameter(10, COUNT)
    tol: float = parameter(1e-4, NOT_NEGATIVE)

    def _fit_table(self, table: Table) -> None:
        device, d = resolve_device(self.device), len(table.columns)
        if device.type == "mps":
            raise ValueError(
                'device="mps" has no double precision, which MGAGR needs; choose "cpu" or "auto".'
            )
        n_blocks = min(10, max(1, d // 2)) if self.n_groups == "auto" else int(self.n_groups)
        if n_blocks > d:
            raise ValueError(
                f"n_groups={self.n_groups} but X has {d} features that vary; a group needs at "
                f'least one, so choose at most {d} or "auto".'
            )
        blocks = np.array_split(np.argsort(table.columns), n_blocks)
        self.groups_ = [table.columns[block] for block in blocks]
        X = torch.as_tensor(table.rows.take(np.arange(table.rows.shape[0])), device=device)
        norms = self._solve(X, [X[:, block] for block in blocks])
        self._rank(table, norms.square().cpu().numpy())

    def _solve(self, X: Tensor, parts: list[Tensor]) -> Tensor:
        r"""Minimise over w, S and Z in turn; return the norms of Z's rows, (d,).

        X is (n, d), and its columns by group are V of (n, d_v). A step for Z is one of reweighted
        least squares: :math:`(X^\top K X + \gamma Q) Z = X^\top T` with
        :math:`K = I + \alpha L_S` and :math:`Q = \mathrm{diag}(1 / (2 \|z_j\|))`.

        Only the norms of Z's rows and distances between rows of XZ are needed. Both stay as they
        are when Z is rotated from the right, so with n < d the target X is replaced by the square T
        of :math:`X = TO`, O having orthonormal rows, and Z has n columns instead of d.
        """
        n, d = X.shape
        alpha, gamma = float(self.smoothness_weight), float(self.sparsity_weight)
        make_step = push_through_step if n < d else direct_step
        T = X if n >= d else torch.linalg.qr(X.T, mode="r").R.T.contiguous()
        graphs, whole = (GroupGraphs(own, float(self.kernel_width)) for own in (parts, [X]))
        S = torch.cat([whole.rows(block).squeeze(1) for block in whole.blocks()])
        # all of Z is 1 / d at the start, and one column has the distances of XZ
        Y, norms = X.sum(1, keepdim=True) / d**0.5, X.new_full((d,), d**-0.5)
        objective: list[float] = []
        self.converged_ = False
        while len(objective) < self.max_iter and not self.converged_:
            weights, misfit = update_graph(S, graphs, Y, alpha)
            at_start, step = norms, make_step(X, T, S, alpha, gamma)
            for _ in range(self.max_inner_iter):
                Z = step(2 * norms + TINY)
                previous, norms = norms, Z.norm(dim=1)
                if self._has_converged(norms, previous):
                    break
            Y = X @ Z
            roughness = (Y * laplacian(S, Y)).sum()
            value = misfit + (T - Y).square().sum() + alpha * roughness + gamma * norms.sum()
            if not torch.isfinite(value):
                raise ValueError(OUT_OF_RANGE)
            objective.append(float(value))
            self.converged_ = self._has_converged(norms, at_start)
        self.group_weights_ = weights.cpu().numpy()
        self.objective_, self.n_iter_ = np.array(objective), len(objective)
        return norms

    def _has_converged(self, norms: Tensor, previous: Tensor) -> bool:
        return bool((norms - previous).norm() < float(self.tol) * norms.norm())


def direct_step(X: Tensor, T: Tensor, S: Tensor, alpha: float, gamma: float) -> Step:
    r"""Return the step for n >= d: from :math:`Q^{-1}` (d,) to Z, by a system of size d.

    :math:`Z = R (R X^\top K X R + \gamma I)^{-1} R X^\top T` with :math:`R = Q^{-1/2}`.
    """
    products, target = X.T @ (X + alpha * laplacian(S, X)), X.T @ T

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

    def __init__(self, parts: list[Tensor], sigma: float, entries: int = BLOCK_ENTRIES) -> None:
        self.parts, self.sigma, self.block_entries = parts, sigma, entries
        sums = torch.cat([self._kernel(block).sum(-1) for block in self.blocks()])
        self.inverse_sums = sums.T.reciprocal()

    def blocks(self) -> Iterator[slice]:
        """Return slices that cover the rows, as many rows each as memory allows."""
        V, n = len(self.parts), len(self.parts[0])
        size = max(1, self.block_entries // (V * max(V, n)))
        return (slice(start, min(n, start + size)) for start in range(0, n, size))

    def rows(self, block: slice) -> Tensor:
        """Return rows of all groups' graphs, (b, V, n)."""
        r = self.inverse_sums
        return self._kernel(block).mul_(r[:, block].T.unsqueeze(-1) + r).div_(2)

    def _kernel(self, block: slice) -> Tensor:
        distances = [torch.cdist(part[block], part) for part in self.parts]
        return torch.stack(distances, 1).square_().div_(-self.sigma).exp_()


def update_graph(S: Tensor, graphs: GroupGraphs, Y: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    r"""Update the weights, then S (n, n) in place; Y is XZ as far as distances go.

    Row i of S is taken as near :math:`m_i = \sum_v w_{vi} S^v_i - \frac\alpha4 \|y_i - y_p\|^2`
    (p runs) as ``nonnegative_rows`` gets it; then S is made symmetric. Returns the weights, mean
    over the samples (V,), and :math:`\sum_i \|S_{:i} - \sum_v w_{vi} S^v_{:i}\|^2` with the new w
    and S.
    """
    mixture, total = torch.empty_like(S), S.new_zeros(len(graphs.parts))
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
