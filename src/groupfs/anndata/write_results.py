"""What is written into an AnnData object, and under which names."""

from contextlib import suppress
from typing import Any

import numpy as np

from groupfs.anndata.matrix import Genes, blocks_of
from groupfs.feature_groups import FeatureGroups
from groupfs.groups import feature_names, group_names
from groupfs.persistence import ModelError, dumps
from groupfs.result import Result
from groupfs.selection.row_scores import score_blocks, score_weights
from groupfs.utils.types import IntArray


def write_groups(
    adata: Any,
    key: str,
    selector: FeatureGroups,
    columns: IntArray,
    genes: list[str],
    others: dict[str, Any],
) -> None:
    """Write groups and genes, and the selector itself, with ``others`` into var and uns.

    ``genes`` are those of the matrix that was used, ``columns`` those the selector was fitted on.
    """
    import pandas as pd

    places = columns
    if genes != adata.var_names.tolist():  # raw has other genes
        places = pd.Index(adata.var_names).get_indexer(pd.Index(genes)[columns])
    for name, values in _gene_columns(selector, places, adata.n_vars).items():
        adata.var[f"{key}_{name}"] = values
    parts = {"groups": groups_frame(selector), "explained": selector.explained_}
    adata.uns[key] = others | parts | {"n_obs": adata.n_obs}
    with suppress(ModelError):  # a function or another object among the parameters
        # as an array of bytes, which every file holds
        adata.uns[key]["selector"] = np.frombuffer(dumps(selector), dtype=np.uint8)


def write_scores(adata: Any, key: str, selector: FeatureGroups, genes: Genes) -> None:
    """Write the cells' scores into obsm, and each as a column of obs, in place of earlier ones."""
    import pandas as pd

    weights = score_weights(selector.groups_, selector.centrality_, selector.group_signs_)
    scores = score_blocks(blocks_of(genes.X), weights, genes.mean, genes.spread)
    earlier = adata.obsm.get(f"{key}_scores")
    for name in getattr(earlier, "columns", ()):
        adata.obs.drop(columns=name, inplace=True, errors="ignore")
    names = score_names(selector, key)
    frame = pd.DataFrame(scores, index=adata.obs_names, columns=names)
    adata.obsm[f"{key}_scores"] = frame
    for name in names:
        adata.obs[name] = frame[name].to_numpy()  # names of cells may repeat


def score_names(selector: FeatureGroups, key: str) -> list[str]:
    """Call scores by rank and representative, or by rank and the name that was given, (C,).

    Names are short, unless several results are kept.
    """
    genes = feature_names(selector)
    named = group_names(selector) or [genes[i] for i in selector.representatives_]
    begin = "" if key == "groupfs" else f"{key}_"
    # a slash would make a folder in a file
    return [f"{begin}group{j + 1}_{name.replace('/', '-')}" for j, name in enumerate(named)]


def groups_frame(selector: FeatureGroups) -> Any:
    """Make a table of the groups, most important first."""
    frame = Result.of(selector).groups_frame()
    return frame.drop(columns="group").set_index(frame["group"].astype(str).astype(object))


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


def _gene_columns(selector: FeatureGroups, places: IntArray, n_genes: int) -> dict[str, Any]:
    """Return the columns of var, (n_genes,) each; ``places`` are of the fitted genes, or -1."""
    import pandas as pd

    there = places >= 0

    def placed(values: Any, otherwise: Any) -> Any:
        every = np.full(n_genes, otherwise, dtype=np.asarray(values).dtype)
        every[places[there]] = values[there]
        return every

    result = Result.of(selector)
    order = np.where(result.positions, result.positions, np.nan)
    names = names_of_groups(selector)
    return {
        "selected": placed(selector.get_support(), False),
        "group": pd.Categorical.from_codes(placed(selector.group_labels_, -1), names),
        "sign": placed(selector.group_signs_.astype(np.int64), 0),
        "centrality": placed(selector.centrality_, 0.0),
        "relatedness_p_adjusted": placed(result.relatedness_p_adjusted, np.nan),
        "order": placed(order, np.nan),
    }


def names_of_groups(selector: FeatureGroups) -> list[str]:
    """Call groups as the user does, or by their rank."""
    return group_names(selector) or [str(rank + 1) for rank in range(selector.n_groups_)]
