"""Figures and the report of what select_groups found, straight from the AnnData object.

``groupfs.plotting`` has more of them, for the selector that lies in the object.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groupfs import plotting
from groupfs.anndata.matrix import find_column
from groupfs.anndata.stored_results import fitted_table, selector
from groupfs.feature_groups import FeatureGroups
from groupfs.report import render

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes


def plot_groups(adata: "AnnData", *, key: str = "groupfs", **settings: Any) -> "Axes":
    """Draw the smoothness of the groups of genes, with sizes, p-values and replication.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups`.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    **settings
        Parameters of :func:`groupfs.plotting.plot_groups`, e.g. ``most`` or ``ax``.
    """
    return plotting.plot_groups(selector(adata, key=key), **settings)


def plot_correlations(adata: "AnnData", *, key: str = "groupfs", **settings: Any) -> "Axes":
    """Draw the correlations between genes, ordered by group; kept groups are framed.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`select_groups` and the values they are from.
    key : str, default="groupfs"
        ``key_added`` of :func:`select_groups`.
    **settings
        Parameters of :func:`groupfs.plotting.plot_correlations`, e.g. ``most`` or ``ax``.
    """
    fitted = selector(adata, key=key)
    return plotting.plot_correlations(fitted, fitted_table(adata, fitted, key), **settings)


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

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from anndata import AnnData
    >>> import groupfs.anndata
    >>> from groupfs.datasets import load_two_moons
    >>> adata = AnnData(load_two_moons(200, random_state=0).data)
    >>> groupfs.anndata.select_groups(adata, check_values=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     groupfs.anndata.report(adata, Path(folder, "report.html"))
    ...     Path(folder, "report.html").stat().st_size < 2_000_000
    True
    """
    from groupfs.report.summary import summarize

    fitted = selector(adata, key=key)
    summary = summarize(
        fitted,
        fitted_table(adata, fitted, key),
        labels=None if label is None else _labels(find_column(adata, "obs", "label", label)),
        label_name=label,
        source=None if adata.filename is None else Path(adata.filename).name,
        notes=[str(note) for note in adata.uns[key].get("notes", [])],
    )
    summary["code"] = _code(adata.uns[key]["params"], key)
    Path(path).write_text(render(summary), encoding="utf-8")


def _labels(column: Any) -> Any:
    """Return numbers as they are, categories as text."""
    return column.to_numpy() if column.dtype.kind in "iuf" else column.astype(str).to_numpy(str)


def _code(params: Any, key: str) -> list[str]:
    """Write the call that finds the same; groups that were given have no short form."""
    usual = {**FeatureGroups().get_params(), "use_raw": False, "layer": None, "batch_key": None}
    named = {"key_added": key} if key != "groupfs" else {}
    changed = {name: value for name, value in params.items() if value != usual.get(name)} | named
    given = [
        f"{name}={'...' if value == 'given' else repr(value)}" for name, value in changed.items()
    ]
    return [f"groupfs.anndata.select_groups({', '.join(['adata', *given])})"]
