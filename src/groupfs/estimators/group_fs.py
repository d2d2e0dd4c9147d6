"""GroupFS, the estimator: from a table to groups of features, which of them matter, a selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from groupfs.data.known_groups import known_labels, refuse_ambiguous_members
from groupfs.estimators.base import GroupSelector
from groupfs.estimators.training_memory import train_or_recall
from groupfs.training.settings import PRESETS, USUAL_SPARSITY, Settings
from groupfs.utils.errors import ParameterError
from groupfs.utils.seeds import derive_seeds
from groupfs.utils.sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    import torch
    from joblib import Memory

    from groupfs.data.feature_basis import SimilarityFunction
    from groupfs.data.table import Table

#: Relative sparsities that are trained beside the one asked for to rank groups by path.
PATH_SPARSITIES = np.geomspace(0.25, 3.0, 12)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupFS(GroupSelector):
    r"""Unsupervised feature selection that discovers groups of features and which of them matter.

    Features that go with no other beyond chance are left out. The others are divided into as many
    groups as are found again in halves of the rows, and the groups are kept that hold together more
    than groups found in shuffled columns do, and that are found again themselves. A feature and its
    negative say the same. Every group also has a gate, which is trained: the open groups shall span
    a graph of the samples on which they vary smoothly, and few groups shall be open. Gates decide
    what is kept with ``n_groups_to_select="open"``, with a ``sparsity``, and with
    ``preset="paper"``, the published method. No labels are used, and nothing needs to be set.

    Parameters
    ----------
    n_groups : int, "auto", "replication" or "distortion", default="auto"
        C. "replication" divides the rows into random halves, looks for 2, 3, ... and at most 45
        groups in each, and takes the number at which the halves share the most information
        (``replication_``); groups whose parts are found again and have little to do with each other
        are divided further. Where halves agree on no number, "distortion" decides: the number of
        eigenvalues of the feature graph before a clear fall, or one more; without a fall, the first
        clear dip of the distortion E(C) of its eigenvectors; without a dip, the deepest one near
        the square root of 2 d (near 20 where that is more) at which no feature stands alone.
        "auto" leaves it to the preset: "replication" by default, "distortion" with "paper".
    groups : array-like of shape (n_features,), list of lists, mapping or None, default=None
        Groups known beforehand: a label for every feature (in the order of the columns, or a
        Series indexed by their names), or the features of every group by name or place. Every
        feature that varies must be in one group. Only the gates are learned then, and
        ``smoothness_weight`` plays no part. None discovers the groups.
    sparsity : float or None, default=None
        How many groups shall close, relative to the critical weight of this table: 1.0 is the
        weight at which the pressure on the gates changes sign before groups take shape. Useful
        values lie between about 0.25 and 3; higher means fewer groups. If it is set, gates decide
        what is kept, as with ``n_groups_to_select="open"``. None trains gates at 0.7 and leaves
        what is kept to the other parameters.
    sparsity_weight : float or None, default=None
        :math:`\lambda_2` itself, in place of ``sparsity``.
    smoothness_weight : float or "auto", default="auto"
        :math:`\lambda_1`, the weight of the feature graph where memberships are learned. "auto"
        takes, of 0.1, 1, 10 and 100, the one that brings the roughness of the groups nearest to the
        sample term at the start.
    n_features_to_select : int, float or None, default=None
        A budget: a number of features, or a share of those that vary. None takes the features of
        the groups that are kept.
    explain : float or None, default=None
        Select as many features as explain this share of what the related features say, in place of
        a number: 0.9 takes the first features of ``feature_order_`` that explain 90 %.
    allocation : {"explain", "spread", "whole"} or None, default=None
        How a budget is spent. "explain" takes the first features of ``feature_order_``: those that
        explain most of the variance of all related features, smooth ones counting more. "spread"
        shares it among the groups whose cohesion stands out from chance, in proportion to their
        scores, most central features first. "whole" takes whole groups in rank order, the last one
        cut to its most central features. None leaves it to the preset: "explain" by default,
        "whole" with "paper".
    n_groups_to_select : int, "significant", "open" or None, default=None
        Keep this many groups, in rank order. "significant" keeps every group whose cohesion stands
        out from chance (``alpha``) and that is found again in halves of the rows, where any number
        of groups is; if there is none, nothing is selected, with a warning. "open" keeps the groups
        with open gates, of those that stand out where that was tested: gates close on groups that
        have little to do with the others, however clear they are. None is "open" if ``sparsity`` or
        ``sparsity_weight`` is set and with ``preset="paper"``, else "significant".
    output : {"features", "representatives", "scores"}, default="features"
        What ``transform`` gives: the selected features; the most central one of each kept group; or
        a score for each kept group, the mean of all its features in units of their deviations,
        weighted by centrality, features that run against the group turned. With "scores"
        ``get_support`` is as with "features".
    ranking : {"excess", "gate", "path"} or None, default=None
        What groups are ranked by: smoothness on the graph of the group alone beyond that of
        shuffled columns; gate mean; or the largest sparsity at which the group is still open. None
        leaves it to the preset.
    alpha : float, default=0.01
        The level at which p-values of groups stand out, with the false discovery rate over the
        groups in view (Benjamini-Hochberg).
    preset : {"default", "paper"}, default="default"
        Where the parameters that are None come from: our choices or the paper's.
    signed : bool or None, default=None
        Whether a feature and its negative are different. False measures how alike features are by
        abs(r), and a group stands for its first component; True by r, and a group stands for its
        mean. None leaves it to the preset: False by default, True with "paper".
    similarity : {"correlation", "rank", "distance", "mutual_information"} or callable, \
            default="correlation"
        How alike two features are, between 0 and 1. "correlation" is abs(r); of a number and a
        category the correlation ratio, of two categories the first canonical correlation, without
        what chance gives features of many levels more. "rank" is the same of ranks: bent lines, and
        outliers do no harm. "distance" (distance correlation of ranks) and "mutual_information" (of
        bins) find any relation, in tables of a few thousand features; they have no sign, and
        features are explained by the most alike one. A callable takes the standardised columns,
        (n_samples, n_features), gaps as NaN, and returns similarities, (n_features, n_features).
    metric : str, array, sparse matrix or fitted neighbours of the samples, default="euclidean"
        The geometry of the samples, in which groups and features are smooth or not. "cosine"
        compares angles of samples, "rank" the ranks of their values, which outliers do not move,
        "geodesic" goes along the graph of nearest neighbours, "diffusion" along many short ways of
        the euclidean graph. Or a graph of the samples that is known: affinities of all pairs,
        (n_samples, n_samples), larger for nearer samples and 0 for none, as
        ``adata.obsp["connectivities"]``, or a NearestNeighbors or KNeighborsTransformer that was
        fitted on the same samples. Where the affinities of a pair differ the larger one counts; the
        diagonal does not count.
    keep_unrelated : bool or None, default=None
        Whether features that go with no other beyond chance are put into groups, too. False leaves
        them out first, except in tables of more than 20,000 features, and where ``n_groups`` asks
        for more groups than the related features can fill with four each (with a warning). None
        leaves it to the preset: False by default, True with "paper".
    learn_memberships : bool or None, default=None
        Whether training may move features between groups. False trains gates alone and leaves the
        groups as they were found: on tables with known groups training them made groups worse more
        often than better. None leaves it to the preset: False by default, True with
        "paper".
    bandwidth_gradient : {"exact", "detached"} or None, default=None
        Whether the gradient flows through the bandwidths of the sample graph.
    gate_start : {"excess", "uniform"} or None, default=None
        Whether gates start ordered by the groups' scores or all at one half.
    start_temperature : float or None, default=None
        Temperature of the memberships at the start, where they are learned. High temperatures let
        all gates open or close together before the groups are distinct.
    end_temperature : float, default=0.01
        Temperature that is reached at ``max_epochs``.
    batch_size : int or None, default=None
        Rows per step. None (preset "default") takes all of them up to 320, else draws a pool of at
        most eight batches of about 256, which are used in turn; where memberships are learned, all
        up to 640, else batches of about 512 of the whole table.
    max_epochs : int or None, default=None
        Passes over the table, or the pool, at most.
    early_stopping : bool or None, default=None
        Whether training ends when groups no longer change and gates are decided.
    learning_rate : float or None, default=None
        Step size of Adam.
    n_init : int, default=2
        Models trained side by side from different seeds; the one with the largest gain over the
        models with all gates open and all gates shut is kept. One is enough where memberships are
        not learned and gates have no say in what is kept, as by default.
    n_neighbors : int, default=7
        K, the neighbour whose distance is a point's bandwidth, in both graphs.
    feature_neighbors : int, "all" or None, default=None
        Neighbours that the feature graph keeps for each feature. None keeps all up to 4,096
        features, up to 512 where memberships are learned, and 50 above (preset "default").
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
    memory : str, joblib.Memory or None, default=None
        A folder in which trainings are remembered, as in scikit-learn's ``Pipeline``: fits to the
        same table that differ in nothing but ``n_features_to_select``, ``explain``,
        ``allocation``, ``n_groups_to_select`` or ``output`` train once, as in a grid search over
        budgets, and warn of the table once. Needs a number as ``random_state``. None remembers
        nothing.
    n_jobs : int or None, default=None
        Threads that a fit may use; -1 is all cores. None takes one, and up to four for tables of
        more than 67 million numbers: for smaller ones more threads rarely pay, and on a busy
        machine they are slower many times over.
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
        Place in ``groups_`` of each feature's group; -1 for features in none: constant columns,
        features that go with no other beyond chance, and those that say too little of the group
        they were nearest to.
    group_signs_ : ndarray of shape (n_features_in_,)
        -1 for features that run against the most central one of their group, 1 for the others, 0
        for features in no group. Multiply the columns with it before a mean of the group is taken.
    group_scores_ : ndarray of shape (n_groups_,)
        What the groups are ranked by.
    group_pvalues_ : ndarray of shape (n_groups_,) or None
        How likely a group found the same way in shuffled columns is as cohesive: has a first
        component (with ``signed`` a mean) that says as much of its features. None where nothing is
        compared with chance, as with ``preset="paper"``.
    group_reliability_ : ndarray of shape (n_groups_,) or None
        How well a group is found again in halves of the rows: the share of features that it and the
        most alike group of a half have in common (Jaccard index), mean over halves, 1 at best. NaN
        for a group without a feature among those looked at in halves, of which there are 640 at
        most. None for groups known beforehand, where nothing is compared with chance, and for
        fewer than 20 rows or 4 related features.
    relatedness_pvalues_ : ndarray of shape (n_features_in_,) or None
        How likely chance makes a feature go with others as much: the mean of its three largest
        abs(r), compared with shuffled columns. NaN for constant columns; None if all features take
        part.
    group_gates_ : ndarray of shape (n_groups_,)
        Gate means; above one half is open.
    group_selected_ : ndarray of bool of shape (n_groups_,)
        Which groups are kept; with a budget, which have selected features.
    representatives_ : ndarray of shape (n_groups_,)
        The most central feature of each group.
    membership_ : ndarray or csr_array of shape (n_features_in_, n_groups_)
        Probabilities of membership; rows of features in no group are zero. Sparse where so many
        features were given that each kept only its nearest groups.
    centrality_ : ndarray of shape (n_features_in_,)
        Correlation of each feature with the first component of its group, 0 or more; with
        ``signed`` with the group's mean.
    feature_order_ : ndarray of int
        All features that vary, in the order in which a budget takes them: each is the one that
        explains most of the variance of the related features on top of those before it; once all
        is explained, the one that most features are like. Features in groups come first (where
        unrelated features were not left out, those in kept groups), then other related ones, then
        the rest. Copies of a feature, up to scale and sign, share its weight.
    explained_ : ndarray of float
        Share of the weighted variance of the related features that the first 1, 2, ... features of
        ``feature_order_`` explain: the mean of R squared, weighted by ``feature_weights_``. In very
        large tables it is estimated, from a sketch of the rows, after the first features.
    feature_weights_ : ndarray of shape (n_features_in_,)
        How much each feature counts in ``explained_``, in proportion to how smoothly it varies over
        the graph of the samples; 0 for features that go with no other, all together 1.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Score of the feature's group (not below zero) times the feature's centrality.
    n_groups_ : int
        Groups that have features; 0 if no feature goes with another.
    replication_ : Replication or None
        How far the groups of two halves of the rows agree, for every number of groups:
        ``n_groups``, ``agreement`` and ``information`` are arrays, ``best`` is the number with the
        most information (None if halves agree on none), ``others`` are peaks nearly as high. None
        if the number was given or chosen by distortion alone, and where rows or related features
        are too few.
    distortion_ : dict
        E(C) for each C that was looked at; empty if ``n_groups`` was given or found by replication.
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
    feature_kinds_ : ndarray of str of shape (n_features_in_,)
        What each column was taken for: "number", "category" or "date".

    Notes
    -----
    A category is one feature, however many levels it has: its indicators share one group and one
    weight, and have variance one together. Gaps: features are compared by the rows that both have;
    in the graph of the samples a gap is the mean, and as far from other rows as rows are on
    average.

    Columns that are equal but for scale and shift share a group, and so do a column and its
    negative; ``group_signs_`` tells them apart. With ``signed=True`` the two are as far apart as
    columns can be.

    Columns of zeros and ones that are never one together, as those made from one variable with
    several values, count as uncorrelated: that they exclude each other says nothing.

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
    n_features_to_select: float | None = None
    explain: float | None = None
    allocation: str | None = None
    n_groups_to_select: int | str | None = None
    output: str = "features"
    ranking: str | None = None
    alpha: float = 0.01
    preset: str = "default"
    signed: bool | None = None
    similarity: "str | SimilarityFunction" = "correlation"
    metric: Any = "euclidean"
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
    device: "str | torch.device" = "auto"
    max_memory: int | str | None = None
    memory: "str | Memory | None" = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints = {
        **GroupSelector._parameter_constraints,
        "groups": ["array-like", Mapping, None],
        "sparsity": [Interval(Real, 0, None, closed="neither"), None],
        "sparsity_weight": [Interval(Real, 0, None, closed="left"), None],
        "ranking": [StrOptions({"excess", "gate", "path"}), None],
        "memory": [str, HasMethods("cache"), None],
        "n_jobs": [Integral, None],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Discover the groups of the columns of X and which of them matter.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table. DataFrames of pandas and polars may have columns of numbers, truth values,
            categories, text and dates; gaps (NaN, None, NaT) need no filling in. Also
            memory-mapped arrays, h5py and zarr datasets, AnnData's backed matrices, and whatever
            else has a shape and gives rows when sliced: where it is too large for ``max_memory``
            it is read in blocks of rows. Arrays and DataFrames of dask: where they
            are too large they are worked on where their blocks are.
        y : ignored
            Labels are never looked at.
        """
        train_or_recall(self, X)
        self._select()
        return self

    def _train(self, X: Any) -> None:
        """Do all of a fit but the selection."""
        from groupfs.utils.device import resolve_device
        from groupfs.utils.threads import threads_for

        devices = [resolve_device(self.device)]
        table = self._open_table(X)
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
        with threads_for(table.rows.shape, self.n_jobs):
            self._fit_table(table, settings, devices, labels, names)
        self._learn_columns(X, table)

    def _fit_table(
        self,
        table: "Table",
        settings: Settings,
        devices: "list[torch.device]",
        labels: IntArray | None,
        names: list[Any],
    ) -> None:
        """Find groups, unless their labels are known, train the gates and describe all."""
        from groupfs.selection.describe import describe
        from groupfs.training.discovery import NoGroups
        from groupfs.training.solve import Task, solve
        from groupfs.utils.device import DTYPE

        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        learns_groups = settings.learn_memberships and labels is None
        if not (learns_groups or settings.gates_decide):
            seeds = seeds[:1]  # the others would differ in gates alone
        table.rows.to(devices[0], DTYPE)
        if labels is not None:
            settings = replace(settings, keep_unrelated=True)
        relatedness = self._relatedness(table, settings, seeds[0])
        task = Task(table, settings, seeds, devices, self._sparsity_weights)
        try:
            solution = solve(replace(task, known_labels=labels, relatedness=relatedness))
        except NoGroups:
            self._describe_nothing()
            self.group_names_ = None
            self._order(table, relatedness, seeds[0], settings.metric)
            return
        problem, trained = solution.problem, solution.trained
        result = describe(problem, trained, trained.best_seed(0), 0)
        self._describe(problem, result)
        self.group_names_ = [names[j] for j in result.order] if names else None
        self._order(table, relatedness, seeds[0], settings.metric)

    def _sparsity_weights(self, critical: float) -> FloatArray:
        """Return the weight to train at, and those of a path if it is to rank the groups."""
        weight = self.sparsity_weight
        sparsity = USUAL_SPARSITY if self.sparsity is None else self.sparsity
        weights = np.array([sparsity * critical if weight is None else weight])
        if (self.ranking or PRESETS[self.preset]["ranking"]) == "path":
            weights = np.concatenate([weights, PATH_SPARSITIES * critical])
        return weights
