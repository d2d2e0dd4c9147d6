"""h5ad files of AnnData, of today's layout or of any older one that anndata reads."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables.child_process import parse_in_child
from groupfs.tables.delimited_text import import_pandas
from groupfs.tables.file_content import Content, refuse_broken
from groupfs.tables.numpy_and_matlab import checked_csr, sparse_table
from groupfs.tables.table import Table, TableError
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names


def read_h5ad(content: Content, layer: str | None, use_raw: bool) -> Table:
    """Read X, a layer or ``raw``, its variables as columns and ``obs`` as row metadata."""
    imports = ["h5py", "anndata.io", "pyarrow.feather"]
    parts = parse_in_child(parse_h5ad, content, imports, layer=layer, use_raw=use_raw)
    with refuse_broken(content):
        values, names = parts["X"], parts["names"].tolist()
        row_metadata = parts["obs"].to_pandas() if "obs" in parts else None
        more: dict[str, Any] = {"row_metadata": row_metadata, "notes": parts["notes"].tolist()}
        if sp.issparse(values):
            return sparse_table(values, names, content, **more)
        frame = import_pandas().DataFrame(values, columns=names)
        return Table(frame, names, content.source, **more)


@dataclass(frozen=True)
class _Found:
    """What is taken from a file."""

    matrix: Any
    obs: Any
    names: Any
    n_raw: int | None  #: variables of ``raw``, if the file has it


def parse_h5ad(
    path: str, source: str, layer: str | None = None, use_raw: bool = False
) -> dict[str, Any]:
    """Read one matrix, the names of its columns, and ``obs`` if it has columns.

    The rest of a file of today's layout is not read; what is not of that layout is left to anndata.
    """
    import pyarrow as pa

    try:
        found = _read_elements(path, source, layer, use_raw)
    except (ParameterError, TableError, MemoryError):
        raise
    except Exception:  # an older layout, or no such file at all: anndata knows
        found = _read_by_anndata(path, source, layer, use_raw)
    matrix, obs = found.matrix, found.obs
    values = checked_csr(matrix) if sp.issparse(matrix) else np.asarray(matrix)
    if values.shape != (len(obs), len(found.names)):
        raise ValueError(f"X of shape {values.shape} for {len(obs)} obs, {len(found.names)} var")
    names, notes = _unique([str(name) for name in found.names])
    if layer is None and not use_raw:
        notes += _scaled_note(values, found.n_raw)
    parts = {"X": values, "names": np.array(names, dtype=str), "notes": np.array(notes, dtype=str)}
    if len(obs.columns):
        obs = _plain(obs.reset_index(drop=True))
        parts["obs"] = pa.Table.from_pandas(obs, preserve_index=False)
    return parts


def _read_elements(path: str, source: str, layer: str | None, use_raw: bool) -> _Found:
    import h5py
    from anndata.io import read_elem

    with h5py.File(path, "r") as file:
        if "var" not in file or "obs" not in file:
            raise TableError(f"{source} is no h5ad file: it has no obs and var in it.")
        if "raw.X" in file:
            raise ValueError("an old layout")
        raw = file.get("raw")
        _check_choice(source, list(file.get("layers", ())), "X" in file, raw, layer, use_raw)
        where = f"layers/{layer}" if layer is not None else "raw/X" if use_raw else "X"
        names = read_elem(file["raw/var" if use_raw else "var"]).index
        n_raw = None if raw is None else len(read_elem(raw["var"]))
        return _Found(read_elem(file[where]), read_elem(file["obs"]), names, n_raw)


def _read_by_anndata(path: str, source: str, layer: str | None, use_raw: bool) -> _Found:
    from anndata import read_h5ad as read

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the layout
        adata = read(path)
    raw = adata.raw
    _check_choice(source, list(adata.layers), adata.X is not None, raw, layer, use_raw)
    matrix = adata.layers[layer] if layer is not None else raw.X if use_raw else adata.X
    names = raw.var_names if use_raw else adata.var_names
    return _Found(matrix, adata.obs, names, None if raw is None else raw.shape[1])


def _check_choice(
    source: str, layers: list[str], has_X: bool, raw: Any, layer: str | None, use_raw: bool
) -> None:
    """Refuse a matrix that the file has not, with those it has."""
    there = f"its layers are {join_names(layers)}" if layers else "it has no layers"
    if layer is not None and layer not in layers:
        raise ParameterError(f"layer={layer!r}: {source} has no such layer; {there}.", "layer")
    if use_raw and raw is None:
        raise ParameterError(f"use_raw=True: {source} has no raw values; {there}.", "use_raw")
    if layer is None and not use_raw and not has_X:
        others = ["layer=NAME takes one"] * bool(layers) + ["use_raw=True takes raw"] * bool(raw)
        raise TableError(f"{source} has no X; {', '.join([there, *others])}.")


def _scaled_note(values: Any, n_raw: int | None) -> list[str]:
    """Say that X looks scaled where the file also holds values from before."""
    stored = values.data if sp.issparse(values) else values
    if n_raw is None or not stored.size or not (stored < 0).any():
        return []
    return [
        f"Values are negative in part, as scaled ones are; the file also has raw values of "
        f"{n_raw:,} variables, from before scaling, and use_raw=True selects from these."
    ]


def _unique(names: list[str]) -> tuple[list[str], list[str]]:
    """Number names that occur more than once, as scanpy does."""
    if len(set(names)) == len(names):
        return names, []
    import pandas as pd
    from anndata.utils import make_index_unique

    changed = [str(name) for name in make_index_unique(pd.Index(names))]
    new = [name for name, old in zip(changed, names, strict=True) if name != old]
    return changed, [f"Names of variables that occur again were numbered: {join_names(new)}."]


def _plain(obs: Any) -> Any:
    """Write columns of mixed values as text, which Arrow asks for."""
    import pyarrow as pa

    for name in obs.columns:
        try:
            pa.Array.from_pandas(obs[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            obs[name] = obs[name].map(str, na_action="ignore").astype(object)
    return obs
