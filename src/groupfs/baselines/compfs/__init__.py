"""Composite feature selection (CompFS)."""

from groupfs.baselines.compfs.estimator import CompFS

__all__ = ["CompFS"]
