"""select_groups: GroupFS on an AnnData object, in scanpy's manner. Results are written into it.

``import anndata`` in this file is the package of that name, not this module.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.anndata.cell_graph import find_graph
from groupfs.anndata.matrix import blocks_of, check_expression, find_matrix
from groupfs.data.checks import find_missing, refuse_missing, report_constant
from groupfs.data.known_groups import parse_groups
from groupfs.data.standardize import ColumnMoments, checked_spread
from groupfs.estimators.group_fs import GroupFS
from groupfs.scoring.sample_scores import score_weights
from groupfs.selection.membership_table import place_rows
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import ConstantColumnsWarning

if TYPE_CHECKING:
    from anndata import AnnData


def select_groups(
    adata: "AnnData",
    *,
    layer: str | None = None,
    mask_var: str | ArrayLike | None = None,
    key_added: str = "groupfs",
    subset: bool = False,
    copy: bool = False,
    check_values: bool = True,
    random_state: int | np.random.RandomState | None = 0,
    **settings: Any,
) -> "AnnData | None":
    """Discover groups of genes (variables) and which of them matter, and write them into adata.

    Expects normalised, log-transformed values, as for ``scanpy.pp.pca``. Nothing of X is changed.
    A dense X may have gaps (NaN), as of proteins.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns; in memory or opened ``backed``.
    layer : str or None, default=None
        The layer to use in place of X.
    mask_var : str, boolean array or None, default=None
        Genes to look at: a boolean column of ``adata.var``, e.g. "highly_variable", or an array.
        None looks at all.
    key_added : str, default="groupfs"
        What names of results begin with.
    subset : bool, default=False
        Whether to keep only the selected genes in adata.
    copy : bool, default=False
        Whether to leave adata alone and return a copy with the results.
    check_values : bool, default=True
        Whether to refuse negative values and to warn of counts; set it to False for values that may
        be negative, e.g. of proteins or scaled ones.
    random_state : int, RandomState instance or None, default=0
        As in :class:`groupfs.GroupFS`; the same result every time, as in scanpy.
    **settings
        Parameters of :class:`groupfs.GroupFS`, e.g. ``n_groups``, ``sparsity``,
        ``n_features_to_select`` or ``groups`` (by names of genes). ``metric`` may also name a graph
        of the cells in ``adata.obsp``, e.g. "connectivities" after ``scanpy.pp.neighbors``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None, and adata has these fields:

        ``.var["groupfs_selected"]`` : bool
            Which genes are selected.
        ``.var["groupfs_group"]`` : categorical
            Group of each gene, "1" being the most important one, or the names in ``groups``;
            missing for genes that were masked, do not vary, or go with no group.
        ``.var["groupfs_sign"]`` : int
            -1 for genes that run against the most central one of their group, 1 for the others in
            it; 0 without a group.
        ``.var["groupfs_centrality"]`` : float
            Correlation of the gene with what its group has in common; 0 without a group.
        ``.var["groupfs_relatedness_p_value"]`` : float
            How likely chance makes the gene go with others as much; missing where that was not
            looked at.
        ``.var["groupfs_order"]`` : float
            Position of the gene in the order in which a budget takes genes, 1 for the first;
            missing for genes that were masked or do not vary.
        ``.var["groupfs_score"]`` : float
            Score of the gene's group times the gene's centrality; 0 without a group.
        ``.varm["groupfs_membership"]`` : array of shape (n_vars, n_groups)
            Probabilities of membership.
        ``.obsm["groupfs_scores"]`` : array of shape (n_obs, n_groups)
            Mean z-score of the group's genes in each cell, weighted by centrality; genes that run
            against their group count with a minus.
        ``.uns["groupfs"]`` : dict
            ``params``; ``groups``, a table with size, score, p-value, reliability, gate, kept,
            representative; ``explained``, the share of what the related genes say that the first 1,
            2, ... genes of the order explain.

    Notes
    -----
    A sparse matrix stays sparse: beside adata there are about four copies of its entries in double
    precision, and batches of about 512 dense rows; of a dense one there are about three copies. A
    backed file is read in blocks, of which only the genes in ``mask_var`` are kept; where they are
    too many for ``max_memory`` they stay in the file. Results are in the object until
    ``adata.write()``.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from groupfs.anndata import select_groups
    >>> from groupfs.datasets import load_two_moons
    >>> moons = load_two_moons(200, random_state=0)
    >>> adata = AnnData(moons.data)
    >>> adata.var_names = moons.feature_names
    >>> select_groups(adata, check_values=False)
    >>> adata.var_names[adata.var["groupfs_group"] == "1"].tolist()
    ['x1_1', 'x1_2', 'x1_3', 'x1_4', 'x1_5']
    """
    _check(adata, subset, copy)
    adata = adata.copy() if copy else adata
    names = [str(name) for name in adata.var_names]
    columns = np.flatnonzero(_mask(adata, mask_var))
    X = find_matrix(adata, layer, columns)
    genes, what = [names[i] for i in columns], "X" if layer is None else layer
    if check_values:
        check_expression(X, genes, what)
    moments = _measure(X, genes)
    varies = checked_spread(moments, genes) > 0
    settings, known = _known_groups(settings, names, columns[varies], columns)
    metric = settings.get("metric", "euclidean")
    settings = {**settings, "metric": find_graph(adata, metric)}
    selector = GroupFS(random_state=random_state, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnsWarning)  # does not know the genes' names
        selector.fit(X)
    report_constant(varies, genes, "left out of every group")
    scores = _cell_scores(X, moments, selector)
    params = {"layer": layer, "mask_var": mask_var, **selector.get_params(deep=False)}
    params["metric"] = metric
    _write(adata, key_added, selector, columns, known, scores, params)
    if subset:
        adata._inplace_subset_var(adata.var[f"{key_added}_selected"].to_numpy())
    return adata if copy else None


def _check(adata: Any, subset: bool, copy: bool) -> None:
    try:
        from anndata import AnnData
    except ImportError as reason:
        raise ImportError(
            'select_groups needs anndata; install it with pip install "groupfs[anndata]".'
        ) from reason
    if not isinstance(adata, AnnData):
        raise TypeError(
            f"adata is a {type(adata).__name__}, not an AnnData; for arrays and tables use "
            "groupfs.GroupFS."
        )
    if adata.isbacked and (subset or copy or adata.is_view):
        raise ValueError(
            f"subset=True, copy=True and views need adata in memory, but it is backed by "
            f"{adata.filename}; use adata.to_memory(), or the whole file with mask_var, and then "
            "write a part of it, as in adata[:, adata.var['groupfs_selected']].copy(filename)."
        )


def _mask(adata: Any, mask_var: str | ArrayLike | None) -> BoolArray:
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str) and mask_var not in adata.var:
        raise ValueError(
            f"mask_var={mask_var!r} is not a column of adata.var; it has "
            f"{join_names(list(adata.var.columns)) or 'none'}."
        )
    mask = np.asarray(adata.var[mask_var] if isinstance(mask_var, str) else mask_var)
    if mask.shape != (adata.n_vars,) or mask.dtype != bool:
        raise ValueError(
            f"mask_var has shape {mask.shape} and type {mask.dtype}; give one boolean for each of "
            f"the {adata.n_vars} genes."
        )
    return mask


def _known_groups(
    settings: dict[str, Any], names: list[str], varying: IntArray, columns: IntArray
) -> tuple[dict[str, Any], list[str] | None]:
    """Turn groups by name or index of gene into labels of the genes that are looked at."""
    if settings.get("groups") is None:
        return settings, None
    labels, group_names = parse_groups(settings["groups"], names)
    genes = [names[i] for i in varying if labels[i] < 0]
    if genes:
        raise ValueError(
            f"{len(genes)} gene(s) are in none of the groups: {join_names(genes)}; give every gene "
            "a group, or leave these out with mask_var."
        )
    return {**settings, "groups": labels[columns]}, [str(name) for name in group_names]


def _measure(X: Any, genes: list[str]) -> ColumnMoments:
    """Measure means and deviations of the genes, in a dense matrix by the values that are there."""
    moments = ColumnMoments(len(genes))
    for block in blocks_of(X):
        missing = find_missing(block)
        if missing is not None and isinstance(X, np.ndarray) and not np.isinf(X).any():
            known = ~np.isnan(X)
            moments.mean = np.where(known, X, 0).sum(0) / np.maximum(known.sum(0), 1)
            squares = np.where(known, np.square(X - moments.mean), 0).sum(0)
            moments.squares = squares * len(X) / np.maximum(known.sum(0), 1)
            moments.n_rows = len(X)
            return moments
        refuse_missing(missing, genes, "GroupFS")
        moments.add(block)
    return moments


def _cell_scores(X: Any, moments: ColumnMoments, selector: GroupFS) -> FloatArray:
    """Average z-scores of each group's genes, weighted by centrality and sign, (n_obs, C)."""
    weights = score_weights(selector.groups_, selector.centrality_, selector.group_signs_)
    spread = moments.spread[:, None]
    combine = np.divide(weights, spread, out=np.zeros_like(weights), where=spread > 0)
    if isinstance(X, np.ndarray):
        X = np.where(np.isnan(X), moments.mean, X)
    return np.concatenate([block @ combine for block in blocks_of(X)]) - moments.mean @ combine


def _write(
    adata: Any,
    key: str,
    selector: GroupFS,
    columns: IntArray,
    known: list[str] | None,
    scores: FloatArray,
    params: dict[str, Any],
) -> None:
    """Write the results into adata; ``columns`` are the genes the selector was fitted on."""
    import pandas as pd

    names = [str(rank + 1) for rank in range(selector.n_groups_)]
    if known is not None:
        names = [known[index] for index in selector.group_names_ or []]
    labels, worth = np.full(adata.n_vars, -1), np.zeros(adata.n_vars)
    selected = np.zeros(adata.n_vars, dtype=bool)
    labels[columns] = selector.group_labels_
    signs, related = np.zeros(adata.n_vars, dtype=np.int64), np.full(adata.n_vars, np.nan)
    signs[columns] = selector.group_signs_
    if selector.relatedness_pvalues_ is not None:
        related[columns] = selector.relatedness_pvalues_
    order = np.full(adata.n_vars, np.nan)
    order[columns[selector.feature_order_]] = np.arange(1, len(selector.feature_order_) + 1)
    selected[columns] = selector.get_support()
    centrality = np.zeros(adata.n_vars)
    centrality[columns] = selector.centrality_
    worth[columns] = selector.feature_scores_
    table = {
        "size": [len(group) for group in selector.groups_],
        "score": selector.group_scores_,
        "gate": selector.group_gates_,
        "kept": selector.group_selected_,
        "representative": adata.var_names[columns[selector.representatives_]].astype(str),
    }
    if selector.group_pvalues_ is not None:
        table["p_value"] = selector.group_pvalues_
    if selector.group_reliability_ is not None:
        table["reliability"] = selector.group_reliability_

    adata.var[f"{key}_selected"] = selected
    adata.var[f"{key}_group"] = pd.Categorical.from_codes(labels, names)
    adata.var[f"{key}_score"] = worth
    adata.var[f"{key}_sign"] = signs
    adata.var[f"{key}_centrality"] = centrality
    adata.var[f"{key}_relatedness_p_value"] = related
    adata.var[f"{key}_order"] = order
    adata.varm[f"{key}_membership"] = place_rows(selector.membership_, columns, adata.n_vars)
    adata.obsm[f"{key}_scores"] = scores
    groups = pd.DataFrame(table, index=pd.Index(names, name="group"))
    adata.uns[key] = {
        "params": _storable(params),
        "groups": groups,
        "explained": selector.explained_,
    }


def _storable(params: dict[str, Any]) -> dict[str, Any]:
    """Keep what a file can hold: numbers, flags, text. None is left out, arrays are in var."""
    stored: dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, (bool, int, float, str)):
            stored[name] = value
        elif isinstance(value, np.generic):
            stored[name] = value.item()
        elif value is not None:
            stored[name] = "given" if np.ndim(value) else str(value)
    return stored
