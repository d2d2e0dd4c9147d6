"""Concrete autoencoders side by side: their parameters, how they start, their loss, what they pick.

Axes: R replicas from different seeds, N rows, B rows of a batch, d features, K selectors, H hidden
units.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from groupfs.data.rows import Rows
from groupfs.models.relaxations import gumbel_noise, membership
from groupfs.utils.types import FloatArray, IntArray

#: Slope of the hidden units below zero.
SLOPE = 0.2


class Autoencoders:
    """Parameters of R replicas.

    Parameters
    ----------
    logits : (R, K, d)
        Of the selectors.
    W1, b1, W2, b2 : (R, K, H), (R, 1, H), (R, H, d), (R, 1, d)
        Weights and biases of the decoder's two layers.
    """

    def __init__(self, logits: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> None:
        self.logits, self.W1, self.b1, self.W2, self.b2 = logits, W1, b1, W2, b2
        for parameter in self.parameters():
            parameter.requires_grad_()

    def parameters(self) -> list[Tensor]:
        return [self.logits, self.W1, self.b1, self.W2, self.b2]

    def select(self, index: Tensor) -> Autoencoders:
        """Return a copy of some of the replicas."""
        return Autoencoders(*(parameter.detach()[index] for parameter in self.parameters()))

    def decode(self, selected: Tensor, kept: Tensor | None = None) -> Tensor:
        """Rebuild all features from the selected ones, (R, B, K) to (R, B, d).

        ``kept`` (R, B, H) multiplies the hidden units, zero for those that are dropped.
        """
        hidden = leaky_relu(torch.baddbmm(self.b1, selected, self.W1), SLOPE)
        if kept is not None:
            hidden = hidden * kept
        return torch.baddbmm(self.b2, hidden, self.W2)

    def loss(self, X: Tensor, uniform: Tensor, temperature: Tensor, dropout: float) -> Tensor:
        """Return the mean squared error of batches (R, B, d) under noise (R, n_noise), (R,)."""
        R, K, d = self.logits.shape
        gumbel = gumbel_noise(uniform[:, : K * d]).view(R, K, d)
        M = membership(self.logits, gumbel, temperature)
        kept = (uniform[:, K * d :] >= dropout).to(X.dtype).view(R, -1, X.shape[1]).mT
        reconstructed = self.decode(X @ M.mT, kept / (1 - dropout))
        return (reconstructed - X).square().mean((-2, -1))

    @torch.no_grad()
    def mean_max_probability(self) -> Tensor:
        """Return the mean over selectors of their largest selection probability, (R,)."""
        return (self.logits.amax(-1) - self.logits.logsumexp(-1)).exp().mean(-1)

    @torch.no_grad()
    def hard_error(self, rows: Rows, batch_size: int) -> Tensor:
        """Return the mean squared error from the selectors' most likely features alone, (R,)."""
        N, d = rows.shape
        picks = self.logits.argmax(-1)
        total = torch.zeros_like(self.logits[:, 0, 0])
        for index in torch.arange(N).split(batch_size):
            X = rows.take(index)
            total += (self.decode(X[:, picks].transpose(0, 1)) - X).square().sum((-2, -1))
        return total / (N * d)


def start(
    seeds: list[int], K: int, d: int, H: int, device: torch.device, dtype: torch.dtype
) -> Autoencoders:
    """Return untrained replicas: weights Glorot normal, biases zero."""
    weights: list[list[FloatArray]] = []
    for seed in seeds:
        rng = np.random.default_rng([seed, H])
        weights.append([_glorot(rng, *shape) for shape in ((K, d), (K, H), (H, d))])
    logits, W1, W2 = (np.stack(layer) for layer in zip(*weights, strict=True))
    R = len(seeds)
    arrays = (logits, W1, np.zeros((R, 1, H)), W2, np.zeros((R, 1, d)))
    return Autoencoders(*(torch.as_tensor(a, dtype=dtype, device=device) for a in arrays))


def _glorot(rng: np.random.Generator, n_in: int, n_out: int) -> FloatArray:
    return rng.standard_normal((n_in, n_out)) * math.sqrt(2 / (n_in + n_out))


def memory_of_a_replica(K: int, d: int, H: int, batch_size: int) -> int:
    """Estimate the bytes that the training of one replica takes in single precision."""
    noise_and_relaxation = 40 * (K * d + H * batch_size)
    parameters_with_moments = 16 * (K * d + K * H + H * d)
    return noise_and_relaxation + parameters_with_moments + 20 * batch_size * (d + H)


def distinct_features(log_probability: FloatArray) -> tuple[IntArray, int]:
    """Give every selector a feature of its own, (K, d) to (K,); return how many gave way, too."""
    K = len(log_probability)
    features = log_probability.argmax(axis=1)
    surest_first = np.argsort(-log_probability.max(axis=1), kind="stable")
    _, first = np.unique(features[surest_first], return_index=True)
    gives_way = np.ones(K, dtype=bool)
    gives_way[first] = False
    free = np.ones(log_probability.shape[1], dtype=bool)
    free[features] = False
    for selector in surest_first[gives_way]:
        features[selector] = np.where(free, log_probability[selector], -np.inf).argmax()
        free[features[selector]] = False
    return features, int(gives_way.sum())
