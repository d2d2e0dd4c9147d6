"""Describe groups: members, central features, how cohesive, how smooth, how well found again.

Axes: n rows, d features of the table, C groups.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groupfs.data.halves import N_ROW_BLOCKS, row_blocks
from groupfs.data.table import Table
from groupfs.discovery.chance import group_p_values
from groupfs.discovery.items import measure_items
from groupfs.discovery.members import group_components
from groupfs.discovery.places import find_places
from groupfs.discovery.sample_graph import SampleGraph
from groupfs.discovery.smoothness import N_NEIGHBORS, smoothness_beyond_chance
from groupfs.discovery.within_blocks import cohesion_within
from groupfs.groups import LEAST_FOUND, Groups
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Shuffles that a group is compared with: which rows are looked at matters ten times as much.
N_SHUFFLES = 2
#: Standard errors over blocks of rows that the cohesion of a group is above zero, at least; and
#: numbers in the rows that are looked at, at most, and rows at least.
BLOCK_ERRORS, SCORED_ENTRIES, FEWEST_ROWS = 3.0, 2**22, 20


@dataclass(frozen=True)
class Options:
    """How groups are looked for."""

    n_groups: int | str = "auto"
    signed: bool = False  #: whether a feature and its negative are different
    metric: str | SampleGraph = "euclidean"  #: of the samples; their graph where it is known
    keep_unrelated: bool = False
    n_neighbors: int = N_NEIGHBORS  #: K, fewer than the samples
    by_products: bool = True  #: whether features of a group go together in sums of products
    blocks: IntArray | None = None  #: block of every row, such as a cohort, (n,)


@dataclass(frozen=True)
class Division:
    """A table divided into groups, known or found, and what speaks for them."""

    table: Table
    labels: IntArray  #: -1 for features in no group, (d,)
    n_groups: int
    chance: FloatArray  #: cohesion of groups in shuffled columns
    found_again: FloatArray | None = None  #: share of every group that halves find, (C,)
    stability: FloatArray | None = None  #: share of halves that put features into their group, (d,)
    dealt: IntArray | None = None  #: rows in memory as they were dealt to blocks


def describe(
    division: Division, options: Options, seed: int, smooth: dict[bytes, float]
) -> tuple[Groups, IntArray]:
    """Measure, test and rank groups; return them, and the number of each before they were ranked.

    ``smooth`` holds the smoothness of groups by their columns, as far as it is known.
    """
    inside = np.flatnonzero(division.labels >= 0)
    table, labels, C = division.table.restricted(inside), division.labels[inside], division.n_groups
    groups = [np.flatnonzero(labels == j) for j in range(C)]
    sizes = np.array([len(group) for group in groups])
    components = group_components(table.similarity, groups, options.signed)
    measured = {"n_neighbors": options.n_neighbors, "n_shuffles": N_SHUFFLES, "seed": seed}
    names = [table.columns[group].tobytes() for group in groups]
    new = [group for group, name in zip(groups, names, strict=True) if name not in smooth]
    found = smoothness_beyond_chance(table.rows, new, metric=options.metric, **measured)
    smooth |= zip((name for name in names if name not in smooth), found.tolist(), strict=True)
    smoothness = np.array([smooth[name] for name in names])
    p_values = group_p_values(components.cohesion, sizes, division.chance)
    order = rank_groups(components.cohesion, groups, table.columns)
    ranked = [groups[j] for j in order]
    placed = place_groups(table, ranked, components.centrality, components.signs, smoothness[order])
    rank, columns, n_features = _ranks(order, C), division.table.columns, len(table.names)
    signs = placed.signs[columns]
    rows, index = _some_rows(division, signs, every=options.blocks is not None)
    blocks = row_blocks(len(index))
    Z = np.nan_to_num(rows)
    places = find_places(Z, division.labels, signs, C)
    replication, again = division.found_again, None
    if replication is not None and division.dealt is not None:
        again = replication >= LEAST_FOUND
        if options.by_products:  # bent relations have no mean correlation to hold
            again &= holds_in_blocks(Z[:, inside] * signs[inside], blocks, labels, C)
    within_blocks = in_blocks = None
    if options.blocks is not None:
        members = [np.flatnonzero(division.labels == j) for j in order]
        n_blocks = int(options.blocks.max()) + 1
        own = options.blocks[index]
        within_blocks, in_blocks = cohesion_within(rows * signs, members, own, n_blocks)
    described = replace(
        placed,
        within_blocks=within_blocks,
        in_blocks=in_blocks,
        items=measure_items(rows, placed, columns),
        p_values=p_values[order],
        replication=None if replication is None else replication[order],
        replicates=None if again is None else again[order],
        stability=_placed(division.stability, columns, n_features, 0.0),
        second=_placed(rank[places.second], columns, n_features, -1),
        second_strength=_placed(places.strength, columns, n_features, 0.0),
        between=_placed(places.between, columns, n_features, False),
    )
    return described, order


def _ranks(order: IntArray, n_groups: int) -> IntArray:
    """Say which place every group has in an order, -1 for none, and -1 for no group, (C + 1,)."""
    found = np.full(n_groups + 1, -1)
    found[order] = np.arange(len(order))
    return found


def _placed(values: Any, columns: IntArray, n_features: int, missing: Any) -> Any:
    """Put values of the columns of a table into the user's order, (n_features,)."""
    if values is None:
        return None
    found = np.full(n_features, missing, dtype=values.dtype)
    found[columns] = values
    return found


def _some_rows(division: Division, signs: IntArray, every: bool) -> tuple[FloatArray, IntArray]:
    """Return rows of numbers as they were dealt, NaN in gaps, (n, d), and which they are."""
    rows, d = division.table.rows.in_memory(), len(signs)
    index = np.arange(rows.shape[0]) if division.dealt is None else division.dealt
    index = index if every else index[: max(FEWEST_ROWS, SCORED_ENTRIES // d)]
    return rows.feature_values(index, division.labels, signs), index


def rank_groups(cohesion: FloatArray, groups: list[IntArray], columns: IntArray) -> IntArray:
    """Order groups that have features by size; ties by cohesion, then by the first feature."""
    sizes = np.array([len(group) for group in groups])
    first = np.array([columns[group].min() if len(group) else 0 for group in groups])
    ranked = np.lexsort((first, -cohesion, -sizes))
    return ranked[sizes[ranked] > 0]


def place_groups(
    table: Table, groups: list[IntArray], central: FloatArray, signs: IntArray, smooth: FloatArray
) -> Groups:
    """Put what is known of the features of a table into the user's order of the columns."""
    columns, n_features = table.columns, len(table.names)
    members, labels = [np.sort(columns[group]) for group in groups], np.full(n_features, -1)
    for rank, group in enumerate(members):
        labels[group] = rank
    placed, turned = np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
    placed[columns], turned[columns] = central, signs
    # of duplicates, which rounding may tell apart, the user's first
    _, first = np.unique(table.twins, return_index=True)
    central = central[first[table.twins]]
    best = [columns[group[central[group] == central[group].max()]].min() for group in groups]
    # the most central feature is not turned round: the others are, against it
    numbers = np.array([kind == "number" for kind in table.kinds or ["number"] * n_features])
    for group, central_one in zip(members, best, strict=True):
        if turned[central_one] < 0:
            turned[group[numbers[group]]] *= -1
    return Groups(members, labels, turned, placed, np.array(best), smooth)


def holds_in_blocks(Z: FloatArray, blocks: IntArray, labels: IntArray, n_groups: int) -> BoolArray:
    r"""Tell which groups cohere in blocks of rows throughout, so that no few rows make them, (C,).

    The mean correlation of a group's features, turned to agree (n, d), is the mean over rows of
    :math:`((\sum_j z_j)^2 - \sum_j z_j^2) / (m (m - 1))`; its mean over blocks of rows (n,) is to
    be three standard errors above zero.
    """
    member = np.eye(n_groups)[labels]
    sizes = np.maximum(member.sum(0), 2)
    common = np.square(Z @ member) - np.square(Z) @ member
    counts = np.bincount(blocks, minlength=N_ROW_BLOCKS)[:, None]
    sums = np.array([common[blocks == k].sum(0) for k in range(N_ROW_BLOCKS)])
    means = (sums / np.maximum(counts, 1))[counts[:, 0] > 0] / (sizes * (sizes - 1))
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    return means.mean(0) >= BLOCK_ERRORS * error
