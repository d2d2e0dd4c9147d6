"""Concrete autoencoder: the features from which a small network best rebuilds all the others."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from groupfs.baselines.base import COUNT, POSITIVE, Table, TrainedSelector
from groupfs.baselines.cae.autoencoders import (
    DECIDED,
    Hyperparameters,
    Outcome,
    distinct_features,
    memory_of_a_replica,
    train,
)
from groupfs.data.rows import Rows
from groupfs.utils.device import DTYPE, memory_for_models
from groupfs.utils.sklearn_compat import Interval
from groupfs.utils.warn import warn


@dataclass(eq=False, repr=False, kw_only=True)
class ConcreteAutoencoderSelector(TrainedSelector):
    r"""Keep the features from which an autoencoder rebuilds the table best.

    Each of K selectors holds a logit per feature and passes on a mixture of the features with
    weights :math:`\mathrm{softmax}((\mathrm{logits} + g) / T)`, with fresh Gumbel noise g for every
    batch; a network with one hidden layer rebuilds all d features from the K mixtures. As the
    temperature T falls, a mixture becomes a single feature.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        K. None takes half of the features that vary.
    hidden_width : int or None, default=None
        Units of the decoder's hidden layer. None takes K.
    batch_size : int or None, default=None
        Rows per step, at most all. None takes an eighth of the rows, but at least 16 and at most
        256.
    n_init : int, default=1
        Replicas from different seeds; the one with the lowest reconstruction error is kept.
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
    standardize, device, random_state, verbose
        As in :class:`groupfs.GroupFS`.

    Attributes
    ----------
    scores_, ranking_ : ndarray of shape (n_features_in_,)
        Selected features: 1 plus the probability with which their selector picks them. Others: the
        largest probability any selector gives them, at most one half.
    n_collapsed_ : int
        Selectors whose most likely feature was taken already; they got another one, see Notes.
    reconstruction_error_ : float
        Mean squared error with hard selection, duplicates and all, and no dropout; rebuilding every
        feature by its mean gives 1.
    n_iter_, converged_ : int, bool
        Epochs trained, and whether the selectors had decided.
    history_ : list of dict
        For each epoch: loss, temperature and mean_max_probability of the replica that was kept.
    search_ : list of dict
        For each replica: hidden_width, batch_size, seed, error, n_epochs, n_collapsed,
        mean_max_probability, converged.

    Notes
    -----
    The selection probabilities are softmax(logits), without temperature: at every temperature, that
    is how likely a feature has the largest of the noisy logits.

    Every feature is selected once. Where several selectors share their most likely feature, the
    surest of them has it; then the others, the surest first, take what is still free.

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

    hidden_width: int | None = None
    batch_size: int | None = None
    n_init: int = 1
    max_epochs: int = 200
    learning_rate: float = 1e-3
    start_temperature: float = 10.0
    end_temperature: float = 2e-3
    dropout: float = 0.1

    _parameter_constraints = {
        **TrainedSelector._parameter_constraints,
        "hidden_width": [COUNT, None],
        "batch_size": [COUNT, None],
        "start_temperature": [POSITIVE],
        "end_temperature": [POSITIVE],
        "dropout": [Interval(Real, 0, 1, closed="left")],
    }

    def _fit_table(self, table: Table, device: torch.device) -> None:
        if self.end_temperature > self.start_temperature:
            raise ValueError(
                f"end_temperature={self.end_temperature} is above start_temperature="
                f"{self.start_temperature}; the temperature must fall."
            )
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
                f"largest selection probabilities is {best.history[-1]['mean_max_probability']:.3f}"
                f", not above {DECIDED}. Each gave its most likely feature; raise max_epochs or "
                "learning_rate for a firmer choice.",
                ConvergenceWarning,
            )

    def _train(self, rows: Rows, K: int, device: torch.device) -> list[Outcome]:
        """Train a replica per seed, as many at a time as memory holds."""
        N, d = rows.shape
        width = self.hidden_width or K
        batch_size = min(self.batch_size or min(max(N // 8, 16), 256), N)
        settings = self._settings(Hyperparameters, hidden_width=width, batch_size=batch_size)
        how = Hyperparameters(**settings)
        each = memory_of_a_replica(K, d, width, batch_size)
        n_together = max(1, memory_for_models(device) // each)
        seeds, outcomes = self._seeds(self.n_init), []
        for first in range(0, self.n_init, n_together):
            together = seeds[first : first + n_together]
            outcomes += train(together, K, rows, how, device, DTYPE, bool(self.verbose))
        return outcomes
