"""The fitted selector that lies in an AnnData object, and the table it was fitted on."""

from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.anndata.batches import center_within, read_batches
from groupfs.anndata.matrix import find_expression, take_columns
from groupfs.feature_groups import FeatureGroups
from groupfs.persistence import loads
from groupfs.utils.text import join_names

if TYPE_CHECKING:
    from anndata import AnnData


def selector(adata: "AnnData", *, key: str = "groupfs") -> FeatureGroups:
    """Return the fitted selector that :func:`select_groups` left in adata, also after a file.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    key : str, default="groupfs"
        What names of results begin with: ``key_added`` of :func:`select_groups`.

    Returns
    -------
    FeatureGroups
        Its features are the genes that were looked at, by name. ``select`` gives another selection
        without another fit; figures of :mod:`groupfs.plotting` take it.

    Examples
    --------
    >>> from anndata import AnnData
    >>> import groupfs.anndata
    >>> from groupfs.datasets import load_two_moons
    >>> adata = AnnData(load_two_moons(200, random_state=0).data)
    >>> groupfs.anndata.select_groups(adata, check_values=False)
    >>> len(groupfs.anndata.selector(adata).select(n_features_to_select=4).features)
    4
    """
    result = found_result(adata, key)
    if "selector" not in result:
        raise ValueError(
            f"adata.uns[{key!r}] holds no selector: a function or another object among the "
            "parameters cannot be written to a file; use FeatureGroups on the values themselves."
        )
    fitted: FeatureGroups = loads(np.asarray(result["selector"]).tobytes(), f"adata.uns[{key!r}]")
    return fitted


def found_result(adata: Any, key: str) -> Any:
    """Return ``adata.uns[key]``, or say that there is no such result."""
    if not hasattr(adata, "uns"):
        raise TypeError(
            f"adata is a {type(adata).__name__}, not an AnnData; for a fitted FeatureGroups use "
            "groupfs.plotting and groupfs.report."
        )
    if key not in adata.uns or "groups" not in adata.uns[key]:
        raise ValueError(
            f"adata has no groups under {key!r}; run groupfs.anndata.select_groups first, or name "
            "its key_added with key=."
        )
    return adata.uns[key]


def fitted_table(adata: Any, fitted: FeatureGroups, key: str) -> Any:
    """Return the values that a selector was fitted on, its genes in its order."""
    n_fitted = adata.uns[key].get("n_obs", adata.n_obs)
    if n_fitted != adata.n_obs:
        raise ValueError(
            f"groups were found in {n_fitted:,} cells, and adata has {adata.n_obs:,} now; do this "
            "before cells are left out, or run select_groups again."
        )
    X, batch_key = gene_values(adata, fitted, key), adata.uns[key]["params"].get("batch_key")
    return X if batch_key is None else center_within(X, read_batches(adata, batch_key)[0])


def gene_values(adata: Any, fitted: FeatureGroups, key: str) -> Any:
    """Return the values of the genes that a selector was fitted on, in its order."""
    params = adata.uns[key]["params"]
    matrix = find_expression(adata, params.get("layer"), bool(params.get("use_raw", False)))
    place = {gene: index for index, gene in enumerate(matrix.genes)}
    genes = [str(name) for name in fitted.feature_names_in_]
    if len(set(genes)) < len(genes) or len(place) < len(matrix.genes):
        raise ValueError(
            "names of genes occur more than once, so the table cannot be put together again; call "
            "adata.var_names_make_unique() before select_groups."
        )
    if gone := [gene for gene in genes if gene not in place]:
        raise ValueError(
            f"{len(gone)} of the {len(genes)} genes that groups were found among are no longer in "
            f"{matrix.name}: {join_names(gone)}; do this before genes are left out (subset)."
        )
    columns = np.array([place[gene] for gene in genes])
    X = matrix.columns(np.sort(columns))
    return X if (np.diff(columns) > 0).all() else take_columns(X, np.argsort(np.argsort(columns)))
