from importlib.util import find_spec

import pytest
import scipy.sparse as sp

from groupfs.anndata import select_groups
from tests.support.cells import QUICK, cells, make

collect_ignore_glob = [] if find_spec("anndata") else ["test_*.py"]


@pytest.fixture
def adata():
    return make(sp.csr_matrix(cells()))


@pytest.fixture(scope="session")
def selected():
    """Results on the sparse matrix; not to be changed."""
    adata = make(sp.csr_matrix(cells()))
    select_groups(adata, **QUICK)
    return adata
