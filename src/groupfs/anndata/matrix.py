"""The matrix of an AnnData object: which one, which columns of it, and whether it looks right."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.block_sources import DaskSource, PartSource, as_source, read_blocks
from groupfs.data.blocks import sum_duplicates
from groupfs.utils.text import join_names
from groupfs.utils.types import IntArray
from groupfs.utils.warn import warn


def find_matrix(adata: Any, layer: str | None, columns: IntArray) -> Any:
    """Return some columns of X or of a layer, (n_obs, len(columns)): sparse rows, or dense.

    A matrix in a file is not read, but comes as a source of rows, unless it is stored by columns.
    """
    if layer is not None and layer not in adata.layers:
        there = join_names(list(adata.layers)) or "none"
        raise ValueError(f"layer={layer!r} is not in adata.layers; it has {there}.")
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is None; name the layer to use with layer=.")
    every = len(columns) == adata.n_vars
    by_columns = getattr(X, "format", None) == "csc" and not sp.issparse(X)  # in a file
    if sp.issparse(X) or by_columns:
        wanted = np.isin(np.arange(adata.n_vars), columns)
        return sum_duplicates(sp.csr_array(X if every and not by_columns else X[:, wanted]))
    if isinstance(X, np.ndarray):
        return X if every else X[:, columns]
    source = as_source(X)
    assert source is not None
    if isinstance(source, DaskSource) and not every:
        return PartSource(source.restricted(columns))
    return PartSource(source, columns=None if every else columns)


def blocks_of(X: Any) -> Iterator[Any]:
    """Yield the matrix itself, or blocks of the rows of one that is read in pieces."""
    return read_blocks(X) if isinstance(X, PartSource) else iter([X])


def check_expression(X: Any, names: list[str], what: str) -> None:
    """Refuse negative values by name of the gene, and warn of counts."""
    for index, block in enumerate(blocks_of(X)):
        values = block.data if sp.issparse(block) else block
        if not values.size:
            continue
        negative = values < 0
        if negative.any():
            genes = np.unique(
                block.indices[negative] if sp.issparse(block) else negative.nonzero()[1]
            )
            raise ValueError(
                f"{what} holds negative values in {len(genes)} gene(s): "
                f"{join_names([names[i] for i in genes])}; give normalised, log-transformed "
                "values, or set check_values=False if these are right."
            )
        # the first block tells counts from other values
        if index == 0 and 1 < values.max() < np.inf and (values == np.floor(values)).all():
            warn(
                f"{what} holds whole numbers up to {int(values.max())}, as counts do; normalise "
                "and log-transform them first, or groups may follow the depth of the cells."
            )
