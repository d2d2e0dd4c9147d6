"""Differentiable unsupervised feature selection (DUFS)."""

from groupfs.baselines.dufs.estimator import DUFS

__all__ = ["DUFS"]
