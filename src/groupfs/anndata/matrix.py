"""The values of an AnnData object: which matrix, which columns, and whether they look right."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.block_sources import DaskSource, PartSource, as_source, read_blocks
from groupfs.data.blocks import sum_duplicates
from groupfs.utils.text import join_names
from groupfs.utils.types import IntArray
from groupfs.utils.warn import warn


@dataclass(frozen=True)
class Expression:
    """X, a layer, or raw, with the names of its genes."""

    values: Any  #: (n_obs, n_genes): dense, sparse, or in a file
    genes: list[str]
    name: str  #: what errors call it

    def columns(self, columns: IntArray) -> Any:
        """Return some columns, ascending, (n_obs, len(columns)): sparse rows, or dense.

        A matrix in a file is not read, but comes as a source of rows, unless it is stored by
        columns.
        """
        X, n_genes = self.values, len(self.genes)
        every = len(columns) == n_genes
        by_columns = getattr(X, "format", None) == "csc" and not sp.issparse(X)  # in a file
        if sp.issparse(X) or by_columns:
            wanted = np.isin(np.arange(n_genes), columns)
            return sum_duplicates(sp.csr_array(X if every and not by_columns else X[:, wanted]))
        if isinstance(X, np.ndarray):
            return X if every else X[:, columns]
        source = as_source(X)
        assert source is not None
        if isinstance(source, DaskSource) and not every:
            return PartSource(source.restricted(columns))
        return PartSource(source, columns=None if every else columns)


def find_expression(adata: Any, layer: str | None = None, use_raw: bool = False) -> Expression:
    """Find the values that were asked for, or refuse what is not there."""
    if use_raw and layer is not None:
        raise ValueError(f"layer={layer!r} and use_raw=True are both given; choose one of them.")
    if use_raw and adata.raw is None:
        raise ValueError(
            "use_raw=True but adata.raw is None; name a layer with layer=, or leave both to use X."
        )
    if layer is not None and layer not in adata.layers:
        there = join_names(list(adata.layers)) or "none"
        raise ValueError(f"layer={layer!r} is not in adata.layers; it has {there}.")
    names = adata.raw.var_names if use_raw else adata.var_names
    X = adata.raw.X if use_raw else adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is None; name the layer to use with layer=.")
    return Expression(X, [str(name) for name in names], "raw" if use_raw else layer or "X")


def take_columns(X: Any, columns: IntArray) -> Any:
    """Return some columns of a matrix that is in memory or in a file."""
    return PartSource(X, columns=columns) if isinstance(X, PartSource) else X[:, columns]


def blocks_of(X: Any) -> Iterator[Any]:
    """Yield the matrix itself, or blocks of the rows of one that is read in pieces."""
    return read_blocks(X) if isinstance(X, PartSource) else iter([X])


def check_expression(X: Any, genes: list[str], what: str, adata: Any) -> None:
    """Refuse negative values by name of the gene, and warn of counts."""
    for index, block in enumerate(blocks_of(X)):
        values = block.data if sp.issparse(block) else block
        if not values.size:
            continue
        negative = values < 0
        if negative.any():
            bad = np.unique(
                block.indices[negative] if sp.issparse(block) else negative.nonzero()[1]
            )
            raise ValueError(
                f"{what} holds negative values in {len(bad)} gene(s): "
                f"{join_names([genes[i] for i in bad])}; {_use_raw_instead(adata, what)}give "
                "normalised, log-transformed values, or set check_values=False if these are right."
            )
        # the first block tells counts from other values
        if index == 0 and 1 < values.max() < np.inf and (values == np.floor(values)).all():
            warn(
                f"{what} holds whole numbers up to {int(values.max())}, as counts do; normalise "
                "and log-transform them first, or groups may follow the depth of the cells."
            )


def _use_raw_instead(adata: Any, what: str) -> str:
    """Name raw as the way out of scaled values, where its own look right."""
    if what == "raw" or adata.raw is None or adata.isbacked:
        return ""
    values = adata.raw.X.data if sp.issparse(adata.raw.X) else adata.raw.X
    if not np.size(values) or np.min(values) < 0:
        return ""
    return "adata.raw has none, so use_raw=True takes the values there; or "
