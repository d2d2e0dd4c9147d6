"""FeatureGroups: from a table to groups of features, which of them hold, and a selection.

What a fit needs is imported inside its methods: estimators are made at once.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from groupfs.data.blocks import read_blocks, without_blocks
from groupfs.data.checks import refuse_n_groups
from groupfs.data.known_groups import known_labels, refuse_ambiguous_members
from groupfs.data.learned_columns import learn_levels
from groupfs.groups import Groups, feature_names
from groupfs.result import Result
from groupfs.selection.select import refuse_conflicts, refuse_too_many
from groupfs.selector import GroupSelector, derive_seeds
from groupfs.sentences import Why
from groupfs.utils.errors import ParameterError
from groupfs.utils.progress import doing, progress
from groupfs.utils.sklearn_compat import (
    COUNT,
    POSITIVE,
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
    parameter,
    validate_parameter_constraints,
)
from groupfs.utils.text import join_words
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    from groupfs.data.basis import SimilarityFunction
    from groupfs.data.table import Table
    from groupfs.discovery.describe_groups import Options
    from groupfs.preservation.rows_needed import RowsNeeded

#: What ``similarity`` and ``metric`` may be called, and what a graph of the samples may be.
SIMILARITIES = StrOptions({"correlation", "rank", "distance"})
METRICS = StrOptions({"euclidean", "cosine", "rank"})
GRAPHS = ("array-like", "sparse matrix", HasMethods("kneighbors_graph"))


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureGroups(GroupSelector):
    r"""Find groups of features that belong together, and select features, without labels.

    Features that are related to no other beyond chance are left out. The others form a graph, tied
    by what squared correlations have beyond chance, and are divided into communities by modularity,
    whose null model is about that of one common factor; of four resolutions the broadest at which
    random halves of the rows agree about as well as at any. Each group is divided again on its own,
    until halves agree no more than those of a one-factor group. The depths of this tree are levels;
    above them stand groups of groups that halves join alike. The narrowest depth on which halves
    agree by .7 is shown, else the narrowest that is found again about as well as any. Kept are
    groups that are found again themselves and cohere more than groups in shuffled columns; selected
    are the first features that explain 95 % of the variance of the related ones. Nothing is trained
    or needs to be set. :class:`GroupFS` is the published method, which learns groups and gates.

    Parameters
    ----------
    n_groups : int or "auto", default="auto"
        Number of groups. "auto" takes those that halves of the rows agree on (``levels_``); a
        number cuts the tree of groups there: between two levels those groups are joined that are
        tied most, beyond the narrowest level they are divided further, down to single features.
    groups : array-like of shape (n_features,), list of lists, mapping or None, default=None
        Groups known beforehand: a label for every feature (in the order of the columns, or a
        Series indexed by their names), or the features of every group by name or place. Every
        feature that varies must be in one group. None discovers the groups.
    level : "auto", "broad", "narrow" or int, default="auto"
        Which level of groups is spoken of (``levels_``). "auto" is the narrowest on which halves of
        the rows agree by .7, else the narrowest that is found again about as well as any; "broad"
        and "narrow" are the first and the last; a number is the level with so many groups. For
        another level of a fitted selector see ``at_level``.
    n_features_to_select : int, float or None, default=None
        A budget: a number of features, or a share of those that vary.
    explain : float or "auto", default="auto"
        Select as many features as explain this share of the variance of the related features: 0.9
        takes the first features of ``feature_order_`` that explain 90 %. "auto" takes those that
        explain 95 %, unless a number of features, of groups or per group is asked for; of these the
        ones in kept groups, or with a warning all if no group is kept.
    n_groups_to_select : int, "significant" or None, default=None
        Take all features of so many groups, the largest first, or with "significant" of every group
        that is kept. None keeps every group whose cohesion stands out from chance (``alpha``), as
        that of one feature never does, and that is found again in halves of the rows, where any
        number of groups is.
    n_per_group : int or None, default=None
        Select so many features of each kept group: those whose score agrees best with that of the
        whole group (a short form), or with 1 the most central one.
    output : {"features", "scores"}, default="features"
        What ``transform`` gives: the selected features, or
        a score for each kept group, the mean of its standardised features, weighted by centrality,
        reversed features turned (``get_support`` is as with "features").
    alpha : float, default=0.01
        The level at which p-values of groups stand out, with the false discovery rate over the
        groups in view (Benjamini-Hochberg).
    signed : bool, default=False
        Whether a feature and its negative are different: alike by r in place of abs(r), and a group
        stands for its mean in place of its first component.
    similarity : {"correlation", "rank", "distance"} or callable, default="correlation"
        How alike two features are, between 0 and 1. "correlation" is abs(r); of a number and a
        category the correlation ratio, of two categories the first canonical correlation, less what
        chance gives features of many levels. "rank" is the same of ranks: bent lines and outliers
        do no harm. "distance" (distance correlation of ranks) finds any relation, in tables of a
        few thousand features, and has no sign. A callable takes the standardised columns,
        (n_samples, n_features), gaps as NaN, and returns similarities, (n_features, n_features).
    metric : str, array, sparse matrix or fitted neighbours of the samples, default="euclidean"
        The geometry of the samples, in which groups and features are smooth or not. "cosine"
        compares angles of samples, "rank" the ranks of their values, which outliers do not move. Or
        a graph of the samples that is known: affinities of all pairs, (n_samples, n_samples),
        larger for nearer samples and 0 for none, as ``adata.obsp["connectivities"]``, of which the
        larger one of a pair counts; or a NearestNeighbors or KNeighborsTransformer that was fitted
        on the same samples.
    keep_unrelated : bool, default=False
        Whether features that are related to no other beyond chance are put into groups, too, as
        they are where ``n_groups`` asks for more groups than there are related features (with a
        warning).
    standardize : bool, default=True
        Whether every column is brought to variance one. Columns are always centred, and without
        this the table as a whole is scaled.
    device : str or torch.device, default="auto"
        Where columns of a dense table are multiplied; everything else is numpy. "auto" is CUDA for
        tables of 67 million numbers and more, where there is one and groupfs[joint] is installed,
        else the CPU.
    max_memory : int, str or None, default=None
        Memory the process may hold, in bytes or as in "4GB", that of a GPU not counted; None is
        three quarters of what is free when ``fit`` begins. Tables that would need more are read in
        blocks, several times, and are never in memory as a whole.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles and samples of rows that smoothness is measured by. Which groups are
        found, and in what order, does not hang on it.

    Attributes
    ----------
    groups_ : list of ndarray
        Indices of the features of each group, the largest first, of equal ones the tightest.
    group_names_ : list or None
        What the groups were called in ``groups``, in their order; None without ``groups``.
    group_labels_ : ndarray of shape (n_features_in_,)
        Place in ``groups_`` of each feature's group; -1 for features in none: constant or unrelated
        ones, and those that share too little variance with the group they were nearest to.
    group_signs_ : ndarray of shape (n_features_in_,)
        -1 for features that are reversed, 1 for the others, 0 for features in no group.
    group_smoothness_ : ndarray of shape (n_groups_,)
        How smoothly the samples vary along the group: smoothness of its features on the graph of
        the samples built from that group alone, beyond that of shuffled columns.
    group_pvalues_ : ndarray of shape (n_groups_,)
        How likely a group found the same way in shuffled columns is as cohesive: has a first
        component (with ``signed`` a mean) that explains as much of its features.
    group_replication_ : ndarray of shape (n_groups_,) or None
        How well a group is found again: its overlap (Jaccard index) with what each of two halves of
        the rows finds, the smaller one of the two, mean over pairs of halves. None for groups known
        beforehand and for fewer than 20 rows.
    group_kept_ : ndarray of bool of shape (n_groups_,)
        Which groups are kept.
    relatedness_pvalues_ : ndarray of shape (n_features_in_,) or None
        How likely chance relates a feature to others as much: the mean of its three largest abs(r),
        compared with shuffled columns. NaN for constant columns; None if all features take part.
    representatives_ : ndarray of shape (n_groups_,)
        The most central feature of each group.
    centrality_ : ndarray of shape (n_features_in_,)
        Correlation of each feature with the first component of its group, 0 or more; with
        ``signed`` with the group's mean.
    feature_order_ : ndarray of int
        All features that vary, in the order in which a budget takes them: each is the one that
        explains most of the variance of the related features on top of those before it; once all
        is explained, the one that most features are like. Features in groups come first (where
        unrelated features were not left out, those in kept groups), then other related ones, then
        the rest.
    explained_ : ndarray of float
        Mean R squared of the related features, weighted by ``feature_weights_``, given the first 1,
        2, ... features of ``feature_order_``; estimated from a sketch of the rows after the first
        ones in very large tables.
    feature_weights_ : ndarray of shape (n_features_in_,)
        How much each feature counts in ``explained_``, in proportion to how smoothly it varies over
        the graph of the samples; 0 for unrelated features, all together 1. Duplicates of a feature,
        up to scale and sign, share its weight.
    n_groups_ : int
        Number of groups; 0 if no feature is related to another.
    levels_ : list of Level
        The levels of groups, broadest first: ``labels`` (-1 for features in none), ``n_groups``,
        the ``agreement`` of halves of the rows, the ``parent`` of every group in the level before
        (-1 at the broadest), and how far halves agree on the ``split`` that made it. One if the
        number was given or groups are known, where halves are not asked; empty without groups.
    feature_stability_ : ndarray of shape (n_features_in_,) or None
        Share of the halves of the rows that put a feature into its group; 0 for features in none.
        None as ``group_replication_``.
    second_group_, second_strength_ : ndarray of shape (n_features_in_,)
        The other group a feature loads on most once its own is accounted for (for features in no
        group beside the one they go with most), and its abs(r) with the score of that group; -1
        and 0 for unrelated features and where there is no other group.
    duplicate_of_ : ndarray of shape (n_features_in_,)
        The first column that a feature equals up to scale, -1 for none.
    explained_held_out_ : ndarray of float or None
        As ``explained_``, in rows that the regressions have not seen: every row by the others. With
        few rows that is far less. Ends where there are no more rows than features. None for
        similarities that are not correlations.
    blocks_ : list of str or None
        What the blocks of rows are called that ``fit`` was given.
    group_block_cohesion_ : ndarray of shape (n_groups_, n_blocks) or None
        Mean correlation of each group's features in each of them, NaN where it has few rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has them.
    feature_kinds_ : ndarray of str of shape (n_features_in_,)
        What each column was taken for: "number" or "category".

    Notes
    -----
    A category is one feature, however many levels it has: its indicators share one group and one
    weight, and have variance one together. Gaps: features are compared by the rows that both have;
    in the graph of the samples a gap is the mean, and as far from other rows as rows are on
    average.

    Columns of zeros and ones that are never one together, as those made from one variable with
    several values, count as uncorrelated: that they exclude each other says nothing.

    Examples
    --------
    >>> from groupfs import FeatureGroups
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(random_state=0).data
    >>> selector = FeatureGroups(random_state=0).fit(X)
    >>> [group.tolist() for group in selector.groups_]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    >>> selector.transform(X).shape
    (1000, 4)
    """

    __module__ = "groupfs"

    groups: ArrayLike | Sequence[Sequence[Any]] | Mapping[Any, Sequence[Any]] | None = parameter(
        None, "array-like", Mapping, None
    )
    level: int | str = parameter("auto", COUNT, StrOptions({"auto", "broad", "narrow"}))
    explain: float | str = parameter(
        "auto", Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})
    )
    n_groups_to_select: int | str | None = parameter(None, COUNT, StrOptions({"significant"}), None)
    alpha: float = parameter(0.01, Interval(Real, 0, 1, closed="neither"))
    signed: bool = parameter(False, "boolean")
    similarity: "str | SimilarityFunction" = parameter("correlation", SIMILARITIES, callable)
    metric: Any = parameter("euclidean", METRICS, *GRAPHS)
    keep_unrelated: bool = parameter(False, "boolean")
    max_memory: int | str | None = parameter(None, POSITIVE, str, None)

    _selection_parameters = ["n_features_to_select", "explain", "n_groups_to_select"]
    _selection_parameters += ["n_per_group", "output", "alpha"]

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, blocks: ArrayLike | None = None) -> Self:
        """Find the groups of the columns of X, and select features.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table. DataFrames of pandas and polars may have columns of numbers, truth values,
            categories and text; gaps (NaN, None) need no filling in. Also memory-mapped arrays,
            h5py and zarr datasets, AnnData's backed matrices, and whatever else has a shape and
            gives rows when sliced: where it is too large for ``max_memory`` it is read in blocks of
            rows. Arrays and DataFrames of dask: where they are too large they are worked on where
            their blocks are.
        y : ignored
            Labels are never looked at.
        blocks : array-like of shape (n_samples,) or None, default=None
            What rows come from, such as cohorts, batches or schools: groups are those that these
            have in common. Differences of blocks in means are taken out of columns of numbers, of
            each half of the rows every block has its share, and of the groups that are found those
            are kept that also hold in more than half of the blocks with 20 rows or more: whose mean
            correlation there is beyond chance (3.1 standard deviations), and at least half of that
            over blocks. A warning names those that do not. X must be in memory.
        """
        with progress(6, X):
            return self._fit(X, blocks)

    def _fit(self, X: Any, blocks: ArrayLike | None) -> Self:
        from groupfs.discovery.discover import discover
        from groupfs.discovery.smoothness import feature_smoothness
        from groupfs.utils.threads import threads_for

        doing("Reading the table")
        self.blocks_: list[str] | None = None
        codes: IntArray | None = None
        if blocks is not None:
            codes, self.blocks_ = read_blocks(blocks, X.shape[0] if hasattr(X, "shape") else len(X))
            X = without_blocks(X, codes)
        table, options = self._open(X)
        options = replace(options, blocks=codes)
        labels, names = (None, []) if self.groups is None else self._known(X, table)
        seed = derive_seeds(check_random_state(self.random_state), 1)[0]
        with threads_for(table.rows.shape, own=True):
            found = discover(table, options, seed, labels)
            among = np.setdiff1d(np.arange(len(table.columns)), found.unrelated)
            doing("Ordering features")
            smoothness = feature_smoothness(table.rows, among, seed, options.metric)
            self.levels_, self._default_level = found.levels, found.default
            self._level_groups = [vars(groups) for groups in found.groups]
            chosen = self._find_level(self.level)
            self._show(found.default)  # the order of the features is the same at every level
            self.group_names_ = None if found.order is None else [names[j] for j in found.order]
            self.duplicate_of_ = table.duplicate_of
            self._n_values = np.zeros(self.n_features_in_)
            self._n_values[table.columns] = table.rows.n_values
            self.relatedness_pvalues_ = None
            if found.relatedness is not None:
                self.relatedness_pvalues_ = np.full(self.n_features_in_, np.nan)
                self.relatedness_pvalues_[table.columns] = found.relatedness.p_values
            unrelated_too = found.relatedness is None  # groups hold unrelated features, too
            self._rank(X, table, smoothness, found.unrelated, unrelated_too)
            self._level_categories = [
                learn_levels(X, table, groups.labels, groups.signs) if self._has_kinds else {}
                for groups in found.groups
            ]
            self._show(chosen)
            self._select()
        if told := self._block_remarks():
            warn(" ".join(told), SelectionWarning)
        return self

    def _block_remarks(self) -> list[str]:
        """Name groups that would be kept if they held in more blocks of rows."""
        if self.blocks_ is None or not self.n_groups_:
            return []
        result, names = Result.of(self), feature_names(self)
        return [
            f"Group {j + 1} ({names[self.representatives_[j]]}) holds in "
            f"{result.in_blocks_words(j)} only, and is not kept."
            for j in np.flatnonzero(result.selection.group_why == Why.IN_FEW_BLOCKS).tolist()
        ]

    def at_level(self, level: int | str) -> Self:
        """Return a fitted copy that speaks of another level of groups, without another fit.

        Parameters
        ----------
        level : "auto", "broad", "narrow" or int
            As the parameter: a number of groups is one of those of ``levels_``.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> FeatureGroups(random_state=0).fit(X).at_level("broad").n_groups_
        2
        """
        check_is_fitted(self)
        constraints = {"level": self._parameter_constraints["level"]}
        validate_parameter_constraints(constraints, {"level": level}, caller_name="at_level")
        other = copy.copy(self)
        other.level = level
        other._show(self._find_level(level))
        other._select()
        return other

    def rows_needed(self, X: Any, *, blocks: ArrayLike | None = None) -> "RowsNeeded":
        """Say how replication of the groups grows with the rows, and what more would show.

        Halves of a quarter, of half, and of all of the rows are compared; curves through them tell
        what twice as many would show, and how many rows it takes until a group is found again by
        .75 and by .9, and until halves agree on a level by .7.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table of the fit, or of a pilot study with the same columns; of other rows the
            groups are those of X, and have the number of the fit where they are the same.
        blocks : array-like of shape (n_samples,) or None, default=None
            What rows come from, as in ``fit``.

        Returns
        -------
        RowsNeeded
            Prints as a table; ``to_frame()`` has a row for each group of every level,
            ``levels_frame()`` one for each level, ``sentences`` say it in words.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(200, random_state=0).data
        >>> grown = FeatureGroups(random_state=0).fit(X).rows_needed(X)
        >>> grown.to_frame()["group"].tolist()
        [1, 2]
        """
        from groupfs.preservation.rows_needed import columns_of_fit, rows_needed

        check_is_fitted(self)
        if self.groups is not None or self.n_groups != "auto":
            raise ParameterError(
                "rows_needed speaks of groups that halves of the rows agree on; fit with n_groups="
                '"auto" and without groups.',
                "n_groups",
            )
        if (blocks is None) != (self.blocks_ is None):
            given = "was not given" if blocks is None else "was given"
            raise ParameterError(f"blocks {given}, unlike in the fit; give it to both.", "blocks")
        X = columns_of_fit(self, X)
        with progress(5, X):
            doing("Reading the table")
            codes = None
            if blocks is not None:
                codes, _ = read_blocks(blocks, X.shape[0])
                X = without_blocks(X, codes)
            table, options = clone(self)._open(X)
            return rows_needed(self, table, replace(options, blocks=codes))

    def shared_structure(self, X: ArrayLike) -> FloatArray:
        """Measure how far every group tells of the samples what the other groups tell.

        A group's features are looked at on the graph of the samples that the features of the other
        groups make. Groups that tell the same clusters or order of samples come high, a shift of a
        few columns alone, such as a batch or light on pictures, about 0. It ranks groups and does
        not say which to drop: groups that are independent of each other are about 0, too.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table of the fit, or one with the same columns.

        Returns
        -------
        ndarray of shape (n_groups_,)
            Smoothness beyond that of a column that knows nothing of the graph, in deviations.
        """
        from groupfs.discovery.shared_structure import shared_structure
        from groupfs.preservation.rows_needed import columns_of_fit

        check_is_fitted(self)
        table, options = clone(self)._open(columns_of_fit(self, X))
        if not isinstance(options.metric, str):
            raise ParameterError(
                "with a graph as metric groups are not compared by their own; group_smoothness_ "
                "says how smooth each is on it.",
                "metric",
            )
        seed = derive_seeds(check_random_state(self.random_state), 1)[0]
        labels, how = self.group_labels_[table.columns], (options.n_neighbors, options.metric)
        return shared_structure(table.rows, labels, self.n_groups_, *how, seed)

    def _find_level(self, level: int | str) -> int:
        """Return the place of a level in ``levels_``."""
        numbers = [one.n_groups for one in self.levels_]
        places: dict[int | str, int]
        places = {"auto": self._default_level, "broad": 0, "narrow": max(len(numbers) - 1, 0)}
        places |= {n: i for i, n in enumerate(numbers)}  # of equal numbers the narrowest
        if level not in places:
            there = f"levels of {join_words(numbers)} groups" if numbers else "no groups"
            there = f"one level, of {numbers[0]} groups" if len(numbers) == 1 else there
            several = len(numbers) > 1
            advice = 'choose one of these numbers, "broad" or "narrow"; ' if several else ""
            raise ParameterError(
                f"level={level}, but the table has {there}; {advice}n_groups={level} cuts the tree "
                "at any number.",
                "level",
            )
        return places[level]

    def _show(self, place: int) -> None:
        """Set what is told of groups to a level, by its place in ``levels_``."""
        self._shown, groups = place, Groups(**self._level_groups[place])
        self._set_groups(groups)
        self.group_pvalues_, self.group_replication_ = groups.p_values, groups.replication
        self._group_replicates, self._is_between = groups.replicates, groups.between
        self.group_block_cohesion_, self._in_blocks = groups.within_blocks, groups.in_blocks
        self.feature_stability_, self.second_group_ = groups.stability, groups.second
        self.second_strength_ = groups.second_strength
        if hasattr(self, "_level_categories"):
            self._learned_columns = {
                **self._learned_columns,
                "levels": self._level_categories[place],
            }

    def _turn_towards(self, feature: int) -> None:
        levels = [Groups(**of) for of in self._level_groups]
        self._level_categories = [dict(of) for of in self._level_categories]
        is_category = self.feature_kinds_ == "category"  # which has no sign, but numbers of levels
        turned = [groups.towards(feature, ~is_category) for groups in levels]
        for was, numbers in zip(levels, self._level_categories, strict=True):
            own = (was.labels == was.labels[feature]) & is_category & (was.signs[feature] < 0)
            for i in numbers.keys() & np.flatnonzero(own).tolist():
                numbers[i] = {value: -z for value, z in numbers[i].items()}
        self._level_groups = [vars(groups) for groups in turned]
        self._show(self._shown)

    def _open(self, X: Any) -> "tuple[Table, Options]":
        """Check and standardise X, and check the parameters against its size."""
        from groupfs.data.open_table import open_table
        from groupfs.discovery.describe_groups import Options
        from groupfs.discovery.sample_graph import check_metric
        from groupfs.utils.device import WORTH_A_GPU, find_gpu

        if self.signed and self.similarity not in ("correlation", "rank"):
            raise ParameterError(
                f"similarity={self.similarity!r} has no sign; leave signed at False.", "signed"
            )
        asked: dict[str, Any] = {"similarity": self.similarity, "device": self.device}
        table = open_table(self, X, self.standardize, self.max_memory, **asked)
        n_samples, n_features = table.rows.shape
        if self.device != "auto" or n_samples * n_features >= WORTH_A_GPU:
            table.rows.multiply_on(find_gpu(self.device, table.rows.shape))
        refuse_n_groups(self.n_groups, n_features, n_features - 1)
        if self.n_groups != "auto" and self.level != "auto":
            raise ParameterError(
                f"both n_groups={self.n_groups} and level={self.level!r} are given; n_groups cuts "
                "the tree of groups at one number, so leave one of them out.",
                "level",
            )
        metric = self.metric
        if not isinstance(metric, str):
            metric = check_metric(metric, n_samples)
        refuse_conflicts(self.get_params(deep=False))
        refuse_too_many(self.n_features_to_select, n_features)
        self.feature_kinds_ = np.array(table.kinds or ["number"] * len(table.names))
        options = Options(self.n_groups, self.signed, metric, self.keep_unrelated)
        return table, replace(options, by_products=self.similarity in ("correlation", "rank"))

    def _known(self, X: Any, table: "Table") -> tuple[Any, list[Any]]:
        """Return labels and names of groups that are known beforehand."""
        if self.level != "auto":
            raise ParameterError(
                f"both groups and level={self.level!r} are given; known groups have no levels, so "
                'leave level at "auto".',
                "level",
            )
        if self.n_groups != "auto":
            raise ParameterError(
                f"both groups and n_groups={self.n_groups} are given; known groups have a "
                'number, so leave n_groups at "auto".',
                "n_groups",
            )
        refuse_ambiguous_members(self.groups, X)
        return known_labels(self.groups, table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
