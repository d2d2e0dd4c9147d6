"""Multi-cluster feature selection (MCFS)."""

from groupfs.baselines.mcfs.estimator import MCFS

__all__ = ["MCFS"]
