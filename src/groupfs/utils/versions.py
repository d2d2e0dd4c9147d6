"""Versions of installed packages."""

from importlib.metadata import PackageNotFoundError, version


def installed_version(package: str) -> str | None:
    """Return the version of a package, None if it was never installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
