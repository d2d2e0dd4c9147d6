"""Unsupervised feature selection by group discovery."""

__version__ = "0.1.0"
