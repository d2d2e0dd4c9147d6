"""DUFS: a stochastic gate per feature, trained so that open features vary smoothly on their graph.

It is GroupFS with every feature in a group of its own, and uses the same graphs, gates and trainer.
Axes: R models, here one; B samples of a batch, d features.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Self

import numpy as np
import torch
from torch import Tensor

from groupfs.baselines.base import Table, TrainedSelector
from groupfs.groups import OPEN
from groupfs.joint.loop import train
from groupfs.joint.losses import Objective, group_sparsity, sample_term
from groupfs.joint.model import GatedModel
from groupfs.joint.problem import DTYPE
from groupfs.joint.relaxations import CounterNoise, Noise, gates, gates_pullback
from groupfs.joint.settings import Schedule, fewer_than, large_batch
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, Interval, parameter

#: Steps that training takes at most, and epochs it takes at least, if epochs are not given.
MAX_STEPS, MIN_EPOCHS = 500, 20
#: Gates start at one half, give or take so much.
START_SPREAD = 0.01
#: Keeps the ratio of the terms finite when all gates are shut.
SMALLEST_SHARE = 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class DUFS(TrainedSelector):
    r"""Differentiable unsupervised feature selection based on a gated Laplacian.

    Every feature has a gate :math:`z = \mathrm{clip}(\mu + \sigma\epsilon, 0, 1)`. The gated
    samples span a graph with random walk P, and the gates are trained on

    .. math:: L = -\frac{1}{Bd}\,\mathrm{tr}(\tilde X^\top P^2 \tilde X) \quad\text{against}\quad
        R = \frac1d\sum_i \Phi(\mu_i/\sigma),

    as the ratio :math:`L / R` or the sum :math:`L + \lambda R`. Features are ranked by their gate
    means :math:`\mu`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes the features with open gates (mean above one half).
    loss : {"ratio", "sum"}, default="ratio"
        How the two terms are combined; the ratio has no weight to choose.
    sparsity_weight : float, default=0.1
        :math:`\lambda` of the sum.
    n_neighbors : int, default=7
        The neighbour whose distance is a sample's bandwidth, as in GroupFS.
    learning_rate, gate_noise : float, default=0.01 and 0.5
        Step size of Adam, and :math:`\sigma`.
    batch_size, max_epochs : int or None, default=None
        Rows per step, and passes over the table. None takes all rows up to 640, else about 512, and
        about 500 steps.
    standardize, device, random_state, verbose
        As in :class:`groupfs.GroupFS`.

    Attributes
    ----------
    history_, n_iter_ : list of dict, int
        Loss and its two terms in every epoch, and the number of epochs.

    References
    ----------
    Lindenbaum, Shaham, Peterfreund, Svirsky, Casey, Kluger: Differentiable Unsupervised Feature
    Selection based on a Gated Laplacian, NeurIPS 2021.

    Examples
    --------
    >>> from groupfs.baselines import DUFS
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(300, random_state=0).data
    >>> DUFS(random_state=0).fit(X).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    __module__ = "groupfs.baselines"

    loss: str = parameter("ratio", {"ratio", "sum"})
    sparsity_weight: float = parameter(0.1, NOT_NEGATIVE)
    n_neighbors: int = parameter(7, COUNT)
    learning_rate: float = parameter(0.01, POSITIVE)
    batch_size: int | None = parameter(None, Interval(Integral, 2, None, closed="left"), None)
    max_epochs: int | None = parameter(None, COUNT, None)
    gate_noise: float = parameter(0.5, Interval(Real, 0.2, 2, closed="both"))

    def _fit_table(self, table: Table) -> None:
        rows = self._batches(table)
        N, d = rows.shape
        (seed,) = self._seeds(1)
        batch_size = self.batch_size or large_batch(N)
        max_epochs = self.max_epochs or max(MIN_EPOCHS, MAX_STEPS // -(-N // batch_size))
        schedule = Schedule(max_epochs, batch_size, self.learning_rate)
        objective = Objective(
            n_neighbors=fewer_than("n_neighbors", self.n_neighbors, min(batch_size, N), "a batch"),
            steps=2,
            gate_noise=self.gate_noise,
            through_bandwidth=True,
            walk=torch.empty(0, 0),  # there are no memberships
        )
        start = 0.5 + START_SPREAD * np.random.default_rng(seed).standard_normal((1, d))
        mu = torch.as_tensor(start, dtype=DTYPE, device=rows.device)
        kind = SumOfTerms if self.loss == "sum" else RatioOfTerms
        model = kind.with_gates(mu, mu.new_tensor([self.sparsity_weight]))
        noise = CounterNoise([seed], rows.device)
        history = train(model, objective, rows, schedule, noise, seed, bool(self.verbose), "DUFS")
        losses = model.total(objective, torch.as_tensor(history.terms).to(model.mu))[:, 0].tolist()
        self.n_iter_, terms = len(losses), history.terms[:, 0, [0, 2]].T.tolist()
        self.history_ = [
            {"epoch": epoch, "loss": loss, "sample_smoothness": smooth, "open_share": share}
            for epoch, (loss, smooth, share) in enumerate(zip(losses, *terms, strict=True))
        ]
        scores = model.mu[0].double().cpu().numpy()
        if_none = (
            "All gates are closed; only the feature ranked first was selected. Choose a lower "
            'sparsity_weight, loss="ratio" or n_features_to_select.'
        )
        self._rank_open(table, scores, int((scores > OPEN).sum()), if_none)


class SumOfTerms(GatedModel):
    r"""A gate for every feature and no memberships, with the loss :math:`L + \lambda R`."""

    @classmethod
    def with_gates(cls, mu: Tensor, weight: Tensor) -> Self:
        """Make models of gate means, (R, d), and weights, (R,)."""
        R = len(mu)
        logits, Q = mu.new_empty((R, 0, 1)), mu.new_empty((R, 0, 0))
        return cls(logits, Q, mu, weight, torch.arange(R, device=mu.device))

    def loss_and_gradient(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: Tensor | float
    ) -> Tensor:
        z = gates(self.mu, noise.gate)
        smooth, grad_square = sample_term(objective, X, z.square())
        sparse, grad_sparse, _ = group_sparsity(self.mu, torch.ones_like(z), objective.gate_noise)
        grad_smooth = gates_pullback(z, 2 * z * grad_square)
        self.mu.grad = self._combined(grad_smooth, grad_sparse, smooth[:, None], sparse[:, None])
        return torch.stack([smooth, torch.zeros_like(smooth), sparse], -1)

    def _combined(self, grad_smooth: Tensor, grad_sparse: Tensor, *terms: Tensor) -> Tensor:
        """Combine the gradients of the two terms into that of the loss, (R, d)."""
        return grad_smooth + self.sparsity_weight[:, None] * grad_sparse


class RatioOfTerms(SumOfTerms):
    """The same with the loss :math:`L / R`."""

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        smooth, _, sparse = terms.unbind(-1)
        return smooth / (sparse + SMALLEST_SHARE)

    def _combined(self, grad_smooth: Tensor, grad_sparse: Tensor, *terms: Tensor) -> Tensor:
        smooth, share = terms[0], terms[1] + SMALLEST_SHARE
        return (grad_smooth - smooth / share * grad_sparse) / share
