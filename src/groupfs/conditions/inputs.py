"""Read what is known of the samples: a condition, a number or a block for each, gaps allowed.

Axes: n samples.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from groupfs.data.blocks import as_objects, read_categories
from groupfs.data.open_table import read_rows
from groupfs.data.row_scores import score_rows, score_weights
from groupfs.groups import Groups, feature_names
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import warn

#: Columns of numbers with more values than this are followed as a number, e.g. time.
MOST_CATEGORIES = 10
#: Samples that a condition needs: correlations of fewer say nothing.
FEWEST_SAMPLES = 10
#: Rows that are looked at, at most, and numbers that these rows may hold (400 MB).
MOST_ROWS, MOST_NUMBERS = 5000, 50_000_000


@dataclass(frozen=True)
class Samples:
    """Rows of a table that have a condition, and the groups they are scored by."""

    Z: FloatArray  #: standardised columns, NaN in gaps, (n, d)
    names: list[str]  #: of the columns, (d,)
    scores: FloatArray  #: of each group in each sample, NaN where too much of it is gaps, (n, C)
    groups: Groups
    labels: Any  #: condition of each sample, or its number, (n,)
    blocks: IntArray | None  #: block of each sample, (n,)
    rows: IntArray  #: which rows of the table these are, (n,)

    def turned(self, group: int) -> FloatArray:
        """Return the columns of a group, reversed ones turned, the most central first, (n, m)."""
        members = self.groups.by_centrality(group)
        return self.Z[:, members] * self.groups.signs[members]

    def part(self, kept: BoolArray) -> "Samples":
        """Return some of the samples."""
        parts = {name: getattr(self, name)[kept] for name in ("Z", "scores", "labels", "rows")}
        blocks = None if self.blocks is None else self.blocks[kept]
        return replace(self, blocks=blocks, **parts)


def read_samples(selector: Any, X: Any, labels: Any, missing: BoolArray, blocks: Any) -> Samples:
    """Read the rows of X that have a label; ``labels`` and ``missing`` are of all its rows."""
    check_is_fitted(selector)
    if not selector.n_groups_:
        raise ValueError(
            "the selector has found no groups, so there is nothing to compare; fit a table in "
            "which features go together."
        )
    most_rows = min(MOST_ROWS, max(500, MOST_NUMBERS // selector.n_features_in_))
    Z, table, rows = read_rows(selector, X, most_rows)
    n_rows = table.rows.shape[0]
    for what, given in (("conditions", labels), ("blocks", blocks)):
        if given is not None and len(given) != n_rows:
            raise ValueError(
                f"{what} has {len(given)} entries but X has {n_rows} samples; give one per sample."
            )
    if blocks is not None:
        blocks, _, without_block = read_categories(blocks)
        if n_without := int((without_block & ~missing).sum()):
            raise ValueError(
                f"{n_without} samples that have a condition have no block; leave them out, or give "
                "each a block of its own."
            )
        blocks = blocks[rows]
    if len(rows) < n_rows:
        warn(f"Looked at {len(rows):,} of {n_rows:,} rows, picked at random.")
    if n_missing := int(missing.sum()):
        warn(f"{n_missing} of {n_rows} samples have no condition and were left out.")
    groups = Groups.of(selector)
    scores = score_rows(Z, score_weights(groups.members, groups.centrality, groups.signs))
    names = feature_names(selector)
    every = Samples(Z, names, scores, groups, labels[rows], blocks, rows)
    return every.part(~missing[rows])


def read_conditions(
    selector: Any, X: Any, conditions: ArrayLike, blocks: Any
) -> tuple[Samples, list[Any]]:
    """Read the rows of X that are in conditions with enough samples, and these conditions, (K,).

    ``labels`` of the samples are their conditions, numbered from 0.
    """
    codes, levels, missing = read_categories(conditions)
    samples = read_samples(selector, X, codes, missing, blocks)
    counts = np.bincount(samples.labels, minlength=len(levels))
    kept = np.flatnonzero(counts >= FEWEST_SAMPLES)
    if len(kept) < 2:
        raise ValueError(
            f"{len(kept)} of {len(levels)} conditions have {FEWEST_SAMPLES} samples or more, and a "
            "comparison needs two; merge rare ones, or for a number such as time use "
            "groupfs.conditions.curves."
        )
    if len(kept) < len(levels):
        rare = [f"{levels[k]} ({counts[k]})" for k in np.flatnonzero(counts < FEWEST_SAMPLES)]
        warn(
            f"{len(rare)} condition(s) with fewer than {FEWEST_SAMPLES} samples were left out: "
            f"{join_names(rare)}."
        )
    samples = samples.part(np.isin(samples.labels, kept))
    renumbered = replace(samples, labels=np.searchsorted(kept, samples.labels))
    return renumbered, [levels[k] for k in kept]


def read_numbers(values: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Read a number per sample, (n,), and which are missing."""
    given, missing = as_objects(values)
    numbers = np.zeros(len(given))
    try:
        numbers[~missing] = given[~missing].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"values are no numbers ({error}); for categories use groupfs.conditions.compare."
        ) from error
    if np.isinf(numbers).any():
        raise ValueError("values hold infinite numbers; leave them out, e.g. as NaN.")
    return numbers, missing


def check_share(what: str, value: float) -> None:
    """Refuse what is no share between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{what}={value} is no share; give a number between 0 and 1.")


def is_number(column: Any) -> bool:
    """Return whether a column of pandas is followed as a number, and not compared by category."""
    return column.dtype.kind in "iuf" and column.nunique() > MOST_CATEGORIES


def dates_as_days(column: Any) -> Any:
    """Return many dates as days since the first, to be followed; other columns as they are."""
    if column.dtype.kind != "M" or column.nunique() <= MOST_CATEGORIES:
        return column
    first = column.min().normalize()
    days = (column - first).dt.total_seconds() / 86_400
    return days.rename(f"{column.name} (days since {first:%Y-%m-%d})")


def name_of(values: Any) -> str:
    """Return the name of a Series, or a word that fits any."""
    name = getattr(values, "name", None)
    return "condition" if name is None else str(name)
