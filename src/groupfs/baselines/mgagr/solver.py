r"""The iterations of MGAGR and its reconstruction step; the graphs are in ``graphs``.

Axes: n samples, d features, V groups. All in double precision.

Minimised over w, S and Z in turn, where column i of w sums to one:

.. math:: \sum_i \|S_{:i} - \sum_v w_{vi} S^v_{:i}\|^2 + \|X - XZ\|_F^2
          + \alpha\,\mathrm{tr}(Z^\top X^\top L_S X Z) + \gamma \sum_j \|z_j\|

Nothing here needs Z itself, only the norms of its rows and distances between rows of XZ. Both stay
as they are when Z is rotated from the right, so with n < d the target X is replaced by the square T
of :math:`X = TO`, O having orthonormal rows, and Z has n columns instead of d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from tqdm import tqdm

from groupfs.baselines.mgagr.graphs import GroupGraphs, update_graph

#: Keeps Q finite where a row of Z is zero; the steps below use its inverse, which always is.
TINY = 1e-15
OUT_OF_RANGE = (
    "MGAGR cannot be solved in double precision with these weights: sparsity_weight is too small "
    "or smoothness_weight too large; choose them nearer to 1."
)


@dataclass
class Solution:
    """Result of the iterations."""

    row_norms: Tensor  #: of Z, (d,)
    weights: Tensor  #: of the groups, mean over the samples, (V,)
    objective: list[float]  #: at the end of every outer iteration
    converged: bool


def solve(
    X: Tensor,
    parts: Sequence[Tensor],
    *,
    alpha: float,
    gamma: float,
    sigma: float,
    max_iter: int,
    max_inner_iter: int,
    tol: float,
    verbose: bool = False,
) -> Solution:
    """Run the iterations on X (n, d) and its columns by group, V of (n, d_v).

    Both loops end early once the norms of Z's rows, taken as one vector, move by less than ``tol``
    times its length.
    """
    n, d = X.shape
    T = X if n >= d else torch.linalg.qr(X.T, mode="r").R.T.contiguous()
    graphs = GroupGraphs(parts, sigma)
    S = GroupGraphs([X], sigma).only()
    # all of Z is 1 / d at the start, and one column has the distances of XZ
    Y, norms = X.sum(1, keepdim=True) / d**0.5, X.new_full((d,), d**-0.5)
    objective: list[float] = []
    converged = False
    with tqdm(total=max_iter, desc="MGAGR", unit="round", disable=not verbose) as progress:
        while len(objective) < max_iter and not converged:
            weights, misfit = update_graph(S, graphs, Y, alpha)
            previous = norms
            Z = update_reconstruction(X, T, S, norms, alpha, gamma, max_inner_iter, tol)
            Y, norms = X @ Z, Z.norm(dim=1)
            roughness = (Y * laplacian(S, Y)).sum()
            value = misfit + (T - Y).square().sum() + alpha * roughness + gamma * norms.sum()
            if not torch.isfinite(value):
                raise ValueError(OUT_OF_RANGE)
            objective.append(float(value))
            converged = has_settled(norms, previous, tol)
            progress.set_postfix(objective=objective[-1], refresh=False)
            progress.update()
    return Solution(norms, weights, objective, converged)


def update_reconstruction(
    X: Tensor,
    T: Tensor,
    S: Tensor,
    norms: Tensor,
    alpha: float,
    gamma: float,
    max_iter: int,
    tol: float,
) -> Tensor:
    r"""Return Z of reweighted least squares from the norms of its rows, (d, columns of T).

    :math:`(X^\top K X + \gamma Q) Z = X^\top T` with :math:`K = I + \alpha L_S` and
    :math:`Q = \mathrm{diag}(1 / (2 \|z_j\|))`, again and again. No step raises the objective.
    """
    n, d = X.shape
    step = (push_through_step if n < d else direct_step)(X, T, S, alpha, gamma)
    for _ in range(max_iter):
        Z = step(2 * norms + TINY)
        previous, norms = norms, Z.norm(dim=1)
        if has_settled(norms, previous, tol):
            break
    return Z


Step = Callable[[Tensor], Tensor]


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


def has_settled(norms: Tensor, previous: Tensor, tol: float) -> bool:
    """Return whether the norms moved by less than ``tol``, relative to their length as a vector."""
    return bool((norms - previous).norm() < tol * norms.norm())
