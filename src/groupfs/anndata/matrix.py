"""The matrix of an AnnData object: read, in blocks where it is in a file, and looked over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupfs.data.block_sources import READ_AT_ONCE, PartSource, SlicedSource, read_whole
from groupfs.data.column_moments import gather_moments
from groupfs.data.memory_plan import fits_in_memory, memory_budget
from groupfs.utils.text import join_names
from groupfs.utils.warn import warn

#: Entries of a file, zeros included, that are read at a time: 256 MB if dense.
BLOCK_ENTRIES = 1 << 25


def read_matrix(
    adata: Any, layer: str | None, columns: NDArray[np.int64], max_memory: Any = None
) -> Any:
    """Some columns of X or of a layer, (n_obs, len(columns)): sparse rows, or a dense array.

    A matrix in a file that is too large is not read, but comes as a source of rows.
    """
    if layer is not None and layer not in adata.layers:
        there = join_names(list(adata.layers)) or "none"
        raise ValueError(f"layer={layer!r} is not in adata.layers; it has {there}.")
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is None; name the layer to use with layer=.")
    every = len(columns) == adata.n_vars
    if sp.issparse(X):
        rows = sp.csr_array(X) if every else sp.csr_array(X[:, columns])
        return rows if rows.has_canonical_format else _tidy(rows)
    if isinstance(X, np.ndarray):
        return X if every else X[:, columns]
    if getattr(X, "format", None) == "csc":
        return _read_columns(X, columns)
    source = PartSource(SlicedSource(X), columns=None if every else columns)
    if not fits_in_memory(source.shape, source.n_entries, memory_budget(max_memory)):
        return source
    return read_whole(source)


def blocks_of(X: Any) -> Iterator[Any]:
    """The matrix itself, or blocks of the rows of one that is read in pieces."""
    if not isinstance(X, PartSource):
        yield X
        return
    step = max(1, READ_AT_ONCE // max(1, X.width))
    for start in range(0, X.shape[0], step):
        yield X.read(start, min(start + step, X.shape[0]))


def some_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """Some columns of a matrix or of a source of rows."""
    return PartSource(X, columns=columns) if isinstance(X, PartSource) else X[:, columns]


def refuse_values(X: Any, names: list[str], what: str, check_values: bool) -> None:
    """Refuse NaN and infinity, and with ``check_values`` negative values, by name of the gene."""
    for place, block in enumerate(blocks_of(X)):
        _refuse_block(block, names, what, check_values)
        if check_values and place == 0:  # the first block tells counts from other values
            _warn_of_counts(block, what)


def _refuse_block(X: Any, names: list[str], what: str, check_values: bool) -> None:
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        which = _genes_where(X, ~np.isfinite(values))
        raise ValueError(
            f"{what} holds NaN or infinity in {len(which)} gene(s): "
            f"{join_names([names[i] for i in which])}; impute them, or leave these genes out with "
            "mask_var."
        )
    if not check_values or not values.size:
        return
    if values.min() < 0:
        which = _genes_where(X, values < 0)
        raise ValueError(
            f"{what} holds negative values in {len(which)} gene(s): "
            f"{join_names([names[i] for i in which])}; give normalised, log-transformed values, or "
            "set check_values=False if these are right."
        )


def _warn_of_counts(X: Any, what: str) -> None:
    values = X.data if sp.issparse(X) else X
    if not values.size:
        return
    if values.max() > 1 and (values.dtype.kind in "iu" or (values == np.floor(values)).all()):
        warn(
            f"{what} holds whole numbers up to {int(values.max())}, as counts do; normalise and "
            "log-transform them first, or groups may follow the depth of the cells."
        )


def moments(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of every column, 0 where it is only rounding; a sparse X stays so."""
    n = X.shape[0]
    if isinstance(X, PartSource):
        step = max(1, READ_AT_ONCE // max(1, X.width))
        found = gather_moments(X, 1, step, lambda block: None, False)
        mean, deviation = found.mean, found.spread
    elif not sp.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        deviation = X.std(axis=0, dtype=np.float64)
    else:
        genes, values = X.indices, X.data.astype(np.float64)
        mean = np.bincount(genes, values, minlength=X.shape[1]) / n
        apart = np.bincount(genes, (values - mean[genes]) ** 2, minlength=X.shape[1])
        zeros = n - np.bincount(genes, minlength=X.shape[1])
        deviation = np.sqrt((apart + zeros * mean**2) / n)
    rounding = 10 * np.finfo(np.float64).eps * np.sqrt(n) * np.abs(mean)
    return mean, np.where(deviation <= rounding, 0.0, deviation)


def _tidy(rows: sp.csr_array) -> sp.csr_array:
    """A copy without entries at the same place: the arrays may be those of adata."""
    rows = rows.copy()
    rows.sum_duplicates()
    return rows


def _read_columns(X: Any, columns: NDArray[np.int64]) -> sp.csr_array:
    """The same for a file that keeps columns together."""
    step = max(1, BLOCK_ENTRIES // max(1, X.shape[0]))
    blocks = []
    for start in range(0, X.shape[1], step):
        here = columns[(columns >= start) & (columns < start + step)]
        if len(here):
            blocks.append(X[:, start : start + step][:, here - start])
    return sp.csr_array(sp.hstack(blocks, format="csc"))


def _genes_where(X: Any, bad: NDArray[np.bool_]) -> NDArray[np.int64]:
    if sp.issparse(X):
        return np.unique(X.indices[bad])
    return np.flatnonzero(bad.any(axis=0))
