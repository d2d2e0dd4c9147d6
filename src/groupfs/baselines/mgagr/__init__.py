"""Multi-group adaptive graph representation (MGAGR)."""

from groupfs.baselines.mgagr.estimator import MGAGR

__all__ = ["MGAGR"]
