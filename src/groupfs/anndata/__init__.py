"""Group discovery on AnnData objects: results go into ``var``, ``varm``, ``obsm`` and ``uns``."""

from groupfs.anndata.compare_conditions import compare_conditions
from groupfs.anndata.select_groups import select_groups

__all__ = ["compare_conditions", "select_groups"]
