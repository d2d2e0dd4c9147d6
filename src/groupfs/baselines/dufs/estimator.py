"""DUFS: a stochastic gate per feature, trained so that open features vary smoothly on their graph.

It is GroupFS with every feature in a group of its own, and uses the same graphs, gates and trainer.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.baselines.dufs.training import train_gates
from groupfs.models.objective import OPEN, Objective
from groupfs.training.settings import large_batch
from groupfs.training.step import Schedule
from groupfs.utils.device import DTYPE, derive_seeds, resolve_device
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import SelectionWarning, warn

#: Steps that training takes at most, and epochs it takes at least, if epochs are not given.
MAX_STEPS, MIN_EPOCHS = 500, 20
#: Neighbours whose distances are the bandwidth, itself not counted, if none are given.
NEIGHBORS = {"self-tuning": 7, "median": 1}


class DUFS(RankingSelector):
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
    sparsity_weight : float or list of float, default=0.1
        :math:`\lambda` of the sum. Several are trained side by side, and the model with the largest
        gain over all gates open and all gates shut is kept.
    kernel : {"self-tuning", "median"}, default="self-tuning"
        A bandwidth per sample, as in GroupFS, or one for all: ``bandwidth_factor`` times the median
        squared distance to a neighbour, as in featselectlib.
    n_neighbors : int or None, default=None
        The neighbour whose distance counts, the sample itself not counted. None is 7 for the
        self-tuning kernel and 1 for the other.
    bandwidth_factor : float, default=2.0
        For the median kernel.
    optimizer : {"adam", "sgd"}, default="adam"
        SGD, without momentum, is featselectlib's; the terms are means over features, so on wide
        tables it hardly moves at usual learning rates.
    learning_rate : float, default=0.01
        Step size.
    batch_size : int or None, default=None
        Rows per step. None takes all of them up to 640, else about 512.
    max_epochs : int or None, default=None
        Passes over the table. None takes about 500 steps.
    n_init : int, default=1
        Models trained side by side from different seeds; the one with the largest gain is kept.
    gate_noise : float, default=0.5
        :math:`\sigma`.
    standardize : bool, default=True
        Whether every column is brought to variance one.
    device : str or torch.device, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of the start, the noise and the batches.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Gate means; ``-inf`` for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.
    search_ : list of dict
        Every model trained: its ``sparsity_weight`` (None for the ratio), ``seed`` (its place),
        ``loss``, ``gain`` and ``n_open``.
    history_ : list of dict
        Loss and its two terms in every epoch of the model kept.
    n_iter_ : int
        Epochs.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **shared_constraints(
            "n_features_to_select", "standardize", "device", "random_state", "verbose"
        ),
        "loss": [StrOptions({"ratio", "sum"})],
        "sparsity_weight": [Interval(Real, 0, None, closed="left"), "array-like"],
        "kernel": [StrOptions(set(NEIGHBORS))],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "bandwidth_factor": [Interval(Real, 0, None, closed="neither")],
        "optimizer": [StrOptions({"adam", "sgd"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 2, None, closed="left"), None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "gate_noise": [Interval(Real, 0.2, 2, closed="both")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        loss: str = "ratio",
        sparsity_weight: float | ArrayLike = 0.1,
        kernel: str = "self-tuning",
        n_neighbors: int | None = None,
        bandwidth_factor: float = 2.0,
        optimizer: str = "adam",
        learning_rate: float = 0.01,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        n_init: int = 1,
        gate_noise: float = 0.5,
        standardize: bool = True,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.loss = loss
        self.sparsity_weight = sparsity_weight
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.bandwidth_factor = bandwidth_factor
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.n_init = n_init
        self.gate_noise = gate_noise
        self.standardize = standardize
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the gates; ``y`` is ignored.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table.
        y : ignored
            Labels are never looked at.
        """
        device = resolve_device(self.device)
        weights = self._weights()
        table = self._check_table(X, self.standardize)
        rows = table.rows
        rows.to(device, DTYPE)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        schedule = self._schedule(rows.shape[0])
        objective = self._objective(min(schedule.batch_size, rows.shape[0]))
        trained = train_gates(rows, objective, schedule, weights, seeds, bool(self.verbose))

        self.search_, best = trained.search, trained.best
        self.history_ = trained.records(best)
        self.n_iter_ = len(self.history_)
        self._rank(table, trained.mu[best], self._n_selected(trained.mu[best]))
        return self

    def _weights(self) -> FloatArray | None:
        """The weights to train with; None for the ratio."""
        if self.loss == "ratio":
            return None
        values = np.atleast_1d(np.asarray(self.sparsity_weight, dtype=float))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or values.min() < 0:
            raise ValueError(
                f"sparsity_weight={self.sparsity_weight!r} must be a number that is not negative, "
                "or a list of such numbers."
            )
        return values

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
            optimizer=self.optimizer,
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
