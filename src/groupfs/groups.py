"""The groups that were found, and what is selected from them: plain data of numpy arrays.

Axes: C groups in rank order, d features in the user's order. Nothing is computed here but what
follows from the fields.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: A group is open if its gate mean is above this.
OPEN = 0.5
#: Agreement of halves of the rows on a level that is shown by default, and what is near this line.
CLEAR_LEVEL, NEAR_LINE = 0.7, 0.1
#: Share of a group that both halves find, at least.
LEAST_FOUND = 0.2
#: Values of a feature, or rows of a table, that are too few to be halved.
FEWEST_HALVED = 20
#: Share of features called related that may be so by chance.
RELATED_RATE = 0.05


@dataclass(frozen=True)
class Level:
    """Groups of one level of the tree, as broad or as narrow as halves of the rows agree on."""

    __module__ = "groupfs"

    labels: IntArray  #: group of every feature, -1 for none, (d,)
    n_groups: int
    agreement: float | None  #: of halves of the rows; None if that was not looked at
    parent: IntArray  #: group of the next broader level that each lies in, -1 without one, (C,)
    split: FloatArray | None  #: how far halves agree on the division that made each group, (C,)


class Items(TypedDict):
    """What was measured of the features of groups as items of scales; plain, to be stored."""

    alpha: FloatArray  #: Cronbach's, of standardised features, (C,)
    item_rest: FloatArray  #: correlation of every feature with the sum of the others, (d,)
    n_rows: FloatArray  #: rows that a pair of features has, on average, (C,)
    score_mean: FloatArray  #: of the rows' scores, (C,)
    score_sd: FloatArray  #: (C,)
    within: list[FloatArray]  #: correlations, reversed features turned; (0, 0) if not kept
    with_scores: FloatArray  #: correlation of features and scores, (d, C); (0, C) if not kept
    between_scores: FloatArray  #: correlations of the scores, (C, C)


@dataclass(frozen=True)
class Groups:
    """What was found about the groups, best first."""

    members: list[IntArray]  #: features of every group, ascending
    labels: IntArray  #: group of every feature, -1 for none, (d,)
    signs: IntArray  #: -1 for features that are reversed, 0 for those in no group, (d,)
    centrality: FloatArray  #: correlation with what the group has in common, (d,)
    representatives: IntArray  #: most central feature of every group, or that it runs towards, (C,)
    smoothness: FloatArray  #: beyond chance, along the graph of the samples; ranks groups, (C,)
    p_values: FloatArray | None = None  #: of cohesion, (C,)
    replication: FloatArray | None = None  #: mean Jaccard index with the best match in halves, (C,)
    replicates: BoolArray | None = None  #: whether that is enough, (C,)
    stability: FloatArray | None = None  #: share of halves that put a feature into its group, (d,)
    second: IntArray | None = None  #: the group a feature loads on most beside its own, or -1, (d,)
    second_strength: FloatArray | None = None  #: abs(r) with the score of that group, (d,)
    between: BoolArray | None = None  #: whether a feature is as much of both groups, (d,)
    within_blocks: FloatArray | None = None  #: mean correlation in blocks of rows, (C, B)
    in_blocks: BoolArray | None = None  #: whether the group holds there, (C, B)
    items: Items | None = None  #: what was measured of the features as items of scales
    names: list[str] | None = None  #: those the user has given
    gates: FloatArray | None = None  #: of the joint method, (C,)

    @classmethod
    def of(cls, selector: Any) -> "Groups":
        """Read the groups of a fitted selector."""
        given = getattr(selector, "group_names_", None)
        return cls(
            members=selector.groups_,
            labels=selector.group_labels_,
            signs=selector.group_signs_,
            centrality=selector.centrality_,
            representatives=selector.representatives_,
            smoothness=selector.group_smoothness_,
            p_values=getattr(selector, "group_pvalues_", None),
            replication=getattr(selector, "group_replication_", None),
            replicates=getattr(selector, "_group_replicates", None),
            stability=getattr(selector, "feature_stability_", None),
            second=getattr(selector, "second_group_", None),
            second_strength=getattr(selector, "second_strength_", None),
            between=getattr(selector, "_is_between", None),
            within_blocks=getattr(selector, "group_block_cohesion_", None),
            in_blocks=getattr(selector, "_in_blocks", None),
            items=getattr(selector, "_items", None),
            names=[str(name) for name in given] if given else None,
            gates=getattr(selector, "group_gates_", None),
        )

    @classmethod
    def none(cls, n_features: int) -> "Groups":
        """Describe a table in which no feature is related to another."""
        labels, signs = np.full(n_features, -1), np.zeros(n_features, dtype=np.int64)
        central, nothing, no_index = np.zeros(n_features), np.zeros(0), signs[:0]
        return cls([], labels, signs, central, no_index, nothing, nothing, nothing)

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of features of every group, (C,)."""
        return np.array([len(group) for group in self.members], dtype=np.int64)

    @cached_property
    def p_adjusted(self) -> FloatArray | None:
        """P-values adjusted for the number of groups, (C,)."""
        return None if self.p_values is None else adjust_p_values(self.p_values)

    @cached_property
    def n_blocks(self) -> tuple[IntArray, int]:
        """In how many blocks each group holds, (C,), of how many that were looked at."""
        assert self.in_blocks is not None and self.within_blocks is not None  # who asks has blocks
        return self.in_blocks.sum(1), int((~np.isnan(self.within_blocks)).any(0).sum())

    def stand_out(self, alpha: float) -> BoolArray | None:
        """Find the groups that cohere beyond chance, (C,); None where that was not tested."""
        return None if self.p_adjusted is None else self.p_adjusted <= alpha

    def towards(self, feature: int, numbers: BoolArray) -> "Groups":
        """Return the same groups, that of a feature called after it, and turned if it is reversed.

        Of the features of a group that is turned the ``numbers`` (d,) are.
        """
        own = np.arange(len(self)) == self.labels[feature]
        called = replace(self, representatives=np.where(own, feature, self.representatives))
        if self.signs[feature] >= 0:
            return called
        return called._turned(own, numbers)

    def _turned(self, turn: BoolArray, numbers: BoolArray) -> "Groups":
        way, signs = np.where(turn, -1, 1), self.signs.copy()
        signs[(self.labels >= 0) & turn[self.labels] & numbers] *= -1
        of = cast(Items, self.items)
        items: Items = {
            **of,
            "score_mean": of["score_mean"] * way,
            "with_scores": of["with_scores"] * way,
            "between_scores": of["between_scores"] * np.outer(way, way),
        }
        return replace(self, signs=signs, items=items)

    def by_centrality(self, group: int) -> IntArray:
        """Return the features of a group, most central first."""
        members = self.members[group]
        return members[np.argsort(-self.centrality[members], kind="stable")]

    @cached_property
    def ranks(self) -> IntArray:
        """Rank of every feature within its group, 1 for the most central, 0 without one, (d,)."""
        ranks = np.zeros(len(self.labels), dtype=np.int64)
        for j in range(len(self)):
            ranks[self.by_centrality(j)] = np.arange(1, self.sizes[j] + 1)
        return ranks

    def title(self, group: int) -> str:
        """Call a group by its name in a sentence, or else by its number."""
        return f"group {group + 1}" if self.names is None else f'group "{self.names[group]}"'

    def label(self, group: int) -> int | str:
        """Return the name that was given to a group, or else its number."""
        return group + 1 if self.names is None else self.names[group]


@dataclass(frozen=True)
class Request:
    """What is asked for: groups and features."""

    n_features: int | None  #: None takes the features of the groups that are kept
    n_groups: int | str | None  #: a number, or "significant" as None for the rule of the estimator
    output: str
    alpha: float
    n_per_group: int | None = None  #: features of every group, which keep its score
    explain: float | None = None  #: the share that the number of features follows from
    is_default: bool = False  #: whether nobody has set a share or a number
    among_related: bool = False  #: whether it is known which features are related
    covers: bool = False  #: whether budgets take whole groups until they are covered, as published

    @property
    def takes_whole(self) -> bool:
        """Whether whole groups are taken."""
        return self.covers and self.n_per_group is None

    @property
    def follows_order(self) -> bool:
        """Whether budgets take features in the order of what they explain."""
        return not self.covers and self.n_per_group is None


@dataclass(frozen=True)
class Selection:
    """Selected features and groups."""

    support: BoolArray  #: (d,)
    groups: BoolArray  #: which groups are kept, (C,)
    why: IntArray  #: a :class:`~groupfs.sentences.Why` of every feature, (d,)
    group_why: IntArray  #: a :class:`~groupfs.sentences.Why` of every group, (C,)
    asked: Request
    notes: list[str] = field(default_factory=list)  #: sentences on rules that had to be relaxed
    short: FloatArray | None = None  #: of short forms: r with the score of all, and alpha, (C, 2)

    @property
    def features(self) -> IntArray:
        """Indices of the selected features."""
        return np.flatnonzero(self.support)


def feature_names(selector: Any) -> list[str]:
    """Return the names of the columns the selector has seen, or x0, x1, ..."""
    given = getattr(selector, "feature_names_in_", None)
    if given is None:
        return [f"x{i}" for i in range(selector.n_features_in_)]
    return [str(name) for name in given]


def adjust_p_values(p_values: FloatArray) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg, (m,) to (m,); NaN stays NaN and does not count.

    >>> adjust_p_values(np.array([0.01, np.nan, 0.04, 0.5])).round(2).tolist()
    [0.03, nan, 0.06, 0.5]
    """
    from scipy.stats import false_discovery_control  # slow to import, and pages need it not

    adjusted = np.array(p_values, dtype=np.float64)
    known = ~np.isnan(adjusted)
    if known.any():
        adjusted[known] = false_discovery_control(adjusted[known])
    return adjusted


def related_features(p_values: FloatArray) -> BoolArray:
    """Find the features that are related to others beyond chance by their p-values, (d,)."""
    return adjust_p_values(p_values) <= RELATED_RATE
