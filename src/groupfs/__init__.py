"""Unsupervised feature selection by group discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groupfs.estimator import GroupFS
    from groupfs.path import GroupFSPath, GroupPath
    from groupfs.stability import Stability

__all__ = ["GroupFS", "GroupFSPath", "GroupPath", "Stability", "__version__"]
__version__ = "0.1.0"

#: Where the public names live; torch is imported with the first one that is asked for, so that
#: the command line answers at once.
_ROOMS = {
    "GroupFS": "groupfs.estimator",
    "GroupFSPath": "groupfs.path",
    "GroupPath": "groupfs.path",
    "Stability": "groupfs.stability",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
