"""Graphs of the cells in obsp, by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import GroupFS
from groupfs.anndata import select_groups
from tests.support.cells import QUICK, cells

pytest.importorskip("anndata")


def test_a_graph_of_the_cells_is_found_by_its_name(adata):
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(cells(), 10)
    adata.obsp["connectivities"] = graph
    select_groups(adata, metric="connectivities", **QUICK)
    selector = GroupFS(random_state=0, metric=graph, **QUICK).fit(sp.csr_array(cells()))
    np.testing.assert_allclose(adata.var["groupfs_score"], selector.feature_scores_)
    plain = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert not np.allclose(selector.feature_scores_, plain.feature_scores_)
    assert adata.uns["groupfs"]["params"]["metric"] == "connectivities"


def test_names_that_are_no_graph_are_refused_in_words(adata):
    with pytest.raises(ValueError, match="metric='connectivities' is neither .* which has none"):
        select_groups(adata, metric="connectivities")
    adata.obsp["distances"] = sp.csr_array((150, 150))
    with pytest.raises(ValueError, match="holds distances"):
        select_groups(adata, metric="distances")
