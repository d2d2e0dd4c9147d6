"""Read what is known of the samples: a condition, a number or a block for each, gaps allowed.

Axes: n samples.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_rows
from groupfs.scoring.sample_scores import score_weights
from groupfs.training.settings import is_signed
from groupfs.utils.condition_kind import FEWEST_SAMPLES
from groupfs.utils.fitted_selector import FittedSelector, feature_names, group_names
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import warn

#: Rows that are looked at, at most, and numbers that these rows may hold (400 MB).
MOST_ROWS, MOST_NUMBERS = 5000, 50_000_000
#: Weight of the features of a group that a sample has, below which it has none.
NO_WEIGHT = 1e-9


@dataclass(frozen=True)
class Samples:
    """Rows of a table that have a condition, and the groups they are scored by."""

    Z: FloatArray  #: standardised columns, NaN in gaps, (n, d)
    scores: FloatArray  #: of each group in each sample, NaN where all of it is gaps, (n, C)
    groups: list[IntArray]
    group_labels: list[Any]  #: names of the groups where the user gave them, else their ranks
    representatives: list[str]  #: most central feature of each group
    centrality: FloatArray  #: (d,)
    labels: Any  #: condition of each sample, or its number, (n,)
    blocks: IntArray | None  #: block of each sample, (n,)
    signed: bool
    rows: IntArray  #: which rows of the table these are, (n,)

    def part(self, kept: BoolArray) -> "Samples":
        """Return some of the samples."""
        return replace(
            self,
            Z=self.Z[kept],
            scores=self.scores[kept],
            labels=self.labels[kept],
            blocks=None if self.blocks is None else self.blocks[kept],
            rows=self.rows[kept],
        )


def read_samples(
    selector: FittedSelector, X: Any, labels: Any, missing: BoolArray, blocks: Any
) -> Samples:
    """Read the rows of X that have a label; ``labels`` and ``missing`` are of all its rows."""
    check_is_fitted(selector)
    if not selector.n_groups_:
        raise ValueError(
            "the selector has found no groups, so there is nothing to compare; fit a table in "
            "which features go together."
        )
    most = min(MOST_ROWS, max(500, MOST_NUMBERS // selector.n_features_in_))
    Z, n_rows, rows = read_rows(selector, X, most, keep_gaps=True)
    check_length("conditions", labels, n_rows)
    codes = None if blocks is None else read_blocks(blocks, n_rows, missing)[rows]
    if len(rows) < n_rows:
        warn(f"Looked at {len(rows):,} of {n_rows:,} rows, picked at random.")
    if n_missing := int(missing.sum()):
        warn(f"{n_missing} of {n_rows} samples have no condition and were left out.")
    weights = score_weights(selector.groups_, selector.centrality_, selector.group_signs_)
    every = Samples(
        Z=Z,
        scores=score_samples(Z, weights),
        groups=list(selector.groups_),
        group_labels=group_names(selector) or list(range(1, selector.n_groups_ + 1)),
        representatives=[feature_names(selector)[i] for i in selector.representatives_],
        centrality=selector.centrality_,
        labels=labels[rows],
        blocks=codes,
        signed=is_signed(selector.get_params(deep=False)),
        rows=rows,
    )
    return every.part(~missing[rows])


def score_samples(Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Average the features that a sample has of each group, (n, d) and (d, C) to (n, C)."""
    gaps = np.isnan(Z)
    if not gaps.any():
        return Z @ weights
    total = (~gaps).astype(float) @ np.abs(weights)
    known = total > NO_WEIGHT
    return np.where(known, np.nan_to_num(Z) @ weights / np.where(known, total, 1), np.nan)


def read_categories(values: ArrayLike) -> tuple[IntArray, list[Any], BoolArray]:
    """Number the categories of the samples, (n,); return them in order, and which are missing.

    Categories of pandas keep their order, others are sorted.
    """
    given, missing = _as_objects(values)
    categories = getattr(getattr(values, "cat", values), "categories", None)
    present = set(given[~missing].tolist())
    if categories is not None:
        levels = [level for level in categories if level in present]
    else:
        try:
            levels = sorted(present)
        except TypeError:  # of several types
            levels = sorted(present, key=str)
    number = {level: k for k, level in enumerate(levels)}
    codes = np.array([-1 if gap else number[v] for v, gap in zip(given, missing, strict=True)])
    return codes.astype(np.int64), levels, missing


def read_numbers(values: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Read a number per sample, (n,), and which are missing."""
    given, missing = _as_objects(values)
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


def read_blocks(blocks: ArrayLike, n_samples: int, without: BoolArray) -> IntArray:
    """Number the blocks of the samples, (n,); only samples ``without`` a condition may lack one."""
    codes, _, missing = read_categories(blocks)
    check_length("blocks", codes, n_samples)
    if n_missing := int((missing & ~without).sum()):
        raise ValueError(
            f"{n_missing} samples that have a condition have no block; leave them out, or give "
            "each a block of its own."
        )
    return codes


def enough_samples(codes: IntArray, levels: list[Any]) -> list[int]:
    """Return the categories that have enough samples; warn of others, refuse fewer than two."""
    counts = np.bincount(codes, minlength=len(levels))
    kept = [k for k in range(len(levels)) if counts[k] >= FEWEST_SAMPLES]
    if len(kept) < 2:
        raise ValueError(
            f"{len(kept)} of {len(levels)} conditions have {FEWEST_SAMPLES} samples or more, and a "
            "comparison needs two; merge rare ones, or for a number such as time use "
            "groupfs.conditions.curves."
        )
    rare = [f"{levels[k]} ({counts[k]})" for k in range(len(levels)) if k not in kept]
    if rare:
        warn(
            f"{len(rare)} condition(s) with fewer than {FEWEST_SAMPLES} samples were left out: "
            f"{join_names(rare)}."
        )
    return kept


def check_length(what: str, values: Any, n_samples: int) -> None:
    """Refuse values that are not one per sample."""
    if len(values) != n_samples:
        raise ValueError(
            f"{what} has {len(values)} entries but X has {n_samples} samples; give one per sample."
        )


def name_of(values: Any) -> str:
    """Return the name of a Series, or a word that fits any."""
    name = getattr(values, "name", None)
    return "condition" if name is None else str(name)


def _as_objects(values: Any) -> tuple[Any, BoolArray]:
    """Return values as Python objects, (n,), and which are missing: None, NaN, NA."""
    given = np.empty(len(values), dtype=object)
    given[:] = values.tolist() if hasattr(values, "tolist") else list(values)
    if hasattr(values, "isna"):  # of pandas, where NA is neither equal nor unequal to itself
        return given, np.asarray(values.isna(), dtype=bool)
    return given, np.array([v is None or v != v for v in given], dtype=bool)
