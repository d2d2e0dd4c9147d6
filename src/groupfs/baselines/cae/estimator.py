"""Concrete autoencoder: the features from which a small network best rebuilds all the others.

The estimator lives here, the networks in ``_concrete``, their training in ``_concrete_training``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.baselines.cae.autoencoders import Setting, distinct_features, memory_of_a_replica
from groupfs.baselines.cae.training import DECIDED, Outcome, Schedule, train
from groupfs.data.rows import Rows
from groupfs.utils.device import DTYPE, derive_seeds, memory_for_models, resolve_device
from groupfs.utils.warn import warn


class ConcreteAutoencoderSelector(RankingSelector):
    r"""Keep the features from which an autoencoder rebuilds the table best.

    Each of K selectors holds a logit per feature and passes on a mixture of the features with
    weights :math:`\mathrm{softmax}((\mathrm{logits} + g) / T)`, with fresh Gumbel noise g for every
    batch; a network with one hidden layer rebuilds all d features from the K mixtures. As the
    temperature T falls, a mixture becomes a single feature.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        K. None takes half of the features that vary.
    hidden_width : int, list of int or None, default=None
        Units of the decoder's hidden layer. A list trains one replica for each, side by side. None
        takes K.
    batch_size : int, list of int or None, default=None
        Rows per step, at most all. A list trains one run for each, one after the other. None takes
        an eighth of the rows, but at least 16 and at most 256.
    n_init : int, default=1
        Replicas per setting, from different seeds. Of all replicas, the one with the lowest
        reconstruction error is kept.
    max_epochs : int, default=200
        Passes over the table at most. Training ends earlier when the selectors have decided: when
        the mean of their largest selection probabilities exceeds 0.998.
    learning_rate : float, default=1e-3
        Step size of Adam.
    start_temperature, end_temperature : float, default=10.0 and 2e-3
        T of the first step and of the last one of ``max_epochs``; it falls by a constant factor per
        step.
    dropout : float, default=0.1
        Share of hidden units that are left out in a step.
    standardize : bool, default=True
        Whether every column is brought to variance one.
    device : str or torch.device, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights, the noise and the batches.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Selected features: 1 plus the probability with which their selector picks them. Others: the
        largest probability any selector gives them, at most one half. ``-inf`` for constant
        columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.
    n_collapsed_ : int
        Selectors whose most likely feature was taken already; they got another one, see Notes.
    reconstruction_error_ : float
        Mean squared error with hard selection, duplicates and all, and no dropout; rebuilding every
        feature by its mean gives 1.
    converged_ : bool
        Whether the selectors had decided.
    n_iter_ : int
        Epochs trained.
    history_ : list of dict
        For each epoch: loss, temperature and mean_max_probability of the replica that was kept.
    search_ : list of dict
        For each replica: hidden_width, batch_size, seed, error, n_epochs, n_collapsed,
        mean_max_probability, converged.

    Notes
    -----
    The selection probabilities are softmax(logits), without temperature: at every temperature, that
    is how likely a feature has the largest of the noisy logits. With the logits divided by a low
    temperature, selectors that have learned nothing would pass as decided.

    Every feature is selected once. First, the most likely feature of each selector is taken; where
    several selectors share one, the surest of them has it. Then each of the others, the surest
    first, takes its most likely feature that is still free.

    References
    ----------
    Balın, Abid, Zou: Concrete Autoencoders: Differentiable Feature Selection and Reconstruction,
    ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.baselines import ConcreteAutoencoderSelector
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.standard_normal((100, 2))
    >>> X = np.repeat(causes, 3, axis=1) + 0.1 * rng.standard_normal((100, 6))
    >>> selector = ConcreteAutoencoderSelector(2, learning_rate=0.5, random_state=0).fit(X)
    >>> selector.get_support(indices=True) // 3  # one copy of each cause
    array([0, 1])
    >>> selector.converged_
    True
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = {
        **shared_constraints(
            "n_features_to_select", "standardize", "device", "random_state", "verbose"
        ),
        "hidden_width": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "start_temperature": [Interval(Real, 0, None, closed="neither")],
        "end_temperature": [Interval(Real, 0, None, closed="neither")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        hidden_width: int | Sequence[int] | None = None,
        batch_size: int | Sequence[int] | None = None,
        n_init: int = 1,
        max_epochs: int = 200,
        learning_rate: float = 1e-3,
        start_temperature: float = 10.0,
        end_temperature: float = 2e-3,
        dropout: float = 0.1,
        standardize: bool = True,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.hidden_width = hidden_width
        self.batch_size = batch_size
        self.n_init = n_init
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.start_temperature = start_temperature
        self.end_temperature = end_temperature
        self.dropout = dropout
        self.standardize = standardize
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the replicas and read the features off the best; ``y`` is ignored."""
        device = resolve_device(self.device)
        table = self._check_table(X, self.standardize)
        K = self._budget(table)
        table.rows.to(device, DTYPE)
        outcomes = self._train(table.rows, K, device)
        best = min(outcomes, key=lambda outcome: outcome.error)
        if not np.isfinite(best.error):
            raise ValueError(
                f"training diverged with learning_rate={self.learning_rate}: no replica rebuilds "
                "the table with a finite error; choose a smaller learning_rate or a higher "
                "end_temperature."
            )

        log_probability = log_softmax(best.logits.astype(np.float64), axis=1)
        features, self.n_collapsed_ = distinct_features(log_probability)
        sureness = log_probability.max(axis=0)
        sureness[features] = log_probability[np.arange(K), features]
        scores = np.exp(sureness)
        scores[features] += 1
        self._rank(table, scores, K, tie_breaker=sureness)

        self.reconstruction_error_ = best.error
        self.history_ = best.history
        self.n_iter_ = len(best.history)
        self.converged_ = best.converged
        self.search_ = [outcome.summary() for outcome in outcomes]
        if not best.converged:
            warn(
                f"The selectors had not decided after {self.n_iter_} epochs: the mean of their "
                f"largest selection probabilities is {best.mean_max_probability:.3f}, not above "
                f"{DECIDED}. Each gave its most likely feature; raise max_epochs or learning_rate "
                "for a firmer choice.",
                ConvergenceWarning,
            )
        return self

    def _train(self, rows: Rows, K: int, device: torch.device) -> list[Outcome]:
        """All replicas, by batch size, then width, then seed; as many at a time as memory holds."""
        if self.end_temperature > self.start_temperature:
            raise ValueError(
                f"end_temperature={self.end_temperature} is above start_temperature="
                f"{self.start_temperature}; the temperature must fall."
            )
        N, d = rows.shape
        widths = _listed("hidden_width", self.hidden_width, K)
        batch_sizes = _listed("batch_size", self.batch_size, min(max(N // 8, 16), 256))
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        settings = [Setting(*pair) for pair in itertools.product(widths, seeds)]
        outcomes = []
        for batch_size in (min(size, N) for size in batch_sizes):
            schedule = Schedule(
                max_epochs=self.max_epochs,
                batch_size=batch_size,
                learning_rate=self.learning_rate,
                start_temperature=self.start_temperature,
                end_temperature=self.end_temperature,
                dropout=self.dropout,
            )
            each = memory_of_a_replica(K, d, max(widths), batch_size)
            size = max(1, memory_for_models(device) // each)
            for first in range(0, len(settings), size):
                some = settings[first : first + size]
                outcomes += train(some, K, rows, schedule, device, DTYPE, bool(self.verbose))
        return outcomes


def _listed(name: str, given: Any, default: int) -> list[int]:
    """A parameter that may be a number, several or None, as a list."""
    if given is None:
        return [default]
    values = np.atleast_1d(np.asarray(given))
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iu" or values.min() < 1:
        raise ValueError(f"{name}={given!r} must be a whole number from 1 or a list of such.")
    return [int(value) for value in values]
