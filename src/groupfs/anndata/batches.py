"""Batches of cells, which :class:`groupfs.FeatureGroups` takes as blocks of rows.

Axes: n cells, C groups, B batches.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.anndata.matrix import blocks_of, find_column
from groupfs.data.blocks import read_blocks, without_blocks
from groupfs.feature_groups import FeatureGroups
from groupfs.groups import Groups
from groupfs.utils.types import FloatArray


def read_batches(adata: Any, batch_key: str) -> Any:
    """Return the batch of every cell, (n,); refuse what cannot be looked at."""
    column = find_column(adata, "obs", "batch_key", batch_key)
    read_blocks(column, adata.n_obs, f"batch_key={batch_key!r}")
    return column.astype(str).to_numpy(dtype=str)


def without_batches(X: Any, batches: Any) -> FloatArray:
    """Take differences of batches in means out of every gene; a dense copy, (n, d). Gaps stay."""
    parts = [b.toarray() if sp.issparse(b) else np.asarray(b) for b in blocks_of(X)]
    codes = np.unique(batches, return_inverse=True)[1]
    return np.asarray(without_blocks(np.concatenate(parts), codes))


def cohesion_frame(selector: FeatureGroups) -> Any:
    """Return the mean correlation of every group's genes in every batch, and where it holds."""
    import pandas as pd

    groups = Groups.of(selector)
    names = [str(name).replace("/", "-") for name in selector.blocks_ or []]
    index = pd.Index([str(groups.label(j)) for j in range(len(groups))], name="group", dtype=object)
    frame = pd.DataFrame(selector.group_block_cohesion_, index=index, columns=names)
    frame.insert(0, "n_batches", groups.n_blocks[0])
    return frame
