r"""Compare with chance: tables whose columns were shuffled, features and groups found in them.

Axes: S chance tables, N samples, d features, C groups, m chance groups. Shuffling keeps every
column's values and destroys what columns have in common.

A feature's *strength* is the mean of its three largest :math:`|r|` with other features; features
are compared with chance features whose tails are about as heavy, since rare large values correlate
by accident. Groups are compared by their cohesion with groups found in shuffled tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from groupfs.data.similarity import Similarity
from groupfs.discovery.feature_graph import connect_features
from groupfs.discovery.members import group_components
from groupfs.groups import related_features
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Features of all chance tables together, at least, and tables, at least and at most.
CHANCE_FEATURES, FEWEST_TABLES, MOST_TABLES = 2000, 2, 40
#: Entries of all chance tables, products of columns that one may take, and rows it has at least.
ENTRIES, TABLE_PRODUCTS, FEWEST_SHUFFLED_ROWS = 2**24, 3e10, 500
#: Numbers and similarities of kept tables (134 MB).
KEPT_ENTRIES = 2**24
#: Chance features that a feature is compared with, at least.
COMPARED = 1000
#: Beyond this quantile of chance its tail is taken to fall exponentially.
TAIL = 0.9
#: Rows on which the tails of the columns are measured.
TAIL_ROWS, TAIL_ENTRIES = 4096, 2**23
#: Chance groups that p-values are based on, if there are as many, and of wide tables, slow ones.
CHANCE_GROUPS, FEW_GROUPS, WIDE = 100, 10, 4000
#: Strongest features of a shuffled table that communities are looked for among, and resolutions.
MOST_COMMUNITIES, CHANCE_RESOLUTIONS = 1000, (1.0, 2.0)
#: Scale of the tail of chance cohesions, relative to their median, at least: few may be alike.
SMALLEST_SCALE = 0.15


class ChanceTables:
    """Shuffled tables, one for each seed: small ones are kept, others made again from these.

    ``similarity`` is of a table in memory, or some of the rows of a tall one; tables of up to
    ``most_entries`` numbers and similarities together are kept.
    """

    def __init__(
        self, similarity: Similarity, seeds: list[int], most_entries: int = KEPT_ENTRIES
    ) -> None:
        self.similarity, self.seeds = similarity, seeds
        self.strength: FloatArray | None = None  #: of every feature in every table, (S, d)
        self._kept: dict[int, Similarity] = {}
        N, d = similarity.shape
        self._keeps = len(seeds) * (N + d) * d <= most_entries

    @classmethod
    def of(cls, similarity: Similarity, seed: int, entries: int = ENTRIES) -> "ChanceTables":
        """Choose rows and seeds: more tables where features are few."""
        rng, d = np.random.default_rng(seed), similarity.n_compared
        n_tables = -(-CHANCE_FEATURES // similarity.shape[1])
        n_tables = min(max(n_tables, FEWEST_TABLES), MOST_TABLES)
        affordable = min(entries / (n_tables * d), TABLE_PRODUCTS / d**2)
        most = max(FEWEST_SHUFFLED_ROWS, int(affordable))
        sampled = similarity.sampled(most, rng)
        return cls(sampled, rng.integers(2**31, size=n_tables).tolist())

    def __iter__(self) -> Iterator[Similarity]:
        for seed in self.seeds:
            table = self._kept.get(seed)
            if table is None:
                table = self.similarity.shuffled(np.random.default_rng(seed))
                if self._keeps:
                    self._kept[seed] = table
            yield table

    def strongest(self, n_features: int) -> Iterator[Similarity]:
        """Yield the tables with the features alone that go with others most, so many of them.

        Features of a table that were chosen because they go together are compared with chance
        features that were chosen so, too.
        """
        for i, table in enumerate(self):
            if self.strength is None or n_features >= table.shape[1]:
                yield table
            else:
                order = np.argsort(-self.strength[i], kind="stable")
                yield table.restricted(np.sort(order[:n_features]))


@dataclass(frozen=True)
class Relatedness:
    """How far the features of a table go with others."""

    strength: FloatArray  #: mean of the three largest abs(r), (d,)
    p_values: FloatArray  #: (d,)
    chance: ChanceTables

    @property
    def related(self) -> BoolArray:
        """Which features go with others beyond chance, (d,)."""
        return related_features(self.p_values)


def measure_relatedness(similarity: Similarity, seed: int) -> Relatedness:
    """Compare how far features go with others with what chance gives.

    Features are compared with those about as likely to be related by accident.
    """
    chance = ChanceTables.of(similarity, seed)
    by_chance = np.array([table.strength() for table in chance])
    d = similarity.shape[1]
    strength = similarity.strength()
    n_rows = min(TAIL_ROWS, max(2, TAIL_ENTRIES // d))
    tails = similarity.tails(n_rows, np.random.default_rng(seed), by_chance)
    chance.strength = by_chance
    # the table may have more rows
    shrink = np.sqrt(chance.similarity.shape[0] / similarity.n_compared_rows)
    p_values = np.ones(d)
    n_parts = min(max(1, d * len(chance.seeds) // COMPARED), d)
    for part in np.array_split(np.argsort(tails, kind="stable"), n_parts):
        p_values[part] = exceedance(strength[part], shrink * by_chance[:, part].ravel())
    return Relatedness(strength, p_values, chance)


def exceedance(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely chance reaches the values, from a sample of it; (m,) and (n,) to (m,).

    Counted where the sample is dense; beyond its upper tenth an exponential tail is fitted, which
    correlations of shuffled columns stay below unless a few rows decide everything.
    """
    start, tail = _exponential_tail(values, chance, TAIL)
    reached = len(chance) - np.searchsorted(np.sort(chance), values, side="left")
    counted = (1 + reached) / (1 + len(chance))
    return np.where(values > start, tail, counted)


def group_p_values(cohesion: FloatArray, sizes: IntArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely chance groups are as cohesive, (C,) and (m,) to (C,).

    Beyond the median of the chance groups an exponential tail is fitted. Single features are no
    group and have p-value 1.
    """
    if not len(chance):
        return np.ones(len(sizes))
    median, tail = _exponential_tail(cohesion, chance, 0.5, SMALLEST_SCALE)
    return np.where((sizes > 1) & (cohesion > median), tail, 1.0)


def _exponential_tail(
    values: FloatArray, chance: FloatArray, quantile: float, smallest_scale: float = 0.0
) -> tuple[float, FloatArray]:
    """Fit an exponential tail to chance beyond a quantile; return that, and p of the values there.

    Its scale is at least ``smallest_scale`` times the quantile.
    """
    start = float(np.quantile(chance, quantile))
    beyond = chance[chance > start] - start
    caution = 1 + 1 / np.sqrt(max(len(beyond), 1))  # the scale is known from few
    scale = float(beyond.mean()) * caution if len(beyond) else 0.0
    scale = max(scale, smallest_scale * abs(start), 1e-12)
    return start, (1 - quantile) * np.exp(-np.maximum(values - start, 0) / scale)


def chance_cohesion(
    tables: ChanceTables, n_features: int, known_labels: IntArray | None, signed: bool
) -> FloatArray:
    """Compute the cohesion of groups found in tables whose columns were shuffled, (m,).

    Groups are found by looking for features that go together, so even in pure noise theirs do, a
    little: most of all with few samples. The chance groups are communities too, among as many
    features as stood out in the table, the strongest. Groups that were known beforehand are
    compared with themselves after shuffling.
    """
    found: list[float] = []
    most = min(n_features, MOST_COMMUNITIES) if known_labels is None else n_features
    for table in tables.strongest(most):
        parts = _communities(table, signed) if known_labels is None else [known_labels]
        for labels in parts:
            groups = [np.flatnonzero(labels == j) for j in range(int(labels.max()) + 1)]
            several = [group for group in groups if len(group) > 1]
            found.extend(group_components(table, several, signed).cohesion)
        if len(found) >= (CHANCE_GROUPS if table.shape[1] <= WIDE else FEW_GROUPS):
            break
    return np.array(found)


def _communities(table: Similarity, signed: bool) -> list[IntArray]:
    graph = connect_features(table, signed, halved=False)
    return [graph.communities(resolution, slice(1))[0] for resolution in CHANCE_RESOLUTIONS]
