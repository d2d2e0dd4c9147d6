"""Group discovery on AnnData objects: results go into ``var``, ``varm``, ``obsm`` and ``uns``."""

from groupfs.anndata.select_groups import select_groups

__all__ = ["select_groups"]
