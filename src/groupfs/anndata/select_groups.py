"""select_groups: FeatureGroups on an AnnData object, in scanpy's manner; results go into it.

``import anndata`` in this file is the package of that name, not this module.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.anndata.batches import cohesion_frame, read_batches, without_batches
from groupfs.anndata.gene_sets import assign_genes, read_gene_sets
from groupfs.anndata.matrix import (
    check_expression,
    find_column,
    find_expression,
    take_columns,
    varying_genes,
)
from groupfs.anndata.stored_results import storable, write_results
from groupfs.data.checks import report_constant
from groupfs.discovery.sample_graph import METRICS
from groupfs.feature_groups import FeatureGroups
from groupfs.utils.errors import ParameterError
from groupfs.utils.packages import import_optional
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray
from groupfs.utils.warn import ConstantColumnsWarning, SelectionWarning, warn

if TYPE_CHECKING:
    from anndata import AnnData


def select_groups(
    adata: "AnnData",
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: str | ArrayLike | None = None,
    batch_key: str | None = None,
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
    use_raw : bool, default=False
        Whether to use ``adata.raw`` in place of X, where X is scaled and raw is not.
    mask_var : str, boolean array or None, default=None
        Genes to look at: a boolean column of ``adata.var``, e.g. "highly_variable", or an array
        with a value for every gene of the matrix that is used. None looks at all.
    batch_key : str or None, default=None
        Column of ``adata.obs`` that names the batch (sample, donor) of each cell. Means of batches
        are subtracted from every gene, which makes a dense matrix in memory. A group is kept only
        if it also holds in more than half of the batches with at least 20 cells: the mean
        correlation of its genes is beyond chance there (3.1 standard deviations), and at least half
        of that over batches. Programmes of a type of cell that only one batch has are lost.
    key_added : str, default="groupfs"
        What names of results begin with.
    subset : bool, default=False
        Whether to keep only the selected genes in adata.
    copy : bool, default=False
        Whether to leave adata alone and return a copy with the results.
    check_values : bool, default=True
        Whether to refuse negative values, which e.g. proteins may have, and to warn of counts.
    random_state, **settings
        Parameters of :class:`groupfs.FeatureGroups`, e.g. ``level`` or ``n_features_to_select``;
        the same result every time by default, as in scanpy. ``groups`` may be gene sets, from name
        to genes, that overlap and do not have every gene: see the notes. ``metric`` may also name a
        graph of the cells in ``adata.obsp``, e.g. "connectivities" after ``scanpy.pp.neighbors``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None, and adata has these fields:

        ``.var["groupfs_selected"]``, ``.var["groupfs_group"]`` : bool, categorical
            Which genes are selected; the group of each, "1" being the largest, or its
            name in ``groups``, missing for genes that were masked, do not vary, or are in none.
        ``.var["groupfs_sign"]``, ``.var["groupfs_centrality"]`` : int, float
            -1 for genes that run against their group, 1 for the others in it; correlation of the
            gene with what its group has in common. Both are 0 without a group.
        ``.var["groupfs_relatedness_p_adjusted"]`` : float
            How likely chance makes the gene go with others as much, adjusted for the number of
            genes; missing where that was not looked at.
        ``.var["groupfs_order"]`` : float
            Position in the order in which a budget takes genes, 1 for the first; missing for genes
            that were masked or do not vary.
        ``.var["groupfs_stability"]``, ``.var["groupfs_verdict"]`` : float, categorical
            Share of the halves of the cells that put the gene into its group; what the gene is in a
            word ("member", "between two", "alone", ...). Missing for genes that were masked.
        ``.var["groupfs_level_1"]``, ... : categorical
            Where there are several levels, the group at each, the broadest first; ``groupfs_group``
            is the one that ``level`` asks for.
        ``.obsm["groupfs_scores"]`` : DataFrame of shape (n_obs, n_groups)
            Scores of the cells, as ``output="scores"`` gives them: the mean of the group's
            standardised genes, weighted by centrality, those that run against it turned; NaN where
            a cell has less than half of the group's weight.
        ``.obs["group1_CD3D"]``, ... : float
            Each of these columns, called by the group and its most central gene, for
            ``scanpy.pl.umap(adata, color=...)``; names begin with another ``key_added``.
        ``.uns["groupfs"]`` : dict
            ``params``; ``groups``, the table of ``groups_frame``; ``explained``, the share of the
            variance of the related genes that the first 1, 2, ... genes of the order explain;
            ``levels``, the numbers of groups, the agreement of halves of the cells and, for every
            group of a level, the group before that it lies in (from 1, 0 without one);
            ``selector``, for :func:`groupfs.anndata.selector`, whose ``to_frame`` also has genes of
            raw that var has not; ``notes``, remarks, if there are any; ``batches``, the mean
            correlation of each group's genes in each batch.

    Notes
    -----
    Of gene sets given as ``groups`` only genes that are there count. A gene in several sets stays
    in the one whose other genes it correlates with most (mean of abs(r), of r if ``signed``, in at
    most 2,000 cells); sets with fewer than two genes and genes in no set are left out, with a
    warning.

    Beside adata there are about four copies of the entries of a sparse matrix in double precision,
    three of a dense one. A backed file is read in blocks, of which the genes in ``mask_var`` are
    kept, or stay in the file where they are too many for ``max_memory``.

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
    batches = None if batch_key is None else read_batches(adata, batch_key)
    matrix = find_expression(adata, layer, use_raw)
    columns = np.flatnonzero(_mask(adata, matrix.genes, mask_var))
    X, names = matrix.columns(columns), [matrix.genes[i] for i in columns]
    if check_values:
        check_expression(X, names, matrix.name, adata)
    X = X if batches is None else without_batches(X, batches)
    varies = varying_genes(X, names)
    report_constant(varies, names, "left out of every group")
    notes: list[str] = []
    if settings.get("groups") is not None:
        sets, absent = read_gene_sets(settings["groups"], matrix.genes)
        signed = bool(settings.get("signed", False))
        inside, labels, remarks = assign_genes(sets, X, columns, varies, signed)
        X, columns = take_columns(X, inside), columns[inside]
        notes, settings["groups"] = absent + remarks, labels
    genes = [matrix.genes[i] for i in columns]
    selector = _fit(adata, X, genes, random_state, settings, batches)
    result: dict[str, Any] = {}
    if batches is not None and selector.n_groups_:
        result["batches"] = cohesion_frame(selector)
    if notes:
        warn(" ".join(notes), SelectionWarning)
    if notes := notes + selector._block_remarks():  # of blocks the fit has warned
        result["notes"] = np.array(notes, dtype=object)
    places = {"layer": layer, "use_raw": use_raw, "mask_var": mask_var, "batch_key": batch_key}
    result["params"] = storable({**places, **selector.get_params(deep=False)})
    write_results(adata, key_added, selector, X, columns, matrix.genes, result)
    if subset:
        adata._inplace_subset_var(adata.var[f"{key_added}_selected"].to_numpy())
    return adata if copy else None


def _check(adata: Any, subset: bool, copy: bool) -> None:
    for package in ("anndata", "skops"):  # the fitted selector is kept as skops writes it
        hint = f'select_groups needs {package}; install it with pip install "groupfs[anndata]".'
        import_optional(package, hint)
    from anndata import AnnData

    if not isinstance(adata, AnnData):
        raise TypeError(
            f"adata is a {type(adata).__name__}, not an AnnData; for arrays and tables use "
            "groupfs.FeatureGroups."
        )
    if adata.isbacked and (subset or copy or adata.is_view):
        raise ValueError(
            f"subset=True, copy=True and views need adata in memory, but it is backed by "
            f"{adata.filename}; use adata.to_memory(), or the whole file with mask_var, and then "
            "write a part of it, as in adata[:, adata.var['groupfs_selected']].copy(filename)."
        )


def _mask(adata: Any, genes: list[str], mask_var: str | ArrayLike | None) -> BoolArray:
    if mask_var is None:
        return np.ones(len(genes), dtype=bool)
    of = genes
    if isinstance(mask_var, str):
        of, mask_var = adata.var_names.tolist(), find_column(adata, "var", "mask_var", mask_var)
    mask = np.asarray(mask_var)
    if mask.shape != (len(of),) or mask.dtype != bool:
        raise ValueError(
            f"mask_var has shape {mask.shape} and type {mask.dtype}; give one boolean for each of "
            f"the {len(of)} genes."
        )
    return mask if of == genes else np.isin(genes, np.array(of)[mask])  # raw has other genes


def _fit(
    adata: Any, X: Any, genes: list[str], random_state: Any, settings: dict[str, Any], batches: Any
) -> FeatureGroups:
    metric = settings.get("metric", "euclidean")
    selector = FeatureGroups(
        random_state=random_state, **{**settings, "metric": find_graph(adata, metric)}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnsWarning)  # does not know the genes' names
        selector.fit(X, blocks=batches)
    selector.metric = metric  # by its name: the graph itself is in adata already
    selector.feature_names_in_ = np.array(genes, dtype=object)
    return selector


def find_graph(adata: Any, metric: Any) -> Any:
    """Look up a graph in ``adata.obsp`` by its name; return any other metric as it is."""
    if not isinstance(metric, str) or metric in METRICS:
        return metric
    if metric not in adata.obsp:
        raise ParameterError(
            f"metric={metric!r} is neither {join_names(list(METRICS))} nor a graph in adata.obsp, "
            f"which has {join_names(list(adata.obsp)) or 'none'}; scanpy.pp.neighbors(adata) makes "
            '"connectivities".',
            "metric",
        )
    if metric.endswith("distances"):  # far cells would be taken for near ones
        raise ParameterError(
            f"metric={metric!r} holds distances, which are larger the farther two cells are apart; "
            'give affinities, as "connectivities".',
            "metric",
        )
    return adata.obsp[metric]
