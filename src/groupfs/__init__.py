"""Unsupervised feature selection by group discovery."""

from groupfs.estimator import GroupFS
from groupfs.path import GroupFSPath

__all__ = ["GroupFS", "GroupFSPath", "__version__"]
__version__ = "0.1.0"
