"""What comes after select_groups, from the AnnData object: figures, report, markers, conditions.

``groupfs.plotting`` has more figures, for the selector that lies in the object.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs import plotting
from groupfs.anndata.matrix import find_column
from groupfs.anndata.stored_results import fitted_table, gene_values, score_names, selector
from groupfs.conditions import Comparison, Curves, compare, curves
from groupfs.conditions.inputs import dates_as_days, is_number
from groupfs.feature_groups import FeatureGroups
from groupfs.groups import Groups, feature_names
from groupfs.report import render, summarize

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes


def plot_groups(adata: "AnnData", *, key: str = "groupfs", **settings: Any) -> "Axes":
    """Draw alpha of the groups of genes, with sizes, p-values and replication.

    ``key`` is ``key_added`` of :func:`select_groups`, ``settings`` are those of
    :func:`groupfs.plotting.plot_groups`, e.g. ``most`` or ``ax``.
    """
    return plotting.plot_groups(selector(adata, key=key), **settings)


def plot_correlations(adata: "AnnData", *, key: str = "groupfs", **settings: Any) -> "Axes":
    """Draw the correlations between genes, ordered by group; kept groups are framed.

    Takes the values that groups were found in from adata; otherwise as :func:`plot_groups`, with
    settings of :func:`groupfs.plotting.plot_correlations`.
    """
    fitted = selector(adata, key=key)
    return plotting.plot_correlations(fitted, fitted_table(adata, fitted, key), **settings)


def plot_levels(adata: "AnnData", *, key: str = "groupfs", **settings: Any) -> "Axes":
    """Draw the levels of groups of genes side by side, broad to narrow; as :func:`plot_groups`."""
    return plotting.plot_levels(selector(adata, key=key), **settings)


def report(
    adata: "AnnData",
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    key: str = "groupfs",
) -> None:
    """Write the report on the groups of genes: one HTML file to look at and to pass on.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups` and the values they are from.
    path : str or path-like
        Where to; a file of that name is written over.
    label : str or None, default=None
        Column of ``adata.obs``, e.g. known types of the cells: cells are coloured by it, and the
        report says how far clusters agree with it. Groups do not depend on it.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    """
    fitted, labels = selector(adata, key=key), None
    if label is not None:
        column = find_column(adata, "obs", "label", label)
        labels = (column if column.dtype.kind in "iuf" else column.astype(str)).to_numpy()
    source = None if adata.filename is None else Path(adata.filename).name
    told = {"source": source, "notes": adata.uns[key].get("notes", [])}
    X = fitted_table(adata, fitted, key)
    summary = summarize(fitted, X, labels=labels, label_name=label, **told)
    summary["code"] = [_code(adata.uns[key]["params"], key)]
    Path(path).write_text(render(summary), encoding="utf-8")


def markers(
    adata: "AnnData", *, n_genes: int = 5, use_raw: bool | None = None, key: str = "groupfs"
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
            ``by``; ``table``, a row per group and condition with cohesion and mean and their
            intervals; ``changes``, a row per group with p- and q-values of a change in mean and in
            cohesion.

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
    told: dict[str, Any] = {"table": compared.to_frame(), "changes": compared.changes_frame()}
    for frame in told.values():
        for name in frame.columns.intersection(["group", "condition"]):
            frame[name] = frame[name].astype(str)  # files hold no mixed types
        frame.index = frame.index.astype(str)
    adata.uns[key]["conditions"] = {"by": by, **told}
    return adata if copy else None


def _code(params: Any, key: str) -> str:
    """Write the call that finds the same; groups that were given have no short form."""
    usual = {**FeatureGroups().get_params(), "use_raw": False, "key_added": "groupfs"}
    words = ["adata"]
    for name, value in {**params, "key_added": key}.items():
        if value != usual.get(name):
            words.append(f"{name}={'...' if value == 'given' else repr(value)}")
    return f"groupfs.anndata.select_groups({', '.join(words)})"
