"""GroupFS, the published method: memberships and gates, learned jointly.

What needs torch is imported inside the methods of a fit: estimators can be made without it.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from groupfs.data.checks import refuse_n_groups
from groupfs.groups import OPEN
from groupfs.joint.settings import PRESETS, Settings
from groupfs.selection.select import refuse_too_many
from groupfs.selector import GroupSelector, derive_seeds
from groupfs.utils.device import import_torch, resolve_device
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, Interval, checked, parameter
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    import torch

    from groupfs.data.table import TableInMemory
    from groupfs.joint.problem import Problem
    from groupfs.joint.training import LearnedGroups, Trained

WEIGHT = Interval(Real, 1e-6, 1e6, closed="both")


@dataclass(eq=False, repr=False, kw_only=True)
class JointSelector(GroupSelector):
    """Base of ``GroupFS`` and ``GroupFSPath``: their parameters, the table, what a model sets."""

    smoothness_weight: float | str = parameter("auto", WEIGHT, {"auto"})
    preset: str = parameter("default", set(PRESETS))
    bandwidth_gradient: str | None = parameter(None, {"exact", "detached"}, None)
    start_temperature: float | None = parameter(None, POSITIVE, None)
    end_temperature: float = parameter(0.01, POSITIVE)
    batch_size: int | None = parameter(None, Interval(Integral, 2, None, closed="left"), None)
    max_epochs: int | None = parameter(None, COUNT, None)
    early_stopping: bool | None = parameter(None, "boolean", None)
    learning_rate: float | None = parameter(None, POSITIVE, None)
    n_init: int = parameter(2, COUNT)
    n_neighbors: int = parameter(7, COUNT)
    feature_neighbors: int | str | None = parameter(None, COUNT, {"all"}, None)
    diffusion_steps: int = parameter(2, COUNT)
    gate_noise: float = parameter(0.5, Interval(Real, 0.2, 2, closed="both"))
    verbose: int = parameter(0, "verbose")

    _advice = "try other sparsities"  # where gates are trivial

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the groups of the columns of X and which of them matter.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table: numbers without gaps, in memory.
        y : ignored
            Labels are never looked at.
        """
        import_torch(type(self).__name__)
        from groupfs.joint.problem import prepare
        from groupfs.joint.training import choose_model
        from groupfs.utils.threads import threads_for

        table, settings, seeds, device = self._open(X)
        with threads_for(table.rows.shape):
            problem = prepare(table, settings, seeds, device)
            trained = self._train(problem)
            self._set_model(X, problem, trained, *choose_model(trained, settings.is_published))
        self._warn_of_trivial_gates()
        return self

    def _train(self, problem: "Problem") -> "Trained":
        raise NotImplementedError

    @property
    def _covers(self) -> bool:  # type: ignore[override]
        """Whether budgets take whole groups until they are covered, as in the paper."""
        return self._fitted_preset == "paper"

    def _open(self, X: Any) -> "tuple[TableInMemory, Settings, list[int], torch.device]":
        """Check and standardise X, fill in presets, and check parameters against its size."""
        from groupfs.data.open_table import open_matrix

        device = resolve_device(self.device)
        table = open_matrix(self, X, self.standardize)
        n_samples, n_features = table.rows.shape
        refuse_n_groups(self.n_groups, n_features, n_features)
        refuse_too_many(self.n_features_to_select, n_features)
        settings = Settings.resolve(self.get_params(deep=False), n_samples, n_features)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        self.feature_kinds_ = np.array(["number"] * len(table.names))
        self._fitted_preset = self.preset  # which may be set to another afterwards
        return table, settings, seeds, device

    def _set_model(
        self, X: Any, problem: "Problem", trained: "Trained", seed: int, weight: int
    ) -> "LearnedGroups":
        from groupfs.discovery.smoothness import feature_smoothness
        from groupfs.joint.training import learned_groups

        learned = learned_groups(problem, trained, seed, weight)
        self._set_groups(learned.groups)
        self.group_gates_, self.membership_ = learned.gates, learned.membership
        self.feature_gates_ = learned.membership @ learned.gates.clip(0, 1)
        self.projection_, self.distortion_ = learned.projection, problem.distortion
        self.critical_sparsity_weight_ = problem.critical_sparsity_weight
        self.smoothness_weight_ = problem.objective.smoothness_weight
        self.sparsity_weight_ = float(trained.sparsity_weights[weight])
        self.loss_, self.gain_ = (float(of[seed, weight]) for of in (trained.loss, trained.gain))
        self.history_, self.n_iter_ = learned.history, len(learned.history)
        table, K = problem.table, problem.settings.n_neighbors
        every = np.arange(len(table.columns))
        smoothness = feature_smoothness(table.rows, every, problem.seeds[0], n_neighbors=K)
        self._rank(X, table, smoothness, every[:0], kept_first=True)
        self._select()
        return learned

    def _warn_of_trivial_gates(self) -> None:
        """Warn where gates tell no groups apart, or none that are worth it."""
        n_open, gain = int((self.group_gates_ > OPEN).sum()), self.gain_
        if n_open == self.n_groups_:
            told = "All gates are open, so no group is left out"
        elif n_open and gain <= 0:
            told = f"The open groups have no lower loss than all or none (gain_ is {gain:.2g})"
        elif not n_open and (self.n_features_to_select or self.n_groups_to_select):
            told = "All gates are closed, so their order says little"
        else:
            return
        at = f"at lambda2 = {self.sparsity_weight_:.3g}"
        warn(f"{told}, {at}; {self._advice}.", SelectionWarning)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupFS(JointSelector):
    r"""Learn groups of features and which of them matter, jointly and without labels.

    The method of Lifshitz et al. (AAAI 2026): every feature has a relaxed membership in C groups
    (Gumbel-softmax) and every group a stochastic gate; both are trained on

    .. math:: L = L_s + \lambda_1 L_f + \lambda_2 L_{reg},

    the smoothness of the gated samples on their own graph, the smoothness of the memberships on the
    graph of the features, and the share of features behind open gates. Kept are the groups with
    open gates. With nothing set, the objective is made robust: exact gradients, a cool start, and
    :math:`\lambda_2` 0.7 times its critical value. ``preset="paper"`` is the method as published.
    :class:`FeatureGroups` finds groups without training and is what to start with.

    Parameters
    ----------
    n_groups : int or "auto", default="auto"
        C, from 2 to d. "auto" takes the number of eigenvalues of the feature graph before a clear
        fall, or one more; without a fall, the first clear dip of the distortion E(C) of its
        eigenvectors; without a dip, the deepest one near the square root of 2 d (near 20 where that
        is more) at which no feature stands alone. Preset "paper" takes the lowest E(C) of
        2 <= C <= min(d - 1, 40), which is 2 on most wide tables: give C there.
    n_features_to_select : int, float or None, default=None
        A budget: a number of features, or a share of those that vary. None takes the features of
        the groups that are kept. The default preset takes the first features of
        ``feature_order_``, "paper" whole groups by their gates until at least so many features are
        covered.
    n_groups_to_select : int or None, default=None
        Keep this many groups, in rank order. None keeps those with open gates.
    n_per_group : int or None, default=None
        Select so many features of each kept group, as in :class:`FeatureGroups`.
    output : {"features", "scores"}, default="features"
        What ``transform`` gives: the selected features, or a score for each kept group.
    smoothness_weight : float or "auto", default="auto"
        :math:`\lambda_1`. "auto" takes, of 0.1, 1, 10 and 100, the one that brings the roughness of
        the groups nearest to the sample term at the start.
    preset : {"default", "paper"}, default="default"
        Where the parameters that are None come from. "paper" also starts all gates half open, ranks
        groups by their gates and takes the model with the lowest loss; by default gates start, and
        groups are ranked, by the smoothness of each group on its own graph beyond that of shuffled
        columns, and the model with the largest gain is taken.
    bandwidth_gradient : {"exact", "detached"} or None, default=None
        Whether the gradient flows through the bandwidths of the sample graph.
    start_temperature, end_temperature : float or None, default=None and 0.01
        Temperatures of the memberships in the first epoch and the last; it falls linearly.
    batch_size, max_epochs : int or None, default=None
        Rows of a step; epochs, at most.
    early_stopping : bool or None, default=None
        Whether models whose groups and gates no longer change stop before ``max_epochs``.
    learning_rate : float or None, default=None
        Of Adam.
    n_init : int, default=2
        Models trained from different seeds. The one with the largest gain over the better of the
        two trivial models, all gates open and all gates shut, is taken; with preset "paper" the one
        with the lowest loss of those that are neither.
    n_neighbors : int, default=7
        K, the neighbour whose distance is a point's bandwidth, in both graphs.
    feature_neighbors : int, "all" or None, default=None
        Neighbours that the feature graph keeps for each feature. None keeps all up to 512 features
        and 50 above (preset "default").
    diffusion_steps : int, default=2
        t, steps of the random walk on the samples.
    gate_noise : float, default=0.5
        :math:`\sigma`, standard deviation of the noise on the gates, between 0.2 and 2.
    standardize : bool, default=True
        Whether every column is brought to variance one. Columns are always centred, and without
        this the table as a whole is scaled.
    device : str or torch.device, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of the warm start, the noise and the batches.
    verbose : int, default=0
        1 shows a progress bar.
    sparsity : float or None, default=None
        How many groups shall close, relative to the critical weight of this table: 1.0 is the
        weight at which the pressure on the gates changes sign before groups take shape. Useful
        values lie between about 0.25 and 3; higher means fewer groups. None is 0.7, and 1.07 with
        preset "paper", where gates close between about 0.95 and 1.15.
    sparsity_weight : float or None, default=None
        :math:`\lambda_2` itself, in place of ``sparsity``.

    Attributes
    ----------
    groups_, group_labels_, group_signs_, representatives_, centrality_, feature_order_,
    explained_, feature_weights_, n_groups_, n_features_in_, feature_names_in_
        As in :class:`FeatureGroups`; constant columns alone are in no group, and a feature is
        central by its correlation with the group's mean.
    group_gates_ : ndarray of shape (n_groups_,)
        Gate means :math:`\mu`; above one half is open.
    feature_gates_ : ndarray of shape (n_features_in_,)
        :math:`\hat z = M z`, the weight of every feature, with gates and memberships without noise.
    group_kept_, group_smoothness_ : ndarray of shape (n_groups_,)
        Which groups are kept (with a budget, which have selected features), and how smooth they
        are beyond chance, by which they are ranked unless by gates (preset "paper").
    membership_ : ndarray of shape (n_features_in_, n_groups_)
        M at ``end_temperature``, without noise; rows of constant columns are zero.
    projection_ : ndarray of shape (n_groups_, C)
        Q, a row for each group; C counts groups without features, too.
    distortion_ : dict
        E(C) for each C that was looked at; empty if ``n_groups`` was given.
    critical_sparsity_weight_, sparsity_weight_, smoothness_weight_ : float
        :math:`\lambda_2^*`, :math:`\lambda_2` and :math:`\lambda_1`.
    loss_, gain_ : float
        Final loss without noise; and how much lower the loss is with the gates decided, 1 or 0,
        than that of the better of the two trivial models: all gates open, all gates shut. A fit
        that gains nothing warns.
    history_, n_iter_ : list of dict, int
        For each epoch its loss with the terms L_s, L_f and L_reg, gates, temperature and seconds;
        the number of epochs.

    References
    ----------
    Lifshitz, Lindenbaum, Mishne, Meir, Benisty: Unsupervised Feature Selection Through Group
    Discovery, AAAI 2026.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(random_state=0).data
    >>> selector = GroupFS(random_state=0).fit(X)
    >>> [group.tolist() for group in selector.groups_[:2]]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    >>> selector.transform(X).shape
    (1000, 10)
    """

    __module__ = "groupfs"

    sparsity: float | None = parameter(None, POSITIVE, None)
    sparsity_weight: float | None = parameter(None, NOT_NEGATIVE, None)

    def _train(self, problem: "Problem") -> "Trained":
        from groupfs.joint.training import train_models

        settings = problem.settings
        return train_models(problem, np.array([settings.sparsity]), settings.sparsity_weight)

    @property
    def _advice(self) -> str:  # type: ignore[override]
        name = "sparsity" if self.sparsity_weight is None else "sparsity_weight"
        return f"choose another {name}, or let GroupFSPath choose one"
