"""The values of an AnnData object: which matrix, which columns, and whether they look right.

Axes: n cells, d genes that are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.checks import find_missing, refuse_missing
from groupfs.data.sources import Source, as_source, read_blocks, sum_duplicates
from groupfs.data.standardize import ColumnMoments, mean_and_deviation, without_rounding
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, IntArray
from groupfs.utils.warn import warn


@dataclass(frozen=True)
class Expression:
    """X, a layer, or raw, with the names of its genes."""

    values: Any  #: (n_obs, n_genes): dense, sparse, or in a file
    genes: list[str]
    name: str  #: what errors call it

    def columns(self, columns: IntArray) -> Any:
        """Return some columns, in any order: sparse, dense, or a source of rows in a file."""
        X: Any = self.values
        if getattr(X, "format", None) == "csc":  # also in a file, where rows are all over it
            X = X[:, np.isin(np.arange(len(self.genes)), columns)]
            columns = np.searchsorted(np.sort(columns), columns)
        if sp.issparse(X):
            X = sum_duplicates(sp.csr_array(X))
        elif not isinstance(X, np.ndarray):
            X = as_source(X)
        is_all = np.array_equal(columns, np.arange(X.shape[1]))
        return X if is_all else take_columns(X, columns)


def varying_genes(X: Any, names: list[str]) -> BoolArray:
    """Find the genes that vary, (d,), in a dense matrix by the values that are there."""
    if isinstance(X, np.ndarray) and not np.isinf(X).any():
        mean, spread = mean_and_deviation(X)
    else:
        moments = ColumnMoments(len(names))
        for block in blocks_of(X):
            refuse_missing(find_missing(block), names, "FeatureGroups")
            moments.add(block)
        mean, spread = moments.mean, moments.spread
    return without_rounding(mean, spread, X.shape[0], names) > 0


def find_expression(adata: Any, layer: str | None = None, use_raw: bool = False) -> Expression:
    """Find the values that were asked for, or refuse what is not there."""
    if use_raw and layer is not None:
        raise ValueError(f"layer={layer!r} and use_raw=True are both given; choose one of them.")
    if use_raw and adata.raw is None:
        raise ValueError(
            "use_raw=True but adata.raw is None; name a layer with layer=, or leave both to use X."
        )
    if layer is not None and layer not in adata.layers:
        there = join_names(adata.layers) or "none"
        raise ValueError(f"layer={layer!r} is not in adata.layers; it has {there}.")
    names = adata.raw.var_names if use_raw else adata.var_names
    X = adata.raw.X if use_raw else adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is None; name the layer to use with layer=.")
    return Expression(X, [str(name) for name in names], "raw" if use_raw else layer or "X")


def find_column(adata: Any, frame: str, what: str, name: str) -> Any:
    """Find a column of obs or var, or refuse what is not there; ``what`` is the parameter."""
    columns = getattr(adata, frame)
    if name not in columns:
        there = join_names(columns) or "none"
        raise ValueError(f"{what}={name!r} is not a column of adata.{frame}; it has {there}.")
    return columns[name]


def take_columns(X: Any, columns: IntArray) -> Any:
    """Return some columns of a matrix that is in memory or in a file."""
    return X.restricted(columns) if isinstance(X, Source) else X[:, columns]


def blocks_of(X: Any) -> Iterator[Any]:
    """Yield the matrix itself, or blocks of the rows of one that is read in pieces."""
    return read_blocks(X) if isinstance(X, Source) else iter([X])


def check_expression(X: Any, genes: list[str], what: str, adata: Any) -> None:
    """Refuse negative values by name of the gene, and warn of counts."""
    for index, block in enumerate(blocks_of(X)):
        bad = np.unique((block < 0).nonzero()[1])
        if len(bad):
            raw = "" if what == "raw" or adata.raw is None else "take adata.raw (use_raw=True), or "
            raise ValueError(
                f"{what} holds negative values in {len(bad)} gene(s): "
                f"{join_names([genes[i] for i in bad])}; {raw}give "
                "normalised, log-transformed values, or set check_values=False if these are right."
            )
        values = block.data if sp.issparse(block) else block
        most = values.max(initial=0)
        # the first block tells counts from other values
        if index == 0 and 1 < most < np.inf and (values == np.floor(values)).all():
            warn(
                f"{what} holds whole numbers up to {int(most)}, as counts do; normalise "
                "and log-transform them first, or groups may follow the depth of the cells."
            )
