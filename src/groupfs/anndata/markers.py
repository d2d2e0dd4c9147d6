"""Genes that name the groups, as scanpy's figures take them."""

from typing import TYPE_CHECKING

import numpy as np

from groupfs.anndata.stored_results import selector
from groupfs.anndata.write_results import score_names
from groupfs.groups import Groups, feature_names

if TYPE_CHECKING:
    from anndata import AnnData


def markers(
    adata: "AnnData",
    *,
    n_genes: int = 5,
    use_raw: bool | None = None,
    key: str = "groupfs",
) -> dict[str, list[str]]:
    """Return the most central genes of every kept group, for ``scanpy.pl.dotplot`` and the like.

    Genes that run against their group are left out: in a dot plot all genes of a group are then
    high in the same cells.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    n_genes : int, default=5
        Genes of a group, at most.
    use_raw : bool or None, default=None
        As in scanpy: whether names are looked up in ``adata.raw``; None does so where there is one.
        Genes that are not there are passed over, since scanpy would refuse them.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.

    Returns
    -------
    dict of str to list of str
        From the name of the group's score in ``adata.obs`` to genes, the most central first.

    Examples
    --------
    >>> from anndata import AnnData
    >>> import groupfs.anndata
    >>> from groupfs.datasets import load_two_moons
    >>> moons = load_two_moons(200, random_state=0)
    >>> adata = AnnData(moons.data)
    >>> adata.var_names = moons.feature_names
    >>> groupfs.anndata.select_groups(adata, check_values=False)
    >>> groupfs.anndata.markers(adata, n_genes=2)
    {'group1_x1_1': ['x1_1', 'x1_3'], 'group2_x2_3': ['x2_3', 'x2_1']}
    """
    fitted = selector(adata, key=key)
    if use_raw and adata.raw is None:
        raise ValueError("use_raw=True but adata.raw is None; leave use_raw at None.")
    in_raw = adata.raw is not None if use_raw is None else use_raw
    there = set((adata.raw if in_raw else adata).var_names)
    genes, names, groups = feature_names(fitted), score_names(fitted, key), Groups.of(fitted)
    markers_of = {}
    for rank in np.flatnonzero(fitted.group_kept_).tolist():
        central = groups.by_centrality(rank)
        rising = [genes[i] for i in central if groups.signs[i] > 0 and genes[i] in there]
        if rising:
            markers_of[names[rank]] = rising[:n_genes]
    return markers_of
