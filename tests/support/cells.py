"""Small made-up cells for tests of AnnData, the blood cells that scanpy ships, and comparisons."""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.tables import CELLS, TablesMissing, folder

QUICK = {"n_groups": 2}


def cells(n_cells=150, n_genes=24, seed=0):
    """Log-normalised counts: genes 0-5 are high in the first half of cells, 6-11 in every third."""
    rng = np.random.default_rng(seed)
    mean = np.full((n_cells, n_genes), 0.3)
    mean[: n_cells // 2, :6] = 4
    mean[::3, 6:12] = 4
    return np.log1p(rng.poisson(mean)).astype(np.float32)


def make(X, **others):
    from anndata import AnnData

    genes = pd.DataFrame(index=[f"gene{i}" for i in range(X.shape[1])])
    return AnnData(X, var=genes, **others)


def through_file(adata, folder, backed=None):
    """What is read again after adata was written."""
    from anndata import read_h5ad

    adata.write_h5ad(folder / "cells.h5ad")
    return read_h5ad(folder / "cells.h5ad", backed=backed)


def blood_cells():
    """700 cells and 765 genes: X is scaled, raw has log-normalised values."""
    from anndata import read_h5ad

    try:
        path = Path(folder(), CELLS)
    except TablesMissing as missing:
        pytest.skip(str(missing))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is older than today's layout
        return read_h5ad(path)


def fields_equal(one, other):
    same = partial(pd.testing.assert_frame_equal, check_index_type=False)
    same(one.var, other.var)
    same(one.obs, other.obs)
    same(one.obsm["groupfs_scores"], other.obsm["groupfs_scores"])
    ours, theirs = one.uns["groupfs"], other.uns["groupfs"]
    same(ours["groups"], theirs["groups"], check_dtype=False)
    np.testing.assert_allclose(ours["explained"], theirs["explained"])
    assert ours["params"] == theirs["params"]
