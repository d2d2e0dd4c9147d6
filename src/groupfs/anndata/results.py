"""What is written into an AnnData object, and under which names."""

from typing import Any

import numpy as np

from groupfs.anndata.cell_scores import score_names
from groupfs.anndata.stored import packed
from groupfs.estimators.group_fs import GroupFS
from groupfs.selection.membership_table import place_rows
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import feature_names, group_names
from groupfs.utils.types import FloatArray, IntArray


def write_groups(
    adata: Any,
    key: str,
    selector: GroupFS,
    columns: IntArray,
    genes: list[str],
    others: dict[str, Any],
) -> None:
    """Write groups and genes, and the selector itself, with ``others`` into var, varm and uns.

    ``genes`` are those of the matrix that was used, ``columns`` those the selector was fitted on.
    """
    found = {
        "groups": groups_frame(selector),
        "explained": selector.explained_,
        "n_obs": adata.n_obs,
        "selector": packed(selector),
        "genes": _write_genes(adata, key, selector, columns, genes),
    }
    adata.uns[key] = others | {name: part for name, part in found.items() if part is not None}


def write_scores(adata: Any, key: str, selector: GroupFS, scores: FloatArray) -> None:
    """Write the cells' scores into obsm, and each as a column of obs, in place of earlier ones."""
    import pandas as pd

    earlier = adata.obsm.get(f"{key}_scores")
    for name in getattr(earlier, "columns", ()):
        adata.obs.drop(columns=name, inplace=True, errors="ignore")
    names = [obs_name(name, key) for name in score_names(selector)]
    frame = pd.DataFrame(scores, index=adata.obs_names, columns=names)
    adata.obsm[f"{key}_scores"] = frame
    for name in names:
        adata.obs[name] = frame[name].to_numpy()  # names of cells may repeat


def obs_name(name: str, key: str) -> str:
    """Name the column of obs that holds a score: short, unless several results are kept."""
    return name if key == "groupfs" else f"{key}_{name}"


def groups_frame(selector: GroupFS) -> Any:
    """Make a table of the groups, most important first."""
    import pandas as pd

    names, genes = _names_of_groups(selector), feature_names(selector)
    table = {
        "size": [len(group) for group in selector.groups_],
        "score": selector.group_scores_,
        "gate": selector.group_gates_,
        "kept": selector.group_selected_,
        "representative": np.array([genes[i] for i in selector.representatives_], dtype=object),
    }
    if selector.group_pvalues_ is not None:
        table["p_adjusted"] = adjust_p_values(selector.group_pvalues_)
    if selector.group_reliability_ is not None:
        table["reliability"] = selector.group_reliability_
    return pd.DataFrame(table, index=pd.Index(names, name="group", dtype=object))


def storable(params: dict[str, Any]) -> dict[str, Any]:
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


def _write_genes(
    adata: Any, key: str, selector: GroupFS, columns: IntArray, genes: list[str]
) -> Any:
    """Write what is known of genes into var and varm.

    Returns a frame of all genes of the matrix where these are not the genes of var, as in raw.
    """
    import pandas as pd

    if genes == adata.var_names.tolist():
        places, every_gene = columns, None
    else:
        places = pd.Index(adata.var_names).get_indexer(pd.Index(genes)[columns])
        every_gene = pd.DataFrame(
            _gene_columns(selector, columns, len(genes)), index=pd.Index(genes, dtype=object)
        )
    for name, values in _gene_columns(selector, places, adata.n_vars).items():
        adata.var[f"{key}_{name}"] = values
    there = np.flatnonzero(places >= 0)
    membership = place_rows(selector.membership_[there], places[there], adata.n_vars)
    adata.varm[f"{key}_membership"] = membership
    return every_gene


def _gene_columns(selector: GroupFS, places: IntArray, n_genes: int) -> dict[str, Any]:
    """Return the columns of var, (n_genes,) each; ``places`` are of the fitted genes, or -1."""
    import pandas as pd

    there = places >= 0

    def placed(values: Any, otherwise: Any) -> Any:
        every = np.full(n_genes, otherwise, dtype=np.asarray(values).dtype)
        every[places[there]] = values[there]
        return every

    related = order = np.full(len(places), np.nan)
    if selector.relatedness_pvalues_ is not None:
        related = adjust_p_values(selector.relatedness_pvalues_)
    order = order.copy()
    order[selector.feature_order_] = np.arange(1, len(selector.feature_order_) + 1)
    names = _names_of_groups(selector)
    return {
        "selected": placed(selector.get_support(), False),
        "group": pd.Categorical.from_codes(placed(selector.group_labels_, -1), names),
        "score": placed(selector.feature_scores_, 0.0),
        "sign": placed(selector.group_signs_.astype(np.int64), 0),
        "centrality": placed(selector.centrality_, 0.0),
        "relatedness_p_adjusted": placed(related, np.nan),
        "order": placed(order, np.nan),
    }


def _names_of_groups(selector: GroupFS) -> list[str]:
    return group_names(selector) or [str(rank + 1) for rank in range(selector.n_groups_)]
