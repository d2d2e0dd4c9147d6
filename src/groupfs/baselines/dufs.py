"""DUFS: a stochastic gate per feature, trained so that open features vary smoothly on their graph.

It is GroupFS with every feature in a group of its own, and uses the same graphs, gates and trainer.
Axes: R models, here one; d features.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import torch
from torch import Tensor

from groupfs.baselines.base import Table, TrainedSelector
from groupfs.groups import OPEN
from groupfs.joint.memberships import GatePerFeature
from groupfs.joint.model import GatedModel
from groupfs.joint.noise import NoiseSource
from groupfs.joint.objective import Objective
from groupfs.joint.settings import Schedule, large_batch
from groupfs.joint.training import train
from groupfs.utils.device import DTYPE
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, Interval, StrOptions
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import SelectionWarning, warn

#: Steps that training takes at most, and epochs it takes at least, if epochs are not given.
MAX_STEPS, MIN_EPOCHS = 500, 20
#: Neighbours whose distances are the bandwidth, itself not counted, if none are given.
NEIGHBORS = {"self-tuning": 7, "median": 1}
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
    kernel : {"self-tuning", "median"}, default="self-tuning"
        A bandwidth per sample, as in GroupFS, or one for all: ``bandwidth_factor`` times the median
        squared distance to a neighbour, as in featselectlib.
    n_neighbors : int or None, default=None
        The neighbour whose distance counts, the sample itself not counted. None is 7 for the
        self-tuning kernel and 1 for the other.
    bandwidth_factor : float, default=2.0
        For the median kernel.
    learning_rate : float, default=0.01
        Step size of Adam.
    batch_size : int or None, default=None
        Rows per step. None takes all of them up to 640, else about 512.
    max_epochs : int or None, default=None
        Passes over the table. None takes about 500 steps.
    gate_noise : float, default=0.5
        :math:`\sigma`.
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

    loss: str = "ratio"
    sparsity_weight: float = 0.1
    kernel: str = "self-tuning"
    n_neighbors: int | None = None
    bandwidth_factor: float = 2.0
    learning_rate: float = 0.01
    batch_size: int | None = None
    max_epochs: int | None = None
    gate_noise: float = 0.5

    _parameter_constraints = {
        **TrainedSelector._parameter_constraints,
        "loss": [StrOptions({"ratio", "sum"})],
        "sparsity_weight": [NOT_NEGATIVE],
        "kernel": [StrOptions(set(NEIGHBORS))],
        "n_neighbors": [COUNT, None],
        "bandwidth_factor": [POSITIVE],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "max_epochs": [COUNT, None],
        "gate_noise": [Interval(Real, 0.2, 2, closed="both")],
    }

    def _fit_table(self, table: Table) -> None:
        device, rows = self._place(table, DTYPE), table.rows
        N, d = rows.shape
        (seed,) = self._seeds(1)
        schedule = self._schedule(N)
        objective = self._objective(min(schedule.batch_size, N))
        model = start(d, self.sparsity_weight if self.loss == "sum" else None, seed, device)
        noise = NoiseSource([seed], objective.gate_noise, device)
        history, _ = train(
            model, objective, rows, schedule, noise, seed, bool(self.verbose), name="DUFS"
        )
        losses = model.total(objective, torch.as_tensor(history.terms).to(model.mu))
        self.history_ = [
            {
                "epoch": epoch,
                "loss": float(loss[0]),
                "sample_smoothness": float(terms[0, 0]),
                "open_share": float(terms[0, 2]),
            }
            for epoch, (loss, terms) in enumerate(zip(losses, history.terms, strict=True))
        ]
        self.n_iter_ = len(self.history_)
        scores = model.mu[0].double().cpu().numpy()
        self._rank(table, scores, self._n_selected(scores))

    def _schedule(self, n_samples: int) -> Schedule:
        batch_size = self.batch_size or large_batch(n_samples)
        steps_per_epoch = -(-n_samples // batch_size)
        return Schedule(
            max_epochs=self.max_epochs or max(MIN_EPOCHS, MAX_STEPS // steps_per_epoch),
            batch_size=batch_size,
            learning_rate=self.learning_rate,
            start_temperature=1.0,
            end_temperature=1.0,
            stop_early=False,
            record_gates=False,
        )

    def _objective(self, batch_size: int) -> Objective:
        wanted = self.n_neighbors or NEIGHBORS[self.kernel]
        if wanted >= batch_size:
            warn(
                f"n_neighbors={wanted} but a batch has {batch_size} samples; the graph uses "
                f"{batch_size - 1} neighbours instead."
            )
        return Objective(
            walk=None,
            n_neighbors=min(wanted, batch_size - 1),
            steps=2,
            gate_noise=self.gate_noise,
            smoothness_weight=0.0,
            through_bandwidth=True,
            median_factor=self.bandwidth_factor if self.kernel == "median" else None,
        )

    def _n_selected(self, scores: FloatArray) -> int:
        if self.n_features_to_select is not None:
            return self.n_features_to_select
        n_open = int((scores > OPEN).sum())
        if n_open == 0:
            warn(
                "All gates are closed; only the feature ranked first was selected. Choose a lower "
                'sparsity_weight, loss="ratio" or n_features_to_select.',
                SelectionWarning,
            )
        return max(n_open, 1)


class RatioModel(GatedModel):
    r"""Gates with the loss :math:`L_s / L_{reg}`."""

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        smooth, _, sparse = terms.unbind(-1)
        return smooth / (sparse + SMALLEST_SHARE)

    def _gate_gradient(
        self, smooth: Tensor, sparse: Tensor, grad_smooth: Tensor, grad_sparse: Tensor
    ) -> Tensor:
        share = (sparse + SMALLEST_SHARE).unsqueeze(-1)
        ratio = smooth.unsqueeze(-1) / share
        return (grad_smooth - ratio * grad_sparse) / share


def start(d: int, weight: float | None, seed: int, device: torch.device) -> GatedModel:
    """Start a model with a gate for every feature; without a weight the loss is the ratio."""
    gates = 0.5 + START_SPREAD * np.random.default_rng(seed).standard_normal((1, d))
    own_group = GatePerFeature(1, d)
    kind, weights = (RatioModel, [1.0]) if weight is None else (GatedModel, [weight])
    return kind.start(own_group, gates, np.array(weights), device, DTYPE)
