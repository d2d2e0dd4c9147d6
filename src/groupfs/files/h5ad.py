"""Read h5ad files of AnnData, of any layout that anndata reads."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.files.file_content import Content
from groupfs.files.file_table import FileTable, TableError
from groupfs.files.numpy_and_matlab import table_of
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names


def read_h5ad(content: Content, layer: str | None, use_raw: bool) -> FileTable:
    """Read X, a layer or ``raw``, its variables as columns and ``obs`` as row metadata."""
    import h5py
    from anndata import read_h5ad as read
    from anndata.utils import make_index_unique

    with content.on_disk() as path:
        with h5py.File(path, "r") as file:
            if "var" not in file or "obs" not in file:
                raise TableError(f"{content.source} is no h5ad file: it has no obs and var in it.")
            has_X = "X" in file
        # X and raw stay in the file until they are asked for; without X, anndata reads it all
        cells = read(path, backed="r" if has_X else None)
        try:
            _check_choice(content.source, cells, layer, use_raw)
            matrix = cells.layers[layer] if layer else cells.raw.X if use_raw else cells.X
            values = matrix.to_memory() if hasattr(matrix, "to_memory") else matrix
            values = values if sp.issparse(values) else np.asarray(values)
        finally:
            cells.file.close()
    obs, variables = cells.obs, (cells.raw if use_raw else cells).var_names
    if values.shape != (len(obs), len(variables)):
        raise ValueError(f"X of shape {values.shape} for {len(obs)} obs, {len(variables)} var")
    names = [str(name) for name in make_index_unique(variables.astype(str))]  # as scanpy does
    again = [new for new, name in zip(names, variables, strict=True) if new != str(name)]
    notes = []
    if again:
        notes.append(f"Names of variables that occur again were numbered: {join_names(again)}.")
    stored: Any = values.data if sp.issparse(values) else values
    if layer is None and not use_raw and cells.raw is not None and (stored < 0).any():
        notes.append(
            "Values are negative in part, as scaled ones are; the file also has raw values of "
            f"{cells.raw.shape[1]:,} variables, from before scaling, and use_raw=True selects from "
            "these."
        )
    metadata = obs.reset_index(drop=True) if len(obs.columns) else None
    return table_of(content.source, values, names, row_metadata=metadata, notes=notes)


def _check_choice(source: str, cells: Any, layer: str | None, use_raw: bool) -> None:
    """Refuse a matrix that the file has not, with those it has."""
    layers = list(cells.layers)
    there = f"its layers are {join_names(layers)}" if layers else "it has no layers"
    if layer is not None and layer not in layers:
        raise ParameterError(f"layer={layer!r}: {source} has no such layer; {there}.", "layer")
    if use_raw and cells.raw is None:
        raise ParameterError(f"use_raw=True: {source} has no raw values; {there}.", "use_raw")
    if layer is None and not use_raw and cells.X is None:
        others = ["layer=NAME takes one"] * bool(layers)
        others += ["use_raw=True takes raw"] * (cells.raw is not None)
        raise TableError(f"{source} has no X; {', '.join([there, *others])}.")
