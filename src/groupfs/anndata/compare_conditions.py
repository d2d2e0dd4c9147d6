"""compare_conditions: where the groups of an AnnData object matter, by a column of obs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.anndata.matrix import find_expression
from groupfs.conditions import Comparison, Curves, compare, curves
from groupfs.estimators.group_fs import GroupFS
from groupfs.utils.condition_kind import dates_as_days, is_number
from groupfs.utils.text import join_names

if TYPE_CHECKING:
    from anndata import AnnData

#: Settings of the fit that comparisons depend on.
SETTINGS = ("preset", "signed", "n_neighbors", "diffusion_steps", "standardize", "max_memory")
#: What is known of genes in groups.
KNOWN = ("group", "sign", "centrality")


def compare_conditions(
    adata: "AnnData",
    by: str,
    *,
    blocks: str | None = None,
    key: str = "groupfs",
    copy: bool = False,
    random_state: int | np.random.RandomState | None = 0,
    **settings: Any,
) -> "AnnData | None":
    """Compare the groups of genes between conditions of the cells, and write the tables into adata.

    Run :func:`select_groups` first; it needs no conditions.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    by : str
        Column of ``adata.obs``: categories, or numbers. Numbers with more than 10 values are
        followed as a number, e.g. pseudotime, and as many dates as days.
    blocks : str or None, default=None
        Column of ``adata.obs`` that says what cells come from, e.g. donors.
    key : str, default="groupfs"
        What names of results begin with: ``key_added`` of :func:`select_groups`.
    copy : bool, default=False
        Whether to leave adata alone and return a copy with the results.
    random_state : int, RandomState instance or None, default=0
        The same result every time for the same number.
    **settings
        Other parameters of :func:`groupfs.conditions.compare` or
        :func:`groupfs.conditions.curves`, e.g. ``alpha``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None, and adata has this field:

        ``.uns["groupfs"]["conditions"]`` : dict
            ``by``; ``table``, a row per group and condition with score, cohesion, correlation and
            mean and their intervals; ``changes``, a row per group with p- and q-values of a change
            in mean and in cohesion.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from groupfs.anndata import compare_conditions, select_groups
    >>> from groupfs.datasets import load_two_moons
    >>> moons = load_two_moons(200, random_state=0)
    >>> adata = AnnData(moons.data)
    >>> adata.obs["moon"] = [f"moon {label}" for label in moons.target]
    >>> select_groups(adata, check_values=False)
    >>> compare_conditions(adata, "moon", n_permutations=99)
    >>> adata.uns["groupfs"]["conditions"]["changes"]["mean_changes"].tolist()
    [True, True]
    """
    _check(adata, by, blocks, key)
    adata = adata.copy() if copy else adata
    params = adata.uns[key]["params"]
    matrix = find_expression(adata, params.get("layer"), bool(params.get("use_raw", False)))
    selector, genes = _restored(adata, key, matrix.genes)
    X = matrix.columns(genes)
    column = dates_as_days(adata.obs[by])
    found: Comparison | Curves = (curves if is_number(column) else compare)(
        selector,
        X,
        column,
        blocks=None if blocks is None else adata.obs[blocks],
        random_state=random_state,
        **settings,
    )
    table, changes = found.to_frame(), found.changes_frame()
    if isinstance(found, Comparison):
        table["condition"] = table["condition"].astype(str)  # files hold no mixed types
    for frame in (table, changes):
        frame["group"] = frame["group"].astype(str)
        frame.index = frame.index.astype(str)
    adata.uns[key]["conditions"] = {"by": by, "table": table, "changes": changes}
    return adata if copy else None


def _check(adata: Any, by: str, blocks: str | None, key: str) -> None:
    if key not in adata.uns or f"{key}_centrality" not in adata.var:
        raise ValueError(
            f"adata has no groups under {key!r}; run groupfs.anndata.select_groups first, or name "
            "its key_added with key=."
        )
    for what, name in (("by", by), ("blocks", blocks)):
        if name is not None and name not in adata.obs:
            raise ValueError(
                f"{what}={name!r} is not a column of adata.obs; it has "
                f"{join_names(list(adata.obs.columns)) or 'none'}."
            )


def _restored(adata: Any, key: str, genes: list[str]) -> tuple[GroupFS, Any]:
    """Make a selector of what is known of the genes in groups; return their places, too.

    The one that lies in adata may know genes that have been left out since.
    """
    params = adata.uns[key]["params"]
    known = adata.uns[key].get("genes")
    if known is None:
        known = adata.var[[f"{key}_{name}" for name in KNOWN]].set_axis(list(KNOWN), axis=1)
    codes = known["group"].cat.codes.to_numpy()
    places = np.flatnonzero(codes >= 0)
    selector = GroupFS(**{name: params[name] for name in SETTINGS if name in params})
    names = [str(name) for name in known["group"].cat.categories]
    selector.n_groups_, selector.n_features_in_ = len(names), len(places)
    selector.groups_ = [np.flatnonzero(codes[places] == rank) for rank in range(len(names))]
    selector.group_names_ = names
    selector.feature_names_in_ = np.array(genes, dtype=object)[places]
    selector.centrality_ = known["centrality"].to_numpy()[places]
    selector.group_signs_ = known["sign"].to_numpy()[places]
    selector.representatives_ = np.array(
        [group[np.argmax(selector.centrality_[group])] for group in selector.groups_], dtype=int
    )
    return selector, places
