r"""The feature term of the objective where a feature may belong to a few of the groups only.

Axes: d features, C groups, k candidate groups of a feature; one model at a time. A membership
matrix M is kept as its (d, k) entries at the candidates and the candidates' numbers, and nothing of
size d x C is made: the term is a function of two C x C matrices, :math:`A = M^\top M` and
:math:`B = M^\top S M` (S the walk of the features), that are summed over blocks of M.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

#: Entries of a block of rows of M that are worked on at a time.
BLOCK_ENTRIES = {"cpu": 2**21, "cuda": 2**26}
#: Columns of M that the walk is applied to at a time: looking up a neighbour costs more than its
#: numbers, so they are many.
WALK_COLUMNS = 32


def candidate_feature_smoothness(
    M: Tensor,
    candidates: Tensor,
    Q: Tensor,
    walk: Tensor,
    orthogonality: float,
    block_rows: int | None = None,
    walk_columns: int = WALK_COLUMNS,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Compute what :func:`groupfs.models.losses.feature_smoothness` does, for one model.

    Rows of M sum to one, so centring the columns of :math:`MQ` is centring those of Q, with the
    sizes of the groups as weights: :math:`F = M\bar Q D^{-1}`, D the norms, and with
    :math:`G = F^\top F = D^{-1}\bar Q^\top A\bar Q D^{-1}`

    .. math:: L_f = \frac{1}{dC}\left[\mathrm{tr}(G) - \mathrm{tr}(D^{-1}\bar Q^\top B\bar Q D^{-1})
        + \beta\|G - I\|_F^2\right].

    Its gradient is :math:`M\bar Q E\bar Q^\top - SM\bar Q J\bar Q^\top` and a row that is the same
    for all features; J needs D only, so that the walk is applied once.

    Parameters
    ----------
    M : (d, k)
        Memberships of every feature in its candidates; rows sum to one.
    candidates : (d, k) int
        Their numbers, all different for one feature.
    Q : (C, C)
        Projection.
    walk : (d, d), dense or CSR
        :math:`I - L` of the features.
    orthogonality : float
        :math:`\beta`.
    block_rows, walk_columns : int
        Rows of M, and columns of it along the walk, that are worked on at a time.

    Returns
    -------
    value : scalar
    grad_M : (d, k)
        Up to a number per feature, which no membership that sums to one can follow.
    grad_Q : (C, C)
    """
    d, C = len(M), len(Q)
    exact = torch.float32 if M.device.type == "mps" else torch.float64
    A = torch.zeros(C, C, dtype=exact, device=M.device)
    for _, block in dense_blocks(M, candidates, C, block_rows):
        A += block.T @ block
    sizes = A.sum(1)
    wide = Q.to(exact)
    centred = wide - sizes @ wide / sizes.sum()
    products = centred.T @ A @ centred
    norm = products.diagonal().clamp(min=0).sqrt().clamp(min=1e-12)
    J = 2 / (d * C) / norm.square()

    B, grad_M = _along_the_walk(
        M, candidates, walk, (centred * -J) @ centred.T, block_rows, walk_columns
    )
    G = products / norm / norm.unsqueeze(-1)
    roughness = G.diagonal() - (centred * (B @ centred)).sum(0) / norm.square()
    overlap = G - torch.eye(C, dtype=exact, device=M.device)
    value = (roughness.sum() + orthogonality * overlap.square().sum()) / (d * C)

    E = 4 * orthogonality * overlap
    E.diagonal().add_(2 - 2 * roughness - 4 * orthogonality * (G * overlap).sum(0))
    E = E / norm / norm.unsqueeze(-1) / (d * C)
    mean = B.sum(0) @ centred / d
    per_group = ((mean * J) @ centred.T).to(M.dtype)
    mixing = (centred @ E @ centred.T).to(M.dtype)
    for rows, block in dense_blocks(M, candidates, C, block_rows):
        grad_M[rows] += (block @ mixing).add_(per_group).gather(1, candidates[rows])
    grad_Q = A @ centred @ E - (B @ centred - torch.outer(sizes, mean)) * J
    return value.to(M.dtype), grad_M, grad_Q.to(M.dtype)


def per_group_sums(
    M: Tensor, candidates: Tensor, C: int, values: Tensor, block_rows: int | None = None
) -> Tensor:
    r"""Compute :math:`M^\top V`, (d, k) and (d, m) to (C, m), in blocks: the same on every run."""
    sums = M.new_zeros(C, values.shape[1])
    for rows, block in dense_blocks(M, candidates, C, block_rows):
        sums += block.T @ values[rows]
    return sums


def dense_blocks(
    M: Tensor, candidates: Tensor, C: int, block_rows: int | None = None
) -> Iterator[tuple[slice, Tensor]]:
    """Yield some rows of M at a time, with all of their columns, (b, C)."""
    size = block_rows or max(1, BLOCK_ENTRIES.get(M.device.type, 2**24) // C)
    for start in range(0, len(M), size):
        rows = slice(start, min(start + size, len(M)))
        entries = M[rows]
        yield rows, entries.new_zeros(len(entries), C).scatter_(1, candidates[rows], entries)


def _along_the_walk(
    M: Tensor,
    candidates: Tensor,
    walk: Tensor,
    K: Tensor,
    block_rows: int | None,
    walk_columns: int,
) -> tuple[Tensor, Tensor]:
    """Compute B and the entries of S M K at the candidates, a few columns of M at a time."""
    d, C = len(M), len(K)
    B = torch.zeros_like(K)
    at_candidates = torch.zeros_like(M)
    K = K.to(M.dtype)
    for start in range(0, C, walk_columns):
        stop = min(start + walk_columns, C)
        # entries of other columns are added as zeros to the first or the last of these
        inside = (candidates >= start) & (candidates < stop)
        indices = (candidates - start).clamp_(0, stop - start - 1)
        columns = M.new_zeros(d, stop - start).scatter_add_(1, indices, M * inside)
        columns = walk @ columns
        for rows, block in dense_blocks(M, candidates, C, block_rows):
            B[:, start:stop] += block.T @ columns[rows]
            at_candidates[rows] += (columns[rows] @ K[start:stop]).gather(1, candidates[rows])
    return B, at_candidates
