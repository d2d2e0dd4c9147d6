"""GroupFS, the estimator: from a table to groups of features, which of them matter, a selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from groupfs.data.known_groups import known_labels, refuse_ambiguous_members
from groupfs.data.open_table import open_table
from groupfs.estimators.base import GroupSelector
from groupfs.selection.describe import describe
from groupfs.training.discovery import NoGroups
from groupfs.training.settings import PRESETS, USUAL_SPARSITY
from groupfs.training.solve import Task, solve
from groupfs.utils.device import DTYPE, resolve_device
from groupfs.utils.errors import ParameterError
from groupfs.utils.seeds import derive_seeds
from groupfs.utils.sklearn_compat import Interval, StrOptions, fit_context
from groupfs.utils.types import FloatArray, IntArray

#: Relative sparsities that are trained beside the one asked for to rank groups by path.
PATH_SPARSITIES = np.geomspace(0.25, 3.0, 12)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupFS(GroupSelector):
    r"""Unsupervised feature selection that discovers groups of features and which of them matter.

    Every feature belongs softly to one of C groups and every group has a gate. Memberships and
    gates are trained together: the open groups shall span a graph of the samples on which they vary
    smoothly, features of a group shall be neighbours in the graph of features, and few groups shall
    be open. No labels are used. Nothing needs to be set: the number of groups and all weights are
    computed from the table.

    Parameters
    ----------
    n_groups : int or "auto", default="auto"
        C. "auto" is the number of eigenvalues of the feature graph before a clear fall, or one
        more; without a fall, the first clear dip of the distortion E(C) of its eigenvectors; where
        there is none, a dip near the square root of 2 d, at most 30, at which
        no feature stands alone.
    groups : array-like of shape (n_features,), list of lists, mapping or None, default=None
        Groups known beforehand: a label for every feature (in the order of the columns, or a
        Series indexed by their names), or the features of every group by name or place. Every
        feature that varies must be in one group. Only the gates are learned then, and
        ``smoothness_weight`` plays no part. None discovers the groups.
    sparsity : float, default=0.7
        How many groups shall close, relative to the critical weight of this table: 1.0 is the
        weight at which the pressure on the gates changes sign before groups take shape. Useful
        values lie between about 0.25 and 3; higher means fewer groups.
    sparsity_weight : float or None, default=None
        :math:`\lambda_2` itself, in place of ``sparsity``.
    smoothness_weight : float or "auto", default="auto"
        :math:`\lambda_1`, the weight of the feature graph. "auto" takes, of 0.1, 1, 10 and 100, the
        one that brings the roughness of the groups nearest to the sample term at the start.
    n_features_to_select : int or None, default=None
        A budget of features. None takes the groups that are kept.
    allocation : {"whole", "spread"} or None, default=None
        How a budget is spent: on whole groups in rank order (the last one cut to its most central
        features), or over all groups whose scores stand out from chance, gates open or not, in
        proportion to the scores, most central features first. None leaves it to the preset.
    n_groups_to_select : int, "significant" or None, default=None
        Keep this many groups, in rank order. None keeps the groups with open gates and, with
        ``ranking="excess"``, scores beyond chance. "significant" asks for scores beyond chance
        alone: gates close on groups that have little to do with the others, however clear they
        are.
    output : {"features", "representatives"}, default="features"
        Whether ``transform`` gives all selected features or the most central one of each kept
        group.
    ranking : {"excess", "gate", "path"} or None, default=None
        What groups are ranked by: smoothness on the graph of the group alone beyond that of
        shuffled columns; gate mean; or the largest sparsity at which the group is still open. None
        leaves it to the preset.
    alpha : float, default=0.01
        With ``ranking="excess"``: the level at which p-values stand out, with the false discovery
        rate over the groups in view (Benjamini-Hochberg).
    preset : {"default", "paper"}, default="default"
        Where the parameters that are None come from: our choices or the paper's.
    bandwidth_gradient : {"exact", "detached"} or None, default=None
        Whether the gradient flows through the bandwidths of the sample graph.
    gate_start : {"excess", "uniform"} or None, default=None
        Whether gates start ordered by the groups' scores or all at one half.
    start_temperature : float or None, default=None
        Temperature of the memberships at the start. High temperatures let all gates open or close
        together before the groups are distinct.
    end_temperature : float, default=0.01
        Temperature that is reached at ``max_epochs``.
    batch_size : int or None, default=None
        Rows per step. None takes all of them up to 640, else about 512 (preset "default").
    max_epochs : int or None, default=None
        Passes over the table at most.
    early_stopping : bool or None, default=None
        Whether training ends when groups no longer change and gates are decided.
    learning_rate : float or None, default=None
        Step size of Adam.
    n_init : int, default=2
        Models trained side by side from different seeds; the one with the largest gain over the
        models with all gates open and all gates shut is kept.
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
    max_memory : int, str or None, default=None
        Memory the process may hold, in bytes or as in "4GB"; None is three quarters of what is free
        when ``fit`` begins. Tables that would need more are read in blocks, several times, and
        neither they nor their standardised values are ever in memory as a whole. Memory of a GPU is
        not counted.
    random_state : int, RandomState instance or None, default=None
        Seed of the warm start, the noise and the batches.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    groups_ : list of ndarray
        Indices of the features of each group, most important group first.
    group_names_ : list or None
        What the groups were called in ``groups``, most important first; None without ``groups``.
    group_labels_ : ndarray of shape (n_features_in_,)
        Place in ``groups_`` of each feature's group; -1 for constant columns.
    group_scores_ : ndarray of shape (n_groups_,)
        What the groups are ranked by.
    group_pvalues_ : ndarray of shape (n_groups_,) or None
        How likely a group found in shuffled columns scores as high; with ``ranking="excess"`` only.
    group_gates_ : ndarray of shape (n_groups_,)
        Gate means; above one half is open.
    group_selected_ : ndarray of bool of shape (n_groups_,)
        Which groups are kept; with a budget, which have selected features.
    representatives_ : ndarray of shape (n_groups_,)
        The most central feature of each group.
    membership_ : ndarray or csr_array of shape (n_features_in_, n_groups_)
        Probabilities of membership; rows of constant columns are zero. Sparse where so many
        features were given that each kept only its nearest groups.
    centrality_ : ndarray of shape (n_features_in_,)
        Correlation of each feature with the mean of its group.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Score of the feature's group (not below zero) times the feature's centrality.
    n_groups_ : int
        Groups that have features.
    distortion_ : dict
        E(C) for each C that was looked at; empty if ``n_groups`` was given.
    critical_sparsity_weight_, sparsity_weight_, smoothness_weight_ : float
        :math:`\lambda_2^*`, :math:`\lambda_2` and :math:`\lambda_1`.
    loss_, gain_ : float
        Final loss without noise, and how much lower it is than that of the better of the two
        trivial models: all gates open, all gates shut.
    history_ : list of dict
        For each epoch: loss and its terms, gates, temperature, seconds.
    n_iter_ : int
        Epochs trained.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has them.

    Notes
    -----
    Columns that are equal but for scale and shift share a group. A column and its negative do not:
    distances are Euclidean, and the two are as far apart as columns can be.

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

    n_groups: int | str = field(default="auto", kw_only=False)
    groups: ArrayLike | Sequence[Sequence[Any]] | Mapping[Any, Sequence[Any]] | None = None
    sparsity: float | None = None
    sparsity_weight: float | None = None
    smoothness_weight: float | str = "auto"
    n_features_to_select: int | None = None
    allocation: str | None = None
    n_groups_to_select: int | str | None = None
    output: str = "features"
    ranking: str | None = None
    alpha: float = 0.01
    preset: str = "default"
    signed: bool | None = None
    keep_unrelated: bool | None = None
    learn_memberships: bool | None = None
    bandwidth_gradient: str | None = None
    gate_start: str | None = None
    start_temperature: float | None = None
    end_temperature: float = 0.01
    batch_size: int | None = None
    max_epochs: int | None = None
    early_stopping: bool | None = None
    learning_rate: float | None = None
    n_init: int = 2
    n_neighbors: int = 7
    feature_neighbors: int | str | None = None
    diffusion_steps: int = 2
    gate_noise: float = 0.5
    standardize: bool = True
    device: str | torch.device = "auto"
    max_memory: int | str | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints = {
        **GroupSelector._parameter_constraints,
        "groups": ["array-like", Mapping, None],
        "sparsity": [Interval(Real, 0, None, closed="neither"), None],
        "sparsity_weight": [Interval(Real, 0, None, closed="left"), None],
        "ranking": [StrOptions({"excess", "gate", "path"}), None],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Discover the groups of the columns of X and which of them matter.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table. Also memory-mapped arrays, dask arrays, h5py and zarr datasets, AnnData's
            backed matrices, and whatever else has a shape and gives rows when sliced: where it is
            too large for ``max_memory`` it is read in blocks of rows.
        y : ignored
            Labels are never looked at.
        """
        devices = [resolve_device(self.device)]
        table = open_table(
            self, X, self.standardize, self.max_memory, self.n_init, bool(self.verbose)
        )
        settings = self._settings(table)
        labels: IntArray | None = None
        names: list[Any] = []
        if self.groups is not None:
            if self.n_groups != "auto":
                raise ParameterError(
                    f"both groups and n_groups={self.n_groups} are given; known groups have a "
                    'number, so leave n_groups at "auto".',
                    "n_groups",
                )
            refuse_ambiguous_members(self.groups, X)
            labels, names = known_labels(self.groups, table)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        relatedness = None
        if labels is None:
            table.rows.to(devices[0], DTYPE)
            relatedness = self._relatedness(table, settings, seeds[0])
        self._describe_relatedness(table, relatedness)
        task = Task(table, settings, seeds, devices, self._sparsity_weights)
        try:
            solution = solve(replace(task, known_labels=labels, relatedness=relatedness))
        except NoGroups:
            self._describe_nothing()
            self.group_names_ = None
            self._select()
            return self
        problem, trained = solution.problem, solution.trained
        result = describe(problem, trained, trained.best_seed(0), 0)
        self._describe(problem, result)
        self.group_names_ = [names[j] for j in result.order] if names else None
        self._select()
        return self

    def _sparsity_weights(self, critical: float) -> FloatArray:
        """Return the weight to train at, and those of a path if it is to rank the groups."""
        weight = self.sparsity_weight
        sparsity = USUAL_SPARSITY if self.sparsity is None else self.sparsity
        weights = np.array([sparsity * critical if weight is None else weight])
        if (self.ranking or PRESETS[self.preset]["ranking"]) == "path":
            weights = np.concatenate([weights, PATH_SPARSITIES * critical])
        return weights
