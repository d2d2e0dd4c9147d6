"""Graphs of the cells that lie in an AnnData object, by name."""

from typing import Any

from groupfs.graphs.sample_graph import METRICS
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names


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
