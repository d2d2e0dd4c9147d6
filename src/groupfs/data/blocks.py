"""Blocks of rows that users know of, such as cohorts or batches: read, and taken out of columns.

Axes: n rows, d features, B blocks.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from groupfs.data.columns import has_kinds
from groupfs.data.sources import is_lazy
from groupfs.utils.errors import ParameterError
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Rows of a block in which groups are looked at, at least.
FEWEST_OF_BLOCK = 20


def read_categories(values: ArrayLike) -> tuple[IntArray, list[Any], BoolArray]:
    """Number the categories of the rows, (n,); return them in order, and which are missing.

    Categories of pandas keep their order, others are sorted.
    """
    given, missing = as_objects(values)
    categories = getattr(getattr(values, "cat", values), "categories", None)
    present = set(given[~missing].tolist())
    try:
        levels = sorted(present) if categories is None else [c for c in categories if c in present]
    except TypeError:  # of several types
        levels = sorted(present, key=str)
    number, codes = {level: k for k, level in enumerate(levels)}, np.full(len(given), -1)
    codes[~missing] = [number[value] for value in given[~missing]]
    return codes, levels, missing


def as_objects(values: Any) -> tuple[Any, BoolArray]:
    """Return values as Python objects, (n,), and which are missing: None, NaN, NA."""
    given = np.empty(len(values), dtype=object)
    given[:] = values.tolist() if hasattr(values, "tolist") else list(values)
    if hasattr(values, "isna"):  # of pandas, where NA is neither equal nor unequal to itself
        return given, np.asarray(values.isna(), dtype=bool)
    return given, np.array([v is None or v != v for v in given], dtype=bool)


def read_blocks(
    blocks: ArrayLike, n_rows: int, called: str = "blocks"
) -> tuple[IntArray, list[str]]:
    """Return the block of every row from 0, (n,), and what the blocks are called."""
    if getattr(blocks, "ndim", 1) != 1 or not np.iterable(blocks) or isinstance(blocks, str):
        raise ParameterError(
            f"{called} is of type {type(blocks).__name__}; give a list with one entry a row.",
            "blocks",
        )
    codes, levels, missing = read_categories(blocks)
    n_missing, wrong = int(missing.sum()), ""
    if len(codes) != n_rows:
        wrong = f"has {len(codes)} entries but X has {n_rows} rows; give one for each row"
    elif n_missing:
        wrong = f"is missing for {n_missing} of {n_rows} rows; fill it in, or leave these rows out"
    elif np.bincount(codes).max(initial=0) < FEWEST_OF_BLOCK:
        wrong = (
            f"has {len(levels)} values, none with {FEWEST_OF_BLOCK} rows or more, and groups "
            "cannot be looked at in fewer; give larger blocks"
        )
    if wrong:
        raise ParameterError(f"{called} {wrong}.", "blocks")
    return codes, [str(level) for level in levels]


def without_blocks(X: Any, codes: IntArray) -> Any:
    """Return a table of numbers without the differences of blocks in means, dense; gaps stay.

    Every column keeps its own mean, and a frame its names.
    """
    is_numeric = hasattr(X, "iloc") and all(dtype.kind in "biuf" for dtype in X.dtypes)
    if has_kinds(X) and not is_numeric:
        raise ParameterError(
            "blocks take differences in means out of columns of numbers, and X has columns of "
            "other kinds; turn these into numbers, or leave them out.",
            "blocks",
        )
    if is_lazy(X):
        raise ParameterError(
            "blocks need X in memory, and it is read from elsewhere; give an array, e.g. X[:].",
            "blocks",
        )
    if is_numeric:  # of pandas, where a gap may be NA
        values = X.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if np.isinf(values).any():
        return X  # which fit refuses
    n = np.maximum((~np.isnan(values)).sum(0), 1)
    found = centered_within(values, codes) + np.nansum(values, axis=0) / n
    if not hasattr(X, "columns"):
        return found
    naming = "columns" if hasattr(X, "iloc") else "schema"  # of pandas, of polars
    return type(X)(found, **{naming: list(X.columns)})


def centered_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Subtract from every column its mean within each block, (n, m); equal values become 0."""
    centered = np.array(Z, dtype=np.float64)
    for code in np.unique(codes):
        inside = np.flatnonzero(codes == code)
        values = centered[inside]
        mean = np.nansum(values, axis=0) / np.maximum((~np.isnan(values)).sum(axis=0), 1)
        lowest, highest = np.fmin.reduce(values), np.fmax.reduce(values)
        # the mean of equal values is rounded, and what is left of them would look like a column
        centered[inside] = values - np.where(lowest == highest, lowest, mean)
    return centered


def spread_blocks(dealt: IntArray, codes: IntArray) -> IntArray:
    """Order rows that were dealt, (n,), so that every stretch has its share of each block."""
    own = codes[dealt]
    order = np.argsort(own, kind="stable")
    sizes = np.bincount(own)
    place = np.empty(len(dealt))
    place[order] = np.arange(len(dealt)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return dealt[np.argsort((place + 0.5) / sizes[own], kind="stable")]
