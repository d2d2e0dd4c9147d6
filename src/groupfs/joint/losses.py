r"""The objective, term by term, each with its gradient.

Axes: R models side by side, B samples of a batch, d features, C groups. M are memberships, Q the
projection of :math:`F = MQ`, mu gate means, :math:`\hat z = Mz` the weights of the features.
Every function returns one number per model, shape (R,), then the gradients with respect to its
arguments. Gradients are written out by hand: each needs a handful of matrix products, and no
history of the computation is kept.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from groupfs.joint.graph import (
    SelfTuningGraph,
    Walk,
    random_walk,
    self_tuning_graph,
    squared_distances,
)

#: Numbers of the sample graphs that are worked on at a time; on the CPU about a cache full.
CHUNK_ENTRIES = {"cpu": 2**21, "cuda": 2**28}
#: Features up to which the feature graph is dense on CUDA (256 MB).
DENSE_ON_CUDA = 8192


@dataclass(frozen=True)
class Objective:
    """What the models minimise, apart from their sparsity weights."""

    n_neighbors: int  #: K of the sample graph
    steps: int  #: t of its walk
    gate_noise: float  #: sigma
    through_bandwidth: bool  #: whether the gradient flows through the bandwidths g
    walk: Tensor  #: I - L_feat, (d, d) dense or CSR
    smoothness_weight: float = 0.0  #: lambda1


def sample_smoothness(objective: Objective, X: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    r"""Measure how smooth the gated samples are on their own graph.

    .. math:: L_s = -\frac{1}{Bd}\,\mathrm{tr}(\tilde X^\top P^t \tilde X)

    Only the Gram matrix :math:`G = \tilde X\tilde X^\top = X\,\mathrm{diag}(w)\,X^\top` is needed,
    with ``weight`` :math:`w = \hat z^2`, (R, d): the trace is the sum of :math:`P^t` times it, and
    distances come from it. Returns the value, (R,), and its gradient on w.
    """
    B, d = X.shape
    weighted = X * weight.unsqueeze(-2)
    gram = weighted @ X.T
    graph = self_tuning_graph(squared_distances(gram), objective.n_neighbors)
    walk, degree = random_walk(graph.affinity)
    steps, through_bandwidth = objective.steps, objective.through_bandwidth
    if (3 * steps - 1) * d < 3 * (steps - 1) * B:  # it takes fewer multiplications
        value, grad_weight, grad_walk = _trace_by_columns(X, weighted, walk, steps)
        grad_gram = _grad_gram(graph, walk, degree, grad_walk, through_bandwidth)
        grad_weight = grad_weight + (grad_gram @ X).mul_(X).sum(-2)
    else:
        value, diffusion, grad_walk = _trace_by_gram(gram, walk, steps)
        grad_gram = _grad_gram(graph, walk, degree, grad_walk, through_bandwidth)
        grad_weight = (grad_gram.add_(diffusion) @ X).mul_(X).sum(-2)
    scale = -1.0 / (B * d)
    return value * scale, grad_weight * scale


def sample_term(
    objective: Objective, X: Tensor, squared_weight: Tensor, models_at_once: int | None = None
) -> tuple[Tensor, Tensor]:
    """Compute L_s and its gradient a few models at a time, so that graphs stay in cache or memory.

    The gradient is that on the squares of z-hat, ``squared_weight``, (R, d).
    """
    entries = len(X) * max(X.shape)
    size = models_at_once or max(1, CHUNK_ENTRIES.get(X.device.type, 2**24) // entries)
    pieces = [sample_smoothness(objective, X, chunk) for chunk in squared_weight.split(size)]
    values, gradients = zip(*pieces, strict=True)
    return torch.cat(values), torch.cat(gradients)


def feature_smoothness(
    M: Tensor, Q: Tensor, walk: Tensor, orthogonality: float
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Measure how the projected memberships vary on the feature graph and from orthonormality.

    .. math:: L_f = \frac{1}{dC}\left[\mathrm{tr}(F^\top L_{feat} F) +
        \beta\|F^\top F - I\|_F^2\right]

    where F is :math:`MQ`, of memberships (R, d, C) and a projection (R, C, C), with its columns
    centred and scaled to unit norm, through which the gradient goes; ``walk`` is
    :math:`I - L_{feat}`, dense or CSR, and ``orthogonality`` :math:`\beta`. Returns the value,
    (R,), and its gradients on M and Q.
    """
    d, C = M.shape[-2:]
    F = M @ Q
    F = F - F.mean(-2, keepdim=True)
    norm = F.norm(dim=-2, keepdim=True).clamp_(min=1e-12)
    F = F.div_(norm)

    rough = apply_laplacian(walk, F)
    overlap = F.mT @ F
    overlap.diagonal(dim1=-2, dim2=-1).sub_(1)
    value = (F * rough).sum((-2, -1)) + orthogonality * overlap.square().sum((-2, -1))

    grad_F = torch.baddbmm(rough, F, overlap, beta=2, alpha=4 * orthogonality)
    grad_F = grad_F.sub_(F * (F * grad_F).sum(-2, keepdim=True)).div_(norm * (d * C))
    grad_F = grad_F.sub_(grad_F.mean(-2, keepdim=True))
    return value / (d * C), grad_F @ Q.mT, M.mT @ grad_F


def group_sparsity(mu: Tensor, share: Tensor, gate_noise: float) -> tuple[Tensor, Tensor, Tensor]:
    r"""Compute the expected share of features behind open gates, averaged over groups.

    .. math:: L_{reg} = \frac1C\sum_j \Phi(\mu_j/\sigma)\,s_j

    with :math:`s_j = \frac1d\sum_i M_{ij}` the share of the features in group j, (R, C). Returns
    the value, (R,), its gradient on mu, (R, C), and :math:`\Phi(\mu/\sigma)`, which is C times the
    gradient on the share.
    """
    scaled = mu / gate_noise
    is_open = torch.special.ndtr(scaled)
    density = torch.exp(-0.5 * scaled.square()) / (gate_noise * math.sqrt(2 * math.pi))
    return (is_open * share).mean(-1), density * share / mu.shape[-1], is_open


def _trace_by_gram(gram: Tensor, walk: Tensor, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Compute tr(P^t G), P^t transposed and the gradient on P, cheaply for many features."""
    right = [gram]  # G (P^T)^k
    for _ in range(steps - 1):
        right.append(right[-1] @ walk.mT)
    value = (walk * right[-1]).sum((-2, -1))
    grad_walk, diffusion = right[0], walk
    for factor in right[1:]:
        grad_walk = factor + walk.mT @ grad_walk
        diffusion = diffusion @ walk
    return value, diffusion, grad_walk


def _trace_by_columns(
    X: Tensor, weighted: Tensor, walk: Tensor, steps: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute tr(P^t G), its gradient on the weights with P held fixed, and that on P.

    The cheaper way when features are few beside the samples of the batch.
    """
    forth = [X.expand_as(weighted)]  # P^k X
    back = [weighted]  # (P^T)^k X diag(w)
    for _ in range(steps):
        forth.append(walk @ forth[-1])
    for _ in range(steps - 1):
        back.append(walk.mT @ back[-1])
    grad_weight, value = (X * forth[-1]).sum(-2), (weighted * forth[-1]).sum((-2, -1))
    grad_walk = torch.cat(back, -1) @ torch.cat(forth[steps - 1 :: -1], -1).mT
    return value, grad_weight, grad_walk


def _grad_gram(
    graph: SelfTuningGraph, walk: Tensor, degree: Tensor, grad_walk: Tensor, through_bandwidth: bool
) -> Tensor:
    """Compute the gradient on the Gram matrix of what depends on it through the walk."""
    grad_affinity = (grad_walk - (grad_walk * walk).sum(-1, keepdim=True)).div_(degree)
    pull = grad_affinity.mul_(graph.affinity)
    pull.diagonal(dim1=-2, dim2=-1).zero_()
    grad_distances = graph.distances_pullback(pull, through_bandwidth)
    ends = grad_distances.sum(-1) + grad_distances.sum(-2)
    grad_gram = grad_distances.mul_(-2)
    grad_gram.diagonal(dim1=-2, dim2=-1).add_(ends)
    return grad_gram


def walk_tensor(walk: Walk, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Make a tensor of a dense or CSR walk matrix, of the same layout.

    On CUDA sparse matrices of moderate size become dense: their products with sparse ones are not
    reproducible to the last bit, and dense products cost little there.
    """
    if device.type == "cuda" and walk.shape[0] <= DENSE_ON_CUDA:
        walk = walk if isinstance(walk, np.ndarray) else walk.toarray()
    if isinstance(walk, np.ndarray):
        return torch.as_tensor(walk, dtype=dtype, device=device)
    ends, places = (torch.from_numpy(of.astype(np.int64)) for of in (walk.indptr, walk.indices))
    look: dict[str, Any] = {"dtype": dtype, "device": device, "check_invariants": False}
    return torch.sparse_csr_tensor(ends, places, torch.from_numpy(walk.data), walk.shape, **look)


# torch says once in a process that these tensors are new. It is silenced here and not where they
# are made: there other threads may be at work, and warnings are silenced for all of them.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    walk_tensor(sp.csr_array(np.eye(2)), torch.device("cpu"), torch.float32)


def apply_laplacian(walk: Tensor, F: Tensor) -> Tensor:
    """Compute :math:`F - S F` for each model, (d, d) dense or CSR and (R, d, C)."""
    R, d, C = F.shape
    if R == 1 and walk.layout == torch.strided:
        return F - walk @ F
    columns = F.transpose(0, 1).reshape(d, R * C)
    return (columns - walk @ columns).view(d, R, C).transpose(0, 1)
