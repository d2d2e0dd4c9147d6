"""Results in an AnnData object: what is written and under which names, and what is read again."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.anndata.batches import read_batches, without_batches
from groupfs.anndata.matrix import blocks_of, find_expression
from groupfs.data.row_scores import score_blocks, score_weights
from groupfs.feature_groups import FeatureGroups
from groupfs.groups import Groups, feature_names
from groupfs.persistence import ModelError, dumps, loads
from groupfs.result import Result
from groupfs.utils.text import join_names
from groupfs.utils.types import IntArray

if TYPE_CHECKING:
    from anndata import AnnData


def write_results(
    adata: Any,
    key: str,
    selector: FeatureGroups,
    X: Any,
    columns: IntArray,
    genes: list[str],
    others: dict[str, Any],
) -> None:
    """Write what was found on ``columns`` X of a matrix of ``genes``, with ``others`` in uns."""
    import pandas as pd

    result, places = Result.of(selector), columns
    if genes != adata.var_names.tolist():  # raw has other genes
        places = pd.Index(adata.var_names).get_indexer(pd.Index(genes)[columns])
    there = places >= 0

    def placed(values: Any, otherwise: Any) -> Any:
        column = np.full(adata.n_vars, otherwise, dtype=np.asarray(values).dtype)
        column[places[there]] = values[there]
        return column

    names = [str(result.groups.label(j)) for j in range(len(result.groups))]
    verdicts = np.array(result.verdicts, dtype=object)
    for name, column in {
        "selected": placed(selector.get_support(), False),
        "group": pd.Categorical.from_codes(placed(selector.group_labels_, -1), names),
        "sign": placed(selector.group_signs_.astype(np.int64), 0),
        "centrality": placed(selector.centrality_, 0.0),
        "relatedness_p_adjusted": placed(result.relatedness_p_adjusted, np.nan),
        "order": placed(np.where(result.positions, result.positions, np.nan), np.nan),
        "stability": placed(result.stability, np.nan),
        "verdict": pd.Categorical(placed(verdicts, None), np.unique(verdicts)),
        **{
            name: pd.Categorical(placed(np.array(of, dtype=object), None)).rename_categories(str)
            for name, of in result.level_columns.items()
        },
    }.items():
        adata.var[f"{key}_{name}"] = column
    stale = {name for name in adata.var if name.startswith(f"{key}_level_")}
    adata.var.drop(columns=stale - {f"{key}_{name}" for name in result.level_columns}, inplace=True)
    frame = result.groups_frame().assign(group=np.array(names, dtype=object)).set_index("group")
    levels = {
        "n_groups": np.array([one.n_groups for one in result.levels]),
        "agreement": np.array([one.agreement for one in result.levels], dtype=float),
        "parents": {str(k): one.parent + 1 for k, one in enumerate(result.levels, start=1)},
    }
    parts = {"groups": frame, "explained": selector.explained_, "n_obs": adata.n_obs}
    adata.uns[key] = {**others, **parts, "levels": levels}
    with suppress(ModelError):  # a function or another object among the parameters
        # as an array of bytes, which every file holds
        adata.uns[key]["selector"] = np.frombuffer(dumps(selector), dtype=np.uint8)
    weights = score_weights(selector.groups_, selector.centrality_, selector.group_signs_)
    learned = selector._learned_columns
    values = score_blocks(blocks_of(X), weights, learned["mean"], learned["spread"])
    earlier = getattr(adata.obsm.get(f"{key}_scores"), "columns", ())
    adata.obs.drop(columns=list(earlier), inplace=True, errors="ignore")
    scores = pd.DataFrame(values, index=adata.obs_names, columns=score_names(selector, key))
    adata.obsm[f"{key}_scores"] = scores
    for name in scores:
        adata.obs[name] = scores[name].to_numpy()  # names of cells may repeat


def score_names(selector: FeatureGroups, key: str) -> list[str]:
    """Call scores by rank and representative, or by rank and the name that was given, (C,)."""
    groups, genes = Groups.of(selector), feature_names(selector)
    named = groups.names or [genes[i] for i in groups.representatives]
    begin = "" if key == "groupfs" else f"{key}_"
    # a slash would make a folder in a file
    return [f"{begin}group{j + 1}_{name.replace('/', '-')}" for j, name in enumerate(named)]


def storable(params: dict[str, Any]) -> dict[str, Any]:
    """Keep what a file can hold: numbers, flags, text. None is left out, arrays are in var."""
    stored: dict[str, Any] = {}
    for name, value in params.items():
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, (bool, int, float, str)):
            stored[name] = plain
        elif plain is not None:
            stored[name] = "given" if np.ndim(plain) else str(plain)
    return stored


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
        Its features are the genes that were looked at, by name.

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
    if not hasattr(adata, "uns"):
        raise TypeError(
            f"adata is a {type(adata).__name__}, not an AnnData; for a fitted FeatureGroups use "
            "groupfs.plotting and groupfs.report."
        )
    result = adata.uns.get(key, {})
    if "groups" not in result:
        raise ValueError(
            f"adata has no groups under {key!r}; run groupfs.anndata.select_groups first, or name "
            "its key_added with key=."
        )
    if "selector" not in result:
        raise ValueError(
            f"adata.uns[{key!r}] holds no selector: a function or another object among the "
            "parameters cannot be written to a file; use FeatureGroups on the values themselves."
        )
    return loads(np.asarray(result["selector"]).tobytes(), f"adata.uns[{key!r}]")


def fitted_table(adata: Any, fitted: FeatureGroups, key: str) -> Any:
    """Return the values that a selector was fitted on, its genes in its order."""
    n_fitted = adata.uns[key].get("n_obs", adata.n_obs)
    if n_fitted != adata.n_obs:
        raise ValueError(
            f"groups were found in {n_fitted:,} cells, and adata has {adata.n_obs:,} now; do this "
            "before cells are left out, or run select_groups again."
        )
    X, batch_key = gene_values(adata, fitted, key), adata.uns[key]["params"].get("batch_key")
    return X if batch_key is None else without_batches(X, read_batches(adata, batch_key))


def gene_values(adata: Any, fitted: FeatureGroups, key: str) -> Any:
    """Return the values of the genes that a selector was fitted on, in its order."""
    params = adata.uns[key]["params"]
    matrix = find_expression(adata, params.get("layer"), bool(params.get("use_raw", False)))
    place = {gene: index for index, gene in enumerate(matrix.genes)}
    genes = feature_names(fitted)
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
    return matrix.columns(np.array([place[gene] for gene in genes]))
