r"""Features that go with others beyond chance, and those that go with none.

Axes: S chance tables, d features.

A feature's *strength* is the mean of its three largest :math:`|r|` with other features. The same
number in tables whose columns were shuffled says what chance gives; features are compared with
chance features whose tails are about as heavy, since rare large values correlate by accident.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.data.streamed_rows import StreamRows
from groupfs.graphs.chance_tables import ChanceTables
from groupfs.graphs.similarity import Correlations
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Share of features called related that may be so by chance.
RELATED_RATE = 0.05
#: Chance features that a feature is compared with, at least.
COMPARED = 1000
#: Beyond this quantile of chance its tail is taken to fall exponentially.
TAIL = 0.9
#: Rows on which the tails of the columns are measured.
TAIL_ROWS, TAIL_ENTRIES = 4096, 2**23


@dataclass(frozen=True)
class Relatedness:
    """How far the features of a table go with others."""

    strength: FloatArray  #: mean of the three largest abs(r), (d,)
    p_values: FloatArray  #: (d,)
    chance: ChanceTables
    kinds: list[IntArray]  #: features with tails about as heavy, together
    shrink: float  #: what chance strengths are multiplied with: the table may have more rows

    @property
    def related(self) -> BoolArray:
        """Which features go with others beyond chance, (d,)."""
        return related_features(self.p_values)

    def p_values_of(self, strength: FloatArray) -> FloatArray:
        """Estimate how likely chance gives features such strengths, (d,)."""
        assert self.chance.strength is not None
        p = np.ones(len(strength))
        for kind in self.kinds:
            chance = self.shrink * self.chance.strength[:, kind].ravel()
            p[kind] = exceedance(strength[kind], chance)
        return p


def related_features(p_values: FloatArray) -> BoolArray:
    """Find the features that go with others beyond chance by their p-values, (d,)."""
    found: BoolArray = adjust_p_values(p_values) <= RELATED_RATE
    return found


def measure_relatedness(rows: Rows, seed: int) -> Relatedness:
    """Compare how far features go with others with what chance gives.

    Of a streamed table with too many products of columns, by the rows of its sample.
    """
    if isinstance(rows, StreamRows) and not rows.is_exact:
        rows = rows.sample
    chance = ChanceTables.of(rows, seed).measured()
    found = Relatedness(
        strength=Correlations(rows).strength(),
        p_values=np.ones(rows.shape[1]),
        chance=chance,
        kinds=_by_tails(rows, chance, seed),
        shrink=float(np.sqrt(chance.rows.shape[0] / rows.shape[0])),
    )
    return Relatedness(
        found.strength,
        found.p_values_of(found.strength),
        found.chance,
        found.kinds,
        found.shrink,
    )


def exceedance(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely chance reaches the values, from a sample of it; (m,) and (n,) to (m,).

    Counted where the sample is dense; beyond its upper tenth an exponential tail is fitted, which
    correlations of shuffled columns stay below unless a few rows decide everything.
    """
    start = np.quantile(chance, TAIL)
    beyond = chance[chance > start] - start
    caution = 1 + 1 / np.sqrt(max(len(beyond), 1))  # the scale is known from few
    scale = max(float(beyond.mean()) * caution if len(beyond) else 0.0, 1e-12)
    reached = len(chance) - np.searchsorted(np.sort(chance), values, side="left")
    counted = (1 + reached) / (1 + len(chance))
    tail = (1 - TAIL) * np.exp(-np.maximum(values - start, 0) / scale)
    return np.where(values > start, tail, counted)


def _by_tails(rows: Rows, chance: ChanceTables, seed: int) -> list[IntArray]:
    """Divide the features by the kurtosis of their columns, enough chance features to each part.

    Features of other kinds, or with gaps, by what chance gives them.
    """
    d, n_tables = rows.shape[1], len(chance.seeds)
    if isinstance(rows, FeatureRows):
        assert chance.strength is not None
        order = np.argsort(chance.strength.mean(0), kind="stable")
        return _parts(order, n_tables)
    n_rows = min(TAIL_ROWS, max(2, TAIL_ENTRIES // d))
    X = rows.random_rows(n_rows, np.random.default_rng(seed)).double()
    squares = X.square()
    kurtosis = squares.square().mean(0) / squares.mean(0).square().clamp(min=1e-30)
    return _parts(np.argsort(kurtosis.cpu().numpy(), kind="stable"), n_tables)


def _parts(order: IntArray, n_tables: int) -> list[IntArray]:
    """Cut an order of the features in parts with enough chance features each."""
    d = len(order)
    n_parts = max(1, d * n_tables // COMPARED)
    return [np.sort(part) for part in np.array_split(order, min(n_parts, d))]
