"""Unsupervised feature selection by group discovery."""

from groupfs.estimator import GroupFS

__all__ = ["GroupFS", "__version__"]
__version__ = "0.1.0"
