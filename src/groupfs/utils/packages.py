"""Installed packages: their versions, and how to get those that may be absent."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def installed_version(package: str) -> str | None:
    """Return the version of a package, None if it was never installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def import_optional(module: str, otherwise: str) -> Any:
    """Import a module that may be absent, or say the sentence that tells how to get it."""
    try:
        return import_module(module)
    except ImportError as reason:
        raise ImportError(otherwise) from reason
