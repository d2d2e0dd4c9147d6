"""Figures of what select_groups found, straight from the AnnData object.

Each is the figure of the same name in groupfs.plotting, of the selector that lies in the object.
"""

from typing import TYPE_CHECKING, Any

from groupfs import plotting
from groupfs.anndata.stored import fitted_table, selector
from groupfs.utils.text import join_names

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes


def plot_groups(
    adata: "AnnData", *, key: str = "groupfs", most: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """Draw the scores of the groups of genes, with sizes, p-values and how far found again.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    most : int, default=20
        Groups to show.
    ax : Axes or None, default=None
        Where to draw; a new figure if None.

    See Also
    --------
    groupfs.plotting.plot_groups : The same of a fitted selector.
    """
    return plotting.plot_groups(selector(adata, key=key), most=most, ax=ax)


def plot_correlations(
    adata: "AnnData", *, key: str = "groupfs", most: int = 200, ax: "Axes | None" = None
) -> "Axes":
    """Draw how alike the genes are, ordered by group; kept groups are framed.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups` and the values they are from.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    most : int, default=200
        Genes to show; of more a like share of every group.
    ax : Axes or None, default=None
        Where to draw; a new figure if None.
    """
    fitted = selector(adata, key=key)
    return plotting.plot_correlations(fitted, fitted_table(adata, fitted, key), most=most, ax=ax)


def plot_embedding(
    adata: "AnnData",
    *,
    color: str | None = None,
    features: str = "selected",
    key: str = "groupfs",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the cells on two principal components, of all genes or of the selected ones.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups` and the values they are from.
    color : str or None, default=None
        Column of ``adata.obs``; None colours as :func:`groupfs.plotting.plot_embedding` does.
    features : {"selected", "all"}, default="selected"
        The genes that cells are placed by.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    ax : Axes or None, default=None
        Where to draw; a new figure if None.

    See Also
    --------
    groupfs.plotting.plot_embedding : The same of a fitted selector and its table.
    """
    fitted = selector(adata, key=key)
    X = fitted_table(adata, fitted, key)
    labels = None if color is None else labels_of(adata, color)
    return plotting.plot_embedding(fitted, X, labels=labels, features=features, ax=ax)


def plot_explained(adata: "AnnData", *, key: str = "groupfs", ax: "Axes | None" = None) -> "Axes":
    """Draw how much of what the related genes say the first genes explain, by their number.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    ax : Axes or None, default=None
        Where to draw; a new figure if None.

    See Also
    --------
    groupfs.plotting.plot_explained : The same of a fitted selector.
    """
    return plotting.plot_explained(selector(adata, key=key), ax=ax)


def labels_of(adata: Any, column: str) -> Any:
    """Return a column of obs: numbers as they are, categories as text."""
    if column not in adata.obs:
        raise ValueError(
            f"{column!r} is not a column of adata.obs; it has "
            f"{join_names(list(adata.obs.columns)) or 'none'}."
        )
    values = adata.obs[column]
    return values.to_numpy() if values.dtype.kind in "iuf" else values.astype(str).to_numpy(str)
