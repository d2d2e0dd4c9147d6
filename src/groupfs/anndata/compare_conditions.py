"""compare_conditions: where the groups of an AnnData object matter, by a column of obs."""

from typing import TYPE_CHECKING, Any

from groupfs.anndata.matrix import find_column
from groupfs.anndata.stored_results import gene_values, selector
from groupfs.conditions import Comparison, Curves, compare, curves
from groupfs.conditions.inputs import dates_as_days, is_number

if TYPE_CHECKING:
    from anndata import AnnData


def compare_conditions(
    adata: "AnnData",
    by: str,
    *,
    blocks: str | None = None,
    key: str = "groupfs",
    copy: bool = False,
    **settings: Any,
) -> "AnnData | None":
    """Compare the groups of genes between conditions of the cells, and write the tables into adata.

    Run :func:`select_groups` first; it needs no conditions.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups` and the values of its genes; cells may have been
        left out since.
    by : str
        Column of ``adata.obs``: categories, or numbers. Numbers with more than 10 values are
        followed as a number, e.g. pseudotime, and as many dates as days.
    blocks : str or None, default=None
        Column of ``adata.obs`` that says what cells come from, e.g. donors.
    key : str, default="groupfs"
        What names of results begin with: ``key_added`` of :func:`select_groups`.
    copy : bool, default=False
        Whether to leave adata alone and return a copy with the results.
    **settings
        Other parameters of :func:`groupfs.conditions.compare` or
        :func:`groupfs.conditions.curves`, e.g. ``alpha`` or ``random_state``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None, and adata has this field:

        ``.uns["groupfs"]["conditions"]`` : dict
            ``by``; ``table``, a row per group and condition with cohesion, correlation and
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
    fitted = selector(adata, key=key)
    adata = adata.copy() if copy else adata
    column = dates_as_days(find_column(adata, "obs", "by", by))
    of_blocks = None if blocks is None else find_column(adata, "obs", "blocks", blocks)
    values, follow = gene_values(adata, fitted, key), curves if is_number(column) else compare
    compared: Comparison | Curves = follow(fitted, values, column, blocks=of_blocks, **settings)
    table, changes = compared.to_frame(), compared.changes_frame()
    if isinstance(compared, Comparison):
        table["condition"] = table["condition"].astype(str)  # files hold no mixed types
    for frame in (table, changes):
        frame["group"] = frame["group"].astype(str)
        frame.index = frame.index.astype(str)
    adata.uns[key]["conditions"] = {"by": by, "table": table, "changes": changes}
    return adata if copy else None
