"""CompFS: learners that predict the classes together, each from a small group of features.

The one supervised baseline. The learners themselves are in ``_composite.py``.
"""

from __future__ import annotations

from dataclasses import fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import _fit_context
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.baselines.compfs.learners import Learners, distinct_groups
from groupfs.baselines.compfs.training import Split, Training, divided, train
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.device import DTYPE, derive_seeds, resolve_device
from groupfs.utils.warn import warn

#: Sparsity weight over the root of the number of features, as in the public package's experiments:
#: 4.5 for 500 features, 2 for 84.
PRICE_OF_A_GATE = 0.2


class CompFS(RankingSelector):
    r"""Composite feature selection: groups of features that predict classes together.

    Each of L small networks sees the features through random gates of its own, open with
    probability :math:`p`; where a gate is closed the network gets the feature's training mean. The
    sum of the networks' outputs must predict the classes, open gates cost, and so do gates that two
    networks share. What a network keeps open is its group. A feature's score is the largest (or the
    sum) of its :math:`p` over all networks.

    A part of the rows is kept back. The gates are those of the epoch with the best accuracy on
    these rows, predicted through hard gates (open where :math:`p` reaches the threshold); among
    equals that of the lowest loss on them, among these the first.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes the features of all groups; the single best one, with a warning, if
        there is no group.
    n_learners : int, default=5
        Networks, and with them the most groups there can be (L).
    hidden_width : int, default=20
        Units of each of a network's two hidden layers.
    sparsity_weight : float or "auto", default="auto"
        Price of open gates (:math:`\beta_s`). "auto" is :math:`0.2 \sqrt d`, which makes a gate
        cost the same whatever the number of features.
    diversity_weight : float, default=1.2
        Price of gates that two networks share (:math:`\beta_d`).
    threshold : float, default=0.7
        Probability from which on a feature is in a group.
    aggregate : {"max", "sum"}, default="max"
        How the networks' probabilities become a feature's score. The features of groups are the
        first in the ranking with "max", not always with "sum".
    batch_size : int, default=50
        Rows of a training step.
    max_epochs : int, default=250
        Passes over the training rows. A step moves a gate's logit by about the learning rate, and
        logits start about 1 from zero: some hundreds of steps are needed.
    learning_rate : float, default=0.003
        Of Adam.
    temperature : float, default=0.1
        Of the relaxed Bernoulli variables that are the gates in training.
    validation_fraction : float, default=0.1
        Share of the rows kept back, in the proportions of the classes if these are large enough.
    standardize : bool, default=True
        Scale columns to unit variance. Otherwise one scale serves all.
    device : str or torch.device, default="auto"
        "auto" takes CUDA where there is one, else the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of the split, the starting values, the order of the rows and the noise.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Largest or summed probability; ``-inf`` for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.
    gate_probabilities_ : ndarray of shape (n_learners, n_features_in_)
        Probability that a network's gate is open; 0 for constant columns.
    groups_ : list of ndarray
        Indices of the features that reach the threshold, per network, without empty and repeated
        groups. Groups may overlap; there may be none.
    sparsity_weight_ : float
        The sparsity weight used.
    best_epoch_, validation_score_ : int, float
        Epoch whose gates were kept, counted from 1, and its accuracy on the rows kept back.
    history_ : list of dict
        Per epoch: ``loss`` (mean over batches), ``validation_accuracy``, ``validation_loss``.
    n_iter_ : int
        Epochs trained.

    Notes
    -----
    The defaults are those of the synthetic experiments of the public package (compfs 0.0.2), where
    an epoch has 400 steps and 35 of them suffice; ``max_epochs`` is that of its smallest table. The
    package can also lower both weights and the learning rate by 1 % an epoch; here they stay.

    References
    ----------
    Imrie, Norcliffe, Liò and van der Schaar, "Composite Feature Selection using Deep Ensembles",
    NeurIPS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.baselines import CompFS
    >>> X = np.random.default_rng(0).standard_normal((300, 10))
    >>> y = np.where(X[:, 2] + X[:, 7] > 0, "ill", "well")
    >>> selector = CompFS(2, max_epochs=60, learning_rate=0.01, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([2, 7])
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = {
        **shared_constraints(
            "n_features_to_select", "standardize", "device", "random_state", "verbose"
        ),
        "n_learners": [Interval(Integral, 1, None, closed="left")],
        "hidden_width": [Interval(Integral, 1, None, closed="left")],
        "sparsity_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "diversity_weight": [Interval(Real, 0, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="neither")],
        "aggregate": [StrOptions({"max", "sum"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_learners: int = 5,
        hidden_width: int = 20,
        sparsity_weight: float | str = "auto",
        diversity_weight: float = 1.2,
        threshold: float = 0.7,
        aggregate: str = "max",
        batch_size: int = 50,
        max_epochs: int = 250,
        learning_rate: float = 0.003,
        temperature: float = 0.1,
        validation_fraction: float = 0.1,
        standardize: bool = True,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_learners = n_learners
        self.hidden_width = hidden_width
        self.sparsity_weight = sparsity_weight
        self.diversity_weight = diversity_weight
        self.threshold = threshold
        self.aggregate = aggregate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.temperature = temperature
        self.validation_fraction = validation_fraction
        self.standardize = standardize
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the learners to predict ``y``, the class of every row; rank by their gates."""
        codes = _class_codes(X, y, type(self).__name__)
        table = self._check_table(X, self.standardize)
        device = resolve_device(self.device)
        table.rows.to(device, DTYPE)
        seeds = derive_seeds(check_random_state(self.random_state), 3 + self.n_learners)
        sizes = self.n_learners, table.rows.shape[1], self.hidden_width, int(codes.max()) + 1
        automatic = {"sparsity_weight": PRICE_OF_A_GATE * sizes[1] ** 0.5}
        given = {field.name: getattr(self, field.name) for field in fields(Training)}
        how = Training(**given | (automatic if self.sparsity_weight == "auto" else {}))
        self.best_epoch_, logits, self.history_ = train(
            Learners(*sizes, np.random.default_rng(seeds[1]), device, DTYPE),
            Split(table.rows, codes, *divided(codes, self.validation_fraction, seeds[0])),
            how,
            np.random.default_rng(seeds[2]),
            CounterNoise(seeds[3:], device),
            bool(self.verbose),
        )
        self.sparsity_weight_, self.n_iter_ = how.sparsity_weight, how.max_epochs
        self.validation_score_ = self.history_[self.best_epoch_ - 1]["validation_accuracy"]
        p = expit(logits.double().cpu().numpy())
        self.gate_probabilities_ = np.zeros((self.n_learners, self.n_features_in_))
        self.gate_probabilities_[:, table.columns] = p
        self.groups_ = distinct_groups(self.gate_probabilities_ >= self.threshold)
        scores = p.max(axis=0) if self.aggregate == "max" else p.sum(axis=0)
        self._rank(table, scores, self.n_features_to_select or 1)
        if self.n_features_to_select is None:
            self._select_groups()
        return self

    def _select_groups(self) -> None:
        """Put the features of all groups in place of the best one, which stays if there is none."""
        if not self.groups_:
            warn(
                f"no feature reaches threshold={self.threshold} in any group (the best has "
                f"{self.gate_probabilities_.max():.2f}), so only the best one is selected; choose "
                "a lower threshold or sparsity_weight, more epochs, or n_features_to_select."
            )
            return
        self._support_mask = np.zeros(self.n_features_in_, dtype=bool)
        self._support_mask[np.concatenate(self.groups_)] = True


def _class_codes(X: Any, y: Any, who: str) -> NDArray[np.int64]:
    """Classes as numbers from 0, (N,)."""
    if y is None:
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None; it is supervised and learns "
            "from the class of every row."
        )
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_consistent_length(X, y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(
            f"y holds one class only ({classes[0]}); {who} learns what tells classes apart and "
            "needs at least 2."
        )
    return codes
